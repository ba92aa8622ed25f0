//! The document around the sections: head, navigation, styles and scripts.

use super::{Material, Section, Told};
use crate::text::clean;
use askama::Template;

/// What every view has in common comes first.
const SCRIPTS: &[&str] = &[
    include_str!("../../assets/uplot/uPlot.iife.min.js"),
    include_str!("../../assets/page.js"),
    include_str!("../../assets/ladder.js"),
    include_str!("../../assets/flame.js"),
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
    include_str!("../../assets/sheets.css"),
];

#[derive(Template)]
#[template(path = "page/document.html")]
struct Document<'a> {
    title: String,
    styles: String,
    scripts: String,
    sections: Vec<Drawn<'a>>,
}

struct Drawn<'a> {
    id: &'a str,
    title: &'a str,
    html: &'a str,
}

/// The whole file.
pub(super) fn document(material: &Material, drawn: &[(&Section, String)]) -> String {
    let sections = drawn.iter().map(|(section, html)| Drawn { id: section.id, title: section.title, html });
    let document = Document {
        title: title(material),
        styles: STYLES.concat(),
        scripts: SCRIPTS.join("\n"),
        sections: sections.collect(),
    };
    document.render().unwrap_or_default()
}

/// What the browser's tab shows.
fn title(material: &Material) -> String {
    let command = match material.told {
        Told::Answer(answer) => answer.command.join(" "),
        Told::Comparison(comparison) => format!("{} against another", comparison.b.command.join(" ")),
        Told::Sweep(sweep) => format!("{} swept", sweep.command.join(" ")),
    };
    format!("whyslow: {}", clean(&command))
}
