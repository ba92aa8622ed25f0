//! Section: before and after. Every intervention that was tried is a row: each trial a dot, without it and with it, the
//! middle of them with its interval, and the ratio in words. For a comparison a row is a metric, with A and B.

mod arms;
mod chart;
mod compared;
mod row;
mod tried;

use super::{Material, Told};
use askama::Template;
use chart::Chart;

#[derive(Template)]
#[template(path = "page/effects.html")]
struct Effects {
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
pub(super) fn section(material: &Material) -> String {
    let (charts, lanes) = match material.told {
        Told::Answer(answer) => (tried::charts(answer, material), ["without", "with"]),
        Told::Comparison(comparison) => (compared::charts(comparison, material), ["A", "B"]),
        Told::Sweep(_) | Told::Bisection(_) | Told::Matrix(_) => return String::new(),
    };
    if charts.is_empty() {
        return String::new();
    }
    let has_dots = charts.iter().flat_map(Chart::dots).next().is_some();
    let has_hollow = charts.iter().flat_map(Chart::dots).any(|dot| dot.hollow);
    let has_names = matches!(material.told, Told::Answer(_));
    let effects = Effects { intro: intro(material.told), lanes, has_dots, has_hollow, has_names, charts };
    effects.render().unwrap_or_default()
}

fn intro(told: Told) -> String {
    match told {
        Told::Answer(answer) if !answer.live.is_empty() => {
            "Each intervention was switched on and off in the running program; what is compared are its windows."
        }
        Told::Answer(_) => {
            "The same program was run again and again, with one thing switched off from outside and without that, in \
             random order. The trials without it carry the same machinery, inert: a sham, as a placebo is."
        }
        _ => "A and B were run in turns, in random order.",
    }
    .into()
}

#[cfg(test)]
mod tests;
