//! Section: a bisection. Every probe on the axis from bad to good, how the search split what differs, what differs, who
//! burns the time, and the command that goes back. The verdict and the cures are told above it.

mod axis;
mod differing;
mod tree;

use super::chain::chain;
use super::compared::ratios;
use super::hot_spots::hot_spots;
use super::{Material, Told};
use crate::bisection::burner::{left_out, readable};
use crate::bisection::cures::{command, confirmed};
use crate::bisection::world;
use crate::text::clean;
use askama::Template;
use case::{Bisection, Share};

#[derive(Template)]
#[template(path = "page/bisected.html")]
struct Bisected {
    good: String,
    bad: String,
    back: Option<String>,
    back_tried: String,
    axis: String,
    tree: String,
    metrics: String,
    differing: String,
    burner: String,
    chain: String,
    left_out: String,
    hot_spots: String,
    control: String,
}

/// The section's HTML; nothing where nothing was bisected.
pub(super) fn section(material: &Material) -> String {
    let Told::Bisection(bisection) = material.told else { return String::new() };
    let burnt = bisection.burner.as_ref().map(|one| readable(&one.chain)).unwrap_or_default();
    let of_burner = bisection.burner.as_ref().map_or(&[][..], |one| &one.hot_spots);
    let page = Bisected {
        good: world(&bisection.good),
        bad: world(&bisection.bad),
        back: command(bisection),
        back_tried: confirmed(bisection),
        axis: axis::axis(bisection),
        tree: tree::tree(bisection),
        metrics: ratios::table(&bisection.baseline, ["good", "bad"]),
        differing: differing::differing(bisection),
        burner: burner(bisection),
        chain: chain(&burnt.0, ["good", "bad"]),
        left_out: left_out(burnt.1),
        hot_spots: hot_spots(of_burner, ["good", "bad"]),
        control: ratios::table(&bisection.control, ["good", "bad"]),
    };
    page.render().unwrap_or_default()
}

/// Who burns the time, in a sentence; empty where that is not known.
fn burner(bisection: &Bisection) -> String {
    let Some(burner) = &bisection.burner else { return String::new() };
    let of = if burner.factor.is_empty() { String::new() } else { format!(" (of {})", clean(&burner.factor)) };
    let (library, share) = (clean(&burner.library), Share(burner.share));
    format!(
        "{library}{of} burns {share} of the processor time in the bad world, the C library's charged to its callers."
    )
}

#[cfg(test)]
mod tests;
