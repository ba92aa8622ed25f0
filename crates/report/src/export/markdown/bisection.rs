//! A bisection: what makes the difference, what speaks for it, and how to get rid of it.

use super::comparison::{again, contrasts, metrics};
use super::{code, escape, list, part, table, typed};
use crate::bisection::axis::{figure_at, place};
use crate::bisection::burner::readable;
use crate::bisection::cures::{command as way_back, confirmed, cure, ordered};
use crate::bisection::factors::{how_many, note};
use crate::bisection::grounds::{both_ways, cleared};
use crate::bisection::label::{kind, value};
use crate::bisection::probes::{kind as purpose, result, taken};
use crate::bisection::{measuring, said, world};
use crate::command::command;
use crate::hot_spots;
use case::{Bisection, CodeContrast, HotSpot, Manifest, Share};

/// More rows than this nobody reads in a ticket.
const MOST_ROWS: usize = 12;
/// So much of a call chain is told.
const MOST_STEPS: usize = 10;

/// The whole text.
pub(super) fn bisection(told: &Bisection, manifest: &Manifest) -> String {
    let mut text = format!("## whyslow: good against bad\n\n**{}**\n\n", escape(&said(told)));
    text += &format!("- **good**: {}\n- **bad**: {}\n", escape(&world(&told.good)), escape(&world(&told.bad)));
    text += &format!("- ran {}\n", code::span(&command(&told.command)));
    if !told.server.is_empty() {
        text += &format!("- server {}\n", code::span(&command(&told.server)));
    }
    text += &part("What speaks for it", &grounds(told));
    text += &part("Without a downgrade", &list(&ordered(told).into_iter().map(cure).collect::<Vec<_>>()));
    if let Some(line) = way_back(told) {
        text += &part(&format!("To go back ({})", escape(&confirmed(told))), &typed(&line));
    }
    text += &part("What was measured", &metrics(&told.baseline, ["good", "bad"]));
    if let Some(burner) = &told.burner {
        let head = format!("Who burns the processor time: {} ({})", escape(&burner.library), Share(burner.share));
        let sides = ["good", "bad"];
        text += &part(&head, &(inner(&burner.chain, sides) + &hot_spots(&burner.hot_spots)));
    }
    text += &part("What differs", &factors(told));
    text += &part("Probes, from bad (0) to good (1)", &probes(told));
    text += &part("Control", &metrics(&told.control, ["good", "bad"]));
    text += &part("Not tried", &list(&told.not_tried));
    text += &part("Trials", &escape(&measuring(told)));
    text += &part("But", &list(&told.warnings));
    text + &part("How to look again", &again(&told.case, manifest))
}

/// The inner end of a chain, where the time goes: what calls it only carries the whole.
pub(super) fn inner(chain: &[CodeContrast], names: [&str; 2]) -> String {
    let (chain, _) = readable(chain);
    contrasts(&chain[chain.len().saturating_sub(MOST_STEPS)..], names)
}

/// What burns most of a difference by itself, each with how it is called; empty for nothing.
pub(super) fn hot_spots(hot_spots: &[HotSpot]) -> String {
    let one = |one: &HotSpot| {
        let [_, _, difference, share] = hot_spots::figures(one);
        format!("{}: {difference}, {share} of the difference, {}", hot_spots::title(one), hot_spots::called(one))
    };
    if hot_spots.is_empty() {
        return String::new();
    }
    format!("\n{}:\n\n{}", hot_spots::TITLE, list(&hot_spots.iter().map(one).collect::<Vec<_>>()))
}

fn grounds(told: &Bisection) -> String {
    let Some(culprit) = &told.culprit else { return String::new() };
    let mut sentences = vec![both_ways(told, culprit)];
    sentences.extend(culprit.reasons.iter().cloned());
    sentences.extend(culprit.cleared.iter().map(|one| format!("cleared: {}", cleared(one))));
    list(&sentences)
}

fn factors(told: &Bisection) -> String {
    if told.factors.is_empty() {
        return String::new();
    }
    let rows = told.factors.iter().take(MOST_ROWS).map(|factor| {
        let suspicion = if factor.suspicion > 0.0 { Share(factor.suspicion).to_string() } else { String::new() };
        let (good, bad) = (value(factor, &factor.good), value(factor, &factor.bad));
        vec![factor.name.clone(), kind(factor.kind).to_string(), good, bad, suspicion, note(factor)]
    });
    let headings = ["What", "Kind", "good", "bad", "suspicion", "Note"];
    format!("{}.\n\n", escape(&how_many(told))) + &table(&headings, &rows.collect::<Vec<_>>())
}

fn probes(told: &Bisection) -> String {
    let rows = told.probes.iter().enumerate().map(|(index, probe)| {
        let what = format!("{}. {}: {}", index + 1, purpose(probe.kind), taken(probe));
        let figure = figure_at(told, probe.place).unwrap_or_default();
        vec![what, place(probe), figure, result(probe.result).to_string()]
    });
    table(
        &["Taken from the good world", "place (95 % interval)", "about", "What came of it"],
        &rows.collect::<Vec<_>>(),
    )
}
