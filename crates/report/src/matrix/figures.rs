//! Each metric's distribution by version, and every ratio with its interval.

use super::measured;
use crate::comparison::row as compared_row;
use crate::figure::{noun, scaled, three};
use crate::grid::{Align, Row, grid};
use crate::style::Style;
use crate::text::{clean, count, shorten, wrap};
use case::{Compared, Figures, Matrix};

/// A longer version is cut: the table needs its room.
const VERSION_COLUMNS: usize = 12;
/// What is told of a distribution.
pub(crate) const HEADINGS: [&str; 9] = ["n", "min", "max", "mean", "median", "p95", "p99", "stdev", "sum"];

/// A block for each metric; empty where nothing was measured.
pub(super) fn figures(matrix: &Matrix, style: Style) -> String {
    let blocks = matrix.metrics.iter().map(|metric| block(matrix, metric, style));
    blocks.filter(|block| !block.is_empty()).collect::<Vec<_>>().join("\n")
}

fn block(matrix: &Matrix, metric: &str, style: Style) -> String {
    let of = rows(matrix, metric);
    if of.is_empty() {
        return String::new();
    }
    let (unit, size) = unit(metric, &of);
    let rows = of.iter().map(|(version, figures)| Row::new(shorten(version, VERSION_COLUMNS), cells(figures, size)));
    let rows = [Row::new("", HEADINGS)].into_iter().chain(rows).collect::<Vec<_>>();
    wrap(&title(metric, unit), style.columns(), "", "  ") + &grid(&rows, &[Align::Right; 9], "  ", style)
}

/// What a block is of: `Processor time per request, in ms:`.
fn title(metric: &str, unit: &str) -> String {
    let mut letters = noun(metric);
    if let Some(first) = letters.get(..1).map(str::to_uppercase) {
        letters.replace_range(..1, &first);
    }
    if unit.is_empty() { format!("{letters}:") } else { format!("{letters}, in {unit}:") }
}

/// The versions with their figures of a metric.
pub(crate) fn rows<'a>(matrix: &'a Matrix, metric: &str) -> Vec<(String, &'a Figures)> {
    let of = |version: &'a case::Version| {
        let figures = version.figures.iter().find(|figures| figures.metric == metric)?;
        Some((clean(&version.version), figures))
    };
    measured(matrix).filter_map(of).collect()
}

/// The unit that fits the largest median, and its size; none for what is no time.
pub(crate) fn unit(metric: &str, of: &[(String, &Figures)]) -> (&'static str, f64) {
    let most = of.iter().map(|(_, figures)| figures.median).fold(0.0, f64::max);
    scaled(metric, most)
}

/// The figures under [`HEADINGS`], in a unit of `size`.
pub(crate) fn cells(figures: &Figures, size: f64) -> Vec<String> {
    let Figures { min, max, mean, median, p95, p99, stdev, sum, .. } = *figures;
    let rest = [min, max, mean, median, p95, p99, stdev, sum].map(|value| three(value / size));
    [count(figures.n)].into_iter().chain(rest).collect()
}

/// Every ratio; empty for fewer than two versions.
pub(super) fn ratios(matrix: &Matrix, style: Style) -> String {
    let Some(first) = measured(matrix).next().map(|first| clean(&first.version)) else { return String::new() };
    let of_metric = |metric: &String| {
        let ratios = measured(matrix).flat_map(|version| version.ratios.iter().map(move |one| (version, one)));
        let rows = ratios.filter(|(_, one)| one.metric == *metric).map(|(version, one)| row(&version.version, one));
        let rows = rows.collect::<Vec<_>>();
        let head = if rows.is_empty() { None } else { Some(Row::new(noun(metric), [""])) };
        head.into_iter().chain(rows).collect::<Vec<_>>()
    };
    let rows = matrix.metrics.iter().flat_map(of_metric).collect::<Vec<_>>();
    if rows.is_empty() {
        return String::new();
    }
    let rows = [Row::new("", [&first, "other", "ratio", "", ""])].into_iter().chain(rows).collect::<Vec<_>>();
    let aligns = [Align::Right, Align::Right, Align::Right, Align::Left, Align::Left];
    format!("Against {first} (middles, 95 % intervals):\n{}", grid(&rows, &aligns, "  ", style))
}

fn row(version: &str, compared: &Compared) -> Row {
    let row = compared_row(compared);
    Row { name: format!("  {}", shorten(&clean(version), VERSION_COLUMNS)), ..row }
}
