//! `whyslow doctor`: what works on this machine, tried rather than guessed, and how to enable the rest.

use crate::arguments::DoctorArguments;
use crate::fail::Failure;
use crate::output;
use crate::progress::Progress;
use record::doctor::Check;
use schemars::JsonSchema;
use serde::Serialize;

/// Columns of the words before a check's detail.
const WORD_COLUMNS: usize = 9;
/// As everywhere.
const COLUMNS: usize = 80;

/// What `--json` prints.
#[derive(Serialize, JsonSchema)]
pub struct Checks {
    /// Every check, in the order in which they are made.
    checks: Vec<Checked>,
}

/// One check.
#[derive(Serialize, JsonSchema)]
struct Checked {
    /// What was tried.
    name: String,
    /// Whether it works here.
    works: bool,
    /// What was found.
    detail: String,
    /// What would enable it; empty where it works.
    remedy: String,
}

/// Prints every check. 0 where all work, 1 where something is missing.
pub fn doctor(typed: &DoctorArguments) -> Result<u8, Failure> {
    let progress = Progress::of("checking what works on this machine");
    let checks = record::doctor::checks();
    drop(progress);
    let text = if typed.json { json(&checks)? } else { table(&checks) };
    output::print(&text)?;
    Ok(u8::from(checks.iter().any(|check| !check.works)))
}

fn table(checks: &[Check]) -> String {
    let names = checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    let indent = " ".repeat(WORD_COLUMNS + names + 2);
    let mut text = String::new();
    for check in checks {
        let word = if check.works { "ok" } else { "missing" };
        let first = format!("{word:<WORD_COLUMNS$}{:<names$}  ", check.name);
        text += &report::wrap(&report::clean(&check.detail), COLUMNS, &first, &indent);
        if !check.works && !check.remedy.is_empty() {
            text += &report::wrap(&report::clean(&check.remedy), COLUMNS, &format!("{indent}try: "), &indent);
        }
    }
    text
}

fn json(checks: &[Check]) -> Result<String, Failure> {
    let checked = checks.iter().map(|check| Checked {
        name: check.name.clone(),
        works: check.works,
        detail: check.detail.clone(),
        remedy: check.remedy.clone(),
    });
    output::json(&Checks { checks: checked.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks() -> Vec<Check> {
        let check = |name: &str, works, remedy: &str| Check {
            name: name.into(),
            works,
            detail: "tried".into(),
            remedy: remedy.into(),
        };
        vec![check("BPF programs", true, ""), check("link", false, "sudo whyslow doctor")]
    }

    #[test]
    fn what_is_missing_is_said_in_words_with_its_remedy() {
        let expected = "ok       BPF programs  tried\n\
                        missing  link          tried\n                       try: sudo whyslow doctor\n";
        assert_eq!(table(&checks()), expected);
    }

    #[test]
    fn the_json_has_every_check() {
        let document = serde_json::from_str::<serde_json::Value>(&json(&checks()).expect("text")).expect("json");
        assert_eq!(document["checks"][1]["works"], false);
        assert_eq!(document["checks"][1]["remedy"], "sudo whyslow doctor");
    }
}
