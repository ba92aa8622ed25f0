//! What a case means, for people: the terminal's text, the page, Markdown, and exports for other tools. Pure: a document
//! goes in, text comes out.
//!
//! A document is what a command found ([`Document`]). The things it shows are blocks, one file each in `blocks`;
//! `documents` lists them for each kind of document, and the terminal, the page and Markdown walk that list.

mod activity;
mod bar;
mod block;
mod blocks;
mod chart;
mod command;
mod conclusion;
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
mod listing;
mod located;
mod markdown;
mod measured;
mod page;
mod part;
mod place;
mod ranking;
mod request_kind;
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

pub use blocks::lead::{bisection_sentence, sum_up};
pub use blocks::services::lead::{deviation_sentence, watched_sentence};
pub use blocks::traffic::live::{live_line, live_screen};
pub use conclusion::{Conclusion, conclusion_of, steps_conclusion, traffic_conclusion, watched_conclusion};
pub use document::{Body, Document, Feeds, Measured};
pub use listing::{
    checks, page_entry, page_text, recording, removed_worlds, selected, stories, story, story_table, trial, worlds,
};
pub use markdown::markdown;
pub use page::page;
pub use style::{Colour, Style};
pub use terminal::text;
pub use text::{clean, wrap};
