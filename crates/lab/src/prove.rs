//! Proving: every arm in turn, round after round, until each question is answered or the budget is spent.

mod planning;
mod soundness;
mod written;

use crate::arms::{Arm, Arms, Base};
use crate::error::LabError;
use crate::experiment::{Attempt, Experiment, Joint, PLAIN, SHAM};
use crate::extent::Extent;
use crate::outcome::Outcome;
use crate::pairs::{decide, pairs, ratio};
use crate::verdict;
use case::tables::Trial;
use case::{Answer, Purpose, Status};
use stats::{Decision, Looks};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Rounds before the first look: fewer pairs say nothing.
const FIRST_LOOK: u32 = 4;
/// Rounds after which an open question stays open: the effects that are worth a change show long before.
const MOST_ROUNDS: u32 = 48;
/// An interval whose ends are no further apart than this is worth showing at once.
const NARROW: f64 = 1.25;
/// After so many pairs an effect is shown with the interval that it has got.
const ENOUGH_PAIRS: usize = 8;
/// So many rounds tell what the machinery itself costs.
const PLAIN_ROUNDS: usize = 12;
/// A dose shows its effect in so many rounds; the cause itself is proved without it.
const DOSE_ROUNDS: u32 = 4;
/// Trials in which an arm may fail to take hold, or break the program, before it is dropped.
const MOST_FAILURES: usize = 2;
/// The part of the budget that is kept for what is tried together.
const KEPT_FOR_LATER: f64 = 0.35;

/// Runs one trial of an arm.
pub type Execute<'a> = dyn FnMut(&Arm, &Extent) -> Result<Outcome, LabError> + 'a;

/// What proving is told, besides the arms.
pub struct Terms<'a> {
    /// Time for all trials.
    pub budget: Duration,
    /// What the order of arms is drawn from.
    pub seed: u64,
    /// Whether outputs are compared.
    pub compares_output: bool,
    /// Told what is being done.
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
    let Arms { base, alone, ladders, experiment } = arms;
    let takes_whole = experiment.attempts.iter().any(Attempt::needs_whole_run);
    let mut extent = Extent::of_run(answer, takes_whole);
    // The sham has what the others have cured: it takes as long as the program took at first.
    let without = base.as_ref().map_or(Duration::ZERO, |base| base.without);
    extent.longest = extent.longest.max(Extent::whole(without).longest);
    let mut course = Course {
        answer,
        terms,
        execute,
        extent,
        base,
        looks: Looks::standard(),
        begun: Instant::now(),
        experiment,
        outcomes: Vec::new(),
        wholes: Vec::new(),
        wholes_begun: 0,
        round: 0,
        overhead: planning::USUAL_OVERHEAD,
        costs: BTreeMap::new(),
    };
    if let Some(base) = &course.base {
        course.costs.insert(SHAM.to_string(), (base.without + planning::USUAL_OVERHEAD, 1));
    }
    course.experiment.budget_ns = terms.budget.as_nanos() as u64;
    if !course.experiment.attempts.is_empty() {
        course.experiment.extent = Some(course.extent);
        match course.all(&alone, &ladders) {
            Ok(()) => {}
            Err(LabError::Interrupted) => {
                course.experiment.not_tried.push("the rest: it was ended by Ctrl-C or a signal".to_string());
            }
            Err(error) => return Err(error),
        }
    }
    course.experiment.spent_ns = course.begun.elapsed().as_nanos() as u64;
    Ok((course.experiment, course.outcomes.into_iter().map(|outcome| outcome.row).collect()))
}

/// An experiment under way.
struct Course<'a, 'l> {
    answer: &'a Answer,
    terms: &'a Terms<'a>,
    execute: &'a mut Execute<'l>,
    extent: Extent,
    /// What all arms stand on, where that is something.
    base: Option<Base>,
    looks: Looks,
    begun: Instant,
    experiment: Experiment,
    outcomes: Vec<Outcome>,
    /// Whole runs with nothing attached, besides the trials: they show how the program ends, and what it writes.
    wholes: Vec<Outcome>,
    /// How many were begun; not all come to their end.
    wholes_begun: usize,
    round: u32,
    /// What it takes to start and end the programs of a trial.
    overhead: Duration,
    /// How long trials of each arm took, together, and how many there were.
    costs: BTreeMap<String, (Duration, u32)>,
}

impl Course<'_, '_> {
    fn all(&mut self, alone: &[Arm], ladders: &[Arm]) -> Result<(), LabError> {
        let may_join = self.base.is_none() && (!ladders.is_empty() || self.answer.findings.len() > 1);
        let kept = if may_join { KEPT_FOR_LATER } else { 0.0 };
        let mut arms = self.affordable(alone, self.terms.budget.mul_f64(1.0 - kept));
        if arms.len() > 2 {
            self.pilot()?;
            let left = self.terms.budget.saturating_sub(self.begun.elapsed());
            arms = self.affordable(&arms, left.mul_f64(1.0 - kept));
        }
        if arms.iter().any(|arm| !is_reference(arm)) {
            self.rounds(&arms, self.terms.budget.mul_f64(1.0 - kept))?;
            let joint = if self.base.is_none() { self.joint(&arms, ladders) } else { Vec::new() };
            if joint.len() > 1 {
                self.rounds(&joint, self.terms.budget)?;
            }
        }
        if self.terms.compares_output {
            self.run_cures_whole(&arms)?;
            self.compare_outputs()?;
            soundness::spread(&mut self.outcomes);
        } else {
            self.experiment.output = "--check-output never".to_string();
        }
        Ok(())
    }

    /// Runs rounds over arms until every question that they were to answer is.
    fn rounds(&mut self, arms: &[Arm], budget: Duration) -> Result<(), LabError> {
        let schedule = stats::schedule(arms.len(), MOST_ROUNDS as usize, self.terms.seed + u64::from(self.round));
        let first = self.round;
        for order in schedule {
            let open = self.open(arms, first);
            let is_answered = !arms.iter().zip(&open).any(|(arm, open)| *open && !is_reference(arm));
            let due = arms.iter().zip(&open).filter(|(_, open)| **open).map(|(arm, _)| self.usual_cost(arm));
            if is_answered || self.begun.elapsed() + due.sum::<Duration>() > budget {
                break;
            }
            for index in order {
                if open[index] {
                    self.trial(&arms[index])?;
                }
                if let Some(why) = soundness::hopeless(&self.outcomes) {
                    self.experiment.not_tried.push(why);
                    return Ok(());
                }
            }
            self.round += 1;
        }
        Ok(())
    }

    /// Which arms have a turn in the next round: those with a question open, and what they are compared with.
    fn open(&self, arms: &[Arm], first: u32) -> Vec<bool> {
        let own = arms.iter().map(|arm| self.is_open(arm, first)).collect::<Vec<_>>();
        let names = arms.iter().zip(&own).filter(|(_, open)| **open).map(|(arm, _)| arm.name.as_str());
        let names = names.collect::<Vec<_>>();
        let joints = self.experiment.joints.iter().filter(|joint| names.contains(&joint.arm.as_str()));
        let compared = joints.map(|joint| joint.before.as_str()).collect::<Vec<_>>();
        arms.iter().zip(own).map(|(arm, open)| open || compared.contains(&arm.name.as_str())).collect()
    }

    fn trial(&mut self, arm: &Arm) -> Result<(), LabError> {
        let trials = self.outcomes.len() as u32;
        let left = self.terms.budget.saturating_sub(self.begun.elapsed());
        (self.terms.say)(&format!(
            "proving: round {}, trial {}, {}; at most {} s to go",
            self.round + 1,
            trials + 1,
            arm.name,
            left.as_secs()
        ));
        let begun = Instant::now();
        let outcome = match (self.execute)(arm, &self.extent) {
            Ok(outcome) => outcome.of_arm(arm, self.round, trials),
            Err(LabError::Interrupted) => return Err(LabError::Interrupted),
            // One start that fails is no reason to forget all others, and an arm whose programs never start fails alone.
            Err(error) => Outcome::not_started(&error, arm, self.round, trials),
        };
        let cost = self.costs.entry(arm.name.clone()).or_default();
        *cost = (cost.0 + begun.elapsed(), cost.1 + 1);
        self.outcomes.push(outcome);
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
        if !has_ended || self.begun.elapsed() + recorded + self.overhead > self.terms.budget {
            return Ok(());
        }
        self.wholes_begun += 1;
        (self.terms.say)("proving: one whole run with nothing attached, to see how the program ends");
        let arm = self.bare();
        match (self.execute)(&arm, &Extent::whole(recorded)) {
            Ok(outcome) if outcome.row.exit >= 0 => self.wholes.push(outcome.of_arm(&arm, self.round, 0)),
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

    /// Whether more trials of an arm are needed, in the rounds since `first`.
    fn is_open<'s>(&'s self, arm: &Arm, first: u32) -> bool {
        let rows = self.rows().filter(|row| row.arm == arm.name && row.round >= first);
        let failures = rows.clone().filter(|row| !row.applied || !row.problem.is_empty()).count();
        let trials = rows.count();
        if failures >= MOST_FAILURES && failures * 2 > trials {
            return false;
        }
        if arm.name == PLAIN {
            return trials < PLAIN_ROUNDS;
        }
        if (trials as u32) < FIRST_LOOK {
            return true;
        }
        if arm.name == SHAM {
            // On a base it is not what the others are compared with: it may not take their time.
            let most = self.usual_cost(arm) * ENOUGH_PAIRS as u32;
            return self.base.is_none() || (trials < ENOUGH_PAIRS && most < self.terms.budget / 2);
        }
        let all = self.rows().cloned().collect::<Vec<_>>();
        // The step of a ladder is asked about as such.
        let is_alone = |attempt: &&Attempt| attempt.arm == arm.name && attempt.purpose != Purpose::Ladder;
        let attempts = self.experiment.attempts.iter().filter(is_alone);
        let question = |attempt: &'s Attempt| (&attempt.metric, attempt.purpose, attempt.reference.as_str());
        let mut questions = attempts.map(question).collect::<Vec<_>>();
        let joints = self.experiment.joints.iter().filter(|joint| joint.arm == arm.name);
        questions.extend(joints.map(|joint| (&joint.metric, Purpose::Ladder, joint.before.as_str())));
        questions.into_iter().any(|(metric, purpose, reference)| {
            let pairs = pairs(&all, metric, reference, &arm.name);
            match purpose {
                Purpose::Dose => (pairs.len() as u32) < DOSE_ROUNDS,
                Purpose::Ladder => pairs.len() < ENOUGH_PAIRS && decide(&self.looks, &pairs) == Decision::Open,
                _ => !self.is_settled(&pairs),
            }
        })
    }

    /// Whether pairs give a verdict, and a ratio worth showing.
    fn is_settled(&self, pairs: &[(f64, f64)]) -> bool {
        if !self.looks.is_look(pairs.len()) {
            return false;
        }
        let Some(ratio) = ratio(&self.looks, pairs) else { return false };
        let is_narrow = ratio.high / ratio.low <= NARROW || pairs.len() >= ENOUGH_PAIRS;
        match verdict::status(&ratio) {
            Status::Confirmed => is_narrow,
            Status::Refuted => true,
            Status::Suspected | Status::Undecided => false,
        }
    }

    fn rows(&self) -> impl Iterator<Item = &Trial> + Clone {
        self.outcomes.iter().map(|outcome| &outcome.row)
    }

    fn usual_cost(&self, arm: &Arm) -> Duration {
        match self.costs.get(&arm.name) {
            Some((together, trials)) if *trials > 0 => *together / *trials,
            _ => self.extent.expected(self.answer) + self.overhead,
        }
    }

    /// What is tried together: the steps of ladders whose foot has proved something, and one cure for each finding.
    /// With them run the sham and what they are compared with.
    fn joint(&mut self, arms: &[Arm], ladders: &[Arm]) -> Vec<Arm> {
        let rows = self.rows().cloned().collect::<Vec<_>>();
        let mut answer = self.answer.clone();
        verdict::judge(&mut answer, &self.experiment, &rows);
        let confirmed = |name: &str| {
            let tried = answer.findings.iter().flat_map(|finding| &finding.tried);
            tried.into_iter().any(|one| one.intervention == name && one.status == Status::Confirmed)
        };
        self.experiment.joints.retain(|joint| joint.interventions.first().is_some_and(|foot| confirmed(foot)));
        let stands = |arm: &&Arm| self.experiment.joints.iter().any(|joint| joint.arm == arm.name);
        let mut joint = ladders.iter().filter(stands).cloned().collect::<Vec<_>>();
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

/// Whether an arm is only there for others to be compared with.
fn is_reference(arm: &Arm) -> bool {
    is_reference_name(&arm.name)
}

/// Whether a trial is of such an arm.
fn is_reference_row(row: &Trial) -> bool {
    is_reference_name(&row.arm)
}

fn is_reference_name(arm: &str) -> bool {
    arm == PLAIN || arm == SHAM
}

#[cfg(test)]
mod tests;
