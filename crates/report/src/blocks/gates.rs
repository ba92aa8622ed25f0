//! The gates of `--fail-if`: one line each, alone on it however long, so that a CI job can search for it.

use crate::block::{Block, Section};
use crate::document::Document;
use crate::escape::escape;
use crate::figure::three;
use crate::text::clean;
use askama::Template;
use case::{Gate, GateState};

pub(crate) const BLOCK: Block = Block {
    text: Some(|document, _| gates(document).map(|gate| line(gate) + "\n").collect()),
    html: Some(html),
    markdown: Some(markdown),
    ..Block::of(Section::Verdict, |_| Vec::new())
};

fn gates<'a>(document: &Document<'a>) -> impl Iterator<Item = &'a Gate> {
    document.comparison().into_iter().flat_map(|comparison| &comparison.gates)
}

#[derive(Template)]
#[template(
    source = r#"{% for (badge, line) in lines %}<p class="gate"><span class="badge {{ badge }}">limit</span> <span class="mono">{{ line }}</span></p>
{% endfor %}"#,
    ext = "html"
)]
struct Lines {
    lines: Vec<(&'static str, String)>,
}

fn html(document: &Document) -> String {
    let badge = |gate: &Gate| match gate.state {
        GateState::Failed => "bad",
        GateState::Passed => "good",
        GateState::Open => "warn",
    };
    let lines = gates(document).map(|gate| (badge(gate), line(gate))).collect::<Vec<_>>();
    Lines { lines }.render().unwrap_or_default()
}

fn markdown(document: &Document) -> String {
    let lines = gates(document).map(|gate| format!("- {}\n", escape(&line(gate)))).collect::<String>();
    if lines.is_empty() { lines } else { format!("### Limits\n\n{lines}") }
}

fn line(gate: &Gate) -> String {
    let condition = clean(&gate.condition);
    let word = match gate.state {
        GateState::Failed => "FAILED",
        GateState::Passed => "passed",
        GateState::Open => "undecided",
    };
    // What the user called it; a condition that names nothing falls back on the metric.
    let typed = condition.rfind(['<', '>']).map_or("", |sign| condition[..sign].trim());
    let what = if typed.is_empty() { clean(&gate.metric.to_string()) } else { typed.to_string() };
    if !(gate.ratio.is_finite() && gate.ratio > 0.0) {
        return format!("fail-if {condition}: {word}, {what} was not measured");
    }
    let [ratio, low, high] = [gate.ratio, gate.low, gate.high].map(|value| beside(value, gate.limit));
    let why = if gate.state == GateState::Open { ": the limit is within the interval" } else { "" };
    format!("fail-if {condition}: {word}, {what} is {ratio}x ({low} to {high}){why}")
}

/// A ratio with as many digits as it takes to see on which side of the limit it lies.
fn beside(value: f64, limit: f64) -> String {
    let is_beside = three(value) == three(limit) && (value - limit).abs() > f64::EPSILON;
    if is_beside { format!("{value:.4}") } else { three(value) }
}
