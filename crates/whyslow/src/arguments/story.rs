//! The options of `whyslow story`.

use super::examples;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What `story` takes.
#[derive(Debug, Args)]
#[command(after_help = examples::STORY.text())]
pub struct StoryArguments {
    /// What to do.
    #[command(subcommand)]
    pub action: StoryAction,

    /// The folder with the stories; else WHYSLOW_CASEBOOK names it
    #[arg(long, global = true, value_name = "FOLDER")]
    pub casebook: Option<PathBuf>,

    /// Print the answer as JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// What can be done with stories.
#[derive(Debug, Subcommand)]
pub enum StoryAction {
    /// List the stories: what is asked, the answer to expect, and how long it takes
    List,
    /// Run a story and its cured twin, and check that the cause is named, located and confirmed, and the twin silent
    Run(StoryRunArguments),
}

/// What `story run` takes.
#[derive(Debug, Args)]
pub struct StoryRunArguments {
    /// The story, or all
    pub name: String,

    /// Only this variant of it: slow, fixed, or what the story calls it
    #[arg(long, value_name = "WORD")]
    pub variant: Option<String>,

    /// Keep the cases in this folder; without it, under ~/.local/state/whyslow
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
}
