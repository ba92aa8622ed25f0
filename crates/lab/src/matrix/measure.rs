//! Trials of a subject on several versions, plain and with what is tried, in turns.

use super::factorial::{Factorial, Versus};
use super::figures::decisive;
use super::trial::Run;
use crate::arms::Arm;
use crate::engine::{
    self, Budget, Design, Entry, Failing, LEAST_ROUNDS, MOST_ROUNDS, Order, Pace, Precision, State, Stop, Stopped,
    Study,
};
use crate::error::LabError;
use crate::extent::Extent;
use crate::metric::Metric;
use crate::outcome::Outcome;
use case::Contrast;
use case::tables::Trial;
use std::collections::BTreeSet;
use std::time::Duration;

/// How exact a difference is shown, and a likeness.
const PRECISION: Precision = Precision::OF_A_COMPARISON;

/// What is measured, before anything is run.
pub struct Terms<'a> {
    /// The versions, plain and with what is tried, in the order of the design.
    pub arms: &'a [Arm],
    /// Which arm is which, and what is compared.
    pub design: Factorial,
    /// Arms that cannot be run, by their place.
    pub absent: &'a BTreeSet<usize>,
    /// How each version's program ended when it was tried.
    pub exits: &'a [i32],
    /// What is compared, the metric that decides first.
    pub metrics: &'a [Metric],
    /// How far each trial goes.
    pub extent: Extent,
    /// Time for all trials.
    pub budget: Duration,
    /// What the order of trials is drawn from.
    pub seed: u64,
    /// Shown what is being done.
    pub say: &'a dyn Fn(&str),
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// All trials, those that do not count included.
    pub trials: Vec<Trial>,
    /// The arm of each trial, by its place.
    pub places: Vec<usize>,
    /// Those that count.
    pub runs: Vec<Run>,
    /// Rounds that were begun.
    pub rounds: u32,
    /// Why it went no further.
    pub stopped: Stopped,
    /// How far it came, and the time that it took.
    state: State,
}

impl Study for Measured {
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
/// Where the first trial of a version cannot be started.
pub fn measure(
    terms: &Terms,
    execute: &mut dyn FnMut(usize, &Extent) -> Result<Outcome, LabError>,
) -> Result<Measured, LabError> {
    let mut measured = Measured { state: State::new(terms.budget), ..Measured::default() };
    let design = Design {
        doing: "measuring",
        arms: terms.arms.iter().map(|arm| Entry::tried(&arm.name)).collect(),
        order: Order::Random(terms.seed),
        most_rounds: MOST_ROUNDS,
        budget: Budget { time: terms.budget, pace: Pace::Average },
        open: Box::new(|measured: &mut Measured| {
            (0..terms.arms.len()).filter(|place| !terms.is_left_out(*place, measured)).collect()
        }),
        stop: Stop::at_rounds(|measured: &mut Measured| terms.is_answered(measured).then_some(Stopped::Answered)),
        say: terms.say,
    };
    measured.stopped = engine::run(&design, &mut measured, &mut |measured, turn| {
        let arm = &terms.arms[turn.arm];
        let (result, _) = measured.state.timed(Some(&arm.name), || execute(turn.arm, &terms.extent));
        terms.take(turn.arm, turn.outcome(arm, result, Failing::EndsTheFirstRound)?, measured);
        Ok(())
    })?;
    measured.rounds = measured.state.round();
    Ok(measured)
}

impl Terms<'_> {
    fn take(&self, place: usize, mut outcome: Outcome, measured: &mut Measured) {
        let (version, _) = self.design.of(place);
        let (row, usual) = (&mut outcome.row, self.exits.get(version).copied().unwrap_or_default());
        if row.problem.is_empty() && row.exit >= 0 && row.exit != usual {
            row.problem = format!("it exited with status {} instead of {usual}: {}", row.exit, outcome.errors);
        }
        let values = self.metrics.iter().map(|metric| values(metric, row, &outcome.output)).collect::<Vec<_>>();
        if let Some(first) = values.iter().zip(self.metrics).find(|(_, metric)| metric.is_of_the_program()) {
            row.metric = if first.0.is_empty() { f64::NAN } else { stats::median(first.0) };
        }
        if row.applied && row.problem.is_empty() {
            measured.runs.push(Run { arm: place, round: row.round, values });
        }
        measured.trials.push(outcome.row);
        measured.places.push(place);
    }

    /// Whether all that is compared is decided, by the metric that decides. What never counts is waited for no longer.
    fn is_answered(&self, measured: &Measured) -> bool {
        let rounds = measured.state.round() as usize;
        if !stats::Looks::standard().is_look(rounds) {
            return false;
        }
        let contrasts = self.design.contrasts();
        let is_run = |one: &&Versus| [one.arm, one.reference].iter().all(|arm| !self.is_left_out(*arm, measured));
        contrasts.iter().filter(is_run).all(|one| {
            let compared = decisive(&measured.runs, self.metrics, *one, contrasts.len());
            compared.is_some_and(|one| one.outcome != Contrast::Open && PRECISION.is_met(one.low, one.high, rounds))
        })
    }

    /// Whether an arm is not run: it cannot be, or what is tried in it did not take effect so far.
    fn is_left_out(&self, place: usize, measured: &Measured) -> bool {
        let (_, attempt) = self.design.of(place);
        let is_hopeless = attempt.is_some() && measured.state.round() >= LEAST_ROUNDS && measured.never_counted(place);
        is_hopeless || self.absent.contains(&place)
    }
}

impl Measured {
    /// Whether the user ended it.
    pub fn ended_early(&self) -> bool {
        self.stopped == Stopped::Interrupted
    }

    /// Whether no trial of an arm counts.
    fn never_counted(&self, place: usize) -> bool {
        self.runs.iter().all(|run| run.arm != place)
    }
}

/// The values of a metric in a trial, as they are shown.
fn values(metric: &Metric, row: &Trial, output: &[u8]) -> Vec<f64> {
    match metric {
        _ if metric.is_of_the_program() => {
            metric.values_in(output).into_iter().filter(|value| value.is_finite()).collect()
        }
        other => other.of(row).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervention_counters::InterventionCounters;
    use crate::treatment::Treatment;
    use case::Nanos;

    fn arms() -> Vec<Arm> {
        let arm = |name: &str| Arm { name: name.into(), treatment: Treatment::default(), parts: Vec::new() };
        ["1.1.1w", "3.0.2", "3.1.3"].map(arm).to_vec()
    }

    /// Measures programs that take so many milliseconds, each value a little off by the trial's place.
    fn measured(milliseconds: [f64; 3], exit_of_last: i32) -> Measured {
        let (arms, metrics) = (arms(), ["stdout:took=([0-9.]+)", "cpu_ns"].map(|one| one.parse().expect("a metric")));
        let terms = Terms {
            arms: &arms,
            design: Factorial { versions: 3, tries: 0 },
            absent: &BTreeSet::new(),
            exits: &[0, 0, 0],
            metrics: &metrics,
            extent: Extent::whole(Duration::from_secs(1)),
            budget: Duration::from_mins(1),
            seed: 7,
            say: &|_| {},
        };
        let mut turn = 0;
        let mut execute = |place: usize, _: &Extent| {
            turn += 1;
            let took = milliseconds[place] * (1.0 + f64::from(turn % 7) / 100.0);
            let exit = if place == 2 { exit_of_last } else { 0 };
            let row = Trial { wall: Nanos(9), client_user: Nanos((took * 1e6) as u64), exit, ..Trial::default() };
            Ok(Outcome {
                row,
                counters: InterventionCounters::default(),
                output: format!("took={took}\ntook={}\n", took * 3.0).into_bytes(),
                errors: "it broke".into(),
                mapped: std::collections::BTreeSet::new(),
                took: Duration::ZERO,
            })
        };
        measure(&terms, &mut execute).expect("run")
    }

    #[test]
    fn every_version_is_run_once_a_round_and_all_its_values_are_kept() {
        let measured = measured([5.0, 27.0, 7.0], 0);
        assert_eq!(measured.trials.len() as u32, measured.rounds * 3);
        assert!(measured.rounds >= LEAST_ROUNDS && !measured.ended_early());
        assert!(measured.runs.iter().all(|run| run.values[0].len() == 2 && run.values[1].len() == 1));
        assert!(measured.trials.iter().all(|trial| trial.metric.is_finite()));
    }

    #[test]
    fn a_run_that_ends_otherwise_does_not_count_and_says_why() {
        let measured = measured([5.0, 27.0, 7.0], 1);
        assert!(measured.runs.iter().all(|run| run.arm != 2));
        let broken = measured.trials.iter().find(|trial| trial.arm == "3.1.3").expect("a trial");
        assert!(broken.problem.contains("status 1") && broken.problem.contains("it broke"), "{}", broken.problem);
    }
}
