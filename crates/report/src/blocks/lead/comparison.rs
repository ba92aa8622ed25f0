//! What a comparison comes down to: which side takes more, by how much, and what most of that is.

use super::origin::{account, call, library};
use crate::contrast::{cpu, differs, is_measured};
use crate::figure::{change, noun, pair, range, three};
use case::facts::Metric;
use case::{Compared, Comparison, Contrast, Share};

/// A ratio below this is said as a percentage, one above as a factor.
const LEAST_FACTOR: f64 = 1.5;

/// What a comparison comes down to, in one to three sentences. Pure: it is what goes into `summary`.
pub fn contrast_sentence(comparison: &Comparison) -> String {
    let Some(first) = comparison.metrics.first().filter(|first| is_measured(first)) else {
        return "Undecided: too few trials of both ended well to compare them.".into();
    };
    let mut sentences = vec![said(first)];
    if differs(first.outcome) {
        sentences.extend(account(comparison, first));
        sentences.extend(call(comparison, first));
    } else if let Some(other) = cpu(comparison).filter(|other| other.metric != first.metric) {
        sentences.push(format!("CPU time does differ: {}", said(other)));
    }
    if cpu(comparison).is_some() {
        sentences.extend(library(comparison));
    }
    sentences.join(" ")
}

/// One metric in a sentence.
fn said(compared: &Compared) -> String {
    match compared.outcome {
        Contrast::Same => same(compared),
        Contrast::Open => open(compared),
        Contrast::More | Contrast::Less => apart(compared),
    }
}

/// `B is 5.22 times slower than A: 27.1 ms instead of 5.19 ms per run (95 % interval 5.00 to 5.41).`
fn apart(compared: &Compared) -> String {
    let Compared { ratio, low, high, outcome, .. } = *compared;
    let is_more = outcome == Contrast::More;
    // Always as a factor over 1: one below is turned round, and so is its interval.
    let (factor, low, high) = if is_more { (ratio, low, high) } else { (1.0 / ratio, 1.0 / high, 1.0 / low) };
    let (much, interval) = if factor >= LEAST_FACTOR {
        (format!("{} times", three(factor)), range(low, high))
    } else if is_more {
        (Share(factor - 1.0).to_string(), percents(low - 1.0, high - 1.0))
    } else {
        (Share(1.0 - 1.0 / factor).to_string(), percents(1.0 - 1.0 / low, 1.0 - 1.0 / high))
    };
    let metric = &compared.metric;
    let claim = match (metric, is_more) {
        (Metric::Wall | Metric::WallPerExchange | Metric::ElapsedPerExchange, true) => {
            format!("B is {much} slower than A")
        }
        (Metric::Wall | Metric::WallPerExchange | Metric::ElapsedPerExchange, false) => {
            format!("B is {much} faster than A")
        }
        (_, true) if metric.is_processor() => format!("B uses {much} more CPU time than A"),
        (_, false) if metric.is_processor() => format!("B uses {much} less CPU time than A"),
        (_, true) => format!("B's {} is {much} higher than A's", noun(metric)),
        (_, false) => format!("B's {} is {much} lower than A's", noun(metric)),
    };
    format!("{claim}: {} (95 % interval {interval}).", figures(compared))
}

/// A bound on a difference that was not seen.
fn same(compared: &Compared) -> String {
    let most = (1.0 - compared.low).max(compared.high - 1.0);
    // Rounded away from none: the sentence is a bound.
    let most = (most * 1_000.0 - 1e-6).ceil() / 1_000.0;
    format!("A and B differ by {} at most, at 95 % confidence: {}.", Share(most), figures(compared))
}

fn open(compared: &Compared) -> String {
    let [low, high] = [compared.low, compared.high].map(change);
    let what = if compared.metric.is_processor() { " CPU time" } else { "" };
    format!("Undecided: B takes {low} to {high}{what} than A ({}). A longer --budget narrows that.", figures(compared))
}

fn percents(low: f64, high: f64) -> String {
    format!("{} to {}", Share(low), Share(high))
}

/// Both figures and what they are of: `27.1 ms instead of 5.19 ms per request`, or `A 5.19 ms, B 5.20 ms` where they are
/// not known to differ.
fn figures(compared: &Compared) -> String {
    let (a, b) = pair(&compared.metric, compared.a, compared.b);
    let of = match &compared.metric {
        Metric::WallPerExchange | Metric::CpuPerExchange => " per request".to_string(),
        Metric::ElapsedPerExchange => " per request, pauses between requests included".into(),
        Metric::Wall | Metric::Cpu => " per run".into(),
        // The claim has named it.
        _ if differs(compared.outcome) => String::new(),
        _ => format!(" ({})", noun(&compared.metric)),
    };
    if differs(compared.outcome) { format!("{b} instead of {a}{of}") } else { format!("A {a}, B {b}{of}") }
}
