//! What works on this machine.

use super::COLUMNS;
use crate::text::{clean, wrap};
use case::Checks;

/// Columns of the words before a check's detail.
const WORD_COLUMNS: usize = 9;

/// A line a check, with what would enable it where it does not work.
pub fn checks(found: &Checks) -> String {
    let names = found.checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    let indent = " ".repeat(WORD_COLUMNS + names + 2);
    let mut text = String::new();
    for check in &found.checks {
        let word = if check.works { "ok" } else { "missing" };
        let first = format!("{word:<WORD_COLUMNS$}{:<names$}  ", check.name);
        text += &wrap(&clean(&check.detail), COLUMNS, &first, &indent);
        if !check.works && !check.remedy.is_empty() {
            text += &wrap(&clean(&check.remedy), COLUMNS, &format!("{indent}try: "), &indent);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::Check;

    #[test]
    fn what_is_missing_is_said_in_words_with_its_remedy() {
        let check = |name: &str, works, remedy: &str| Check {
            name: name.into(),
            works,
            detail: "tried".into(),
            remedy: remedy.into(),
        };
        let found =
            Checks { checks: vec![check("BPF programs", true, ""), check("link", false, "sudo whyslow doctor")] };
        let expected = "ok       BPF programs  tried\n\
                        missing  link          tried\n                       try: sudo whyslow doctor\n";
        assert_eq!(checks(&found), expected);
    }
}
