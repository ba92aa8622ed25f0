//! Two sides against each other: which metrics are of what kind, and how a difference is written.

use crate::figure::three;
use case::{Compared, Comparison, Contrast, Nanos, Per};

/// Whether B certainly has more or less of it than A.
pub(crate) fn differs(outcome: Contrast) -> bool {
    matches!(outcome, Contrast::More | Contrast::Less)
}

/// The CPU time's comparison, where it differs.
pub(crate) fn cpu(comparison: &Comparison) -> Option<&Compared> {
    comparison.metrics.iter().filter(|one| differs(one.outcome)).find(|one| one.metric.is_processor())
}

/// Whether there are figures of both sides.
pub(crate) fn is_measured(compared: &Compared) -> bool {
    let figures = [compared.low, compared.ratio, compared.high];
    compared.pairs > 0 && figures.iter().all(|figure| figure.is_finite() && *figure > 0.0)
}

/// An outcome in a word.
pub(crate) fn word(outcome: Contrast) -> &'static str {
    match outcome {
        Contrast::More => "more",
        Contrast::Less => "less",
        Contrast::Same => "same",
        Contrast::Open => "undecided",
    }
}

/// What the figures of ledger and profiles are of.
pub(crate) fn per(comparison: &Comparison) -> &'static str {
    if comparison.per == Per::Run { "per run" } else { "per request" }
}

/// B's time less A's, with its sign: `+21.9 ms`.
pub(crate) fn signed(a: u64, b: u64) -> String {
    let sign = match b.cmp(&a) {
        std::cmp::Ordering::Greater => "+",
        std::cmp::Ordering::Less => "-",
        std::cmp::Ordering::Equal => "",
    };
    format!("{sign}{}", Nanos(a.abs_diff(b)))
}

/// How often, on average: `12`, `0.5`.
pub(crate) fn times(count: f64) -> String {
    let text = three(count);
    if text.contains('.') && !text.contains('e') {
        return text.trim_end_matches('0').trim_end_matches('.').to_string();
    }
    text
}
