//! One experiment: both arms of a workload, interleaved to the last look, and what a rule makes of them.

use std::io;

use stats::{Decision, Looks, decision, hodges_lehmann, mean_interval, schedule};

use crate::neighbour::Neighbour;
use crate::workload::Workload;

/// The timings of both arms.
pub struct Experiment {
    pub workload: Workload,
    /// How many times as long the first arm is.
    pub ratio: f64,
    /// Whether a neighbour took processors meanwhile.
    pub disturbed: bool,
    /// What the order of the arms follows from.
    pub seed: u64,
    /// Seconds, in the order in which they were taken.
    pub in_order: Vec<f64>,
    /// Seconds of the first and the second arm in each round.
    pub pairs: Vec<(f64, f64)>,
}

impl Experiment {
    /// From timings taken in the order of `schedule`.
    pub fn new(workload: Workload, ratio: f64, disturbed: bool, seed: u64, in_order: Vec<f64>) -> Experiment {
        let rounds = schedule(2, in_order.len() / 2, seed);
        let pair = |(order, round): (&Vec<usize>, &[f64])| {
            if order[0] == 0 { (round[0], round[1]) } else { (round[1], round[0]) }
        };
        let pairs = rounds.iter().zip(in_order.chunks_exact(2)).map(pair).collect();
        Experiment { workload, ratio, disturbed, seed, in_order, pairs }
    }

    /// Times both arms, the first being `ratio` times as long, in all rounds up to the last look.
    pub fn run(workload: Workload, ratio: f64, disturbed: bool, seed: u64) -> io::Result<Experiment> {
        let amounts = workload.amounts(ratio)?;
        let neighbour = disturbed.then(|| Neighbour::new(seed));
        // Warm-up, as in the lab.
        workload.time(amounts.1)?;
        let mut in_order = Vec::new();
        for arm in schedule(2, Looks::standard().most(), seed).into_iter().flatten() {
            in_order.push(workload.time(if arm == 0 { amounts.0 } else { amounts.1 })?);
        }
        drop(neighbour);
        Ok(Experiment::new(workload, ratio, disturbed, seed, in_order))
    }

    /// The same timings with an effect planted: the second arm made faster by `ratio`.
    pub fn planted(&self, ratio: f64) -> Vec<(f64, f64)> {
        self.pairs.iter().map(|(before, after)| (*before, after / ratio)).collect()
    }

    /// The logarithms of the ratios of the first and the second arm.
    pub fn log_ratios(&self) -> Vec<f64> {
        self.pairs.iter().map(|(before, after)| (before / after).ln()).collect()
    }
}

/// A way to decide at a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The one of this crate.
    Looks,
    /// Student's t at every look, for comparison.
    StudentOnly,
}

/// Where a rule first came to a decision.
#[derive(Clone, Copy, Debug)]
pub struct Decided {
    pub decision: Decision,
    /// Whether the first arm was found to be the slower.
    pub slower: bool,
    pub pairs: usize,
}

/// In these tables, effects up to this are too small to matter.
const WORTH: f64 = 1.05;

/// What `rule` decides at each look, until `stop` says that this was the decision looked for.
pub fn first(rule: Rule, pairs: &[(f64, f64)], stop: impl Fn(&Decided) -> bool) -> Option<Decided> {
    let looks = Looks::standard();
    let decided = |look: &stats::Look| at_look(rule, &looks, *look, pairs);
    looks.planned().iter().filter_map(decided).find(stop)
}

fn at_look(rule: Rule, looks: &Looks, look: stats::Look, pairs: &[(f64, f64)]) -> Option<Decided> {
    let seen = pairs.get(..look.pairs)?;
    let mut ratio = looks.interval(seen)?;
    if rule == Rule::StudentOnly {
        let logs: Vec<f64> = seen.iter().map(|(before, after)| (before / after).ln()).collect();
        let interval = mean_interval(&logs, 1.0 - look.share)?;
        (ratio.ratio, ratio.low, ratio.high) = (hodges_lehmann(&logs).exp(), interval.low.exp(), interval.high.exp());
    }
    Some(Decided { decision: decision(&ratio, WORTH), slower: ratio.low > 1.0, pairs: look.pairs })
}
