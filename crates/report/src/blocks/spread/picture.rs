//! How each metric is spread, version by version: drawn on one axis, and all its figures as a table.

use super::{HEADINGS, cells, rows, unit};
use crate::chart::{Mark, Px, marks};
use crate::figure::{noun, single};
use crate::ranking::{measured, slower};
use crate::scale::{Scale, Start};
use crate::text::capitalised;
use askama::Template;
use case::{Figures, Matrix, Metric};

/// Marks of the axis are at least this far apart, in percent of it.
const APART: f64 = 14.0;

#[derive(Template)]
#[template(path = "blocks/spread.html")]
struct Spreads {
    headings: [&'static str; 9],
    metrics: Vec<Picture>,
}

/// One metric.
struct Picture {
    name: String,
    unit: &'static str,
    marks: Vec<Mark>,
    rows: Vec<Row>,
}

/// One version.
struct Row {
    name: String,
    class: &'static str,
    /// Minimum, median, 95 and 99 of 100.
    drawn: [Px; 4],
    figure: String,
    said: String,
    cells: Vec<String>,
}

/// The pictures with their tables as HTML; empty where nothing was measured.
pub(super) fn spreads(matrix: &Matrix) -> String {
    let metrics = matrix.metrics.iter().filter_map(|metric| of(matrix, metric)).collect::<Vec<_>>();
    if metrics.is_empty() {
        return String::new();
    }
    Spreads { headings: HEADINGS, metrics }.render().unwrap_or_default()
}

fn of(matrix: &Matrix, metric: &Metric) -> Option<Picture> {
    let of = rows(matrix, metric);
    let values = of.iter().flat_map(|(_, figures)| [figures.min, figures.median, figures.p95, figures.p99]);
    let scale = Scale::fitting(values.collect::<Vec<_>>().into_iter(), Start::Zero, 0.0, 100.0)?.widened(0.02);
    let (unit, size) = unit(metric, &of);
    let is_slow = |index: usize| measured(matrix).nth(index).is_some_and(|version| slower(version).is_some());
    let row = |(index, (name, figures)): (usize, &(String, &Figures))| {
        let figure = single(metric, figures.median);
        Row {
            name: name.clone(),
            class: if is_slow(index) { "slow" } else { "fast" },
            drawn: [figures.min, figures.median, figures.p95, figures.p99].map(|value| Px(scale.place(value))),
            said: format!("{name}: median {figure}, p95 {}", single(metric, figures.p95)),
            figure,
            cells: cells(figures, size),
        }
    };
    let rows = of.iter().enumerate().map(row).collect();
    Some(Picture { name: capitalised(&noun(metric)), unit, marks: marks(&scale, metric, APART), rows })
}
