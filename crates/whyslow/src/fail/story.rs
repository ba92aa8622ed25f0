//! Errors of the casebook.

use super::{Failure, again, quote_path};
use std::path::{Path, PathBuf};

impl Failure {
    /// No folder with stories.
    pub fn no_casebook(looked: &[PathBuf]) -> Failure {
        let folders = looked.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ");
        let why = format!("none of these folders holds a story: {folders}");
        let remedy = "whyslow story --casebook FOLDER list   (casebook/ of the project's sources)";
        Failure::new("there is no casebook", why, remedy)
    }

    /// A story that nobody has written.
    pub fn unknown_story(name: &str, nearest: &[&str]) -> Failure {
        let why = match nearest {
            [] => "no story has a name like it".to_string(),
            names => format!("the nearest names are: {}", names.join(", ")),
        };
        let remedy = nearest.first().map_or("whyslow story list".into(), |name| format!("whyslow story run {name}"));
        Failure::new(format!("there is no story `{name}`"), why, remedy)
    }

    /// A variant that a story does not have.
    pub fn unknown_variant(story: &str, variant: &str, known: &[&str]) -> Failure {
        let remedy = format!("whyslow story run {story} --variant {}", known.first().copied().unwrap_or_default());
        let why = format!("its variants are: {}", known.join(", "));
        Failure::new(format!("{story} has no variant `{variant}`"), why, remedy)
    }

    /// A declaration that cannot be read, or does not hold together.
    pub fn story(file: &Path, why: &str) -> Failure {
        let remedy = format!("look at {}; casebook/README.md says what a story declares", quote_path(file));
        Failure::new(format!("{} cannot be told", file.display()), why, remedy)
    }

    /// Ctrl-C while a story was told.
    pub fn story_interrupted(name: &str) -> Failure {
        Failure::new(format!("{name} was interrupted"), "Ctrl-C or a signal came; nothing was checked", again())
    }
}
