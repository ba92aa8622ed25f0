//! Bundles: where a thread makes very many calls, those between its transfers become one step that counts them.

use super::raw_event::RawEvent;
use crate::number::count;
use case::views::LadderEvent;
use std::collections::BTreeMap;

/// A thread with no more steps than this is shown call by call.
const FEW: usize = 20;

/// Fewer steps in a row stay as they are.
const LEAST: usize = 3;

/// Kinds of calls that a bundle names.
const NAMED: usize = 2;

/// A step of one thread, its repetitions folded.
pub struct Folded {
    /// The step.
    pub step: RawEvent,
    /// The call's name.
    pub name: String,
    /// Whether it may be bundled with others: short, and without bytes of the exchange.
    pub plain: bool,
}

/// The steps of a thread, runs of plain ones bundled where there are many.
pub fn bundled(folded: Vec<Folded>) -> Vec<RawEvent> {
    if folded.len() <= FEW {
        return folded.into_iter().map(|folded| folded.step).collect();
    }
    let runs = folded.chunk_by(|one, next| one.plain && next.plain);
    let steps = runs.flat_map(|run| {
        if run.len() < LEAST { run.iter().map(|folded| folded.step.clone()).collect() } else { vec![bundle(run)] }
    });
    steps.collect()
}

/// A run as one step: its kinds of calls, those that came most first, and the line of code behind most of them.
fn bundle(run: &[Folded]) -> RawEvent {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for folded in run {
        *counts.entry(&folded.name).or_default() += folded.step.event.times;
    }
    let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|&(name, times)| (std::cmp::Reverse(times), name));
    let named = counts.iter().take(NAMED);
    let mut words: Vec<String> = named
        .map(|&(name, times)| if times == 1 { name.to_string() } else { format!("{name} x {}", count(times)) })
        .collect();
    let rest: u64 = counts.iter().skip(NAMED).map(|&(_, times)| times).sum();
    if rest > 0 {
        words.push(if rest == 1 { "1 other".to_string() } else { format!("{} others", count(rest)) });
    }
    let most = run.iter().rev().max_by_key(|folded| folded.step.event.times);
    let place = most.and_then(|folded| folded.step.event.place.clone());
    let first = &run[0].step.event;
    let to = run.iter().map(|folded| folded.step.event.to).max().unwrap_or(first.to);
    let records = Vec::new();
    RawEvent::new(LadderEvent { to, label: words.join(", "), records, place, times: 1, ..first.clone() })
}
