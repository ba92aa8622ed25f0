//! What went wrong with requests, by name.

use super::words::name;
use crate::block::{Block, Section};
use crate::document::Document;
use crate::grid::Row;
use crate::part::{Part, Table, under};
use crate::text::count;

pub(crate) const BLOCK: Block = Block::of(Section::Verdict, |document: &Document| {
    let errors = document.load().map_or(&[][..], |found| &found.errors);
    if errors.is_empty() {
        return Vec::new();
    }
    let rows = errors.iter().map(|one| Row::new(name(one.fault), [count(one.count)]));
    under("What went wrong", [Part::Table(Table::of("", ["times"], rows.collect()))])
});
