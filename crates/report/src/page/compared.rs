//! Section: A against B: what was asked of it, every metric on one axis of ratios, and in which code and calls they
//! differ. Limits, warnings and how it was measured are told with the verdict; where time went, and the trials one by
//! one, are other sections.

mod contrasts;
pub(super) mod ratios;

use super::{Material, Told};
use crate::command::command;
use crate::comparison::sides::particulars;
use askama::Template;
use case::Contrast;

#[derive(Template)]
#[template(path = "page/compared.html")]
struct Compared {
    both: String,
    a: Vec<String>,
    b: Vec<String>,
    metrics: String,
    is_noise: bool,
    contrasts: String,
}

/// The section's HTML; nothing where nothing was compared.
pub(super) fn section(material: &Material) -> String {
    let Told::Comparison(comparison) = material.told else { return String::new() };
    let differs = |outcome: Contrast| matches!(outcome, Contrast::More | Contrast::Less);
    let (a, b) = (&comparison.a, &comparison.b);
    let page = Compared {
        both: if a.command == b.command { command(&a.command) } else { String::new() },
        a: particulars(a, b),
        b: particulars(b, a),
        metrics: ratios::table(&comparison.metrics, ["A", "B"]),
        is_noise: !comparison.metrics.iter().any(|one| differs(one.outcome)),
        contrasts: contrasts::tables(comparison),
    };
    page.render().unwrap_or_default()
}

#[cfg(test)]
mod tests;
