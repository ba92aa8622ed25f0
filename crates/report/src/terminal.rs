//! A document as text for a terminal: its blocks below one another, the verdict first and the case's path last.

use crate::document::Document;
use crate::documents::blocks;
use crate::style::Style;

/// The document as text, at most 80 columns wide but for words, paths and commands that are longer.
pub fn text(document: &Document, style: &Style) -> String {
    let blocks = blocks(document.body).into_iter().map(|block| block.text(document, *style));
    blocks.filter(|block| !block.is_empty()).collect::<Vec<_>>().join("\n")
}
