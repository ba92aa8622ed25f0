//! The options of `whyslow world`.

use super::examples;
use clap::{Args, Subcommand};

/// What `world` takes.
#[derive(Debug, Args)]
#[command(after_help = examples::WORLD.text())]
pub struct WorldCommandArguments {
    /// What to do.
    #[command(subcommand)]
    pub action: WorldAction,

    /// Print the answer as JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// What can be done with worlds.
#[derive(Debug, Subcommand)]
pub enum WorldAction {
    /// List the worlds that are kept: what each is, and how much room it takes
    List,
    /// Make a world and keep it, or find the one that is kept
    Make(WorldMakeArguments),
    /// Run a command in a world; what it writes to the world vanishes with it
    Run(WorldRunArguments),
    /// Remove a world that is kept
    Remove(WorldRemoveArguments),
}

/// What `world make` takes.
#[derive(Debug, Args)]
pub struct WorldMakeArguments {
    /// host, debian:SUITE, dir:ROOT, libs:FOLDER, git:REVISION or env:FILE
    #[arg(value_name = "WORLD")]
    pub name: String,

    /// A package that a Debian release is to have besides; can be given again
    #[arg(long, value_name = "PACKAGE")]
    pub package: Vec<String>,
}

/// What `world run` takes.
#[derive(Debug, Args)]
pub struct WorldRunArguments {
    /// The world, and what it is to have.
    #[command(flatten)]
    pub world: WorldMakeArguments,

    /// The command
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// What `world remove` takes.
#[derive(Debug, Args)]
pub struct WorldRemoveArguments {
    /// Its name in the list
    #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
    pub name: Option<String>,

    /// Remove all worlds, and all packages that were downloaded
    #[arg(long)]
    pub all: bool,
}
