//! Proving: every arm in turn, round after round, until each question is answered or the budget is spent.
//!
//! The experiments are [`Design`]s for the engine: what findings call for one by one, then what can be built on that
//! together, then runs to the program's end for what was only seen cut.

mod planning;
mod questions;
mod soundness;
mod written;

use crate::arms::{Arm, Arms, Base};
use crate::engine::{self, Budget, Design, Entry, Failing, Order, Pace, Precision, State, Stop, Stopped, Study, Turn};
use crate::error::LabError;
use crate::experiment::{Attempt, Experiment, Joint, PLAIN, SHAM, is_sham};
use crate::extent::Extent;
use crate::outcome::Outcome;
use crate::pairs::{decide, pairs, ratio};
use crate::verdict;
use case::facts::{NotTried, Sameness, WhyNot};
use case::tables::Trial;
use case::{Answer, Purpose, Status};
use stats::{Decision, Looks};
use std::time::Duration;

/// Rounds before the first look: fewer pairs say nothing.
const FIRST_LOOK: u32 = 4;
/// Rounds after which an open question stays open: the effects that are worth a change show long before.
const MOST_ROUNDS: u32 = 48;
/// How exact a gain is shown.
const PRECISION: Precision = Precision::OF_A_CAUSE;
/// So many pairs tell what something costs that is proved already.
const ENOUGH_PAIRS: usize = PRECISION.enough_pairs;
/// A dose shows its effect in so many rounds; the cause itself is proved without it.
const DOSE_ROUNDS: u32 = 4;
/// The part of the budget that is kept for what is tried together.
const KEPT_FOR_LATER: f64 = 0.25;

/// A whole run without an intervention and one with a cure, which may gain little, take so many times as long as the recorded run.
const WITH_A_CURE: u32 = 2;

/// Runs one trial of an arm.
pub type Execute<'a> = dyn FnMut(&Arm, &Extent) -> Result<Outcome, LabError> + 'a;

/// What proving takes, besides the arms.
pub struct Terms<'a> {
    /// Time for all trials.
    pub budget: Duration,
    /// What the order of arms is drawn from.
    pub seed: u64,
    /// Whether outputs are compared.
    pub compares_output: bool,
    /// Shown what is being done.
    pub say: &'a dyn Fn(&str),
}

/// Tries everything that the findings call for. Nothing is tried where nothing can be.
///
/// # Errors
/// Where the subject cannot be started again. What the user ends early is no error: what there is counts.
pub fn prove(
    arms: Arms,
    answer: &Answer,
    execute: &mut Execute,
    terms: &Terms,
) -> Result<(Experiment, Vec<Trial>), LabError> {
    let Arms { base, alone, increments, experiment } = arms;
    let takes_whole = experiment.attempts.iter().any(Attempt::needs_whole_run);
    let mut extent = Extent::of_run(answer, takes_whole);
    // The sham has what the others have cured: it takes as long as the program took at first.
    let without = base.as_ref().map_or(Duration::ZERO, |base| base.without);
    extent.longest = extent.longest.max(Extent::whole(without).longest);
    let mut proving = Proving {
        answer,
        terms,
        execute,
        extent,
        base,
        looks: experiment.looks(),
        state: State::new(terms.budget),
        experiment,
        outcomes: Vec::new(),
        wholes: Vec::new(),
        wholes_begun: 0,
        overhead: Duration::ZERO,
    };
    if let Some(base) = &proving.base {
        proving.state.presume(SHAM, base.without);
    }
    proving.experiment.compares_work = true;
    proving.experiment.budget_ns = terms.budget.as_nanos() as u64;
    if !proving.experiment.attempts.is_empty() {
        proving.experiment.extent = Some(proving.extent);
        match proving.all(&alone, &increments) {
            Ok(()) => {}
            Err(LabError::Interrupted) => {
                proving.experiment.stopped = Some(Stopped::Interrupted);
                proving
                    .experiment
                    .not_tried
                    .push(NotTried::of_all(WhyNot::Interrupted, "the rest: interrupted by Ctrl-C or a signal"));
            }
            Err(error) => return Err(error),
        }
    }
    proving.experiment.spent_ns = proving.state.spent().as_nanos() as u64;
    Ok((proving.experiment, proving.outcomes.into_iter().map(|outcome| outcome.row).collect()))
}

/// What a run suspects, being proved.
struct Proving<'a, 'l> {
    answer: &'a Answer,
    terms: &'a Terms<'a>,
    execute: &'a mut Execute<'l>,
    extent: Extent,
    /// What all arms stand on, where that is something.
    base: Option<Base>,
    looks: Looks,
    state: State,
    experiment: Experiment,
    outcomes: Vec<Outcome>,
    /// Whole runs with nothing attached, besides the trials: they show how the program ends, and what it writes.
    wholes: Vec<Outcome>,
    /// How many were begun; not all come to their end.
    wholes_begun: usize,
    /// What it takes to start and end the programs of a trial.
    overhead: Duration,
}

impl Study for Proving<'_, '_> {
    fn state(&self) -> &State {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// The largest gain that is certain by now. Whether the work is the same is asked at the end.
    fn so_far(&self) -> String {
        let rows = self.rows().cloned().collect::<Vec<_>>();
        let causes = self.experiment.attempts.iter().filter(|attempt| attempt.purpose == Purpose::Cause);
        let gains = causes.filter_map(|attempt| {
            let pairs = pairs(&rows, &attempt.metric, &attempt.reference, &attempt.arm);
            let differs = decide(&self.looks, &pairs) == Decision::Differs;
            let gain = ratio(&self.looks, &pairs).map(|ratio| ratio.ratio).filter(|gain| differs && *gain > 1.0)?;
            Some((gain, &attempt.arm))
        });
        let largest = gains.max_by(|one, other| one.0.total_cmp(&other.0));
        largest.map_or(String::new(), |(gain, arm)| match gain {
            10.0.. => format!("{arm}: {gain:.0} times faster"),
            _ => format!("{arm}: {gain:.2} times faster"),
        })
    }
}

impl Proving<'_, '_> {
    fn all(&mut self, alone: &[Arm], increments: &[Arm]) -> Result<(), LabError> {
        let may_join = self.base.is_none() && (!increments.is_empty() || self.answer.findings.len() > 1);
        let mut budget = self.terms.budget.saturating_sub(self.for_whole_runs());
        let kept = if may_join { KEPT_FOR_LATER } else { 0.0 };
        // What would not fit if starting the programs took no time needs no run to show what that takes.
        let mut arms = self.affordable(alone, budget.mul_f64(1.0 - kept));
        if arms.iter().any(|arm| !is_reference(arm)) {
            self.pilot()?;
            // What starting the programs takes is known now.
            budget = self.terms.budget.saturating_sub(self.for_whole_runs());
            let left = budget.saturating_sub(self.state.spent());
            arms = self.affordable(&arms, left.mul_f64(1.0 - kept));
        }
        if arms.iter().any(|arm| !is_reference(arm)) {
            self.rounds(&arms, budget.mul_f64(1.0 - kept))?;
            let joint = if self.base.is_none() { self.joint(&arms, increments) } else { Vec::new() };
            if joint.len() > 1 {
                self.rounds(&joint, budget)?;
            }
        }
        if self.terms.compares_output {
            self.run_cures_whole(&arms)?;
            self.compare_outputs()?;
            soundness::spread(&mut self.outcomes);
        } else {
            self.experiment.output = Sameness::NotCompared("--check-output never".to_string());
        }
        Ok(())
    }

    /// What is kept of the budget for runs to the program's end, where trials are cut before: one without an intervention, and the
    /// cures, of which at least one is expected to be short. Where more than half would be needed, there is no use in it.
    fn for_whole_runs(&self) -> Duration {
        let is_needed =
            self.extent.window.is_some() && self.answer.subject_exit.is_some() && self.terms.compares_output;
        let whole = Duration::from_nanos(self.answer.wall_ns) + self.overhead;
        let kept = whole * WITH_A_CURE;
        if is_needed && kept <= self.terms.budget / 2 { kept } else { Duration::ZERO }
    }

    /// Runs rounds over arms until every question that they were to answer is.
    fn rounds(&mut self, arms: &[Arm], budget: Duration) -> Result<(), LabError> {
        let first = self.state.round();
        let design = Design {
            doing: "proving",
            arms: entries(arms),
            order: Order::Random(self.terms.seed + u64::from(first)),
            most_rounds: MOST_ROUNDS,
            budget: Budget { time: budget, pace: Pace::Usual { expected: self.expected() } },
            open: Box::new(|proving: &mut Self| proving.open(arms, first, budget)),
            stop: Stop::at_trials(|proving: &Self| {
                soundness::hopeless(&proving.outcomes).map(|_| Stopped::NothingSound)
            }),
            say: self.terms.say,
        };
        let stopped = engine::run(&design, self, &mut |proving, turn| proving.trial(&arms[turn.arm], turn))?;
        self.experiment.stopped = Some(stopped);
        if engine::unless_interrupted(stopped)? == Stopped::NothingSound {
            let why = soundness::hopeless(&self.outcomes);
            self.experiment.not_tried.extend(why.map(|why| NotTried::of_all(WhyNot::NotRepeatable, why)));
        }
        Ok(())
    }

    /// Which arms have a turn in the next round: those with a question open, as far as there is time, and what they are compared with.
    fn open(&self, arms: &[Arm], first: u32, budget: Duration) -> Vec<usize> {
        let mut own = arms.iter().map(|arm| self.is_open(arm, first)).collect::<Vec<_>>();
        self.make_room(arms, &mut own, first, budget);
        let names = arms.iter().zip(&own).filter(|(_, open)| **open).map(|(arm, _)| arm.name.as_str());
        let names = names.collect::<Vec<_>>();
        let joints = self.experiment.joints.iter().filter(|joint| names.contains(&joint.arm.as_str()));
        let attempts = self.experiment.attempts.iter().filter(|attempt| names.contains(&attempt.arm.as_str()));
        let compared = joints.flat_map(|joint| [joint.before.as_str(), SHAM]);
        let compared = compared.chain(attempts.map(|attempt| attempt.reference.as_str())).collect::<Vec<_>>();
        let has_turn = |place: &usize| own[*place] || compared.contains(&arms[*place].name.as_str());
        (0..arms.len()).filter(has_turn).collect()
    }

    fn trial(&mut self, arm: &Arm, turn: &Turn) -> Result<(), LabError> {
        let (result, _) = self.state.timed(Some(&arm.name), || (self.execute)(arm, &self.extent));
        // One start that fails is no reason to forget all others.
        self.outcomes.push(turn.outcome(arm, result, Failing::Counts)?);
        self.mark();
        if soundness::asks_for_whole(&self.outcomes, self.wholes_begun) {
            self.whole()?;
            self.mark();
        }
        Ok(())
    }

    fn mark(&mut self) {
        soundness::mark(&mut self.outcomes, &self.wholes, self.answer, &self.experiment);
    }

    /// Runs the program to its end with nothing attached, as far as the budget allows it.
    fn whole(&mut self) -> Result<(), LabError> {
        let recorded = Duration::from_nanos(self.answer.wall_ns);
        let has_ended = self.answer.subject_exit.is_some();
        if !has_ended || recorded + self.overhead > self.state.left() {
            return Ok(());
        }
        self.wholes_begun += 1;
        (self.terms.say)("proving: one whole run with nothing attached, to see how the program ends");
        let arm = self.bare();
        let (result, _) = self.state.timed(None, || (self.execute)(&arm, &Extent::whole(recorded)));
        match result {
            Ok(outcome) if outcome.row.exit >= 0 => self.wholes.push(outcome.of_arm(&arm, self.state.round(), 0)),
            Err(LabError::Interrupted) => return Err(LabError::Interrupted),
            // What is not known is not compared.
            Ok(_) | Err(_) => {}
        }
        Ok(())
    }

    /// The arm in which nothing is tried.
    fn bare(&self) -> Arm {
        self.base.as_ref().map_or_else(Arm::plain, |base| base.arm.clone())
    }

    fn rows(&self) -> impl Iterator<Item = &Trial> + Clone {
        self.outcomes.iter().map(|outcome| &outcome.row)
    }

    fn usual_cost(&self, arm: &Arm) -> Duration {
        self.state.cost(&arm.name).unwrap_or_else(|| self.expected())
    }

    /// How long a trial of an arm that was never run is expected to take.
    fn expected(&self) -> Duration {
        self.length() + self.overhead
    }

    /// What is tried together: the steps of increments whose foot has proved something, and one cure for each finding.
    /// With them run the sham and what they are compared with.
    fn joint(&mut self, arms: &[Arm], increments: &[Arm]) -> Vec<Arm> {
        let rows = self.rows().cloned().collect::<Vec<_>>();
        let mut answer = self.answer.clone();
        // Whether the work is the same is asked at the end.
        let experiment = Experiment { compares_work: false, ..self.experiment.clone() };
        verdict::judge(&mut answer, &experiment, &rows);
        let confirmed = |name: &str| {
            let tried = answer.findings.iter().flat_map(|finding| &finding.tried);
            tried.into_iter().any(|one| one.intervention == name && one.status == Status::Confirmed)
        };
        self.experiment.joints.retain(|joint| joint.interventions.first().is_some_and(|foot| confirmed(foot)));
        let stands = |arm: &&Arm| self.experiment.joints.iter().any(|joint| joint.arm == arm.name);
        let mut joint = increments.iter().filter(stands).cloned().collect::<Vec<_>>();
        let cures = verdict::cures(&answer);
        let cures = cures.iter().filter_map(|name| arms.iter().find(|arm| arm.name == *name)).collect::<Vec<_>>();
        let is_included = |cure: &&Arm| cures.iter().any(|other| other.stands_on(cure));
        let cures = cures.iter().copied().filter(|cure| !is_included(cure)).collect::<Vec<_>>();
        for end in 2..=cures.len() {
            let arm = Arm::together(&cures[..end]);
            let metric = self.metric_of(&cures[0].name);
            let interventions = cures[..end].iter().map(|cure| cure.name.clone()).collect();
            let before = cures[..end - 1].iter().map(|cure| cure.name.as_str()).collect::<Vec<_>>().join("+");
            if let Some(metric) = metric {
                self.experiment.joints.push(Joint { arm: arm.name.clone(), interventions, before, metric });
                joint.push(arm);
            }
        }
        for before in self.experiment.joints.iter().map(|joint| joint.before.as_str()).chain([SHAM]) {
            if joint.iter().all(|arm| arm.name != before) {
                joint.extend(arms.iter().find(|arm| arm.name == before).cloned());
            }
        }
        joint
    }

    fn metric_of(&self, arm: &str) -> Option<crate::metric::Metric> {
        self.experiment.attempts.iter().find(|attempt| attempt.arm == arm).map(|attempt| attempt.metric.clone())
    }
}

/// The arms as the engine knows them.
fn entries(arms: &[Arm]) -> Vec<Entry> {
    let entry = |arm: &Arm| if is_reference(arm) { Entry::reference(&arm.name) } else { Entry::tried(&arm.name) };
    arms.iter().map(entry).collect()
}

/// Whether an arm is only there for others to be compared with.
fn is_reference(arm: &Arm) -> bool {
    is_reference_name(&arm.name)
}

/// Whether a trial is of such an arm.
fn is_reference_row(row: &Trial) -> bool {
    is_reference_name(&row.arm)
}

fn is_reference_name(arm: &str) -> bool {
    arm == PLAIN || is_sham(arm)
}

#[cfg(test)]
mod tests;
