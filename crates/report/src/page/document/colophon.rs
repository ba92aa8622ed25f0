//! The page's end: what made it, of what, when, and how to do the same again.

use super::super::{Material, Told};
use crate::command::command;
use crate::text::clean;

/// Facts of the environment that tell when something was recorded are named so.
const WHEN: [&str; 3] = ["recorded", "began", "started"];

/// What made the page, when it was recorded, and where the case lies.
pub(super) fn facts(material: &Material) -> Vec<(&'static str, String)> {
    let mut facts = vec![("Made by", format!("whyslow {}", env!("CARGO_PKG_VERSION")))];
    facts.extend(recorded(material).map(|when| ("Recorded", when)));
    let case = case_of(material.told);
    if !case.is_empty() {
        facts.push(("Case", clean(case)));
    }
    facts
}

/// When it was recorded, as the environment's facts say.
fn recorded(material: &Material) -> Option<String> {
    let facts = material.sides.iter().flat_map(|side| &side.exhibits.environment);
    let mut times = facts.filter(|fact| {
        let name = fact.name.to_lowercase();
        WHEN.iter().any(|word| name.starts_with(word))
    });
    times.next().map(|fact| clean(&fact.value))
}

/// Commands to type: the same again, and the same text.
pub(super) fn commands(told: Told) -> Vec<(&'static str, String)> {
    let mut commands = Vec::new();
    match told {
        // A program that was running already is found by its process, which is gone by now.
        Told::Answer(answer) if answer.live.is_empty() && answer.subject_exit.is_some() => {
            commands.push(("Again", format!("whyslow run -- {}", command(&answer.command))));
        }
        Told::Answer(_) => commands.push(("Again", "whyslow attach PID".to_string())),
        Told::Comparison(comparison) if comparison.a.command != comparison.b.command => {
            let (a, b) = (command(&comparison.a.command), command(&comparison.b.command));
            commands.push(("Again", format!("whyslow compare {} -- {b}", command(&[a]))));
        }
        Told::Comparison(comparison) => {
            let changes = |flag: &str, changes: &[String]| {
                let typed = changes.iter().map(|change| format!("{flag} {} ", command(std::slice::from_ref(change))));
                typed.collect::<String>()
            };
            let (a, b) = (changes("--a", &comparison.a.changes), changes("--b", &comparison.b.changes));
            commands.push(("Again", format!("whyslow compare {a}{b}-- {}", command(&comparison.b.command))));
        }
        Told::Sweep(sweep) => {
            let vary = format!("--vary {}=...", clean(&sweep.parameter));
            commands.push(("Again", format!("whyslow sweep {vary} -- {}", command(&sweep.command))));
        }
    }
    let case = case_of(told);
    if !case.is_empty() {
        let case = command(&[case.to_string()]);
        commands.push(("As text", format!("whyslow report {case}")));
        commands.push(("This page", format!("whyslow report {case} --format html")));
    }
    commands
}

fn case_of(told: Told<'_>) -> &str {
    match told {
        Told::Answer(answer) => &answer.case,
        Told::Comparison(comparison) => &comparison.case,
        Told::Sweep(sweep) => &sweep.case,
    }
}
