//! The distribution as two pictures on one axis: which share of requests took at most so long, and how many took how
//! long.

use super::{longest, points};
use crate::chart::{Mark, Px, Size, marks, rows};
use crate::scale::Scale;
use crate::text::{count, counted};
use askama::Template;
use case::views::{Bin, Lengths};
use case::{Metric, Nanos, Share};

/// All lengths are times.
const METRIC: &Metric = &Metric::Wall;
/// Left of the pictures: the labels of their axes.
const LEFT: f64 = 52.0;
/// Right of them: half a label.
const RIGHT: f64 = 26.0;
/// A row of labels above.
const ROW: f64 = 17.0;
/// Names of points stand on so many rows.
const ROWS: usize = 4;
/// The height of the upper picture without its labels.
const HEIGHT: f64 = 210.0;
/// The height of the lower one.
const BARS: f64 = 96.0;
/// What is written below an axis.
const BELOW: f64 = 24.0;
/// A bin with anything in it is at least this tall: one request of a hundred thousand is seen.
const LEAST_BAR: f64 = 2.5;

#[derive(Template)]
#[template(path = "blocks/lengths/distribution.html")]
struct Charts {
    charts: Vec<Chart>,
}

/// Both pictures in one size.
struct Chart {
    size: Size,
    left: Px,
    right: Px,
    top: Px,
    bottom: Px,
    height: Px,
    across: Vec<Mark>,
    up: Vec<Mark>,
    curves: Vec<Curve>,
    labels: Vec<Label>,
    bars: Vec<Bars>,
    bars_top: Px,
    bars_bottom: Px,
    bars_height: Px,
    bars_most: String,
    worst: Px,
}

/// The curve of one side, and its points that have names.
struct Curve {
    class: usize,
    path: String,
    dots: Vec<Dot>,
}

struct Dot {
    name: &'static str,
    x: Px,
    y: Px,
    said: String,
}

/// The name of a point, above the picture.
struct Label {
    x: Px,
    y: Px,
    point: Px,
    text: String,
}

/// The bars of one side.
struct Bars {
    class: usize,
    bars: Vec<Bar>,
}

struct Bar {
    x: Px,
    y: Px,
    width: Px,
    height: Px,
    said: String,
}

/// The pictures as HTML.
pub(super) fn charts(sides: &[&Lengths]) -> String {
    let charts = Size::BOTH.iter().filter_map(|size| chart(*size, sides)).collect::<Vec<_>>();
    Charts { charts }.render().unwrap_or_default()
}

fn chart(size: Size, sides: &[&Lengths]) -> Option<Chart> {
    let right = size.width() - RIGHT;
    let across = Scale::logarithmic(values(sides), LEFT, right)?;
    let labels = if let [only] = sides { labels(only, &across, size) } else { Vec::new() };
    let top = labels.iter().map(|label| label.y.0).fold(0.0, f64::max) + 10.0;
    let bottom = top + HEIGHT;
    let up = Scale::linear(0.0, 1.0, bottom, top);
    let most = sides.iter().flat_map(|side| heights(side)).fold(0.0, f64::max);
    Some(Chart {
        size,
        left: Px(LEFT),
        right: Px(right),
        top: Px(top),
        bottom: Px(bottom),
        height: Px(bottom + BELOW),
        across: marks(&across, METRIC, 62.0),
        up: [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| Mark { at: Px(up.place(share)), label: percent(share) }).into(),
        curves: sides.iter().enumerate().map(|(class, side)| curve(class, side, &across, &up)).collect(),
        labels,
        bars: sides.iter().enumerate().map(|(class, side)| bars(class, side, &across, most)).collect(),
        bars_top: Px(ROW),
        bars_bottom: Px(ROW + BARS),
        bars_height: Px(ROW + BARS + BELOW),
        bars_most: most_said(sides, most),
        worst: Px(across.place(sides.iter().map(|side| longest(side)).max()? as f64)),
    })
}

fn values<'a>(sides: &'a [&Lengths]) -> impl Iterator<Item = f64> + 'a {
    sides.iter().flat_map(|side| {
        let steps = side.quantiles.iter().map(|step| step.ns as f64);
        steps.chain(std::iter::once(longest(side) as f64))
    })
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// The steps, from none to all.
fn curve(class: usize, lengths: &Lengths, across: &Scale, up: &Scale) -> Curve {
    let begin = Px(up.place(0.0));
    let mut steps = lengths.quantiles.iter().map(|step| (Px(across.place(step.ns as f64)), Px(up.place(step.share))));
    let first = steps.next().map(|(x, y)| format!("M{x} {begin}V{y}"));
    let end = format!("H{}V{}", Px(across.place(longest(lengths) as f64)), Px(up.place(1.0)));
    // Without a beginning there is no path.
    let path = first.map_or(String::new(), |first| {
        let steps = steps.map(|(x, y)| format!("H{x}V{y}"));
        std::iter::once(first).chain(steps).chain([end]).collect()
    });
    let shares = [0.5, 0.95, 0.99, 1.0];
    let dots = points(lengths).into_iter().zip(shares).filter_map(|((name, ns), share)| {
        let ns = ns?;
        let (x, y) = (Px(across.place(ns as f64)), Px(up.place(share)));
        Some(Dot { name, x, y, said: format!("{name}: {}", Nanos(ns)) })
    });
    Curve { class, path, dots: dots.collect() }
}

/// The names of the points, each on a row where it covers no other; points in the same place share one.
fn labels(lengths: &Lengths, across: &Scale, size: Size) -> Vec<Label> {
    let mut named: Vec<(String, u64)> = Vec::new();
    for (name, ns) in points(lengths).into_iter().filter_map(|(name, ns)| ns.map(|ns| (name, ns))) {
        match named.iter_mut().find(|(_, other)| Nanos(*other).to_string() == Nanos(ns).to_string()) {
            Some((names, _)) => names.extend([", ", name]),
            None => named.push((name.to_string(), ns)),
        }
    }
    let texts = named.iter().map(|(name, ns)| format!("{name} {}", Nanos(*ns)));
    let placed = texts.zip(&named).map(|(text, (_, ns))| {
        let width = text.chars().count() as f64 * Size::LETTER;
        let point = across.place(*ns as f64);
        (text, point, width)
    });
    let placed = placed.collect::<Vec<_>>();
    let middles = placed.iter().enumerate().map(|(index, (_, point, width))| {
        let half = (width / 2.0).min(size.width() / 2.0);
        // The line of the next point goes up beside the name, not through it.
        let next = placed.get(index + 1).map_or(f64::INFINITY, |(_, next, _)| *next);
        let middle = if next < point + half { next - half - 4.0 } else { *point };
        middle.clamp(half, size.width() - half)
    });
    let placed =
        placed.iter().zip(middles).map(|((text, point, width), middle)| (text.clone(), *point, middle, *width));
    let placed = placed.collect::<Vec<_>>();
    let rows = rows(&placed.iter().map(|(_, _, middle, width)| (*middle, *width)).collect::<Vec<_>>(), ROWS);
    let used = rows.iter().max().map_or(0, |most| most + 1);
    let label = |((text, point, middle, _), row): ((String, f64, f64, f64), usize)| Label {
        x: Px(middle),
        y: Px((used - row) as f64 * ROW - 3.0),
        point: Px(point),
        text,
    };
    placed.into_iter().zip(rows).map(label).collect()
}

/// How tall bins are: shares of the side's requests, so that sides of different sizes can be compared.
fn heights(lengths: &Lengths) -> impl Iterator<Item = f64> {
    let all = lengths.count.max(1) as f64;
    lengths.histogram.iter().map(move |bin| bin.count as f64 / all)
}

fn bars(class: usize, lengths: &Lengths, across: &Scale, most: f64) -> Bars {
    let bar = |(bin, share): (&Bin, f64)| {
        let (from, to) = (across.place(bin.from_ns as f64), across.place(bin.to_ns as f64));
        let height = (share / most * BARS).max(LEAST_BAR);
        let width = (to - from - 1.0).max(LEAST_BAR);
        let said = format!("{} to {}: {}", Nanos(bin.from_ns), Nanos(bin.to_ns), counted(bin.count, "request"));
        Bar { x: Px(from), y: Px(ROW + BARS - height), width: Px(width), height: Px(height), said }
    };
    let filled = lengths.histogram.iter().zip(heights(lengths)).filter(|(bin, _)| bin.count > 0);
    Bars { class, bars: filled.map(bar).collect() }
}

/// What the tallest bar is.
fn most_said(sides: &[&Lengths], most: f64) -> String {
    match sides {
        [only] => count(only.histogram.iter().map(|bin| bin.count).max().unwrap_or(0)),
        _ => Share(most).to_string(),
    }
}
