//! What a series comes down to: its steps, or the one level that it has.

use super::words::{bytes, seconds, value};
use crate::block::{Block, Section};
use crate::document::Document;
use crate::figure::three;
use crate::part::Part;
use crate::text::counted;
use case::{Level, Quantity, RateLimit, Step, Steps};

/// Steps that are told one by one; the table has all.
const MOST_TOLD: usize = 5;

pub(crate) const BLOCK: Block = Block::of(Section::Verdict, |document: &Document| {
    let Some(series) = document.steps() else { return Vec::new() };
    let mut told: Vec<String> = series
        .steps
        .iter()
        .zip(series.levels.windows(2))
        .take(MOST_TOLD)
        .map(|(step, pair)| said(series, step, pair))
        .collect();
    if let Some(left) = series.steps.len().checked_sub(MOST_TOLD).filter(|left| *left > 0) {
        told.push(format!("{} more below.", counted(left as u64, "step")));
    }
    if let ([], Some(level)) = (&series.steps[..], series.levels.first()) {
        told.push(format!(
            "No step: {} throughout ({}).",
            value(series.quantity, level.value),
            interval(series, level)
        ));
    }
    told.push(whole(series));
    told.into_iter().map(Part::Paragraph).collect()
});

/// The verdict in a few words.
pub(crate) fn headline(series: &Steps) -> String {
    match (series.driven.as_ref().map(|driven| driven.limit), &series.steps[..]) {
        (Some(RateLimit::TokenBucket), _) => "A token bucket limits the rate".into(),
        (Some(RateLimit::Schedule), _) => "The rate follows the clock, not a token bucket".into(),
        (_, []) => "One level, no step".into(),
        (_, steps) => {
            format!("{} between {}", counted(steps.len() as u64, "step"), counted(series.levels.len() as u64, "level"))
        }
    }
}

/// The command that reads the same series.
pub(crate) fn reading(series: &Steps) -> Vec<String> {
    let from = if series.driven.is_some() {
        vec!["--run".to_string(), series.source.clone()]
    } else {
        vec![series.source.clone()]
    };
    ["whyslow".to_string(), "steps".into()].into_iter().chain(from).collect()
}

fn said(series: &Steps, step: &Step, pair: &[Level]) -> String {
    let (before, after) = (&pair[0], &pair[1]);
    let ratios = [step.ratio, step.ratio_low, step.ratio_high];
    let (moves, than, [times, low, high]) = if after.value < before.value {
        ("falls", "less", [ratios[0], ratios[2], ratios[1]].map(f64::recip))
    } else {
        ("rises", "more", ratios)
    };
    // From or to nothing is no number of times.
    let is_number = [times, low, high].iter().all(|one| one.is_finite());
    let by = is_number.then(|| format!(": {} times {than} ({} to {})", three(times), three(low), three(high)));
    let by = by.unwrap_or_default();
    let came = match series.quantity {
        Quantity::BitsPerSecond => format!("; {} had arrived by then", bytes(step.amount / 8.0)),
        Quantity::Number => String::new(),
    };
    format!(
        "At {} (95 % interval {} to {}) it {moves} from {} to {}{by}{came}.",
        seconds(step.at_s),
        three(step.low_s),
        seconds(step.high_s),
        value(series.quantity, before.value),
        value(series.quantity, after.value),
    )
}

fn interval(series: &Steps, level: &Level) -> String {
    format!(
        "95 % interval of the median {} to {}",
        value(series.quantity, level.low),
        value(series.quantity, level.high)
    )
}

fn whole(series: &Steps) -> String {
    let lasted = series.levels.last().map_or(0.0, |level| level.to_s);
    let skipped = match series.skipped {
        0 => String::new(),
        skipped => format!("; {} without a value", counted(skipped, "line")),
    };
    format!("{} over {}{skipped}.", counted(series.values, "value"), seconds(lasted))
}
