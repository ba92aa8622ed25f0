//! How each metric is spread, version by version: all its figures as a table, and on the page a picture.

mod picture;

use crate::block::{Block, Section};
use crate::figure::{noun, scaled, three};
use crate::grid::Row;
use crate::part::{Part, Table, under};
use crate::ranking::measured;
use crate::text::{capitalised, clean, count, shorten};
use case::{Figures, Matrix, Metric};

pub(crate) const BLOCK: Block = Block {
    html: Some(|document| document.matrix().map_or(String::new(), picture::spreads)),
    ..Block::of(Section::Matrix, |document| {
        let matrix = document.matrix();
        matrix.into_iter().flat_map(|matrix| matrix.metrics.iter().flat_map(|metric| table(matrix, metric))).collect()
    })
};

/// A longer version is cut: the table needs its room.
const VERSION_COLUMNS: usize = 12;
/// What is said of a distribution.
const HEADINGS: [&str; 9] = ["n", "min", "max", "mean", "median", "p95", "p99", "stdev", "sum"];

fn table(matrix: &Matrix, metric: &Metric) -> Vec<Part> {
    let of = rows(matrix, metric);
    let (unit, size) = unit(metric, &of);
    let rows = of.iter().map(|(version, figures)| Row::new(shorten(version, VERSION_COLUMNS), cells(figures, size)));
    let in_unit = if unit.is_empty() { String::new() } else { format!(", in {unit}") };
    let table = Table::of("", HEADINGS, rows.collect());
    under(format!("{}{in_unit}", capitalised(&noun(metric))), [Part::Table(table)])
}

/// The versions with their figures of a metric.
fn rows<'a>(matrix: &'a Matrix, metric: &Metric) -> Vec<(String, &'a Figures)> {
    let of = |version: &'a case::Version| {
        let figures = version.figures.iter().find(|figures| figures.metric == *metric)?;
        Some((clean(&version.version), figures))
    };
    measured(matrix).filter_map(of).collect()
}

/// The unit that fits the largest median, and its size; none for what is no time.
fn unit(metric: &Metric, of: &[(String, &Figures)]) -> (&'static str, f64) {
    let most = of.iter().map(|(_, figures)| figures.median).fold(0.0, f64::max);
    scaled(metric, most)
}

/// The figures under [`HEADINGS`], in a unit of `size`.
fn cells(figures: &Figures, size: f64) -> Vec<String> {
    let Figures { min, max, mean, median, p95, p99, stdev, sum, .. } = *figures;
    let rest = [min, max, mean, median, p95, p99, stdev, sum].map(|value| three(value / size));
    [count(figures.n)].into_iter().chain(rest).collect()
}
