//! The values of a sweep with what was measured at each, cliffs marked between them. In text, values that are names have
//! bars instead of a plot.

use crate::block::{Block, Section};
use crate::document::Document;
use crate::figure::{noun, single, spread, three};
use crate::grid::Row;
use crate::part::{self, Part, Table, under};
use crate::sheet::{Cell, Column, Sheet};
use crate::style::Style;
use crate::text::clean;
use crate::value::{has_cliff, heading, is_categorical, is_sound, name};
use case::{Metric, Point, Sweep};

pub(crate) const BLOCK: Block =
    Block { text: Some(text), html: Some(html), ..Block::of(Section::Sweep, |document| table(document, Bars::No)) };

/// More points than this come from no sweep of ours.
const MOST_POINTS: usize = 100;
/// The row of a cliff.
const CLIFF: &str = "-- cliff --";

/// Whether rows have bars.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bars {
    Yes,
    No,
}

fn text(document: &Document, style: Style) -> String {
    let is_names = document.sweep().is_some_and(is_categorical);
    part::text::of(&table(document, if is_names { Bars::Yes } else { Bars::No }), style)
}

fn table(document: &Document, bars: Bars) -> Vec<Part> {
    let Some(sweep) = document.sweep() else { return Vec::new() };
    let most = sweep.points.iter().filter(|point| is_sound(point)).map(|point| point.measured).fold(0.0, f64::max);
    let what = if matches!(sweep.metric, Metric::Output { .. }) { "figure".to_string() } else { noun(&sweep.metric) };
    let mut rows = Vec::new();
    for (index, point) in sweep.points.iter().enumerate() {
        if index > 0 && has_cliff(sweep, &sweep.points[index - 1], point) {
            rows.push(Row::new(CLIFF, [""; 0]));
        }
        let row = row(sweep, point);
        let has_bar = bars == Bars::Yes && is_sound(point);
        rows.push(if has_bar { row.with_bar("#", point.measured / most) } else { row });
    }
    let table = Table::of(&heading(sweep), [&what, rates(sweep), "trials"], rows).words(1).most(MOST_POINTS);
    under("What was measured (95 % intervals)", [Part::Table(table)])
}

/// What the rates are of: whole runs where no exchange is measured.
fn rates(sweep: &Sweep) -> &'static str {
    if sweep.metric.is_of_exchanges() || matches!(sweep.metric, Metric::Load { .. }) { "requests/s" } else { "runs/s" }
}

fn row(sweep: &Sweep, point: &Point) -> Row {
    let problem = clean(&point.problem);
    if !is_sound(point) {
        let why = if problem.is_empty() { "no sound trial".into() } else { format!("no sound trial: {problem}") };
        return Row::new(name(point), [""; 0]).with_note(why);
    }
    let figure = figure(sweep, point);
    let rate = if point.rate > 0.0 { three(point.rate) } else { String::new() };
    let note = if problem.is_empty() { problem } else { format!("but: {problem}") };
    Row::new(name(point), [figure, rate, point.trials.to_string()]).with_note(note)
}

pub(crate) fn figure(sweep: &Sweep, point: &Point) -> String {
    let is_whole = [point.low, point.high].iter().all(|end| end.is_finite() && *end > 0.0);
    if is_whole {
        spread(&sweep.metric, point.measured, point.low, point.high)
    } else {
        single(&sweep.metric, point.measured)
    }
}

/// All of them, folded away beneath the curve.
fn html(document: &Document) -> String {
    let Some(sweep) = document.sweep().filter(|sweep| !sweep.points.is_empty()) else { return String::new() };
    let count = sweep.points.len();
    format!("<details><summary>All {count} values as a table</summary>\n{}\n</details>\n", points(sweep).html())
}

/// The table of all points.
fn points(sweep: &Sweep) -> Sheet {
    let columns = vec![
        Column::words("Value"),
        Column::figures("Measured").meaning("The middle of its trials, with the 95 % interval"),
        Column::figures(if sweep.metric.is_of_exchanges() { "Requests per second" } else { "Runs per second" }),
        Column::figures("Sound trials"),
        Column::words("Remarks"),
    ];
    let rows = sweep.points.iter().enumerate().map(|(index, point)| {
        let is_sound = is_sound(point);
        let before = index.checked_sub(1).and_then(|before| sweep.points.get(before));
        let is_cliff = before.is_some_and(|before| has_cliff(sweep, before, point));
        let cliff = if is_cliff { "cliff before it" } else { "" };
        let remarks = [cliff.to_string(), clean(&point.problem)];
        let remarks = remarks.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
        let value = |number: f64| Some(if number.is_finite() { number.to_string() } else { "-1".into() });
        vec![
            Cell { text: name(point), value: value(point.value) },
            Cell {
                text: if is_sound { figure(sweep, point) } else { "no sound trial".into() },
                value: value(point.measured),
            },
            Cell::number(if point.rate > 0.0 { point.rate } else { f64::NAN }),
            Cell::count(point.trials.into()),
            Cell::words(&remarks),
        ]
    });
    Sheet { of: "values", columns, rows: rows.collect() }.without_empty_columns()
}
