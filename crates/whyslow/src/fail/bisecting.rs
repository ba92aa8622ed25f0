//! Errors of bisecting.

use super::{Failure, quote_path};
use lab::worlds::WorldName;
use std::path::Path;

impl Failure {
    /// The same, where it happened in one of the worlds: `good` or `bad`.
    #[must_use]
    pub fn in_world(mut self, side: &str, name: &str) -> Failure {
        self.what = format!("in the {side} world ({name}): {}", self.what);
        self
    }

    /// A subject that fails in one world only.
    pub fn fails_in_world(world: &WorldName, side: &str, status: i32, said: &str, case: &Path) -> Failure {
        let said = if said.is_empty() { String::new() } else { format!(": {said}") };
        let why = format!(
            "it exits with status {status} there and not in the other{said}; the runs are in {}",
            case.display()
        );
        let remedy = format!("whyslow world run {} -- COMMAND", quote_path(Path::new(&world.to_string())));
        Failure::new(format!("the program fails in the {side} world ({world})"), why, remedy)
    }

    /// A subject that finds its program or library in neither world.
    pub fn not_in_world(world: &WorldName, side: &str, said: &str, case: &Path) -> Failure {
        let said = if said.is_empty() { String::new() } else { format!(": {said}") };
        let case = case.display();
        let why = format!("it exits with status 127 in both{said}; the runs are in {case}");
        let remedy = bring(world);
        Failure::new(format!("a program or library is missing in the {side} world ({world})"), why, remedy)
    }

    /// The same, where the program is not in that world.
    #[must_use]
    pub fn missing_from(mut self, world: &WorldName) -> Failure {
        self.remedy = bring(world);
        self
    }
}

/// How to get what is missing into a world.
fn bring(world: &WorldName) -> String {
    match world {
        WorldName::Debian(_) => "--package NAME, the package it is in".to_string(),
        WorldName::Git(_) => "--build COMMAND, to build it".to_string(),
        _ => format!("whyslow world run {} -- COMMAND", quote_path(Path::new(&world.to_string()))),
    }
}
