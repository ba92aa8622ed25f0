//! The points as a picture of letters: `o` what was measured, `|` its interval where it is taller than a letter, `:`
//! a cliff. An axis is logarithmic where its values span more than a factor of 8.

mod axis;

use self::axis::{Axis, Start};
use crate::figure::{noun, single};
use crate::style::Style;
use crate::text::{shorten, wrap};
use crate::value::{heading, is_categorical, label, name, sound};
use case::{Metric, Point, Sweep};

/// Rows of the picture, the axis and its labels besides.
const ROWS: usize = 13;
/// Columns of the whole picture.
const MOST_COLUMNS: usize = 72;
/// Columns of the labels on the left.
const LABEL_COLUMNS: usize = 8;
/// The axis between labels and picture, with a blank on either side.
const GAP: &str = " | ";
/// Fewer points are read faster from their table.
const LEAST_POINTS: usize = 4;

/// The picture; empty for names, and for few points.
pub(super) fn plot(sweep: &Sweep, style: Style) -> String {
    let points = sound(sweep).filter(|point| point.value.is_finite()).collect::<Vec<_>>();
    let columns = MOST_COLUMNS.min(style.columns()) - LABEL_COLUMNS - GAP.len();
    let across = Axis::over(points.iter().map(|point| point.value), columns, Start::Lowest);
    let levels = points.iter().flat_map(|point| [point.measured, ends(point).0, ends(point).1]);
    let up = Axis::over(levels, ROWS, Start::Zero);
    let (Some(across), Some(up)) = (across, up) else { return String::new() };
    if is_categorical(sweep) || points.len() < LEAST_POINTS {
        return String::new();
    }
    let mut picture = vec![vec![' '; columns]; ROWS];
    draw_cliffs(&mut picture, sweep, &across);
    draw_points(&mut picture, &points, &across, &up);
    let labels = up.marks().into_iter().map(|level| (up.cell(level), tick(&sweep.metric, level)));
    let labels = labels.collect::<Vec<_>>();
    let mut text = title(sweep, &across, &up, style);
    for (row, line) in picture.iter().enumerate().rev() {
        let label = labels.iter().find(|(at, _)| *at == row).map_or("", |(_, label)| label);
        let line = line.iter().collect::<String>();
        text += format!("{label:>LABEL_COLUMNS$}{GAP}{line}").trim_end();
        text.push('\n');
    }
    text + &foot(sweep, &points, &across, columns)
}

/// The ends of a point's interval; none reads as the point itself.
fn ends(point: &Point) -> (f64, f64) {
    let sane = |end: f64| end.is_finite() && end > 0.0;
    let low = if sane(point.low) { point.low.min(point.measured) } else { point.measured };
    let high = if sane(point.high) { point.high.max(point.measured) } else { point.measured };
    (low, high)
}

fn draw_points(picture: &mut [Vec<char>], points: &[&Point], across: &Axis, up: &Axis) {
    for point in points {
        let (low, high) = ends(point);
        for line in &mut picture[up.cell(low)..=up.cell(high)] {
            line[across.cell(point.value)] = '|';
        }
    }
    for point in points {
        picture[up.cell(point.measured)][across.cell(point.value)] = 'o';
    }
}

fn draw_cliffs(picture: &mut [Vec<char>], sweep: &Sweep, across: &Axis) {
    for cliff in &sweep.cliffs {
        let column = across.between(cliff.below, cliff.above);
        for line in &mut *picture {
            line[column] = ':';
        }
    }
}

fn title(sweep: &Sweep, across: &Axis, up: &Axis, style: Style) -> String {
    let noun = noun(&sweep.metric);
    let what = shorten(&noun, 60);
    let scales = match (across.is_logarithmic(), up.is_logarithmic()) {
        (true, true) => "both logarithmic; ",
        (true, false) => "across logarithmic; ",
        (false, true) => "up logarithmic; ",
        (false, false) => "",
    };
    let cliff = if sweep.cliffs.is_empty() { "" } else { ", : cliff" };
    let knee = if sweep.knee.is_some() { ", ^ knee" } else { "" };
    let text = format!("{what} by {} ({scales}o measured, | interval{cliff}{knee}):", heading(sweep));
    let mut letters = text.chars();
    let text = letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>());
    wrap(&text.unwrap_or_default(), style.columns(), "", "  ")
}

/// The axis below, and the values that fit beneath it: those at cliffs first, then the ends.
fn foot(sweep: &Sweep, points: &[&Point], across: &Axis, columns: usize) -> String {
    let mut line = vec!['-'; columns];
    let mut labels = vec![' '; columns];
    let at_cliffs = sweep.cliffs.iter().flat_map(|cliff| [cliff.below, cliff.above]);
    let at_cliffs = at_cliffs.map(|value| (value, label(sweep, value)));
    let bend = sweep.knee.iter().map(|knee| (knee.at, label(sweep, knee.at)));
    let ends = points.first().into_iter().chain(points.last());
    let all = ends.chain(points).map(|point| (point.value, name(point)));
    for (value, text) in at_cliffs.chain(bend).chain(all) {
        let column = across.cell(value);
        let wide = text.chars().count();
        let start = column.saturating_sub(wide / 2).min(columns.saturating_sub(wide));
        // A blank on either side keeps labels apart.
        let room = start.saturating_sub(1)..(start + wide + 1).min(columns);
        if wide <= columns && labels[room].iter().all(|letter| *letter == ' ') {
            line[column] = '+';
            for (offset, letter) in text.chars().enumerate() {
                labels[start + offset] = letter;
            }
        }
    }
    if let Some(knee) = &sweep.knee {
        line[across.cell(knee.at)] = '^';
    }
    let indent = " ".repeat(LABEL_COLUMNS);
    let (line, labels) = (line.iter().collect::<String>(), labels.iter().collect::<String>());
    format!("{indent} +-{line}\n{}\n", format!("{indent}   {labels}").trim_end())
}

/// A level beside the axis, without digits that say nothing: `10 ms`.
fn tick(metric: &Metric, level: f64) -> String {
    if level == 0.0 {
        return "0".into();
    }
    let text = single(metric, level);
    let (number, unit) = text.split_once(' ').map_or((text.as_str(), ""), |(number, unit)| (number, unit));
    let bare = number.contains('.') && !number.contains('e');
    let number = if bare { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    shorten(format!("{number} {unit}").trim_end(), LABEL_COLUMNS)
}
