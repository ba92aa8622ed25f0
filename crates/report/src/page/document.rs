//! The document around the sections: head, navigation, styles and scripts.

mod colophon;
mod headline;
mod policy;

use super::{Material, Section, Told};
use crate::command::command;
use crate::text::clean;
use askama::Template;
use case::Contrast;

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
];

/// What the sections are called in the navigation, which has room for a word.
const SHORT: &[(&str, &str)] = &[
    ("proof", "Proof"),
    ("sweep", "Curve"),
    ("bisection", "Bisection"),
    ("matrix", "Versions"),
    ("ledger", "Time"),
    ("ladder", "One request"),
    ("flame", "Threads"),
    ("lengths", "Lengths"),
    ("calls", "Calls"),
    ("evidence", "Evidence"),
    ("environment", "Environment"),
];

#[derive(Template)]
#[template(path = "page/document.html")]
struct Document<'a> {
    policy: String,
    title: String,
    headline: String,
    commands_shown: Vec<Shown>,
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
pub(super) fn document(material: &Material, drawn: &[(&Section, String)]) -> String {
    let sections = drawn.iter().map(|(section, html)| Drawn {
        id: section.id,
        title: title(section, material),
        short: short(section, material),
        html,
    });
    let headline = headline::headline(material.told);
    let subject = subject(material.told);
    let scripts = SCRIPTS.join("\n");
    let document = Document {
        policy: policy::policy(&scripts),
        title: if subject.is_empty() { headline.clone() } else { format!("{headline} - {subject}") },
        headline,
        commands_shown: shown(material.told),
        notice: notice(material),
        styles: STYLES.concat(),
        scripts,
        sections: sections.collect(),
        facts: colophon::facts(material),
        commands: colophon::commands(material),
    };
    document.render().unwrap_or_default()
}

/// A section's heading. What a comparison shows of its trials is no proof of a cause.
fn title<'a>(section: &'a Section, material: &Material) -> &'a str {
    match (section.id, material.told) {
        ("proof", Told::Comparison(comparison)) if comparison.outcome == Contrast::Open => "Every trial",
        ("proof", Told::Comparison(_)) => "Every trial of A and of B",
        _ => section.title,
    }
}

fn short<'a>(section: &'a Section, material: &Material) -> &'a str {
    if section.id == "proof" && matches!(material.told, Told::Comparison(_)) {
        return "Trials";
    }
    SHORT.iter().find(|(id, _)| *id == section.id).map_or(section.title, |(_, short)| short)
}

/// What the page is about: a command.
fn subject(told: Told) -> String {
    match told {
        Told::Answer(answer) => command(&answer.command),
        Told::Comparison(comparison) if comparison.a.command == comparison.b.command => command(&comparison.b.command),
        Told::Comparison(comparison) => format!("{} against another", command(&comparison.b.command)),
        Told::Sweep(sweep) => command(&sweep.command),
        Told::Bisection(bisection) => command(&bisection.command),
        Told::Matrix(matrix) => command(&matrix.command),
    }
}

/// What stands beneath the headline: a command, or two where A and B differ in theirs.
fn shown(told: Told) -> Vec<Shown> {
    let of = |side, words: &[String]| Shown { side, short: command(&without_folders(words)), full: command(words) };
    match told {
        Told::Comparison(comparison) if comparison.a.command != comparison.b.command => {
            vec![of("A: ", &comparison.a.command), of("B: ", &comparison.b.command)]
        }
        Told::Comparison(comparison) => vec![of("", &comparison.b.command)],
        Told::Answer(answer) => vec![of("", &answer.command)],
        Told::Sweep(sweep) => vec![of("", &sweep.command)],
        Told::Bisection(bisection) => vec![of("", &bisection.command)],
        Told::Matrix(matrix) => vec![of("", &matrix.command)],
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
fn notice(material: &Material) -> String {
    let cut = material.sides.iter().filter(|side| side.views.cut_short).map(|side| clean(&side.name));
    match cut.collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        [_] if material.sides.len() == 1 => "This recording was cut short: its last rows may be missing.".into(),
        [one] => format!("The recording of {one} was cut short: its last rows may be missing."),
        several => format!("Recordings of {} were cut short: their last rows may be missing.", several.join(" and ")),
    }
}

#[cfg(test)]
mod tests;
