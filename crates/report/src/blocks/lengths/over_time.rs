//! How long requests took over time: a picture that is there without JavaScript, and the numbers that a script draws
//! instead, to zoom in (`assets/lengths.js`).

use super::longest;
use crate::chart::Px;
use crate::embed;
use crate::scale::Scale;
use askama::Template;
use case::Nanos;
use case::views::Lengths;
use serde::Serialize;

/// A single stretch of time shows no course.
const LEAST_MOMENTS: usize = 2;
/// Lengths that differ by more than this are drawn on a logarithmic axis.
const LARGEST_LINEAR_SPREAD: f64 = 30.0;
/// The drawing is stretched to the width of the page; its own measures are arbitrary.
const WIDTH: f64 = 1_000.0;
/// The same for its height.
const HEIGHT: f64 = 100.0;
/// Above and below it.
const MARGIN: f64 = 4.0;

#[derive(Template)]
#[template(path = "blocks/lengths/over_time.html")]
struct OverTime {
    id: String,
    data: String,
    path: String,
    worst: (Px, Px),
    high: String,
    low: String,
    begin: String,
    end: String,
    is_logarithmic: bool,
    is_single: bool,
}

/// What the script draws: columns of numbers, nothing from outside.
#[derive(Serialize)]
struct Columns {
    /// In seconds since recording began.
    at: Vec<f64>,
    /// In nanoseconds, as all lengths.
    median: Vec<u64>,
    p95: Vec<u64>,
    longest: Vec<u64>,
    /// Requests that ended in each stretch.
    count: Vec<u64>,
    logarithmic: bool,
    /// Whether no stretch holds more than one request: then all three lines are the same.
    single: bool,
}

/// The picture as HTML; nothing where there is no course of time.
pub(super) fn chart(index: usize, lengths: &Lengths) -> String {
    let moments = &lengths.over_time;
    if moments.len() < LEAST_MOMENTS {
        return String::new();
    }
    let (low, high) =
        (moments.iter().map(|one| one.median_ns.max(1)).min(), moments.iter().map(|one| one.most_ns).max());
    let (Some(low), Some(high)) = (low, high) else { return String::new() };
    let is_logarithmic = high as f64 / low as f64 > LARGEST_LINEAR_SPREAD;
    let is_single = moments.iter().all(|one| one.count <= 1);
    let Some(drawing) = Drawing::of(lengths, is_logarithmic) else { return String::new() };
    let id = format!("lengths-over-time-{index}");
    let columns = Columns {
        at: moments.iter().map(|one| Nanos(one.at).seconds()).collect(),
        median: moments.iter().map(|one| one.median_ns).collect(),
        p95: moments.iter().map(|one| one.p95_ns).collect(),
        longest: moments.iter().map(|one| one.most_ns).collect(),
        count: moments.iter().map(|one| one.count).collect(),
        logarithmic: is_logarithmic,
        single: is_single,
    };
    let page = OverTime {
        data: embed::data(&id, &columns),
        id,
        path: drawing.path,
        worst: drawing.worst,
        high: Nanos(longest(lengths)).to_string(),
        low: if is_logarithmic { Nanos(low).to_string() } else { "0".into() },
        begin: Nanos(moments[0].at).to_string(),
        end: Nanos(moments[moments.len() - 1].at).to_string(),
        is_logarithmic,
        is_single,
    };
    page.render().unwrap_or_default()
}

struct Drawing {
    path: String,
    worst: (Px, Px),
}

impl Drawing {
    /// A stroke from the median to the longest of each stretch; where they are the same, a dot.
    fn of(lengths: &Lengths, is_logarithmic: bool) -> Option<Drawing> {
        let moments = &lengths.over_time;
        let (first, last) = (moments.first()?.at, moments.last()?.at);
        let across = Scale::linear(first as f64, last as f64, MARGIN, WIDTH - MARGIN);
        let levels = moments.iter().flat_map(|one| [one.median_ns as f64, one.most_ns as f64]);
        let (bottom, top) = (HEIGHT - MARGIN, MARGIN);
        let up = if is_logarithmic {
            Scale::logarithmic(levels, bottom, top)
        } else {
            Scale::from_zero(levels, bottom, top)
        };
        let up = up?;
        let path = moments.iter().map(|one| {
            let (x, median) = (Px(across.place(one.at as f64)), Px(up.place(one.median_ns as f64)));
            format!("M{x} {median}V{}", Px(up.place(one.most_ns as f64)))
        });
        let worst = moments.iter().max_by_key(|one| one.most_ns)?;
        let worst = (Px(across.place(worst.at as f64)), Px(up.place(worst.most_ns as f64)));
        Some(Drawing { path: path.collect(), worst })
    }
}
