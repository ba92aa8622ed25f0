//! The page: one self-contained HTML file. It opens offline, says all it has found without JavaScript, and treats every
//! string from outside as hostile.
//!
//! Its sections hold the blocks of a document, in their order. Text goes into HTML through askama's templates only, and
//! into scripts through [`crate::embed`] only. What JavaScript adds (zoom, search, tooltips) is in `assets`, one file a
//! view.

mod colophon;
mod frame;
mod headline;
mod policy;
#[cfg(test)]
mod tests;

use crate::block::Section;
use crate::document::Document;
use crate::documents::blocks;

/// The page as one HTML file.
pub fn page(document: &Document) -> String {
    let drawn = Section::ALL.iter().copied().map(|one| (one, section(document, one)));
    let drawn = drawn.filter(|(_, html)| !html.is_empty()).collect::<Vec<_>>();
    frame::frame(document, &drawn)
}

/// A section's HTML; empty where none of its blocks has anything to show.
fn section(document: &Document, section: Section) -> String {
    let own = blocks(document.body).into_iter().filter(|block| block.section == section);
    own.map(|block| block.html(document)).collect()
}
