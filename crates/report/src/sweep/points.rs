//! The table of points, cliffs marked between them. Values that are names have bars instead of a plot.

use super::value::{heading, is_categorical, is_sound, name};
use crate::figure::{noun, spread, three};
use crate::grid::{Align, Row, grid};
use crate::style::Style;
use crate::text::{clean, counted};
use case::{Point, Sweep};

/// More points than this come from no sweep of ours.
const MOST_POINTS: usize = 100;

/// The table; empty where nothing was tried.
pub(super) fn points(sweep: &Sweep, style: Style) -> String {
    if sweep.points.is_empty() {
        return String::new();
    }
    let bars = is_categorical(sweep);
    let most = sweep.points.iter().filter(|point| is_sound(point)).map(|point| point.measured).fold(0.0, f64::max);
    let noun = noun(&sweep.metric);
    let what = noun.strip_prefix("the ").unwrap_or(&noun);
    let what = if sweep.metric.starts_with("stdout") { "figure" } else { what };
    let mut rows = vec![Row::new(heading(sweep), [what, rates(sweep), "trials"])];
    for (index, point) in sweep.points.iter().take(MOST_POINTS).enumerate() {
        if index > 0 && has_cliff(sweep, &sweep.points[index - 1], point) {
            rows.push(Row::new("-- cliff --", [""; 0]));
        }
        let row = row(sweep, point);
        rows.push(if bars && is_sound(point) { row.with_bar("#", point.measured / most) } else { row });
    }
    let mut text = "What was measured (95 % intervals):\n".to_string();
    text += &grid(&rows, &[Align::Left, Align::Right, Align::Right], "  ", style);
    match sweep.points.len().saturating_sub(MOST_POINTS) {
        0 => text,
        more => text + &format!("  and {}\n", counted(more as u64, "more value")),
    }
}

/// What the rates are of: whole runs where no exchange is measured.
pub(crate) fn rates(sweep: &Sweep) -> &'static str {
    if sweep.metric.contains("exchange") { "requests/s" } else { "a second" }
}

fn row(sweep: &Sweep, point: &Point) -> Row {
    let problem = clean(&point.problem);
    if !is_sound(point) {
        let why = if problem.is_empty() { "no sound trial".into() } else { format!("no sound trial: {problem}") };
        return Row { note: why, ..Row::new(name(point), [""; 0]) };
    }
    let figure = spread(&sweep.metric, point.measured, point.low, point.high);
    let rate = if point.rate > 0.0 { three(point.rate) } else { String::new() };
    let note = if problem.is_empty() { problem } else { format!("but: {problem}") };
    Row { note, ..Row::new(name(point), [figure, rate, point.trials.to_string()]) }
}

/// Whether a cliff lies between two neighbours.
pub(crate) fn has_cliff(sweep: &Sweep, before: &Point, after: &Point) -> bool {
    sweep.cliffs.iter().any(|cliff| before.value <= cliff.below && cliff.above <= after.value)
}
