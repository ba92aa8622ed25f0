//! The options of `whyslow world`.

use super::examples;
use clap::{Args, Subcommand};
use lab::worlds::WorldName;

/// What `world` takes.
#[derive(Args)]
#[command(after_help = examples::of("world"))]
pub struct WorldCommandArguments {
    /// What to do.
    #[command(subcommand)]
    pub action: WorldAction,

    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// What can be done with worlds.
#[derive(Subcommand)]
pub enum WorldAction {
    /// List cached worlds and their size on disk
    List,
    /// Make and cache a world, or find the cached one
    Make(WorldMakeArguments),
    /// Run a command in a world; what it writes there is discarded
    Run(WorldRunArguments),
    /// Remove a cached world
    Remove(WorldRemoveArguments),
}

/// What `world make` takes.
#[derive(Args)]
pub struct WorldMakeArguments {
    /// host, debian:SUITE, dir:ROOT, libs:FOLDER, git:REVISION or env:FILE
    #[arg(value_name = "WORLD")]
    pub name: WorldName,

    /// Also install this package in a Debian release; repeatable
    #[arg(long, value_name = "PACKAGE")]
    pub package: Vec<String>,
}

/// What `world run` takes.
#[derive(Args)]
pub struct WorldRunArguments {
    /// The world and its packages.
    #[command(flatten)]
    pub world: WorldMakeArguments,

    /// The command
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// What `world remove` takes.
#[derive(Args)]
pub struct WorldRemoveArguments {
    /// Its name in `world list`
    #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
    pub name: Option<String>,

    /// Remove all worlds and downloaded packages
    #[arg(long)]
    pub all: bool,
}
