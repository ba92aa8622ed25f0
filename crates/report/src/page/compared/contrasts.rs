//! In which libraries, functions and calls A and B differ: tables with a bar to either side.

use super::super::chain::chain;
use super::super::chart::Px;
use super::super::hot_spots::hot_spots;
use super::super::sheet::{Cell, Column, Sheet};
use crate::chain::code;
use crate::comparison::origin::{per, signed};
use crate::text::clean;
use askama::Template;
use case::{CallContrast, CodeContrast, Comparison, Nanos};

/// More rows than this are folded away.
const FIRST_ROWS: usize = 12;
/// A bar is stretched to its cell, and has this much to either side.
const HALF: f64 = 100.0;

#[derive(Template)]
#[template(path = "page/compared/contrasts.html")]
struct Contrasts {
    tables: Vec<Table>,
    chain: String,
    hot_spots: String,
    calls: String,
    per: &'static str,
}

/// One table.
struct Table {
    title: &'static str,
    first: Vec<Row>,
    rest: Vec<Row>,
}

struct Row {
    class: &'static str,
    name: String,
    a: String,
    b: String,
    difference: String,
    x: Px,
    width: Px,
}

/// The tables as HTML; empty where nothing differs.
pub(super) fn tables(comparison: &Comparison) -> String {
    let tables = [
        table("Processor time by library", &comparison.libraries),
        table("Processor time by function, callees included", &comparison.functions),
    ];
    let tables = tables.into_iter().flatten().collect::<Vec<_>>();
    let chain = chain(&comparison.chain, ["A", "B"]);
    let hot_spots = hot_spots(&comparison.hot_spots, ["A", "B"]);
    let calls = if comparison.calls.is_empty() { String::new() } else { calls(&comparison.calls).html() };
    if tables.is_empty() && chain.is_empty() && calls.is_empty() {
        return String::new();
    }
    Contrasts { tables, chain, hot_spots, calls, per: per(comparison) }.render().unwrap_or_default()
}

fn table(title: &'static str, contrasts: &[CodeContrast]) -> Option<Table> {
    let most = contrasts.iter().map(|one| one.a_ns.abs_diff(one.b_ns)).max().filter(|most| *most > 0)?;
    let mut first = contrasts.iter().map(|one| row(one, most)).collect::<Vec<_>>();
    let rest = first.split_off(first.len().min(FIRST_ROWS));
    Some(Table { title, first, rest })
}

/// A row whose bar is as long as the difference, to the left for less.
fn row(one: &CodeContrast, most: u64) -> Row {
    let width = one.a_ns.abs_diff(one.b_ns) as f64 / most as f64 * HALF;
    let is_less = one.b_ns < one.a_ns;
    Row {
        class: if is_less { "less" } else { "more" },
        name: code(&one.function, &one.module),
        a: Nanos(one.a_ns).to_string(),
        b: Nanos(one.b_ns).to_string(),
        difference: signed(one.a_ns, one.b_ns),
        x: Px(if is_less { HALF - width } else { HALF }),
        width: Px(width),
    }
}

fn calls(calls: &[CallContrast]) -> Sheet {
    let columns = vec![
        Column::words("Call"),
        Column::words("About"),
        Column::figures("Calls: A"),
        Column::figures("B"),
        Column::figures("Time: A"),
        Column::figures("B"),
        Column::figures("B - A"),
    ];
    let rows = calls.iter().map(|call| {
        let difference = call.b_ns as f64 - call.a_ns as f64;
        vec![
            Cell { text: clean(&call.call), value: None },
            Cell { text: clean(&call.about), value: None },
            Cell::number(call.a_count),
            Cell::number(call.b_count),
            Cell::time(call.a_ns),
            Cell::time(call.b_ns),
            Cell { text: signed(call.a_ns, call.b_ns), value: Some(difference.to_string()) },
        ]
    });
    Sheet { of: "kinds of calls", columns, rows: rows.collect() }.without_empty_columns()
}
