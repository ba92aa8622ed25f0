//! A document as Markdown, to be pasted into a ticket or a chat: its blocks below one another.
//!
//! Every string from outside is escaped by [`crate::escape`].

use crate::command::command;
use crate::document::{Body, Document};
use crate::documents::blocks;
use crate::escape::{code, escape};

/// The document as Markdown.
pub fn markdown(document: &Document) -> String {
    let blocks = blocks(document.body).into_iter().map(|block| block.markdown(document));
    let blocks = blocks.filter(|block| !block.is_empty()).collect::<Vec<_>>();
    format!("## whyslow: {}\n\n{}", title(document.body), blocks.join("\n"))
}

fn title(body: Body) -> String {
    match body {
        Body::Answer(answer) => code::span(&command(&answer.command)),
        Body::Comparison(_) => "A against B".into(),
        Body::Sweep(sweep) => format!("{} varied", escape(&sweep.parameter)),
        Body::Bisection(_) => "good against bad".into(),
        Body::Measured(measured) => measured.shown().title.into(),
        Body::Matrix(matrix) => format!("versions of {}", escape(&matrix.library)),
    }
}

#[cfg(test)]
mod tests;
