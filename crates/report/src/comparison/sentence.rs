//! What a comparison comes down to, in sentences: which takes more, by how much, and what the most of it is.

use super::origin::{account, call, library};
use crate::figure::{noun, pair, range, three};
use case::{Compared, Comparison, Contrast, Share};

/// A ratio below this is said as a percentage, one above as a factor.
const LEAST_FACTOR: f64 = 1.5;

/// What a comparison comes down to, in one to three sentences. Pure: it is what goes into `summary`.
pub fn contrast_sentence(comparison: &Comparison) -> String {
    let Some(first) = comparison.metrics.first().filter(|first| is_measured(first)) else {
        return "Undecided: too few trials of both ended well to compare them.".into();
    };
    let mut sentences = vec![said(first)];
    let differs = matches!(first.outcome, Contrast::More | Contrast::Less);
    if differs {
        sentences.extend(account(comparison, first));
        sentences.extend(call(comparison, first));
    } else if let Some(other) = processor(comparison).filter(|other| other.metric != first.metric) {
        sentences.push(format!("In processor time they differ: {}", said(other)));
    }
    if processor(comparison).is_some() {
        sentences.extend(library(comparison));
    }
    sentences.join(" ")
}

fn is_measured(compared: &Compared) -> bool {
    let figures = [compared.ratio, compared.low, compared.high];
    compared.pairs > 0 && figures.iter().all(|figure| figure.is_finite() && *figure > 0.0)
}

/// The processor time's comparison, where it differs.
pub(crate) fn processor(comparison: &Comparison) -> Option<&Compared> {
    let differs = |one: &&Compared| matches!(one.outcome, Contrast::More | Contrast::Less);
    comparison.metrics.iter().filter(differs).find(|one| is_processor(&one.metric))
}

pub(super) fn is_processor(metric: &str) -> bool {
    metric.starts_with("cpu_ns")
}

/// One metric in a sentence.
fn said(compared: &Compared) -> String {
    match compared.outcome {
        Contrast::Same => same(compared),
        Contrast::Open => open(compared),
        _ if is_figure_of_its_own(&compared.metric) => figure(compared),
        Contrast::More => more(compared),
        Contrast::Less => less(compared),
    }
}

/// What the program itself wrote: whether more of it is better is the program's affair.
pub(super) fn is_figure_of_its_own(metric: &str) -> bool {
    metric.starts_with("stdout")
}

fn figure(compared: &Compared) -> String {
    let (a, b) = pair(&compared.metric, compared.a, compared.b);
    let noun = noun(&compared.metric);
    let noun = noun.strip_prefix("the ").unwrap_or(&noun);
    let Compared { ratio, low, high, .. } = *compared;
    format!("B's {noun} is {} times A's: {b} against {a} ({} at 95 % confidence).", three(ratio), range(low, high))
}

fn more(compared: &Compared) -> String {
    let (processor, figures) = (is_processor(&compared.metric), figures(compared));
    let Compared { ratio, low, high, .. } = *compared;
    if ratio >= LEAST_FACTOR {
        let how = if processor { "much processor time" } else { "long" };
        let interval = range(low, high);
        return format!("B takes {} times as {how} as A: {figures} ({interval} at 95 % confidence).", three(ratio));
    }
    let how = if processor { "more processor time" } else { "longer" };
    let interval = percents(low - 1.0, high - 1.0);
    format!("B takes {} {how} than A: {figures} ({interval} at 95 % confidence).", Share(ratio - 1.0))
}

fn less(compared: &Compared) -> String {
    let (processor, figures) = (is_processor(&compared.metric), figures(compared));
    let head = if processor { "B takes less processor time" } else { "B is faster" };
    let Compared { ratio, low, high, .. } = *compared;
    if 1.0 / ratio >= LEAST_FACTOR {
        let how = if processor { "much" } else { "long" };
        let interval = range(1.0 / high, 1.0 / low);
        let times = three(1.0 / ratio);
        return format!("{head}: {figures}; A takes {times} times as {how} ({interval} at 95 % confidence).");
    }
    let interval = percents(1.0 - high, 1.0 - low);
    format!("{head}: {figures}, {} less than A ({interval} at 95 % confidence).", Share(1.0 - ratio))
}

fn same(compared: &Compared) -> String {
    let most = (1.0 - compared.low).max(compared.high - 1.0);
    // Rounded away from none: the sentence is a bound.
    let most = (most * 1_000.0 - 1e-6).ceil() / 1_000.0;
    let interval = range(compared.low, compared.high);
    format!("No difference larger than {}: {} (B/A {interval} at 95 % confidence).", Share(most), figures(compared))
}

fn open(compared: &Compared) -> String {
    let [low, high] = [compared.low, compared.high].map(against_one);
    let what = if is_processor(&compared.metric) { "processor time " } else { "" };
    format!(
        "Undecided: B takes between {low} and {high} {what}than A ({}); a longer --budget narrows that.",
        figures(compared)
    )
}

/// A ratio in words that are followed by 'than A'.
fn against_one(ratio: f64) -> String {
    match ratio {
        _ if ratio >= 2.0 => format!("{} times more", three(ratio - 1.0)),
        _ if ratio >= 1.0 => format!("{} more", Share(ratio - 1.0)),
        _ => format!("{} less", Share(1.0 - ratio)),
    }
}

fn percents(low: f64, high: f64) -> String {
    format!("{} to {}", Share(low), Share(high))
}

/// Both figures and what they are of: `27.1 ms against 5.19 ms a request`.
fn figures(compared: &Compared) -> String {
    let (a, b) = pair(&compared.metric, compared.a, compared.b);
    let of = match compared.metric.as_str() {
        "wall_ns_per_exchange" => " a request".to_string(),
        "elapsed_ns_per_exchange" => " a request, pauses between requests included".into(),
        "cpu_ns_per_exchange" => " of processor time a request".into(),
        "wall_ns" => " a run".into(),
        "cpu_ns" => " of processor time a run".into(),
        other if other.starts_with("exchange_p") => format!(" at {}", noun(other)),
        other => format!(" ({})", noun(other)),
    };
    format!("{b} against {a}{of}")
}
