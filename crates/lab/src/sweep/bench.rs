//! What a sweep measures with: one trial after another, each with its time, its soundness and its reading.

use super::value::Value;
use super::values::Vary;
use super::{At, SweepTerms};
use crate::engine::{self, Budget, Design, Entry, Open, Order, Pace, State, Stop, Stopped, Study, Turn, is_given_up};
use crate::error::LabError;
use crate::extent::Extent;
use crate::metric::Metric;
use case::tables::Trial;
use std::time::Duration;

/// One trial that was made.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    /// The value.
    pub number: f64,
    /// Its row.
    pub row: Trial,
    /// What the metric says of it; none where it failed.
    pub reading: Option<f64>,
    /// How long it took, all in all.
    pub took: Duration,
}

/// A value that is not tried any more, or never was.
#[derive(Clone, Debug)]
pub(super) struct LeftOut {
    /// The value.
    pub value: Value,
    /// Why.
    pub why: String,
}

/// A sweep under way.
pub(super) struct Bench<'a, 'e> {
    pub vary: &'a Vary,
    pub terms: &'a SweepTerms<'a>,
    execute: &'a mut At<'e>,
    /// What is measured, and how far trials go: known once the first runs were seen.
    pub metric: Metric,
    pub extent: Extent,
    /// The exit status of a run that did not fail.
    pub usual_exit: i32,
    pub attempts: Vec<Attempt>,
    pub left_out: Vec<LeftOut>,
    pub cliffs: Vec<case::Cliff>,
    pub warnings: Vec<String>,
    pub state: State,
}

impl Study for Bench<'_, '_> {
    fn state(&self) -> &State {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

impl<'a, 'e> Bench<'a, 'e> {
    pub fn new(vary: &'a Vary, execute: &'a mut At<'e>, terms: &'a SweepTerms<'a>) -> Bench<'a, 'e> {
        Bench {
            vary,
            terms,
            execute,
            metric: terms.metric.clone().unwrap_or(Metric::Wall),
            extent: Extent::whole(Duration::ZERO),
            usual_exit: 0,
            attempts: Vec::new(),
            left_out: Vec::new(),
            cliffs: Vec::new(),
            warnings: Vec::new(),
            state: State::new(terms.budget),
        }
    }

    /// Runs the program at a value besides the experiments, and counts the time.
    pub fn execute(&mut self, value: &Value, extent: &Extent) -> (Result<crate::Outcome, LabError>, Duration) {
        self.state.timed(None, || (self.execute)(value, extent))
    }

    /// Runs an experiment over values: those that are open have a turn in each round.
    ///
    /// # Errors
    /// Where the user wants an end.
    pub fn run(&mut self, design: &Design<Self>, values: &[Value]) -> Result<Stopped, LabError> {
        let stopped = engine::run(design, self, &mut |bench, turn| bench.trial(&values[turn.arm], turn).map(|_| ()))?;
        engine::unless_interrupted(stopped)
    }

    /// Measures values in this order, once, as far as the rule allows.
    ///
    /// # Errors
    /// Where the user wants an end.
    pub fn measure(
        &mut self,
        doing: &str,
        values: &[Value],
        order: Vec<usize>,
        stop: Stop<Self>,
    ) -> Result<Stopped, LabError> {
        let design = Design {
            order: Order::Listed(order),
            most_rounds: 1,
            stop,
            ..self.design(doing, values, Design::<Self>::all(values.len()))
        };
        self.run(&design, values)
    }

    /// An experiment over values, each round in random order.
    pub fn design<'d, S>(&self, doing: &'d str, values: &[Value], open: Open<'d, S>) -> Design<'d, S>
    where
        'a: 'd,
    {
        Design {
            doing,
            arms: values.iter().map(|value| Entry::tried(self.arm(value))).collect(),
            order: Order::Random(self.terms.seed),
            most_rounds: u32::MAX,
            budget: Budget { time: self.terms.budget, pace: Pace::Unlimited },
            open,
            stop: Stop::never(),
            say: self.terms.say,
        }
    }

    /// The name of a value's trials.
    fn arm(&self, value: &Value) -> String {
        format!("{}={}", self.vary.name, value.label)
    }

    /// Makes a trial. What it measured, or none where it failed.
    ///
    /// # Errors
    /// Where the user wants an end.
    pub fn trial(&mut self, value: &Value, turn: &Turn) -> Result<Option<f64>, LabError> {
        let (arm, extent) = (self.arm(value), self.extent);
        let (result, took) = self.state.timed(Some(&arm), || (self.execute)(value, &extent));
        let mut row = match result {
            Ok(outcome) => {
                let problem = self.problem(&outcome);
                Trial { applied: true, problem, ..outcome.row }
            }
            Err(LabError::Interrupted) => return Err(LabError::Interrupted),
            Err(error) => Trial { exit: -1, metric: f64::NAN, problem: error.to_string(), ..Trial::default() },
        };
        (row.round, row.position, row.arm) = (turn.round, turn.position, arm);
        let reading = self.metric.of(&row).filter(|_| row.problem.is_empty());
        self.attempts.push(Attempt { number: value.number, row, reading, took });
        Ok(reading)
    }

    /// What is wrong with a trial; empty where nothing is.
    fn problem(&self, outcome: &crate::Outcome) -> String {
        let row = &outcome.row;
        if !row.problem.is_empty() {
            return row.problem.clone();
        }
        if row.exit > 0 && row.exit != self.usual_exit {
            return failure(row.exit, &outcome.errors);
        }
        match self.metric.of(row) {
            Some(_) => String::new(),
            None if row.exit < 0 => format!("it was stopped after {}", seconds(outcome.took)),
            None if self.metric.is_of_the_program() => "its output has no such figure".to_string(),
            None => format!("it has no {}", self.metric),
        }
    }

    pub fn left(&self) -> Duration {
        self.state.left()
    }

    pub fn of(&self, number: f64) -> impl Iterator<Item = &Attempt> + Clone {
        // The same value is always the same number: both come from `Vary`.
        self.attempts.iter().filter(move |attempt| attempt.number.total_cmp(&number).is_eq())
    }

    /// The sound measurements at a value.
    pub fn readings(&self, number: f64) -> Vec<f64> {
        self.of(number).filter_map(|attempt| attempt.reading).collect()
    }

    /// Whether a value fails, more often than not.
    pub fn fails(&self, number: f64) -> bool {
        let failures = self.of(number).filter(|attempt| attempt.reading.is_none()).count();
        failures > 0 && failures * 2 > self.of(number).count()
    }

    pub fn is_given_up(&self, number: f64) -> bool {
        let failures = self.of(number).filter(|attempt| attempt.reading.is_none()).count();
        is_given_up(failures, self.of(number).count())
    }

    pub fn has_left_out(&self, number: f64) -> bool {
        self.left_out.iter().any(|one| one.value.number.total_cmp(&number).is_eq())
    }

    /// How long a trial at a value takes, of one that was measured there.
    pub fn cost(&self, number: f64) -> Option<Duration> {
        let count = self.of(number).count() as u32;
        (count > 0).then(|| self.of(number).map(|attempt| attempt.took).sum::<Duration>() / count)
    }

    /// The values that were tried, in order.
    pub fn tried(&self) -> Vec<f64> {
        let mut numbers = self.attempts.iter().map(|attempt| attempt.number).collect::<Vec<_>>();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        numbers
    }

    /// The sound measurements of values that do not fail, as (value, measurement).
    pub fn measured(&self) -> Vec<(f64, f64)> {
        let sound = self.attempts.iter().filter_map(|attempt| Some((attempt.number, attempt.reading?)));
        sound.filter(|(number, _)| !self.fails(*number)).collect()
    }
}

/// How a program failed, with its last words.
pub(super) fn failure(exit: i32, errors: &str) -> String {
    let how = match exit {
        129.. => format!("it was killed by signal {}", exit - 128),
        _ => format!("it exited with status {exit}"),
    };
    if errors.trim().is_empty() { how } else { format!("{how}: {}", errors.trim()) }
}

/// A duration in seconds, as it is said.
pub(super) fn seconds(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 10.0 { format!("{seconds:.1} s") } else { format!("{seconds:.0} s") }
}
