//! The options of `whyslow story`.

use super::examples;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What `story` takes.
#[derive(Args)]
#[command(after_help = examples::of("story"))]
pub struct StoryArguments {
    /// What to do.
    #[command(subcommand)]
    pub action: StoryAction,

    /// The folder with the stories [default: $WHYSLOW_CASEBOOK]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub casebook: Option<PathBuf>,

    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// What can be done with stories.
#[derive(Subcommand)]
pub enum StoryAction {
    /// List the stories: the question, the expected answer, how long it takes
    List,
    /// Run a story and its fixed twin; check that the cause is named, located and confirmed, and the twin is clean
    Run(StoryRunArguments),
}

/// What `story run` takes.
#[derive(Args)]
pub struct StoryRunArguments {
    /// A story, or all
    pub name: String,

    /// Run only this variant: slow, fixed, or another name the story declares
    #[arg(long, value_name = "WORD")]
    pub variant: Option<String>,

    /// Write the cases to this folder [default: under ~/.local/state/whyslow]
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
}
