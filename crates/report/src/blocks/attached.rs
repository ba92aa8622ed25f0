//! What was attached to every version from outside: whether it took effect, what it gains, what remains against the first.

use crate::block::{Block, Section};
use crate::figure::{noun, pair, range, three};
use crate::grid::Row;
use crate::part::{Part, Table, under};
use crate::ranking::{measured, worst};
use crate::text::{clean, count};
use case::{Compared, Contrast, Matrix, Metric, TriedOn, Version};

/// A table for each intervention, by each metric; nothing where none was tried.
pub(crate) const BLOCK: Block = Block::of(Section::Matrix, |document| {
    let Some(matrix) = document.matrix() else { return Vec::new() };
    let pairs =
        names(matrix).into_iter().flat_map(|name| matrix.metrics.iter().map(move |metric| (name.clone(), metric)));
    pairs.flat_map(|(name, metric)| table(matrix, &name, metric)).collect()
});

/// What was tried, as it was asked for.
pub(crate) fn names(matrix: &Matrix) -> Vec<String> {
    let first = measured(matrix).next();
    first.map(|version| version.tried.iter().map(|tried| tried.intervention.clone()).collect()).unwrap_or_default()
}

/// An intervention on every version that was measured.
fn on<'a>(matrix: &'a Matrix, name: &str) -> Vec<(&'a Version, &'a TriedOn)> {
    let of = |version: &'a Version| {
        version.tried.iter().find(|tried| tried.intervention == name).map(|tried| (version, tried))
    };
    measured(matrix).filter_map(of).collect()
}

fn table(matrix: &Matrix, name: &str, metric: &Metric) -> Vec<Part> {
    let on = on(matrix, name);
    // Metrics that nothing was measured by, beside the one that decides, are not worth a table.
    let is_measured = on.iter().any(|(_, tried)| of(&tried.gain, metric).is_some());
    if !is_measured && matrix.metrics.first().is_none_or(|decides| decides != metric) {
        return Vec::new();
    }
    let first = on.first().map(|(version, _)| clean(&version.version)).unwrap_or_default();
    let rows = on.iter().map(|(version, tried)| {
        Row::new(version.version.clone(), cells(tried, metric)).with_note(note(tried, metric, &first))
    });
    let table = Table::of("", ["plain", "with it", "plain / with", "95 % interval", "changes"], rows.collect());
    under(format!("With {name} attached from outside: {}", noun(metric)), [Part::Table(table)])
}

/// Plain, with it, the gain and its interval, the changes; empty where it was not measured.
fn cells(tried: &TriedOn, metric: &Metric) -> [String; 5] {
    let Some(gain) = of(&tried.gain, metric) else { return Default::default() };
    let (with, plain) = pair(metric, gain.a, gain.b);
    [plain, with, three(gain.ratio), range(gain.low, gain.high), count(tried.changes)]
}

/// What there is to say beside the figures; empty for nothing.
fn note(tried: &TriedOn, metric: &Metric, first: &str) -> String {
    let problem = clean(&tried.problem).trim_end_matches('.').to_string();
    if !tried.applied {
        return format!("did not take effect, so it says nothing: {problem}");
    }
    let few = of(&tried.gain, metric).is_none().then(|| "too few runs of both ended well".to_string());
    let remains = of(&tried.remains, metric).map(|one| format!("remains: {}", remaining(one, first)));
    let parts = few.into_iter().chain(remains).chain((!problem.is_empty()).then_some(problem));
    parts.collect::<Vec<_>>().join("; ")
}

/// What remains against the first version, both with it: `0.400 ms more than 1.1.1w, 1.31 times (1.20 to 1.42)`.
fn remaining(remains: &Compared, first: &str) -> String {
    let difference = remains.b - remains.a;
    let side = if difference < 0.0 { "less" } else { "more" };
    let interval = range(remains.low, remains.high);
    let unclear = match remains.outcome {
        Contrast::More | Contrast::Less => "",
        Contrast::Same | Contrast::Open => ", not significant",
    };
    let absolute = absolute(remains);
    format!("{absolute} {side} than {first} with it, {} times ({interval}){unclear}", three(remains.ratio))
}

/// What remains in absolute terms, in the unit in which what it is a part of is written.
fn absolute(remains: &Compared) -> String {
    pair(&remains.metric, remains.b, (remains.b - remains.a).abs()).1
}

/// A metric among those compared, where it was.
fn of<'a>(compared: &'a [Compared], metric: &Metric) -> Option<&'a Compared> {
    compared.iter().find(|one| one.metric == *metric && one.pairs > 0)
}

/// What each intervention does to the slowest version, a sentence each; nothing where none is slower than the first.
pub(crate) fn sentences(matrix: &Matrix) -> Vec<String> {
    let (Some((worst, _)), Some(first)) = (worst(matrix), measured(matrix).next()) else { return Vec::new() };
    let (name, first) = (clean(&worst.version), clean(&first.version));
    let Some(metric) = matrix.metrics.first() else { return Vec::new() };
    worst.tried.iter().map(|tried| sentence(tried, metric, &name, &first)).collect()
}

fn sentence(tried: &TriedOn, metric: &Metric, version: &str, first: &str) -> String {
    let name = clean(&tried.intervention);
    if !tried.applied {
        return format!("{name} did not take effect on {version}.");
    }
    let Some(gain) = of(&tried.gain, metric) else {
        return format!("Too few runs of {version} with {name} ended well.");
    };
    let what = noun(metric);
    let (with, plain) = pair(metric, gain.a, gain.b);
    let changed = |factor: f64, word: &str| {
        format!(
            "With {name} attached from outside, the {what} of {version} is {} times {word}: {with} instead of {plain}",
            three(factor)
        )
    };
    let mut text = match (gain.outcome, metric.more_is_better()) {
        (Contrast::Same | Contrast::Open, _) => {
            return format!("{name} took effect on {version} without a measurable change in {what}.");
        }
        (Contrast::More, false) => changed(gain.ratio, "lower"),
        (Contrast::Less, true) => changed(gain.ratio.recip(), "higher"),
        (Contrast::Less, false) => return changed(gain.ratio.recip(), "higher") + ".",
        (Contrast::More, true) => return changed(gain.ratio, "lower") + ".",
    };
    text += &of(&tried.remains, metric).map(|remains| left(remains, first)).unwrap_or_default();
    text + "."
}

/// What is left of the loss, as the end of a sentence.
fn left(remains: &Compared, first: &str) -> String {
    let is_worse = if remains.metric.more_is_better() { Contrast::Less } else { Contrast::More };
    if remains.outcome == is_worse {
        let absolute = absolute(remains);
        return format!(
            "; {absolute} remain between it and {first} with the same attached ({} times)",
            three(remains.ratio)
        );
    }
    format!("; what remains is not distinguishable from {first} with the same attached")
}
