//! Errors of bisecting.

use super::{Failure, quote_path};
use lab::worlds::Ready;
use std::path::Path;

impl Failure {
    /// The same, where it happened in one of the worlds: `good` or `bad`.
    #[must_use]
    pub fn in_world(mut self, side: &str, name: &str) -> Failure {
        self.what = format!("in the {side} world ({name}): {}", self.what);
        self
    }

    /// A subject that fails in one world only.
    pub fn fails_in_world(ready: &Ready, side: &str, status: i32, said: &str, case: &Path) -> Failure {
        let said = if said.is_empty() { String::new() } else { format!(": {said}") };
        let why = format!(
            "there it ends with status {status}, in the other one it does not{said}; what was run is kept in {}",
            case.display()
        );
        let remedy = format!("whyslow world run {} -- COMMAND", quote_path(Path::new(&ready.name.to_string())));
        Failure::new(format!("the program fails in the {side} world ({})", ready.name), why, remedy)
    }
}
