//! What grows: the call chain with each function's own exponent.

use super::value::{heading, label};
use crate::chain::{Step, chain, code};
use crate::figure::power;
use crate::style::Style;
use crate::text::wrap;
use case::{Share, Sweep};

/// The chain as a tree; empty where it was not looked for.
pub(super) fn growth(sweep: &Sweep, style: Style) -> String {
    let Some(growth) = sweep.growth.as_ref().filter(|growth| !growth.chain.is_empty()) else {
        return String::new();
    };
    let steps = growth.chain.iter().map(|one| Step {
        figures: vec![power(one.exponent), Share(one.share).to_string()],
        name: code(&one.function, &one.module),
    });
    let title = format!(
        "What grows with {} (processor time, callees included; share at {}):",
        heading(sweep),
        label(sweep, growth.to)
    );
    wrap(&title, style.columns(), "", "  ") + &chain(&["exponent", "share"], &steps.collect::<Vec<_>>(), style)
}
