//! Where the extra CPU time goes in the bad world, as distinct from what was switched: the call chain of both worlds.

use crate::block::{Block, Section};
use crate::blocks::chain::Chain;
use crate::blocks::hot_spots;
use crate::document::Document;
use crate::escape::escape;
use crate::label::label;
use crate::part;
use crate::style::Style;
use crate::text::{clean, wrap};
use case::{Burner, Share};

pub(crate) const BLOCK: Block = Block {
    text: Some(text),
    html: Some(html),
    markdown: Some(markdown),
    ..Block::of(Section::Bisection, |_| Vec::new())
};

/// What the sides are called.
const SIDES: [&str; 2] = ["good", "bad"];

/// Who burns the time, the sentence about it, and the chain; none where CPU time is no part of the difference.
fn burnt<'d>(document: &Document<'d>) -> Option<(&'d Burner, String, Chain)> {
    let bisection = document.bisection()?;
    let burner = bisection.burner.as_ref()?;
    let factor = &burner.factor;
    let of = if factor.is_empty() { String::new() } else { format!(", part of {}", label(bisection, factor)) };
    let said = format!("{}{of}: {} of the bad world's", clean(&burner.library), Share(burner.share));
    Some((burner, said, Chain::of(&burner.chain, SIDES)))
}

fn text(document: &Document, style: Style) -> String {
    let Some((burner, said, chain)) = burnt(document) else { return String::new() };
    wrap(&said, style.columns(), "Where the CPU time goes: ", "  ")
        + &chain.text(style)
        + &part::text::of(&hot_spots::parts(&burner.hot_spots, SIDES), style)
}

fn html(document: &Document) -> String {
    let Some((burner, said, chain)) = burnt(document) else { return String::new() };
    let words = [
        part::Part::Heading("Where the CPU time goes".into()),
        part::Part::Paragraph(format!("{said}; the C library's counts for its callers.")),
    ];
    part::html::of(&words) + &chain.html() + &part::html::of(&hot_spots::parts(&burner.hot_spots, SIDES))
}

fn markdown(document: &Document) -> String {
    let Some((burner, said, chain)) = burnt(document) else { return String::new() };
    let hot_spots = part::markdown::of(&hot_spots::parts(&burner.hot_spots, SIDES));
    let chain = chain.markdown();
    let parts = [format!("### Where the CPU time goes\n\n{}\n", escape(&said)), chain, hot_spots];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}
