//! Where to look on: the page and the case in the terminal, the commands that repeat it in Markdown. The page has them
//! at its end, whatever it shows.

use crate::block::{Block, Section};
use crate::command::command;
use crate::document::{Body, Document};
use crate::escape::{code, escape};
use crate::text::clean;
use case::Manifest;

pub(crate) const BLOCK: Block = Block {
    text: Some(|document, _| whereabouts(document.body.page(), document.body.case())),
    markdown: Some(markdown),
    ..Block::of(Section::Environment, |_| Vec::new())
};

/// The page, where there is one, and the case last.
fn whereabouts(page: &str, case: &str) -> String {
    let page = if page.is_empty() { String::new() } else { format!("Page: {}\n", clean(page)) };
    format!("{page}Case: {}\n", clean(case))
}

fn markdown(document: &Document) -> String {
    let report = command(&["whyslow".into(), "report".into(), document.body.case().to_string()]);
    let (heading, typed) = match document.body {
        Body::Answer(answer) => ("How to repeat it", run(&answer.command, answer.subject_exit, document.manifest)),
        _ => ("How to look again", String::new()),
    };
    let machine = document.manifest.map(machine).unwrap_or_default();
    let on = if machine.is_empty() { machine } else { format!("\nMeasured on {machine}.\n") };
    format!("### {heading}\n\n{}{on}", code::block(&format!("{typed}{report}")))
}

/// The command that was typed, as far as the case knows it; empty for what was attached to.
fn run(words: &[String], exit: Option<i32>, manifest: Option<&Manifest>) -> String {
    // What was watched while it ran has no command that started it.
    if words.is_empty() || exit.is_none() {
        return String::new();
    }
    let mut typed = vec!["whyslow".to_string(), "run".into()];
    if let Some(manifest) = manifest {
        if !manifest.server.is_empty() {
            typed.extend(["--server".into(), command(&manifest.server)]);
        }
        if !manifest.link.is_empty() {
            typed.extend(["--link".into(), manifest.link.clone()]);
        }
    }
    typed.push("--".into());
    format!("{} {}\n", command(&typed), command(words))
}

/// Where the time was recorded.
fn machine(manifest: &Manifest) -> String {
    let host = &manifest.host;
    if host.kernel.is_empty() {
        return String::new();
    }
    let facts = [host.distribution.clone(), format!("Linux {}", host.kernel), host.processor.clone()];
    let facts = facts.iter().filter(|fact| !fact.is_empty()).map(|fact| escape(fact)).collect::<Vec<_>>().join(", ");
    format!("{facts}; whyslow {}", escape(&manifest.whyslow))
}
