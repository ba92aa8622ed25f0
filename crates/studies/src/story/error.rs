//! What keeps a story from being run.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a story was not run, or not to its end.
#[derive(Debug, Error)]
pub enum StoryError {
    /// None of these folders holds a story.
    #[error("there is no casebook")]
    NoCasebook(Vec<PathBuf>),
    /// A story has no variant of that name.
    #[error("{story} has no variant `{variant}`")]
    UnknownVariant {
        /// The story.
        story: String,
        /// What was asked for.
        variant: String,
        /// Those that it has: one at least.
        known: Vec<String>,
    },
    /// A story's file cannot be read or run, or does not hold together.
    #[error("{} is not a valid story", file.display())]
    Story {
        /// The file.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// Root does not execute it: others than root can change this file or folder of it.
    #[error("root does not run the story {story}")]
    NotRoots {
        /// The story.
        story: String,
        /// What is another's, or can be written by others.
        path: PathBuf,
    },
    /// The user wanted an end.
    #[error("{0} was interrupted")]
    Interrupted(String),
    /// The answer cannot be written or read back.
    #[error("the answer cannot be kept: {0}")]
    Answer(io::Error),
    /// A defect of ours, or of the system.
    #[error("{0}")]
    Internal(io::Error),
}
