//! Which services are out of line, since when and by how much.

use crate::block::{Block, Section};
use crate::blocks::traffic::words::moment;
use crate::document::Document;
use crate::figure::three;
use crate::part::{Part, under};
use crate::text::{clean, counted};
use case::{Deviation, Nanos, OutOfLineWith, Share, Watched, WatchedMetric, WatchedRecording};

pub(crate) const BLOCK: Block = Block::of(Section::Verdict, |document: &Document| {
    let Some(watched) = document.watched() else { return Vec::new() };
    let lead = if watched.summary.is_empty() { watched_sentence(watched) } else { watched.summary.clone() };
    let mut parts = vec![Part::Paragraph(lead)];
    // The first is the summary.
    let more = watched.deviations.iter().skip(1).map(deviation_sentence).collect::<Vec<_>>();
    parts.push(Part::List(more));
    parts.extend(watched.recordings.iter().flat_map(recording));
    parts
});

/// What could not be seen.
pub(crate) const MISSING: Block = Block::of(Section::Environment, |document: &Document| {
    let missing = document.watched().map(|watched| watched.missing.clone()).unwrap_or_default();
    under("Not watched", [Part::List(missing)])
});

fn recording(recording: &WatchedRecording) -> Vec<Part> {
    let begun = moment(recording.at_ms as i64 / 1_000);
    vec![
        Part::Paragraph(format!("{} was recorded at {begun}: {}", clean(&recording.service), recording.summary)),
        Part::Command(format!("whyslow report {}", recording.case)),
    ]
}

/// What watching comes down to, in one sentence.
pub fn watched_sentence(watched: &Watched) -> String {
    match (&watched.deviations[..], watched.services.len()) {
        ([], 0) => "Nothing was watched.".into(),
        ([], 1) => format!("{} is in line with its past.", clean(&watched.services[0].name)),
        ([], count) => format!("None of the {} is out of line.", counted(count as u64, "service")),
        ([first, ..], _) => deviation_sentence(first),
    }
}

/// The same in a few words.
pub(crate) fn headline(watched: &Watched) -> String {
    match &watched.deviations[..] {
        [] => "No service is out of line".into(),
        [first, ..] => format!("{} is out of line", clean(&first.service)),
    }
}

/// The command that shows the same history.
pub(crate) fn showing(watched: &Watched) -> Vec<String> {
    ["whyslow", "watch", "show", "--history"].map(String::from).into_iter().chain([watched.history.clone()]).collect()
}

/// One service's, in a sentence.
pub fn deviation_sentence(deviation: &Deviation) -> String {
    let name = clean(&deviation.service);
    let [before, after] = [deviation.before, deviation.after].map(|value| figure(deviation.metric, value));
    let what = noun(deviation.metric);
    if deviation.with == OutOfLineWith::Others {
        let times = three(deviation.after / deviation.before);
        return format!(
            "{name} is out of line with the other services: {after} of {what}, {times} times the median of the next \
             ({before}){}.",
            since(deviation)
        );
    }
    let is_more = deviation.after > deviation.before;
    let (high, low) = if is_more { (deviation.after, deviation.before) } else { (deviation.before, deviation.after) };
    // Nothing is infinitely less than something.
    let times = if low > 0.0 { format!("{} times ", three(high / low)) } else { String::new() };
    let change = match deviation.metric {
        WatchedMetric::CpuPerRequest | WatchedMetric::Cpu => {
            format!("uses {times}{} {what}", if is_more { "more" } else { "less" })
        }
        WatchedMetric::AnswerTime => {
            format!("takes {times}{} to send an answer's first byte", if is_more { "longer" } else { "less" })
        }
        WatchedMetric::Failures => format!("fails {times}{}", if is_more { "more often" } else { "less often" }),
    };
    format!("{name} {change}: {after} instead of {before}{}.", since(deviation))
}

fn noun(metric: WatchedMetric) -> &'static str {
    match metric {
        WatchedMetric::CpuPerRequest => "CPU time per request",
        WatchedMetric::AnswerTime => "time until an answer's first byte",
        WatchedMetric::Failures => "5xx answers",
        WatchedMetric::Cpu => "CPU time",
    }
}

fn figure(metric: WatchedMetric, value: f64) -> String {
    match metric {
        WatchedMetric::CpuPerRequest | WatchedMetric::AnswerTime => Nanos(value as u64).to_string(),
        WatchedMetric::Failures => Share(value).to_string(),
        WatchedMetric::Cpu => format!("{} CPUs", three(value)),
    }
}

/// The moment of the change, with its interval.
fn since(deviation: &Deviation) -> String {
    if deviation.from_the_beginning {
        return ", throughout".into();
    }
    let [at, low, high] = [deviation.at_ms, deviation.low_ms, deviation.high_ms].map(exactly);
    // The day is said once.
    let interval = match (low == high, high.strip_prefix(at.get(..11).unwrap_or(" "))) {
        (true, _) => String::new(),
        (_, Some(clock)) => format!(" (95 % interval {} to {clock})", low.strip_prefix(&at[..11]).unwrap_or(&low)),
        (_, None) => format!(" (95 % interval {low} to {high})"),
    };
    format!(", since {at} UTC{interval}")
}

/// A time to the second: `2024-05-09 14:00:10`.
fn exactly(at_ms: u64) -> String {
    format!("{}:{:02}", moment(at_ms as i64 / 1_000), at_ms / 1_000 % 60)
}
