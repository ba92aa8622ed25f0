//! What was attached to every version from outside, a table each: plain, with it, the gain, what remains.

use crate::figure::{noun, pair, range, three};
use crate::matrix::measured;
use crate::matrix::tries::{names, note, of, on};
use crate::text::{clean, count};
use askama::Template;
use case::{Matrix, TriedOn};

#[derive(Template)]
#[template(path = "page/matrix/tries.html")]
struct Tries {
    tables: Vec<Table>,
}

/// One intervention, by one metric.
struct Table {
    name: String,
    metric: String,
    rows: Vec<Row>,
}

/// One version.
struct Row {
    version: String,
    /// Plain, with it, the gain and its interval, the changes; empty where it was not measured.
    cells: [String; 5],
    note: String,
}

/// The tables as HTML; empty where nothing was tried.
pub(super) fn tries(matrix: &Matrix) -> String {
    let first = measured(matrix).next().map(|first| clean(&first.version)).unwrap_or_default();
    let table = |name: &String, metric: &String| Table {
        name: clean(name),
        metric: noun(metric),
        rows: on(matrix, name)
            .into_iter()
            .map(|(version, tried)| Row {
                version: clean(&version.version),
                cells: cells(tried, metric),
                note: note(tried, metric, &first),
            })
            .collect(),
    };
    let names = names(matrix);
    let tables = names.iter().flat_map(|name| matrix.metrics.iter().map(move |metric| table(name, metric)));
    let tables = tables.collect::<Vec<_>>();
    if tables.is_empty() { String::new() } else { Tries { tables }.render().unwrap_or_default() }
}

fn cells(tried: &TriedOn, metric: &str) -> [String; 5] {
    let Some(gain) = of(&tried.gain, metric) else { return Default::default() };
    let (with, plain) = pair(metric, gain.a, gain.b);
    [plain, with, three(gain.ratio), range(gain.low, gain.high), count(tried.changes)]
}
