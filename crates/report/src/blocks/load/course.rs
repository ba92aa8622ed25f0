//! How the load went over time: answers a second, and how long they took.

use super::panel::{Curve, Panel};
use crate::block::{Block, Section};
use crate::chart::{Size, tick};
use crate::document::Document;
use crate::figure::three;
use crate::scale::Scale;
use case::{Load, LoadMoment, Metric, Nanos};

pub(crate) const BLOCK: Block = Block::drawn(Section::OverTime, html);

/// How far times beneath a chart are apart at least.
const APART: f64 = 120.0;

fn html(document: &Document) -> String {
    let Some(found) = document.load().filter(|found| found.over_time.moments.len() > 1) else { return String::new() };
    rates(found).html() + &times(found).html()
}

fn rates(found: &Load) -> Panel {
    let seconds = found.over_time.length_ns.max(1) as f64 / 1e9;
    let rate = |of: fn(&LoadMoment) -> u64, class, is_area| Curve {
        class,
        points: course(found, |moment| Some(of(moment) as f64 / seconds)),
        is_area,
    };
    let mut curves = vec![rate(|moment| moment.answered, "answered", true)];
    if found.failed > 0 {
        curves.push(rate(|moment| moment.failed, "failed", false));
    }
    let red = if found.failed > 0 { "; red: failed" } else { "" };
    Panel {
        said: "answers a second over time".into(),
        caption: format!("Requests a second, in pieces of {}. Grey: answered{red}.", Nanos(found.over_time.length_ns)),
        curves,
        written: |rate| if rate == 0.0 { "0".into() } else { three(rate) },
        is_linear: true,
        across: (0.0, length(found)),
        marks: marks(found),
    }
}

fn times(found: &Load) -> Panel {
    let time = |of: fn(&LoadMoment) -> u64, class| Curve {
        class,
        points: course(found, |moment| (moment.answered > 0).then(|| of(moment) as f64)),
        is_area: false,
    };
    let from = if found.uncorrected.is_some() { ", from the intended start" } else { "" };
    Panel {
        said: "latency over time".into(),
        caption: format!(
            "Latency of the requests answered at that time{from}. Blue: median; orange: 99th percentile; dotted: longest."
        ),
        curves: vec![
            time(|moment| moment.max_ns, "longest"),
            time(|moment| moment.p99_ns, "p99"),
            time(|moment| moment.p50_ns, "p50"),
        ],
        written: |value| tick(&Metric::Wall, value),
        is_linear: false,
        across: (0.0, length(found)),
        marks: marks(found),
    }
}

/// A point in the middle of each moment.
fn course(found: &Load, value: impl Fn(&LoadMoment) -> Option<f64>) -> Vec<Option<(f64, f64)>> {
    let length_ns = found.over_time.length_ns as f64;
    let moments = found.over_time.moments.iter().enumerate();
    moments.map(|(place, moment)| Some(((place as f64 + 0.5) * length_ns, value(moment)?))).collect()
}

fn length(found: &Load) -> f64 {
    found.over_time.length_ns as f64 * found.over_time.moments.len() as f64
}

/// Round times, far enough from each other for their names.
fn marks(found: &Load) -> Vec<(f64, String)> {
    let round = Scale::linear(0.0, length(found), 0.0, Size::Wide.width()).marks(APART);
    // The last one would reach beyond the chart.
    let has_room = |at: &f64| *at < 0.95 * length(found);
    round.into_iter().filter(has_room).map(|at| (at, tick(&Metric::Wall, at))).collect()
}
