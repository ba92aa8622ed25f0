//! What was attached to every version from outside: whether it took hold, what it gains, what remains against the first.

use super::{measured, worst};
use crate::figure::{is_better_larger, noun, pair, range, three};
use crate::grid::{Align, Row, grid};
use crate::style::Style;
use crate::text::{clean, count, wrap};
use case::{Compared, Contrast, Matrix, TriedOn, Version};

/// A block for each intervention, by the metric that decides; empty where none was tried.
pub(super) fn tries(matrix: &Matrix, style: Style) -> String {
    let blocks = names(matrix).into_iter().map(|name| block(matrix, &name, style));
    blocks.collect::<Vec<_>>().join("\n")
}

/// What was tried, as it was asked for.
pub(crate) fn names(matrix: &Matrix) -> Vec<String> {
    let first = measured(matrix).next();
    first.map(|version| version.tried.iter().map(|tried| tried.intervention.clone()).collect()).unwrap_or_default()
}

/// An intervention on every version that was measured.
pub(crate) fn on<'a>(matrix: &'a Matrix, name: &str) -> Vec<(&'a Version, &'a TriedOn)> {
    let of = |version: &'a Version| {
        version.tried.iter().find(|tried| tried.intervention == name).map(|tried| (version, tried))
    };
    measured(matrix).filter_map(of).collect()
}

fn block(matrix: &Matrix, name: &str, style: Style) -> String {
    let on = on(matrix, name);
    let first = on.first().map(|(version, _)| clean(&version.version)).unwrap_or_default();
    let metric = matrix.metrics.first().cloned().unwrap_or_default();
    let rows = on.iter().map(|(version, tried)| row(&clean(&version.version), tried, &metric, &first));
    let head = Row::new("", ["plain", "with it", "plain / with", "", "changes"]);
    let rows = [head].into_iter().chain(rows).collect::<Vec<_>>();
    let title = format!("With {} attached from outside, {} (middles, 95 % intervals):", clean(name), noun(&metric));
    let aligns = [Align::Right, Align::Right, Align::Right, Align::Left, Align::Right];
    wrap(&title, style.columns(), "", "  ") + &grid(&rows, &aligns, "  ", style)
}

fn row(version: &str, tried: &TriedOn, metric: &str, first: &str) -> Row {
    let [plain, with, gain, interval, changes] = cells(tried, metric);
    let interval = if interval.is_empty() { interval } else { format!("({interval})") };
    Row { note: note(tried, metric, first), ..Row::new(version, [plain, with, gain, interval, changes]) }
}

/// Plain, with it, the gain and its interval, the changes; empty where it was not measured.
pub(crate) fn cells(tried: &TriedOn, metric: &str) -> [String; 5] {
    let Some(gain) = of(&tried.gain, metric) else { return Default::default() };
    let (with, plain) = pair(metric, gain.a, gain.b);
    [plain, with, three(gain.ratio), range(gain.low, gain.high), count(tried.changes)]
}

/// What there is to say beside the figures; empty for nothing.
pub(crate) fn note(tried: &TriedOn, metric: &str, first: &str) -> String {
    let problem = clean(&tried.problem).trim_end_matches('.').to_string();
    if !tried.applied {
        return format!("did not take hold, so that nothing is said of it: {problem}");
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
    let told = match remains.outcome {
        Contrast::More | Contrast::Less => "",
        Contrast::Same | Contrast::Open => ", not told apart",
    };
    let absolute = absolute(remains);
    format!("{absolute} {side} than {first} with it, {} times ({interval}){told}", three(remains.ratio))
}

/// What remains in absolute terms, in the unit in which what it is a part of is written.
fn absolute(remains: &Compared) -> String {
    pair(&remains.metric, remains.b, (remains.b - remains.a).abs()).1
}

/// A metric among those compared, where it was.
pub(crate) fn of<'a>(compared: &'a [Compared], metric: &str) -> Option<&'a Compared> {
    compared.iter().find(|one| one.metric == metric && one.pairs > 0)
}

/// What each intervention does to the slowest version, a sentence each; nothing where none is slower than the first.
pub(super) fn sentences(matrix: &Matrix) -> Vec<String> {
    let (Some((worst, _)), Some(first)) = (worst(matrix), measured(matrix).next()) else { return Vec::new() };
    let (name, first) = (clean(&worst.version), clean(&first.version));
    let metric = matrix.metrics.first().map(String::as_str).unwrap_or_default();
    worst.tried.iter().map(|tried| sentence(tried, metric, &name, &first)).collect()
}

fn sentence(tried: &TriedOn, metric: &str, version: &str, first: &str) -> String {
    let name = clean(&tried.intervention);
    if !tried.applied {
        return format!("{name} did not take hold on {version}.");
    }
    let Some(gain) = of(&tried.gain, metric) else {
        return format!("Too few runs of {version} with {name} ended well.");
    };
    let noun = noun(metric);
    let what = noun.strip_prefix("the ").unwrap_or(&noun);
    let (with, plain) = pair(metric, gain.a, gain.b);
    let told = |factor: f64, word: &str| {
        format!(
            "With {name} attached from outside, the {what} of {version} is {} times {word} ({with}, not {plain})",
            three(factor)
        )
    };
    let mut text = match (gain.outcome, is_better_larger(metric)) {
        (Contrast::Same | Contrast::Open, _) => {
            return format!("{name} took hold on {version}, and no change of the {what} could be told.");
        }
        (Contrast::More, false) => told(gain.ratio, "less"),
        (Contrast::Less, true) => told(gain.ratio.recip(), "more"),
        (Contrast::Less, false) | (Contrast::More, true) => return told(gain.ratio.recip(), "as much") + ".",
    };
    text += &of(&tried.remains, metric).map(|remains| left(remains, first)).unwrap_or_default();
    text + "."
}

/// What is left of the loss, as the end of a sentence.
fn left(remains: &Compared, first: &str) -> String {
    let is_worse = if is_better_larger(&remains.metric) { Contrast::Less } else { Contrast::More };
    if remains.outcome == is_worse {
        let absolute = absolute(remains);
        return format!("; {absolute} remain between it and {first} with the same ({} times)", three(remains.ratio));
    }
    format!("; nothing remains that could be told from {first} with the same")
}
