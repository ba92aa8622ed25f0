//! `whyslow undo`: ends and removes what runs that were killed have left behind.

use crate::arguments::JsonArguments;
use crate::output;
use crate::progress::Progress;
use case::Undone;
use fail::Failure;
use lab::{Repair, Repaired};

/// Repairs, and prints a line for each thing repaired.
pub fn undo(typed: &JsonArguments) -> Result<u8, Failure> {
    let progress = Progress::of("looking for leftovers of killed runs");
    let Repaired { done, left } = lab::repair(Repair::All)?;
    drop(progress);
    let undone = Undone::of(done, left);
    output::document(&undone, typed.json, lines)?;
    match undone.left.as_slice() {
        [] => Ok(0),
        left => Err(Failure::not_undone(left)),
    }
}

fn lines(undone: &Undone) -> String {
    match (undone.repaired.as_slice(), undone.left.as_slice()) {
        ([], []) => "Nothing to clean up.\n".to_string(),
        (repaired, _) => repaired.iter().map(|line| report::clean(line) + "\n").collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_has_a_line_and_nothing_has_one_too() {
        assert_eq!(lines(&Undone::of(Vec::new(), Vec::new())), "Nothing to clean up.\n");
        let done = vec!["ended process 7 (nginx)".to_string(), "removed the folder /tmp/x\u{1b}".to_string()];
        let text = lines(&Undone::of(done, Vec::new()));
        assert!(text.starts_with("ended process 7 (nginx)\nremoved the folder /tmp/x") && !text.contains('\u{1b}'));
    }
}
