//! Why the cliffs of a sweep are where they are.

use crate::block::{Block, Section};
use crate::document::Document;
use crate::part::{Part, html, under};
use crate::style::Style;
use crate::text::wrap;
use crate::value::{heading, label};
use case::{Cliff, Sweep};

pub(crate) const BLOCK: Block = Block {
    text: Some(|document, style| reasons(document).iter().map(|reason| line(reason, style)).collect()),
    html: Some(|document| html::of(&reasons(document).into_iter().map(Part::Paragraph).collect::<Vec<_>>())),
    ..Block::of(Section::Verdict, |document| under("Why it jumps", [Part::List(reasons(document))]))
};

fn reasons(document: &Document) -> Vec<String> {
    let Some(sweep) = document.sweep() else { return Vec::new() };
    let one = |cliff: &Cliff| {
        let (below, above) = (label(sweep, cliff.below), label(sweep, cliff.above));
        format!("Why between {below} and {above}: {}", reason(sweep, cliff))
    };
    sweep.cliffs.iter().map(one).collect()
}

fn line(reason: &str, style: Style) -> String {
    wrap(&crate::text::clean(reason), style.columns(), "", "  ")
}

fn reason(sweep: &Sweep, cliff: &Cliff) -> String {
    if !cliff.reason.is_empty() {
        return cliff.reason.clone();
    }
    match cliff.segment {
        None => "not known.".into(),
        Some(tie) => format!(
            "a segment of the connection holds {} bytes, {} of them not part of the {}, so {} is the last to fit one \
             segment.",
            tie.mss,
            tie.overhead,
            heading(sweep),
            tie.predicted
        ),
    }
}
