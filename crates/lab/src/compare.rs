//! Comparing two subjects, each in its world: trials in turns, until the metrics are decided or the budget is spent.

mod gate;
mod likeness;
mod metrics;

pub use gate::Condition;
pub use likeness::Unlike;
pub(crate) use metrics::of_pairs;
pub use metrics::{against_earlier, compared};

use crate::arms::Arm;
use crate::engine::{
    self, Budget, Design, EXCESS, Entry, Failing, LEAST_ROUNDS, MOST_ROUNDS, Order, Pace, Precision, State, Stop,
    Stopped, Study,
};
use crate::error::LabError;
use crate::extent::Extent;
use crate::metric::Metric;
use crate::outcome::Outcome;
use case::facts::Sameness;
use case::tables::Trial;
use case::{Answer, Compared, Contrast, Gate, GateState};
use std::time::Duration;

/// Whole runs are compared where the budget holds so many of both sides: a whole run is what a user means by a command.
const WHOLE_ROUNDS: u32 = 10;
/// What starting and ending the programs of a trial takes, before it is known.
const USUAL_OVERHEAD: Duration = Duration::from_millis(150);
/// How exact a difference is shown, and a likeness.
const PRECISION: Precision = Precision::OF_A_COMPARISON;
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

/// A comparison, before anything is run.
pub struct Terms<'a> {
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
    /// What is being done, for whoever watches: `comparing`.
    pub doing: &'a str,
    /// Whether what the sides write is compared.
    pub compares_output: bool,
    /// Shown what is being done.
    pub say: &'a dyn Fn(&str),
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Measured {
    /// All trials.
    pub trials: Vec<Trial>,
    /// What the trials that ran to their end wrote, of both sides.
    pub outputs: Vec<Vec<u8>>,
    /// What the sides wrote: `same`, or why it was not compared.
    pub output: Sameness,
    /// Why they cannot be compared; none where they can.
    pub unlike: Option<Unlike>,
    /// Why it went no further.
    pub stopped: Stopped,
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

/// How long the least number of rounds takes, where that is more than the budget allows; none where it fits.
pub fn excess_of(answers: &[&Answer], extent: &Extent, budget: Duration) -> Option<Duration> {
    let round = answers.iter().map(|answer| extent.expected(answer) + USUAL_OVERHEAD).sum::<Duration>();
    let least = round * LEAST_ROUNDS;
    (least > budget * EXCESS).then_some(least)
}

/// The metrics that trials of this extent have, the one that decides first.
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

impl Measured {
    /// Whether the user ended it.
    pub fn ended_early(&self) -> bool {
        self.stopped == Stopped::Interrupted
    }
}

/// The sides under way.
struct Sides {
    state: State,
    outcomes: Vec<(Which, Outcome)>,
    trials: Vec<Trial>,
    unlike: Option<Unlike>,
}

impl Study for Sides {
    fn state(&self) -> &State {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

/// Runs the trials. What the user ends early is no error: what there is counts.
///
/// # Errors
/// Where the first trial of a side cannot be started.
pub fn compare(
    terms: &Terms,
    execute: &mut dyn FnMut(Which, &Extent) -> Result<Outcome, LabError>,
) -> Result<Measured, LabError> {
    let state = State::new(terms.budget);
    let mut sides = Sides { state, outcomes: Vec::new(), trials: Vec::new(), unlike: None };
    let design = Design {
        doing: terms.doing,
        arms: terms.sides.iter().map(|(which, _)| Entry::tried(which.arm())).collect(),
        order: Order::Random(terms.seed),
        most_rounds: if terms.sides.len() > 1 { MOST_ROUNDS } else { ROUNDS_ALONE },
        budget: Budget { time: terms.budget, pace: Pace::Average },
        open: Design::<Sides>::all(terms.sides.len()),
        stop: Stop::at_rounds(|sides: &mut Sides| {
            sides.unlike = likeness::unlike(&sides.outcomes, terms.compares_output, terms.metrics.first());
            let is_unlike = sides.unlike.is_some().then_some(Stopped::Incomparable);
            is_unlike.or_else(|| terms.is_answered(sides).then_some(Stopped::Answered))
        }),
        say: terms.say,
    };
    let stopped = engine::run(&design, &mut sides, &mut |sides, turn| {
        let (which, arm) = &terms.sides[turn.arm];
        let (result, _) = sides.state.timed(Some(which.arm()), || execute(*which, &terms.extent));
        let mut outcome = turn.outcome(arm, result, Failing::EndsTheFirstRound)?;
        outcome.row.arm = which.arm().to_string();
        sides.trials.push(outcome.row.clone());
        sides.outcomes.push((*which, outcome));
        Ok(())
    })?;
    let has_ended = |outcome: &&Outcome| outcome.row.exit >= 0 && outcome.row.problem.is_empty();
    let ended = sides.outcomes.iter().map(|(_, outcome)| outcome).filter(has_ended);
    Ok(Measured {
        outputs: ended.map(|outcome| outcome.output.clone()).collect(),
        output: likeness::output(&sides.outcomes, terms.compares_output),
        trials: sides.trials,
        unlike: sides.unlike,
        stopped,
        spent: sides.state.spent(),
    })
}

impl Terms<'_> {
    /// Whether every question has its answer.
    fn is_answered(&self, sides: &Sides) -> bool {
        let rounds = sides.state.round() as usize;
        if self.sides.len() < 2 || !stats::Looks::standard().is_look(rounds) {
            return false;
        }
        let all = compared(&sides.trials, self.metrics);
        let Some(first) = all.first() else { return false };
        let is_decided = first.outcome != Contrast::Open && PRECISION.is_met(first.low, first.high, rounds);
        is_decided && self.gates(&all).iter().all(|gate| gate.state != GateState::Open)
    }

    /// What became of the conditions.
    pub fn gates(&self, all: &[Compared]) -> Vec<Gate> {
        self.conditions.iter().map(|condition| condition.gate(all)).collect()
    }
}

#[cfg(test)]
mod tests;
