//! What grows in a sweep: the call chain with each function's own exponent.

use crate::block::{Block, Section};
use crate::blocks::chain::{Chain, ChainFrame};
use crate::document::Document;
use crate::escape::escape;
use crate::figure::power;
use crate::function::code;
use crate::style::Style;
use crate::text::wrap;
use crate::value::{heading, label};
use case::Share;

pub(crate) const BLOCK: Block = Block {
    text: Some(text),
    html: Some(|document| growth(document).map_or(String::new(), |chain| chain.html())),
    markdown: Some(|document| {
        growth(document).map_or(String::new(), |chain| format!("### {}\n\n{}", escape(&chain.title), chain.markdown()))
    }),
    ..Block::of(Section::Sweep, |_| Vec::new())
};

/// The chain; none where it was not looked for.
fn growth(document: &Document) -> Option<Chain> {
    let sweep = document.sweep()?;
    let growth = sweep.growth.as_ref().filter(|growth| !growth.chain.is_empty())?;
    let frames = growth.chain.iter().map(|one| ChainFrame {
        figures: vec![power(one.exponent), Share(one.share).to_string()],
        name: code(&one.function, &one.module),
    });
    let title = format!(
        "What grows with {} (CPU time, callees included; share at {})",
        heading(sweep),
        label(sweep, growth.to)
    );
    let headings = vec!["exponent".into(), "share".into()];
    Some(Chain { title, headings, frames: frames.collect(), nameless: 0 })
}

fn text(document: &Document, style: Style) -> String {
    let Some(chain) = growth(document) else { return String::new() };
    wrap(&format!("{}:", chain.title), style.columns(), "", "  ") + &chain.text(style)
}
