//! A sweep: where it jumps, how it grows, and what each stretch of values was found to suffer from.

use super::comparison::again;
use super::{code, escape, list, part, table};
use crate::chain;
use crate::command::command;
use crate::figure::{noun, power, spread, three};
use crate::sweep::points::{has_cliff, rates};
use crate::sweep::regimes::{change, standing, told as suspected};
use crate::sweep::value::{is_sound, label};
use crate::sweep::{measuring, sweep_sentence};
use case::{Cliff, Manifest, Point, Regime, Share, Sweep};

/// The whole text.
pub(super) fn sweep(told: &Sweep, manifest: &Manifest) -> String {
    let summary = if told.summary.is_empty() { sweep_sentence(told) } else { told.summary.clone() };
    let mut text = format!("## whyslow: {} varied\n\n**{}**\n\n", escape(&told.parameter), escape(&summary));
    text += &format!("- in {}\n", code::span(&command(&told.command)));
    if !told.server.is_empty() {
        text += &format!("- server {}\n", code::span(&command(&told.server)));
    }
    text += &part("Why it jumps", &told.cliffs.iter().map(|cliff| reason(told, cliff)).collect::<String>());
    text += &part("What was measured", &points(told));
    text += &part("What recordings show (suspicions, not tried)", &regimes(told));
    text += &part("What grows", &growth(told));
    text += &part("Trials", &escape(&measuring(told)));
    text += &part("But", &list(&told.warnings));
    text + &part("How to look again", &again(&told.case, manifest))
}

fn reason(told: &Sweep, cliff: &Cliff) -> String {
    let why = if cliff.reason.is_empty() { "it is not known why" } else { &cliff.reason };
    let (below, above) = (label(told, cliff.below), label(told, cliff.above));
    format!("- {}\n", escape(&format!("{below} to {above}: {why}")))
}

fn points(told: &Sweep) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (index, point) in told.points.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| told.points.get(before));
        if before.is_some_and(|before| has_cliff(told, before, point)) {
            rows.push(vec!["cliff".into(), String::new(), String::new(), String::new()]);
        }
        rows.push(row(told, point));
    }
    let measured = format!("{} (95 % interval)", escape(&noun(&told.metric)));
    table(&[&escape(&told.parameter), &measured, rates(told), "trials"], &rows)
}

fn row(told: &Sweep, point: &Point) -> Vec<String> {
    let problem = if point.problem.is_empty() { String::new() } else { format!("; {}", point.problem) };
    if !is_sound(point) {
        return vec![point.label.clone(), format!("no sound trial{problem}"), String::new(), String::new()];
    }
    let figure = spread(&told.metric, point.measured, point.low, point.high);
    let rate = if point.rate > 0.0 { three(point.rate) } else { String::new() };
    vec![point.label.clone(), figure + &problem, rate, point.trials.to_string()]
}

/// The stretches by value, and what changes from one to the next.
fn regimes(told: &Sweep) -> String {
    let mut text = String::new();
    for (index, one) in told.regimes.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| told.regimes.get(before));
        if let Some(before) = before.filter(|before| standing(before).chain(standing(one)).next().is_some()) {
            text += &format!("- {}\n", escape(&change(told, before, one)));
        }
        text += &regime(told, one);
    }
    text
}

fn regime(told: &Sweep, regime: &Regime) -> String {
    let place = format!("{} to {}", label(told, regime.from), label(told, regime.to));
    let found = standing(regime).map(|finding| suspected(told, finding)).collect::<Vec<_>>();
    let said = if found.is_empty() { format!("no cause found. {}", regime.summary) } else { found.join(" ") };
    format!("- {}\n", escape(&format!("{place}: {said}")))
}

fn growth(told: &Sweep) -> String {
    let Some(growth) = &told.growth else { return String::new() };
    let rows = growth
        .chain
        .iter()
        .map(|one| vec![chain::code(&one.function, &one.module), power(one.exponent), Share(one.share).to_string()]);
    table(&["Function, callees included", "exponent", "share"], &rows.collect::<Vec<_>>())
}
