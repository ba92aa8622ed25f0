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
            [] => "no story has a similar name".to_string(),
            names => format!("similar names: {}", names.join(", ")),
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
        let remedy = format!("see {}; casebook/README.md explains what a story declares", quote_path(file));
        Failure::new(format!("{} is not a valid story", file.display()), why, remedy)
    }

    /// Ctrl-C while a story was running.
    pub fn story_interrupted(name: &str) -> Failure {
        Failure::new(format!("{name} was interrupted"), "by Ctrl-C or a signal; nothing was checked", again())
    }
}
