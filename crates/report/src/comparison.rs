//! A comparison as text: gates, verdict, what was compared, every metric, then where the difference comes from.

mod differences;
pub(crate) mod gates;
pub(crate) mod origin;
pub(crate) mod sentence;
pub(crate) mod sides;

pub use self::sentence::contrast_sentence;

use crate::figure::{noun, pair, range, three};
use crate::grid::{Align, Row, grid};
use crate::style::Style;
use crate::text::{clean, counted, whereabouts, wrap};
use case::{Compared, Comparison, Contrast, Nanos};

/// The comparison as text, at most 80 columns wide but for gates and words that are longer.
pub fn comparison(comparison: &Comparison, style: &Style) -> String {
    let style = *style;
    let blocks = [
        gates::gates(comparison),
        verdict(comparison, style),
        sides::sides(comparison, style),
        metrics(comparison, style),
        differences::differences(comparison, style),
        closing(comparison, style),
        whereabouts(&comparison.page, &comparison.case),
    ];
    blocks.into_iter().filter(|block| !block.is_empty()).collect::<Vec<_>>().join("\n")
}

fn verdict(comparison: &Comparison, style: Style) -> String {
    let summary = clean(&comparison.summary);
    let said = if summary.is_empty() { contrast_sentence(comparison) } else { summary };
    wrap(&said, style.columns(), "", "").lines().map(|line| style.bold(line) + "\n").collect()
}

/// The table of all metrics.
fn metrics(comparison: &Comparison, style: Style) -> String {
    measured("What was measured", &comparison.metrics, ["A", "B", "B/A"], style)
}

/// A table of metrics under a title, the figures of both and their ratio headed as told; empty without any.
pub(crate) fn measured(title: &str, metrics: &[Compared], [a, b, ratio]: [&str; 3], style: Style) -> String {
    if metrics.is_empty() {
        return String::new();
    }
    let heading = Row::new("", [a, b, ratio, "", ""]);
    let rows = [heading].into_iter().chain(metrics.iter().map(row)).collect::<Vec<_>>();
    let aligns = [Align::Right, Align::Right, Align::Right, Align::Left, Align::Left];
    let pairs = metrics.iter().map(|metric| metric.pairs).max().unwrap_or(0);
    let title = format!("{title} (middle of {}, 95 % intervals):", counted(pairs.into(), "pair"));
    format!("{title}\n{}", grid(&rows, &aligns, "  ", style))
}

/// A metric of both, with its ratio.
pub(crate) fn row(compared: &Compared) -> Row {
    let noun = noun(&compared.metric);
    let name = noun.strip_prefix("the ").unwrap_or(&noun);
    if compared.pairs == 0 {
        return Row { note: "too few trials of both ended well".into(), ..Row::new(name, [""]) };
    }
    let (a, b) = pair(&compared.metric, compared.a, compared.b);
    let interval = format!("({})", range(compared.low, compared.high));
    Row::new(name, [a, b, three(compared.ratio), interval, word(compared.outcome).into()])
}

pub(crate) fn word(outcome: Contrast) -> &'static str {
    match outcome {
        Contrast::More => "more",
        Contrast::Less => "less",
        Contrast::Same => "same",
        Contrast::Open => "open",
    }
}

/// How it was measured, and what makes it worth less.
fn closing(comparison: &Comparison, style: Style) -> String {
    wrap(&measuring(comparison), style.columns(), "Trials: ", "  ") + &warnings(&comparison.warnings, style)
}

/// How it was measured, in a sentence.
pub(crate) fn measuring(comparison: &Comparison) -> String {
    let (spent, budget) = (Nanos(comparison.spent_ns), Nanos(comparison.budget_ns));
    let run = match comparison.trials {
        0 => "none".to_string(),
        trials => format!("{}, {spent} of the {budget} allowed", counted(trials.into(), "run")),
    };
    let output = match comparison.output.as_str() {
        "" => String::new(),
        "same" => "; A and B wrote the same".into(),
        "same but for figures" => "; A and B wrote the same but for figures".into(),
        "different" => "; A and B wrote different things".into(),
        why => format!("; what they wrote was not compared: {}", clean(why).trim_end_matches('.')),
    };
    format!("{run}{output}.")
}

/// What makes a result worth less, one line each; empty where there is nothing.
pub(crate) fn warnings(warnings: &[String], style: Style) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    let lines = warnings.iter().map(|warning| wrap(&clean(warning), style.columns(), "  - ", "    "));
    format!("But:\n{}", lines.collect::<String>())
}

#[cfg(test)]
pub(crate) mod examples;
#[cfg(test)]
mod tests;
