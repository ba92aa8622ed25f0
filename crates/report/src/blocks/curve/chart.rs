//! The curve as a picture: points with their intervals, cliffs, stretches of one kind, the knee, the fitted power law,
//! and values at which nothing could be measured. An axis is logarithmic where its values span more than a factor of 8.

use super::fitted::fitted;
use crate::blocks::points::figure;
use crate::chart::{Mark, Px, Size, marks, rows};
use crate::figure::{pair, power};
use crate::scale::{Scale, Start};
use crate::text::{clean, shorten};
use crate::value::{heading, is_sound, label, name, sound, standing};
use askama::Template;
use case::{Cliff, Point, Regime, Sweep};

/// A point alone is read from the table.
const LEAST_POINTS: usize = 2;
/// Left of the picture: the labels of its axis.
const LEFT: f64 = 62.0;
/// Right of it.
const RIGHT: f64 = 14.0;
/// Points keep away from the picture's sides.
const INSET: f64 = 16.0;
/// A row of text.
const ROW: f64 = 18.0;
/// Cliffs and knee are named on so many rows.
const ROWS: usize = 3;
/// Below the picture: values, and what they are of.
const BELOW: f64 = 46.0;
/// Blanks around a label, so that neighbours are distinguished.
const APART: f64 = 10.0;
/// Names longer than this are cut.
const NAME_COLUMNS: usize = 28;

#[derive(Template)]
#[template(path = "blocks/curve.html")]
struct Curve {
    sizes: Vec<Chart>,
    scales: &'static str,
    has_cliff: bool,
    has_regimes: bool,
    has_failed: bool,
    knee: String,
    fit: String,
}

/// The picture in one size.
struct Chart {
    size: Size,
    left: Px,
    right: Px,
    top: Px,
    bottom: Px,
    height: Px,
    middle: Px,
    across: Vec<Mark>,
    up: Vec<Mark>,
    heading: String,
    bands: Vec<Band>,
    signs: Vec<Sign>,
    knee: Option<(Px, Px)>,
    line: String,
    area: String,
    joined: Vec<String>,
    points: Vec<Drawn>,
    failed: Vec<Mark>,
}

/// A stretch of one kind.
struct Band {
    x: Px,
    width: Px,
    middle: Px,
    y: Px,
    label: String,
    said: String,
}

/// A vertical line with a name.
struct Sign {
    class: &'static str,
    at: Px,
    x: Px,
    y: Px,
    text: String,
}

struct Drawn {
    x: Px,
    y: Px,
    low: Px,
    high: Px,
    said: String,
}

/// The picture as HTML; empty for few points.
pub(super) fn chart(sweep: &Sweep) -> String {
    if sound(sweep).filter(|point| point.value.is_finite()).count() < LEAST_POINTS {
        return String::new();
    }
    let charts = Size::BOTH.iter().filter_map(|size| drawn(sweep, *size)).collect::<Vec<_>>();
    let Some((across, up)) = scales(sweep, Size::Wide) else { return String::new() };
    let page = Curve {
        sizes: charts,
        scales: match (across.is_logarithmic(), up.is_logarithmic()) {
            (true, true) => "Both axes are logarithmic.",
            (true, false) => "The axis across is logarithmic.",
            (false, true) => "The axis upwards is logarithmic.",
            (false, false) => "",
        },
        has_cliff: !sweep.cliffs.is_empty(),
        has_regimes: sweep.regimes.len() > 1,
        has_failed: sweep.points.iter().any(|point| !is_sound(point)),
        knee: knee_label(sweep),
        fit: fit_label(sweep),
    };
    page.render().unwrap_or_default()
}

/// What a cliff is: `1424 | 1426: 43.8 ms to 33.1 us`.
pub(super) fn cliff_label(sweep: &Sweep, cliff: &Cliff) -> String {
    let (below, above) = pair(&sweep.metric, cliff.level_below, cliff.level_above);
    format!("{} | {}: {below} to {above}", label(sweep, cliff.below), label(sweep, cliff.above))
}

fn knee_label(sweep: &Sweep) -> String {
    let Some(knee) = &sweep.knee else { return String::new() };
    let [at, low, high] = [knee.at, knee.low, knee.high].map(|value| label(sweep, value));
    format!("bends at {at} ({low} to {high})")
}

fn fit_label(sweep: &Sweep) -> String {
    let Some(growth) = &sweep.growth else { return String::new() };
    let [exponent, low, high] = [growth.exponent, growth.low, growth.high].map(power);
    format!("{} to the power of {exponent} (95 % interval {low} to {high})", heading(sweep))
}

/// Below the names of stretches, cliffs and knee.
fn top(sweep: &Sweep) -> f64 {
    let signs = sweep.cliffs.len() + usize::from(sweep.knee.is_some());
    ROW * (signs.min(ROWS) + 1) as f64 + 8.0
}

fn bottom(sweep: &Sweep, size: Size) -> f64 {
    top(sweep) + if size == Size::Wide { 320.0 } else { 260.0 }
}

fn scales(sweep: &Sweep, size: Size) -> Option<(Scale, Scale)> {
    let values = sweep.points.iter().map(|point| point.value);
    let across = Scale::fitting(values, Start::Lowest, LEFT + INSET, size.width() - RIGHT - INSET)?;
    let levels = sound(sweep).flat_map(|point| [point.measured, ends(point).0, ends(point).1]);
    let up = Scale::fitting(levels.collect::<Vec<_>>().into_iter(), Start::Zero, bottom(sweep, size), top(sweep))?;
    Some((across, up.widened(0.05)))
}

fn drawn(sweep: &Sweep, size: Size) -> Option<Chart> {
    let (across, up) = scales(sweep, size)?;
    let (right, bottom) = (size.width() - RIGHT, bottom(sweep, size));
    let fitted = fitted(sweep, &across, &up);
    let failed = sweep.points.iter().filter(|point| !is_sound(point) && point.value.is_finite());
    Some(Chart {
        size,
        left: Px(LEFT),
        right: Px(right),
        top: Px(top(sweep)),
        bottom: Px(bottom),
        height: Px(bottom + BELOW),
        middle: Px(f64::midpoint(LEFT, right)),
        across: values(sweep, &across, size),
        up: marks(&up, &sweep.metric, 30.0),
        heading: heading(sweep),
        bands: bands(sweep, &across, right),
        signs: signs(sweep, &across, size),
        knee: sweep.knee.as_ref().map(|knee| {
            let (low, high) = (across.place(knee.low), across.place(knee.high));
            (Px(low), Px((high - low).max(1.0)))
        }),
        joined: joined(sweep, &across, &up),
        points: sound(sweep).map(|point| draw(sweep, point, &across, &up)).collect(),
        failed: failed
            .map(|point| Mark {
                at: Px(across.place(point.value)),
                label: format!("{}: no sound trial: {}", name(point), clean(&point.problem)),
            })
            .collect(),
        line: fitted.as_ref().map_or(String::new(), |fitted| fitted.line.clone()),
        area: fitted.map_or(String::new(), |fitted| fitted.area),
    })
}

/// The ends of a point's interval; none reads as the point itself.
fn ends(point: &Point) -> (f64, f64) {
    let sane = |end: f64| end.is_finite() && end > 0.0;
    let low = if sane(point.low) { point.low.min(point.measured) } else { point.measured };
    let high = if sane(point.high) { point.high.max(point.measured) } else { point.measured };
    (low, high)
}

fn draw(sweep: &Sweep, point: &Point, across: &Scale, up: &Scale) -> Drawn {
    let (low, high) = ends(point);
    Drawn {
        x: Px(across.place(point.value)),
        y: Px(up.place(point.measured)),
        low: Px(up.place(low)),
        high: Px(up.place(high)),
        said: format!("{}: {}, {} trials", name(point), figure(sweep, point), point.trials),
    }
}

/// Neighbouring points joined by a line that no cliff interrupts.
fn joined(sweep: &Sweep, across: &Scale, up: &Scale) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut before: Option<f64> = None;
    for point in sound(sweep) {
        let is_over_cliff = |from: f64| sweep.cliffs.iter().any(|c| from <= c.below && c.above <= point.value);
        let place = format!("{} {}", Px(across.place(point.value)), Px(up.place(point.measured)));
        match (before.is_none_or(is_over_cliff), lines.last_mut()) {
            (false, Some(line)) => line.extend(["L", &place]),
            _ => lines.push(format!("M{place}")),
        }
        before = Some(point.value);
    }
    lines
}

/// The values that fit beneath the axis: those at cliffs first, then the knee, then the ends.
fn values(sweep: &Sweep, across: &Scale, size: Size) -> Vec<Mark> {
    let at_cliffs = sweep.cliffs.iter().flat_map(|cliff| [cliff.below, cliff.above]);
    let at_cliffs = at_cliffs.chain(sweep.knee.iter().map(|knee| knee.at));
    let at_cliffs = at_cliffs.map(|value| (value, label(sweep, value)));
    let ends = sweep.points.last().into_iter().chain(&sweep.points);
    let all = at_cliffs.chain(ends.map(|point| (point.value, name(point)))).collect::<Vec<_>>();
    let placed = all.into_iter().map(|(value, text)| (across.place(value), shorten(&text, NAME_COLUMNS)));
    let placed = placed.collect::<Vec<_>>();
    // What would cover a label that matters more is left out.
    let rooms = placed.iter().map(|(at, text)| (*at, text.chars().count() as f64 * Size::LETTER + APART));
    let mut taken: Vec<(f64, f64)> = Vec::new();
    let mut marks = Vec::new();
    for ((at, text), (middle, width)) in placed.iter().zip(rooms) {
        let (start, end) = (middle - width / 2.0, middle + width / 2.0);
        let is_free = taken.iter().all(|(from, to)| end <= *from || start >= *to);
        if is_free && end <= size.width() + APART {
            taken.push((start, end));
            marks.push(Mark { at: Px(*at), label: text.clone() });
        }
    }
    marks
}

/// The stretches, each up to halfway to its neighbour.
fn bands(sweep: &Sweep, across: &Scale, right: f64) -> Vec<Band> {
    let regimes = &sweep.regimes;
    let between = |one: &Regime, other: &Regime| f64::midpoint(across.place(one.to), across.place(other.from));
    let band = |(index, regime): (usize, &Regime)| {
        let start = index.checked_sub(1).map_or(LEFT, |before| between(&regimes[before], regime));
        let end = regimes.get(index + 1).map_or(right, |after| between(regime, after));
        let names = standing(regime).map(|finding| clean(&finding.name)).collect::<Vec<_>>();
        let found = if names.is_empty() { "no cause found".to_string() } else { names.join(", ") };
        let number = index + 1;
        let choices = [format!("{number}: {found}"), number.to_string()];
        let has_room = |text: &&String| text.chars().count() as f64 * Size::LETTER + APART <= end - start;
        Band {
            x: Px(start),
            width: Px((end - start).max(0.0)),
            middle: Px(f64::midpoint(start, end)),
            y: Px(ROW - 5.0),
            label: choices.iter().find(has_room).cloned().unwrap_or_default(),
            said: format!("{} to {}: {found}", label(sweep, regime.from), label(sweep, regime.to)),
        }
    };
    regimes.iter().enumerate().map(band).collect()
}

/// Cliffs and the knee, named above the picture.
fn signs(sweep: &Sweep, across: &Scale, size: Size) -> Vec<Sign> {
    let middle = |cliff: &Cliff| f64::midpoint(across.place(cliff.below), across.place(cliff.above));
    let cliffs = sweep.cliffs.iter().map(|cliff| ("cliff", middle(cliff), cliff_label(sweep, cliff)));
    let knee = sweep.knee.iter().map(|knee| ("knee", across.place(knee.at), knee_label(sweep)));
    let all = cliffs.chain(knee).collect::<Vec<_>>();
    let width = |text: &str| text.chars().count() as f64 * Size::LETTER + APART;
    let room = all.iter().map(|(_, at, text)| {
        let half = (width(text) / 2.0).min(size.width() / 2.0);
        (at.clamp(half, size.width() - half), width(text))
    });
    let room = room.collect::<Vec<_>>();
    let most = room.len().min(ROWS);
    let rows = rows(&room, most);
    let mut signs = Vec::new();
    for (((class, at, text), (x, _)), row) in all.into_iter().zip(room).zip(rows) {
        signs.push(Sign { class, at: Px(at), x: Px(x), y: Px(ROW * (most - row + 1) as f64 - 4.0), text });
    }
    signs
}
