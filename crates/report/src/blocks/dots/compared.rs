//! Every metric of a comparison: A's trials above B's.

use super::arms::dots;
use super::chart::Chart;
use super::row::Measured;
use crate::contrast::word;
use crate::document::Document;
use crate::figure::{noun, range, three};
use case::{Compared, Comparison, Contrast};

/// One chart a metric, since each has a unit of its own.
pub(super) fn charts(comparison: &Comparison, document: &Document) -> Vec<Chart> {
    let one = |compared: &Compared| Chart::of(String::new(), &compared.metric, vec![measured(compared, document)]);
    comparison.metrics.iter().filter_map(one).collect()
}

fn measured(compared: &Compared, document: &Document) -> Measured {
    let is_measured = compared.pairs > 0;
    let badge = match compared.outcome {
        Contrast::More => "bad",
        Contrast::Less => "good",
        Contrast::Same => "none",
        Contrast::Open => "warn",
    };
    Measured {
        intervention: "B".into(),
        name: noun(&compared.metric),
        metric: compared.metric.clone(),
        dots: ["A", "B"].map(|arm| dots(&document.arms, arm, &compared.metric).to_vec()),
        middles: is_measured.then_some([compared.a, compared.b]),
        interval: is_measured.then_some((compared.low, compared.high)),
        factor: if is_measured { factor(compared) } else { String::new() },
        range: if is_measured { interval(compared) } else { String::new() },
        word: (word(compared.outcome).into(), badge),
        note: if is_measured { String::new() } else { "Too few trials of both ended well.".into() },
        trials: compared.pairs.saturating_mul(2),
        second_over_first: true,
        second_is_slower: compared.outcome == Contrast::More,
        ..Measured::default()
    }
}

/// The ratio, the larger side first.
fn factor(compared: &Compared) -> String {
    if compared.ratio >= 1.0 {
        format!("B is {} times A", three(compared.ratio))
    } else {
        format!("A is {} times B", three(1.0 / compared.ratio))
    }
}

/// Its interval.
fn interval(compared: &Compared) -> String {
    if compared.ratio >= 1.0 {
        range(compared.low, compared.high)
    } else {
        range(1.0 / compared.high, 1.0 / compared.low)
    }
}
