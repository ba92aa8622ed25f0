//! The curve of percentiles: how long all but the slowest tenth, hundredth, thousandth of requests took.

use super::panel::{Curve, Panel};
use crate::block::{Block, Section};
use crate::chart::tick;
use crate::document::Document;
use case::{Load, LoadPercentile, Metric};

pub(crate) const BLOCK: Block = Block::drawn(Section::Lengths, |document: &Document| {
    let found = document.load().filter(|found| found.percentiles.len() > 2);
    found.map(|found| panel(found).html()).unwrap_or_default()
});

fn panel(found: &Load) -> Panel {
    let last = found.percentiles.len() - 1;
    // The longest of all stands where the next step would be: no share is behind it.
    let step = place(&found.percentiles[1]) - place(&found.percentiles[0]);
    let end = place(&found.percentiles[last - 1]) + step;
    let curve = |class, time: fn(&LoadPercentile) -> Option<u64>| {
        let at = |(index, one): (usize, &LoadPercentile)| {
            let x = if index == last { end } else { place(one) };
            time(one).map(|ns| (x, ns as f64))
        };
        Curve { class, points: found.percentiles.iter().enumerate().map(at).collect(), is_area: false }
    };
    let is_open = found.uncorrected.is_some();
    let mut curves = vec![curve("p99", |one| Some(one.latency_ns))];
    if is_open {
        curves.insert(0, curve("p50", |one| one.uncorrected_ns));
    }
    let two = if is_open {
        " Orange: from the intended start; blue: from the actual start, without the wait for a free connection."
    } else {
        ""
    };
    Panel {
        said: "percentiles of latency".into(),
        caption: format!("The time within which this share of requests was answered.{two}"),
        across: (0.0, end),
        curves,
        written: |value| tick(&Metric::Wall, value),
        is_linear: false,
        marks: marks(end),
    }
}

/// Tens of those that took longer: 0 for all, 1 for a tenth, 2 for a hundredth.
fn place(one: &LoadPercentile) -> f64 {
    -(1.0 - one.share).max(f64::MIN_POSITIVE).log10()
}

fn marks(end: f64) -> Vec<(f64, String)> {
    let digits = |tens: usize| match tens {
        1 => "90 %".to_string(),
        2 => "99 %".into(),
        _ => format!("99.{} %", "9".repeat(tens - 2)),
    };
    // A half is where people look first.
    let tens = (1..=end as usize).map(|tens| (tens as f64, digits(tens)));
    [(0.0, "0 %".to_string()), (2f64.log10(), "50 %".into())].into_iter().chain(tens).collect()
}
