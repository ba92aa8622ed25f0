//! The page's end: what made it, of what, when, and how to do the same again.

use crate::blocks::attached;
use crate::command::typed;
use crate::document::{Body, Document};
use crate::text::clean;

/// Facts of the environment that tell when something was recorded are named so.
const WHEN: [&str; 3] = ["recorded", "began", "started"];

/// What made the page, when it was recorded, and where the case lies.
pub(super) fn facts(document: &Document) -> Vec<(&'static str, String)> {
    let mut facts = vec![("Made by", format!("whyslow {}", env!("CARGO_PKG_VERSION")))];
    facts.extend(recorded(document).map(|when| ("Recorded", when)));
    let case = document.body.case();
    if !case.is_empty() {
        facts.push(("Case", clean(case)));
    }
    facts
}

/// When it was recorded, as the environment's facts say.
pub(super) fn recorded(document: &Document) -> Option<String> {
    let facts = document.sides.iter().flat_map(|side| &side.views.environment);
    let mut times = facts.filter(|fact| {
        let name = fact.name.to_lowercase();
        WHEN.iter().any(|word| name.starts_with(word))
    });
    times.next().map(|fact| clean(&fact.value))
}

/// A command to type.
pub(super) struct Typed {
    /// What it is for.
    pub name: &'static str,
    /// The command.
    pub line: String,
    /// What is to be put into it first; empty for nothing.
    pub note: &'static str,
}

/// Commands to type: the same again, and the same text.
pub(super) fn commands(document: &Document) -> Vec<Typed> {
    let (line, note) = again(document);
    let mut commands = vec![Typed { name: "Run again", line, note }];
    let case = document.body.case();
    if !case.is_empty() {
        let case = typed(&[case.to_string()]);
        let mut add = |name, line| commands.push(Typed { name, line, note: "" });
        add("Text", format!("whyslow report {case}"));
        add("This page", format!("whyslow report {case} --format html -o report.html"));
    }
    commands
}

/// The command that does the same again, as far as the case knows it, and what is to be put into it.
fn again(document: &Document) -> (String, &'static str) {
    match document.body {
        Body::Answer(answer) => {
            if answer.is_of_capture() {
                return (typed(&answer.command), "");
            }
            let views = document.sides.first().map(|side| &side.views);
            // Of a recording that was cut short it is not known how the program ended.
            let is_cut = views.is_some_and(|views| views.cut_short);
            // A program that was running already is found by its process, which is gone by now.
            if !answer.live.is_empty() || (answer.subject_exit.is_none() && !is_cut) {
                return ("whyslow attach PID".into(), "with the process's PID");
            }
            let server = views.map_or(String::new(), |views| server(&views.server));
            (format!("whyslow run {server}-- {}", typed(&answer.command)), "")
        }
        Body::Comparison(comparison) => {
            let (a, b) = (&comparison.a, &comparison.b);
            let server = if a.server == b.server { server(&b.server) } else { String::new() };
            if a.command != b.command {
                let other = typed(&[typed(&a.command)]);
                return (format!("whyslow compare {server}{other} -- {}", typed(&b.command)), "");
            }
            let changes = |flag: &str, changes: &[String]| {
                let typed = changes.iter().map(|change| format!("{flag} {} ", typed(std::slice::from_ref(change))));
                typed.collect::<String>()
            };
            let (of_a, of_b) = (changes("--a", &a.changes), changes("--b", &b.changes));
            (format!("whyslow compare {server}{of_a}{of_b}-- {}", typed(&b.command)), "")
        }
        Body::Measured(measured) => {
            let (command, hint) = measured.shown().again;
            (typed(&command), hint)
        }
        Body::Sweep(sweep) => {
            let (server, parameter) = (server(&sweep.server), clean(&sweep.parameter));
            let line = format!("whyslow sweep {server}--vary {parameter}=... -- {}", typed(&sweep.command));
            (line, "with values in place of the dots")
        }
        Body::Bisection(bisection) => {
            let world = |name: &String| typed(std::slice::from_ref(name));
            let (good, bad) = (world(&bisection.good.name), world(&bisection.bad.name));
            let server = server(&bisection.server);
            (format!("whyslow bisect --good {good} --bad {bad} {server}-- {}", typed(&bisection.command)), "")
        }
        Body::Matrix(matrix) => {
            let versions = matrix.versions.iter().map(|version| version.version.as_str()).collect::<Vec<_>>();
            let library = typed(&[format!("{}={}", matrix.library, versions.join(","))]);
            let with = matrix.with.iter().map(|one| format!("--with {} ", typed(std::slice::from_ref(one))));
            let tried = attached::names(matrix).into_iter().map(|one| format!("--try {} ", typed(&[one])));
            let (with, server) = (with.chain(tried).collect::<String>(), server(&matrix.server));
            (format!("whyslow matrix --library {library} {with}{server}-- {}", typed(&matrix.command)), "")
        }
    }
}

/// The option that starts a server first; empty for none.
fn server(words: &[String]) -> String {
    if words.is_empty() { String::new() } else { format!("--server {} ", typed(&[typed(words)])) }
}
