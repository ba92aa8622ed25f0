//! The levels of a series, one a row.

use super::words::{seconds, value};
use crate::block::{Block, Section};
use crate::document::Document;
use crate::grid::Row;
use crate::part::{Part, Table, under};
use crate::text::count;

/// Rows that are shown at once.
const MOST_ROWS: usize = 20;

pub(crate) const BLOCK: Block = Block::of(Section::OverTime, |document: &Document| {
    let Some(series) = document.steps() else { return Vec::new() };
    let most = series.levels.iter().map(|level| level.value.abs()).fold(f64::MIN_POSITIVE, f64::max);
    let rows = series.levels.iter().map(|level| {
        let shown = |figure: f64| value(series.quantity, figure);
        let interval = format!("{} to {}", shown(level.low), shown(level.high));
        let cells = [seconds(level.to_s), shown(level.value), interval, count(level.values)];
        Row::new(seconds(level.from_s), cells).with_bar("#", level.value.abs() / most)
    });
    let table = Table::of("from", ["until", "median", "95 % interval", "values"], rows.collect()).most(MOST_ROWS);
    under("Levels", [Part::Table(table)])
});
