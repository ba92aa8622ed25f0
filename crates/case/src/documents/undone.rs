//! What `undo` did.

use schemars::JsonSchema;
use serde::Serialize;

/// The version of the document.
const SCHEMA: u32 = 1;

/// What runs that were killed had left behind.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Undone {
    /// The version of this format.
    schema: u32,
    /// What was ended or removed, a sentence each.
    pub repaired: Vec<String>,
    /// What could not be, and why.
    pub left: Vec<String>,
}

impl Undone {
    /// What was repaired, and what was left.
    pub fn of(repaired: Vec<String>, left: Vec<String>) -> Undone {
        Undone { schema: SCHEMA, repaired, left }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_says_what_was_done_and_what_was_not() {
        let value = serde_json::to_value(Undone::of(vec!["a".into()], vec!["b".into()])).expect("JSON");
        assert_eq!(value, serde_json::json!({ "schema": 1, "repaired": ["a"], "left": ["b"] }));
    }
}
