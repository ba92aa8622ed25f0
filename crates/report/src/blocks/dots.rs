//! Before and after. Every intervention that was tried is a row: each trial a dot, without it and with it, the
//! middle of them with its interval, and the ratio in words. For a comparison a row is a metric, with A and B.

mod arms;
mod chart;
mod compared;
mod row;
mod tried;

use crate::block::{Block, Section};
use crate::document::{Body, Document};
use askama::Template;
use chart::Chart;

pub(crate) const BLOCK: Block = Block::drawn(Section::Proof, html);

#[derive(Template)]
#[template(path = "blocks/dots.html")]
struct Drawn {
    /// How to read it.
    intro: String,
    /// What the upper and the lower dots are.
    lanes: [&'static str; 2],
    /// Whether there are trials to draw as dots.
    has_dots: bool,
    /// Whether some do not count.
    has_hollow: bool,
    /// Whether rows are interventions, whose names can be explained.
    has_names: bool,
    /// Rows that share an axis.
    charts: Vec<Chart>,
}

/// The section's HTML; empty where nothing was tried.
fn html(document: &Document) -> String {
    let (charts, lanes) = match document.body {
        Body::Answer(answer) => (tried::charts(answer, document), ["without", "with"]),
        Body::Comparison(comparison) => (compared::charts(comparison, document), ["A", "B"]),
        Body::Sweep(_) | Body::Bisection(_) | Body::Matrix(_) | Body::Measured(_) => {
            return String::new();
        }
    };
    if charts.is_empty() {
        return String::new();
    }
    let has_dots = charts.iter().flat_map(Chart::dots).next().is_some();
    let has_hollow = charts.iter().flat_map(Chart::dots).any(|dot| dot.hollow);
    let has_names = matches!(document.body, Body::Answer(_));
    let drawn = Drawn { intro: intro(document.body), lanes, has_dots, has_hollow, has_names, charts };
    drawn.render().unwrap_or_default()
}

fn intro(body: Body) -> String {
    match body {
        Body::Answer(answer) if !answer.live.is_empty() => {
            "Each intervention was switched on and off in the running program; its windows are compared."
        }
        Body::Answer(_) => {
            "The program was run over and over, in random order, with one thing switched off from outside and without \
             that. Trials without it carry the same machinery, inert: a sham, the placebo of a trial."
        }
        _ => "A and B were run alternately, in random order.",
    }
    .into()
}

#[cfg(test)]
mod tests;
