//! Comparing two subjects, each in its world: trials in turns, until the metrics are told apart or the budget is spent.

mod gate;
mod likeness;
mod metrics;

pub use gate::Condition;
pub use likeness::Unlike;
pub use metrics::{against_earlier, compared};
pub(crate) use metrics::{of_pairs, share};

use crate::arms::Arm;
use crate::error::LabError;
use crate::extent::Extent;
use crate::metric::Metric;
use crate::outcome::Outcome;
use case::tables::Trial;
use case::{Answer, Compared, Contrast, Gate, GateState};
use std::time::{Duration, Instant};

/// Whole runs are compared where the budget holds so many of both sides: a whole run is what a user means by a command.
const WHOLE_ROUNDS: u32 = 10;
/// Fewer rounds tell nothing.
const LEAST_ROUNDS: u32 = 4;
/// So many budgets may be spent on the least rounds, when the machine is slower than it was.
const EXCESS: u32 = 2;
/// What starting and ending the programs of a trial takes, before it is known.
const USUAL_OVERHEAD: Duration = Duration::from_millis(150);
/// An interval whose ends are no further apart is not worth more trials.
const NARROW: f64 = 1.04;
/// After so many rounds a difference is shown with the interval that it has got, and a likeness with its.
const ENOUGH_ROUNDS: u32 = 24;
/// Rounds after which whatever is open stays open: the last planned look.
const MOST_ROUNDS: u32 = 128;
/// Rounds of a side that is compared with one measured earlier, where the budget allows it: what the interval of a
/// difference of two samples gains beyond is little.
const ROUNDS_ALONE: u32 = 16;

/// Which side a trial is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// What was.
    A,
    /// What is asked about.
    B,
}

impl Which {
    /// Both, in order.
    pub const BOTH: [Which; 2] = [Which::A, Which::B];

    /// Its arm in the table of trials, and its name in sentences.
    pub fn arm(self) -> &'static str {
        match self {
            Which::A => "A",
            Which::B => "B",
        }
    }
}

/// What comparing is told.
pub struct Contest<'a> {
    /// The sides, each with what is attached to it: both, or B alone where it is compared with earlier trials.
    pub sides: &'a [(Which, Arm)],
    /// How far each trial goes.
    pub extent: Extent,
    /// What is compared, the metric that decides first.
    pub metrics: &'a [Metric],
    /// What must not be.
    pub conditions: &'a [Condition],
    /// Time for all trials.
    pub budget: Duration,
    /// What the order of trials is drawn from.
    pub seed: u64,
    /// Whether what the sides write is compared.
    pub compares_output: bool,
    /// Told what is being done.
    pub say: &'a dyn Fn(&str),
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Contested {
    /// All trials.
    pub trials: Vec<Trial>,
    /// What the sides wrote: `same`, or why it was not compared.
    pub output: String,
    /// Why they cannot be compared; none where they can.
    pub unlike: Option<Unlike>,
    /// Whether the user ended it.
    pub ended_early: bool,
    /// Time spent.
    pub spent: Duration,
}

/// How far trials go, and what they tell, of sides that were recorded so.
pub fn extent_of(answers: &[&Answer], metric: Option<&Metric>, budget: Duration) -> Extent {
    let recorded = answers.iter().map(|answer| Duration::from_nanos(answer.wall_ns));
    let round = recorded.clone().map(|wall| wall + USUAL_OVERHEAD).sum::<Duration>();
    let longest = recorded.max().unwrap_or_default();
    let have_ended = answers.iter().all(|answer| answer.subject_exit.is_some());
    let have_exchanges = answers.iter().all(|answer| answer.exchanges > 0);
    let takes_whole = metric.is_some_and(Metric::needs_whole_run);
    if takes_whole || !have_exchanges || (have_ended && round * WHOLE_ROUNDS <= budget) {
        return Extent::whole(longest);
    }
    let extents = answers.iter().map(|answer| Extent::of_run(answer, false));
    // The side that makes fewer exchanges in its window says how many both make.
    let extents = extents.min_by_key(|extent| extent.exchanges.unwrap_or(u64::MAX));
    extents.map_or(Extent::whole(longest), |extent| Extent { longest: Extent::whole(longest).longest, ..extent })
}

/// What the least number of rounds takes, where it would take more than a budget allows; none where it fits in.
pub fn excess_of(answers: &[&Answer], extent: &Extent, budget: Duration) -> Option<Duration> {
    let round = answers.iter().map(|answer| extent.expected(answer) + USUAL_OVERHEAD).sum::<Duration>();
    let least = round * LEAST_ROUNDS;
    (least > budget * EXCESS).then_some(least)
}

/// What can be told of trials that go so far, the metric that decides first.
pub fn metrics_of(answers: &[&Answer], extent: &Extent, asked: Option<&Metric>) -> Vec<Metric> {
    let exchanges = answers.iter().map(|answer| answer.exchanges).min().unwrap_or(0);
    let of_runs = [Metric::Wall, Metric::Cpu].into_iter().filter(|_| extent.window.is_none());
    let of_exchanges =
        [Metric::ElapsedPerExchange, Metric::WallPerExchange, Metric::CpuPerExchange].into_iter().filter(|one| {
            // Of whole runs of one exchange each, these are what the run took.
            exchanges > 1 || (exchanges == 1 && *one == Metric::WallPerExchange)
        });
    let tails = [(Metric::Median, 10), (Metric::Tail95, 100), (Metric::Tail99, 500)];
    let tails = tails.into_iter().filter(|(_, least)| exchanges >= *least).map(|(metric, _)| metric);
    let mut metrics = asked.cloned().into_iter().collect::<Vec<_>>();
    for metric in of_runs.chain(of_exchanges).chain(tails) {
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    metrics
}

impl Contest<'_> {
    /// Runs the trials. What the user ends early is no error: what there is counts.
    ///
    /// # Errors
    /// Where the first trial of a side cannot be started.
    pub fn run(
        &self,
        execute: &mut dyn FnMut(Which, &Extent) -> Result<Outcome, LabError>,
    ) -> Result<Contested, LabError> {
        let begun = Instant::now();
        let mut outcomes: Vec<(Which, Outcome)> = Vec::new();
        let mut contested = Contested::default();
        let most = if self.sides.len() > 1 { MOST_ROUNDS } else { ROUNDS_ALONE };
        let schedule = stats::schedule(self.sides.len(), most as usize, self.seed);
        'rounds: for (round, order) in (0..).zip(schedule) {
            if self.is_answered(&contested.trials, round) || self.is_spent(begun.elapsed(), round) {
                break;
            }
            for index in order {
                let (which, arm) = &self.sides[index];
                let left = self.budget.saturating_sub(begun.elapsed()).as_secs();
                (self.say)(&format!("comparing: round {}, {}; at most {left} s to go", round + 1, which.arm()));
                let position = outcomes.len() as u32;
                let outcome = match execute(*which, &self.extent) {
                    Ok(outcome) => named(outcome.of_arm(arm, round, position), *which),
                    Err(LabError::Interrupted) => {
                        contested.ended_early = true;
                        break 'rounds;
                    }
                    Err(error) if round == 0 => return Err(error),
                    Err(error) => named(Outcome::not_started(&error, arm, round, position), *which),
                };
                contested.trials.push(outcome.row.clone());
                outcomes.push((*which, outcome));
            }
            contested.unlike = likeness::unlike(&outcomes, self.compares_output, self.metrics.first());
            if contested.unlike.is_some() {
                break;
            }
        }
        contested.output = likeness::output(&outcomes, self.compares_output);
        contested.spent = begun.elapsed();
        Ok(contested)
    }

    /// Whether another round would exceed the budget. For the first four, without which nothing can be told, some more
    /// is spent.
    fn is_spent(&self, elapsed: Duration, round: u32) -> bool {
        let a_round = elapsed / round.max(1);
        let budget = if round < LEAST_ROUNDS { self.budget * EXCESS } else { self.budget };
        round > 0 && elapsed + a_round > budget
    }

    /// Whether every question has its answer.
    fn is_answered(&self, trials: &[Trial], round: u32) -> bool {
        if self.sides.len() < 2 || !stats::Looks::standard().is_look(round as usize) {
            return false;
        }
        let all = compared(trials, self.metrics);
        let Some(first) = all.first() else { return false };
        let is_narrow = first.high / first.low <= NARROW || round >= ENOUGH_ROUNDS;
        let is_told = first.outcome != Contrast::Open && is_narrow;
        is_told && self.gates(&all).iter().all(|gate| gate.state != GateState::Open)
    }

    /// What became of the conditions.
    pub fn gates(&self, all: &[Compared]) -> Vec<Gate> {
        self.conditions.iter().map(|condition| condition.gate(all)).collect()
    }
}

fn named(mut outcome: Outcome, which: Which) -> Outcome {
    outcome.row.arm = which.arm().to_string();
    outcome
}

#[cfg(test)]
mod tests;
