//! What was attached to every version from outside, a table each: plain, with it, the gain, what remains.

use crate::figure::noun;
use crate::matrix::measured;
use crate::matrix::tries::{cells, names, note, on};
use crate::text::clean;
use askama::Template;
use case::Matrix;

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
