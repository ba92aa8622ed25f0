//! What a case means, for people: the terminal's text, the page, Markdown, and exports for other tools. Pure: a document
//! goes in, text comes out.
//!
//! A document is what a command found ([`Document`]). The things it shows are blocks, one file each in `blocks`;
//! `documents` lists them for each kind of document, and the terminal, the page and Markdown walk that list.

mod bar;
mod block;
mod blocks;
mod chart;
mod command;
mod contrast;
mod document;
mod documents;
mod embed;
mod escape;
#[cfg(test)]
mod examples;
pub mod export;
mod figure;
mod function;
mod grid;
#[cfg(test)]
mod hostile;
mod label;
mod markdown;
mod outcome;
mod page;
mod part;
mod place;
mod ranking;
mod scale;
mod sheet;
#[cfg(test)]
mod snapshots;
mod style;
mod terminal;
#[cfg(test)]
mod tests;
mod text;
mod value;

pub use blocks::lead::{bisection_sentence, contrast_sentence, matrix_sentence, sweep_sentence};
pub use document::{Body, Document};
pub use markdown::markdown;
pub use outcome::{Outcome, bisection_outcome, comparison_outcome, matrix_outcome, outcome, sweep_outcome};
pub use page::page;
pub use style::{Colour, Style};
pub use terminal::text;
pub use text::{clean, wrap};
