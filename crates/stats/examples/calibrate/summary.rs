//! The tables: how often the rule was wrong, how often right, and after how many trials.

use std::fmt::Write;

use stats::{
    Decision, Interval, Looks, Resampling, bca_interval, center_interval, hodges_lehmann, mean, mean_interval, median,
    quantile,
};

use crate::experiment::{Decided, Experiment, Rule, first};
use crate::workload::Workload;

/// The effects that are planted.
const EFFECTS: [f64; 5] = [1.01, 1.03, 1.05, 1.10, 1.30];

/// All tables, as Markdown.
pub fn tables(equal: &[Experiment], longer: &[Experiment]) -> String {
    let mut text = extent(equal);
    text += "\n### No difference\n\n";
    text += &without_difference(equal);
    text += "\n### Each look by itself\n\n";
    text += &each_look(equal);
    text += "\n### Effects found\n\n";
    text += &effects(equal, longer);
    text
}

fn extent(equal: &[Experiment]) -> String {
    format!(
        "{} experiments of {} pairs each, half of them beside two threads that each take a processor for up to 20 ms at \
         a time, a sixth of the time.\n",
        equal.len(),
        Looks::standard().most(),
    )
}

/// Experiments of one workload, alone or with the neighbour, and all together.
fn groups(experiments: &[Experiment]) -> Vec<(String, Vec<&Experiment>)> {
    let mut groups = Vec::new();
    for workload in Workload::ALL {
        for disturbed in [false, true] {
            let chosen = |one: &&Experiment| one.workload == workload && one.disturbed == disturbed;
            let chosen: Vec<&Experiment> = experiments.iter().filter(chosen).collect();
            let name = format!("{}{}", workload.name(), if disturbed { ", neighbour" } else { "" });
            groups.push((name, chosen));
        }
    }
    groups.push(("all".to_owned(), experiments.iter().collect()));
    groups.retain(|(_, chosen)| !chosen.is_empty());
    groups
}

fn without_difference(equal: &[Experiment]) -> String {
    let mut text = String::from(
        "| workload | experiments | trial, median | pairs' ratios: half within | 19 of 20 within | alarms | alarms, \
         Student's t only | said to be the same within 5 % | pairs that took, median |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for (name, chosen) in groups(equal) {
        let alarms = |rule| {
            let alarm = |one: &&&Experiment| first(rule, &one.pairs, |at| at.decision == Decision::Differs).is_some();
            share(chosen.iter().filter(alarm).count(), chosen.len())
        };
        let decided = |one: &&Experiment| first(Rule::Looks, &one.pairs, |at| at.decision != Decision::Open);
        let same: Vec<f64> = chosen
            .iter()
            .filter_map(decided)
            .filter(|at| at.decision == Decision::Same)
            .map(|at| at.pairs as f64)
            .collect();
        let times: Vec<f64> = chosen.iter().flat_map(|one| one.in_order.iter().copied()).collect();
        let spread: Vec<f64> = chosen.iter().flat_map(|one| one.log_ratios()).map(f64::abs).collect();
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "| {name} | {} | {:.2} ms | {:.1} % | {:.1} % | {} | {} | {} | {} |",
            chosen.len(),
            median(&times) * 1e3,
            median(&spread) * 100.0,
            quantile(&spread, 0.95) * 100.0,
            alarms(Rule::Looks),
            alarms(Rule::StudentOnly),
            share(same.len(), chosen.len()),
            median(&same),
        );
    }
    text
}

/// How often intervals without any difference leave out 1 at each look, beside how often they may.
fn each_look(equal: &[Experiment]) -> String {
    let mut text = String::from(
        "| after pairs | may miss | rule | Student's t | BCa bootstrap of the mean |\n|---|---|---|---|---|\n",
    );
    for look in Looks::standard().planned() {
        let confidence = 1.0 - look.share;
        let resampling = Resampling { times: 2_000, seed: 1, confidence };
        let misses = |interval: &dyn Fn(&[f64]) -> Option<Interval>| {
            let missed = |one: &&Experiment| {
                let logs = one.log_ratios();
                logs.get(..look.pairs).and_then(interval).is_some_and(|interval| !interval.contains(0.0))
            };
            share(equal.iter().filter(missed).count(), equal.len())
        };
        let rule = |logs: &[f64]| center_interval(logs, confidence).or_else(|| mean_interval(logs, confidence));
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {:.2} % | {} | {} | {} |",
            look.pairs,
            look.share * 100.0,
            misses(&rule),
            misses(&|logs| mean_interval(logs, confidence)),
            misses(&|logs| bca_interval(logs, mean, resampling)),
        );
    }
    text
}

fn effects(equal: &[Experiment], longer: &[Experiment]) -> String {
    let mut text = String::from(
        "| effect | workload | found | found, Student's t only | pairs it took (trials), median | 9 of 10 within |\n\
         |---|---|---|---|---|---|\n",
    );
    for effect in EFFECTS {
        for (name, chosen) in groups(equal) {
            let planted: Vec<_> = chosen.iter().map(|one| one.planted(effect)).collect();
            text += &found(&format!("{:.0} %, planted", (effect - 1.0) * 100.0), &name, &planted);
        }
    }
    for (name, chosen) in groups(longer) {
        let pairs: Vec<_> = chosen.iter().map(|one| one.pairs.clone()).collect();
        let measured: Vec<f64> = chosen.iter().map(|one| hodges_lehmann(&one.log_ratios()).exp()).collect();
        let effect = format!("3 %, really longer; measured {:.1} %", (median(&measured) - 1.0) * 100.0);
        text += &found(&effect, &name, &pairs);
    }
    text
}

fn found(effect: &str, name: &str, experiments: &[Vec<(f64, f64)>]) -> String {
    let right = |at: &Decided| at.decision == Decision::Differs && at.slower;
    let pairs = |rule| {
        let found = |pairs: &Vec<(f64, f64)>| first(rule, pairs, right).map(|at| at.pairs as f64);
        experiments.iter().filter_map(found).collect::<Vec<f64>>()
    };
    let (ours, student) = (pairs(Rule::Looks), pairs(Rule::StudentOnly));
    // Those that were not found took more than the last look.
    let mut took = ours.clone();
    took.resize(experiments.len(), f64::INFINITY);
    let most = Looks::standard().most();
    let number = |pairs: f64| {
        if pairs.is_finite() { format!("{pairs:.0} ({:.0})", 2.0 * pairs) } else { format!("over {most}") }
    };
    took.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| {
        number(took.get(((took.len() as f64 * share).ceil() as usize).max(1) - 1).copied().unwrap_or(f64::INFINITY))
    };
    format!(
        "| {effect} | {name} | {} | {} | {} | {} |\n",
        share(ours.len(), experiments.len()),
        share(student.len(), experiments.len()),
        at(0.5),
        at(0.9),
    )
}

fn share(some: usize, all: usize) -> String {
    format!("{:.1} %", 100.0 * some as f64 / all as f64)
}
