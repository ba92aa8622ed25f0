//! What speaks for a culprit: that switching it both ways makes and unmakes the difference, what splits a bundle, and who
//! is cleared and who is not.

use crate::block::{Block, Section};
use crate::document::Document;
use crate::figure::{pair, range, three};
use crate::label::{is_of_commits, names};
use crate::part::{Part, under};
use crate::place::figure_at;
use crate::text::{clean, counted};
use case::{Bisection, Culprit, Probe, ProbeKind, ProbeResult, Share};

pub(crate) const BLOCK: Block = Block {
    text: Some(|document, style| crate::part::text::of(&grounds(document), style)),
    html: Some(|document| crate::part::html::of(&grounds(document))),
    ..Block::of(Section::Verdict, |document| under("What speaks for it", grounds(document)))
};

/// The sentences; nothing without a culprit.
fn grounds(document: &Document) -> Vec<Part> {
    let Some(bisection) = document.bisection() else { return Vec::new() };
    let Some(culprit) = &bisection.culprit else { return Vec::new() };
    let cleared = culprit.cleared.iter().map(|one| format!("Cleared: {}", member(&one.factor, one.share, &one.why)));
    let untested =
        culprit.untested.iter().map(|one| format!("Not tested alone: {}", member(&one.factor, one.share, &one.why)));
    let more = culprit.reasons.iter().cloned().chain(cleared).chain(untested).collect();
    vec![Part::Paragraph(both_ways(bisection, culprit)), Part::List(more)]
}

/// What is known of both directions, in a sentence or two.
fn both_ways(bisection: &Bisection, culprit: &Culprit) -> String {
    let (good, bad) = (clean(&bisection.good.name), clean(&bisection.bad.name));
    let cure = names(&culprit.cure);
    let gain = &culprit.gain;
    if is_of_commits(bisection) {
        let (before, with) = pair(&gain.metric, gain.a, gain.b);
        let interval = range(gain.low, gain.high);
        let it = if bisection.stairs.len() > 1 { "them" } else { "it" };
        return format!("{before} before {it}, {with} with {it} ({} times as much, {interval}).", three(gain.ratio));
    }
    let cured = if gain.pairs > 0 {
        let (cured, before) = pair(&gain.metric, gain.a, gain.b);
        let interval = range(gain.low, gain.high);
        format!(
            "With only {cure} from {good}, {bad} is fast: {cured} instead of {before} ({} times less, {interval}; {}).",
            three(gain.ratio),
            in_turns(gain.pairs)
        )
    } else {
        format!("With only {cure} from {good}, {bad} is fast.")
    };
    let removal = bisection.probes.iter().rfind(|probe| probe.kind == ProbeKind::Removal);
    match removal {
        Some(removal) => {
            let confirmed = if removal.result == ProbeResult::Bad { "Confirmed both ways. " } else { "" };
            format!("{confirmed}{cured} {}", without(bisection, removal, &good))
        }
        None => format!("{cured} The reverse, everything from {good} but that, was not tried."),
    }
}

/// What a figure rests on.
fn in_turns(pairs: u32) -> String {
    counted(pairs.into(), "alternating pair")
}

fn without(bisection: &Bisection, removal: &Probe, good: &str) -> String {
    let figure = figure_at(bisection, removal.place).into_iter();
    let pairs = (removal.pairs > 0).then(|| in_turns(removal.pairs));
    let at = figure.chain(pairs).collect::<Vec<_>>().join("; ");
    let at = if at.is_empty() { at } else { format!(" ({at})") };
    match removal.result {
        ProbeResult::Bad => format!("With everything else from {good} but not that, it stays slow{at}."),
        ProbeResult::Good => format!("But with everything else from {good} and not that, it is fast too{at}."),
        ProbeResult::Unclear => format!("With everything else from {good} but not that, the result is unclear{at}."),
        ProbeResult::Untestable => {
            let why = clean(&removal.note);
            let why = if why.is_empty() { "programs do not start that way".to_string() } else { why };
            format!("The reverse could not be tried: {}.", why.trim_end_matches('.'))
        }
    }
}

/// A member, with its share of the CPU time, and what is known of it.
fn member(factor: &str, share: f64, why: &str) -> String {
    let why = clean(why);
    let share = if share > 0.0 { format!(" ({} of the CPU time)", Share(share)) } else { String::new() };
    let why = if why.is_empty() { String::new() } else { format!(": {why}") };
    format!("{}{share}{why}", clean(factor))
}
