//! `whyslow undo`: ends and removes what runs that were killed have left behind.

use crate::arguments::UndoArguments;
use crate::fail::Failure;
use crate::output;
use crate::progress::Progress;
use lab::{Repair, Repaired};
use schemars::JsonSchema;
use serde::Serialize;

/// The version of what `--json` prints.
const SCHEMA: u32 = 1;

/// What `--json` prints.
#[derive(Serialize, JsonSchema)]
pub struct Undone {
    /// The contract's version.
    schema: u32,
    /// What was ended or removed, a sentence each.
    repaired: Vec<String>,
    /// What could not be, and why.
    left: Vec<String>,
}

/// Repairs, and prints a line for each thing repaired.
pub fn undo(typed: &UndoArguments) -> Result<u8, Failure> {
    let progress = Progress::of("looking for leftovers of killed runs");
    let repaired = lab::repair(Repair::All)?;
    drop(progress);
    let text = if typed.json { json(&repaired)? } else { lines(&repaired) };
    output::print(&text)?;
    match repaired.left.as_slice() {
        [] => Ok(0),
        left => Err(Failure::not_undone(left)),
    }
}

fn lines(repaired: &Repaired) -> String {
    match (repaired.done.as_slice(), repaired.left.as_slice()) {
        ([], []) => "Nothing to clean up.\n".to_string(),
        (done, _) => done.iter().map(|line| report::clean(line) + "\n").collect(),
    }
}

fn json(repaired: &Repaired) -> Result<String, Failure> {
    output::json(&Undone { schema: SCHEMA, repaired: repaired.done.clone(), left: repaired.left.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_has_a_line_and_nothing_has_one_too() {
        assert_eq!(lines(&Repaired::default()), "Nothing to clean up.\n");
        let done = vec!["ended process 7 (nginx)".to_string(), "removed the folder /tmp/x\u{1b}".to_string()];
        let text = lines(&Repaired { done, left: Vec::new() });
        assert!(text.starts_with("ended process 7 (nginx)\nremoved the folder /tmp/x") && !text.contains('\u{1b}'));
    }

    #[test]
    fn the_json_says_what_was_done_and_what_was_not() {
        let repaired = Repaired { done: vec!["a".into()], left: vec!["b".into()] };
        let value = serde_json::from_str::<serde_json::Value>(&json(&repaired).expect("text")).expect("JSON");
        assert_eq!(value, serde_json::json!({ "schema": 1, "repaired": ["a"], "left": ["b"] }));
    }
}
