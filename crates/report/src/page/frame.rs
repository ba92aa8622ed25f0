//! What stands around the sections: head, navigation, styles and scripts.

use super::{colophon, headline, policy};
use crate::block::Section;
use crate::command::command;
use crate::document::{Body, Document};
use crate::text::clean;
use askama::Template;

/// What every view has in common comes first.
const SCRIPTS: &[&str] = &[
    include_str!("../../assets/uplot/uPlot.iife.min.js"),
    include_str!("../../assets/page.js"),
    include_str!("../../assets/ladder.js"),
    include_str!("../../assets/flame.js"),
    include_str!("../../assets/flame_view.js"),
    include_str!("../../assets/lengths.js"),
    include_str!("../../assets/sheets.js"),
];
const STYLES: &[&str] = &[
    include_str!("../../assets/uplot/uPlot.min.css"),
    include_str!("../../assets/page.css"),
    include_str!("../../assets/verdict.css"),
    include_str!("../../assets/effects.css"),
    include_str!("../../assets/ledger.css"),
    include_str!("../../assets/ladder.css"),
    include_str!("../../assets/flame.css"),
    include_str!("../../assets/lengths.css"),
    include_str!("../../assets/swept.css"),
    include_str!("../../assets/bisected.css"),
    include_str!("../../assets/matrix.css"),
    include_str!("../../assets/sheets.css"),
    include_str!("../../assets/plot.css"),
    include_str!("../../assets/traffic.css"),
    include_str!("../../assets/load.css"),
    include_str!("../../assets/feeds.css"),
];

#[derive(Template)]
#[template(path = "page.html")]
struct Frame<'a> {
    policy: String,
    title: String,
    headline: String,
    commands_shown: Vec<Shown>,
    /// When it was recorded; empty where that is not known.
    recorded: String,
    notice: String,
    styles: String,
    scripts: String,
    sections: Vec<Drawn<'a>>,
    facts: Vec<(&'static str, String)>,
    commands: Vec<colophon::Typed>,
}

/// A command beneath the headline.
struct Shown {
    /// Whose it is, of two.
    side: &'static str,
    /// Without the folders of its files, which say little and fill a line each.
    short: String,
    /// As it was.
    full: String,
}

struct Drawn<'a> {
    id: &'a str,
    title: &'a str,
    short: &'a str,
    html: &'a str,
}

/// The whole file.
pub(super) fn frame(document: &Document, drawn: &[(Section, String)]) -> String {
    let sections = drawn.iter().map(|(section, html)| {
        let (id, title, short) = names(*section, document);
        Drawn { id, title, short, html }
    });
    let headline = headline::headline(document.body);
    let subject = subject(document.body);
    let scripts = SCRIPTS.join("\n");
    let frame = Frame {
        policy: policy::policy(&scripts),
        title: if subject.is_empty() { headline.clone() } else { format!("{headline} - {subject}") },
        headline,
        commands_shown: shown(document.body),
        recorded: colophon::recorded(document).unwrap_or_default(),
        notice: notice(document),
        styles: STYLES.concat(),
        scripts,
        sections: sections.collect(),
        facts: colophon::facts(document),
        commands: colophon::commands(document),
    };
    frame.render().unwrap_or_default()
}

/// A section's anchor, heading and short name. What a comparison shows of its trials is no proof of a cause.
fn names(section: Section, document: &Document) -> (&'static str, &'static str, &'static str) {
    match (section, document.body) {
        (Section::Proof, Body::Comparison(_)) => ("proof", "Every trial", "Trials"),
        (_, Body::Measured(measured)) => measured.section(section).unwrap_or(section.names()),
        _ => section.names(),
    }
}

/// What the page is about: a command.
fn subject(body: Body) -> String {
    match body {
        Body::Answer(answer) => command(&answer.command),
        Body::Comparison(comparison) if comparison.a.command == comparison.b.command => command(&comparison.b.command),
        Body::Comparison(comparison) => format!("{} against another", command(&comparison.b.command)),
        Body::Sweep(sweep) => command(&sweep.command),
        Body::Bisection(bisection) => command(&bisection.command),
        Body::Matrix(matrix) => command(&matrix.command),
        Body::Measured(measured) => measured.shown().subject,
    }
}

/// What stands beneath the headline: a command, or two where A and B differ in theirs.
fn shown(body: Body) -> Vec<Shown> {
    let of = |side, words: &[String]| Shown { side, short: command(&without_folders(words)), full: command(words) };
    match body {
        Body::Comparison(comparison) if comparison.a.command != comparison.b.command => {
            vec![of("A: ", &comparison.a.command), of("B: ", &comparison.b.command)]
        }
        Body::Comparison(comparison) => vec![of("", &comparison.b.command)],
        Body::Answer(answer) => vec![of("", &answer.command)],
        Body::Sweep(sweep) => vec![of("", &sweep.command)],
        Body::Bisection(bisection) => vec![of("", &bisection.command)],
        Body::Matrix(matrix) => vec![of("", &matrix.command)],
        Body::Measured(measured) => vec![of("", &measured.shown().again.0)],
    }
}

/// Words that are a path from the root as the file's name alone.
fn without_folders(words: &[String]) -> Vec<String> {
    let name = |word: &String| match word.rsplit_once('/') {
        // A device is known by its whole path.
        Some((folders, name))
            if word.starts_with('/') && folders != "/dev" && !name.is_empty() && !word.contains(' ') =>
        {
            name.to_string()
        }
        _ => word.clone(),
    };
    words.iter().map(name).collect()
}

/// That a recording did not come to its end; empty where all did.
fn notice(document: &Document) -> String {
    let cut = document.sides.iter().filter(|side| side.views.cut_short).map(|side| clean(&side.name));
    match cut.collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        [_] if document.sides.len() == 1 => "This recording was cut short: its last rows may be missing.".into(),
        [one] => format!("The recording of {one} was cut short: its last rows may be missing."),
        several => format!("Recordings of {} were cut short: their last rows may be missing.", several.join(" and ")),
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    /// What uPlot 1.6.32 has in `dist` of its package, by SHA-256.
    const PUBLISHED: [(&str, &str, &str); 2] = [
        (
            "uPlot.iife.min.js",
            include_str!("../../assets/uplot/uPlot.iife.min.js"),
            "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
        ),
        (
            "uPlot.min.css",
            include_str!("../../assets/uplot/uPlot.min.css"),
            "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
        ),
    ];

    #[test]
    fn what_others_wrote_is_as_they_published_it() {
        for (name, text, published) in PUBLISHED {
            let digest = Sha256::digest(text.as_bytes());
            let digest = digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            assert_eq!(digest, published, "{name}");
        }
    }
}
