//! What shows once a cause is switched off: a further experiment upon the first, and what it adds to the answer.

use crate::experiment::Experiment;
use crate::verdict::judge;
use case::tables::{Trial, output};
use case::{Answer, Finding, Kind, Proof, Share, Status, Stopped, Tried, put_proved_first, standing};
use serde::{Deserialize, Serialize};

/// What was found in a run with a cause switched off, and how it was tried upon that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SecondPass {
    /// The arm that was attached: what is switched off. Empty where nothing was: where nothing was confirmed before, the
    /// program is looked at as it is.
    pub upon: String,
    /// The folder of that run's own case, within the case; empty where it is the case itself.
    pub case: String,
    /// What was found that the run before did not show.
    pub findings: Vec<Finding>,
    /// The function that holds most of what is left, where nothing known was found. It is no finding unless the program
    /// does as well without.
    pub candidate: Option<Candidate>,
    /// Exchanges of that run.
    pub exchanges: u64,
    /// That run's length, over the length of the run that the answer is of.
    pub share_of_wall: f64,
    /// The same of CPU time.
    pub share_of_cpu: f64,
    /// How it was tried.
    pub experiment: Experiment,
}

/// A function that may hold up the rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its name.
    pub function: String,
    /// Its share of the CPU time that is left.
    pub share: f64,
}

impl SecondPass {
    /// The file in a case that keeps the experiment of the pass of this number, from 0.
    pub fn file(number: usize) -> String {
        format!("experiment-{}.json", number + 1)
    }

    /// Adds to an answer the findings that showed, with what the trials say of them.
    pub fn judge(&self, answer: &mut Answer, trials: &[Trial]) {
        let own = self.judged(answer, trials);
        let is_reported = |finding: &&Finding| self.candidate.is_none() || finding.status == Status::Confirmed;
        let findings =
            own.findings.iter().filter(is_reported).map(|finding| self.of_the_answer(finding)).collect::<Vec<_>>();
        let before = standing(&answer.findings);
        if self.upon.is_empty() && !findings.is_empty() {
            // That a function is hot is part of what is proved of it now.
            answer.findings.retain(|one| one.kind == Kind::Cause || findings.iter().all(|new| new.id != one.id));
            answer.verdict = own.verdict;
        }
        let place = self.place(answer);
        answer.together.extend(self.together(&own));
        if let Some(proof) = &own.proof {
            add(answer.proof.get_or_insert_default(), proof);
        }
        answer.findings.splice(place..place, findings);
        put_proved_first(&mut answer.findings);
        if let Some(rest) = answer.summary.strip_prefix(&before) {
            answer.summary = standing(&answer.findings) + rest;
        }
        if let Some(why) = self.of_the_rest(&own, &self.experiment.own(trials)) {
            answer.summary += &why;
        }
    }

    /// What the trials of this experiment alone say.
    pub fn judged(&self, answer: &Answer, trials: &[Trial]) -> Answer {
        let mut own = Answer {
            findings: self.findings.clone(),
            exchanges: self.exchanges,
            together: Vec::new(),
            proof: None,
            ..answer.clone()
        };
        judge(&mut own, &self.experiment, trials);
        own
    }

    /// Behind the finding whose cure it stands on, and what has been put there.
    fn place(&self, answer: &Answer) -> usize {
        if self.upon.is_empty() {
            return 0;
        }
        let is_below = |finding: &Finding| {
            let parts = self.upon.split('+').map(|part| part.split('=').next().unwrap_or_default()).collect::<Vec<_>>();
            finding.effect.as_ref().is_some_and(|effect| parts.contains(&effect.intervention.as_str()))
        };
        answer.findings.iter().rposition(is_below).map_or(answer.findings.len(), |last| last + 1)
    }

    /// What is a share of the run with the cause switched off, as a share of the run that the answer is of; and its rows
    /// as those of that run's case.
    fn of_the_answer(&self, finding: &Finding) -> Finding {
        let mut finding = finding.clone();
        finding.cost.share_of_wall *= self.share_of_wall;
        finding.cost.share_of_cpu *= self.share_of_cpu;
        if !self.case.is_empty() {
            finding.evidence.table = format!("{}/{}", self.case, finding.evidence.table);
        }
        finding
    }

    /// The steps that led on, from the first alone.
    fn together(&self, own: &Answer) -> Vec<case::Together> {
        let confirmed = own.findings.iter().filter(|finding| finding.status == Status::Confirmed);
        let arms = confirmed.flat_map(|finding| {
            let attempts = self.experiment.attempts.iter().filter(|attempt| attempt.finding == finding.id);
            let proved = |one: &Tried| one.status == Status::Confirmed;
            let is_proved = move |name: &str| finding.tried.iter().any(|one| proved(one) && one.intervention == name);
            attempts.filter(move |attempt| is_proved(&attempt.intervention)).map(|attempt| attempt.arm.clone())
        });
        let arms = arms.collect::<Vec<_>>();
        let of_arm = |arm: &str| self.experiment.joints.iter().find(|joint| joint.arm == arm);
        let interventions = |arm: &String| of_arm(arm).map(|joint| joint.interventions.clone());
        let wanted = arms.iter().filter_map(interventions).collect::<Vec<_>>();
        let is_first =
            |one: &case::Together| of_arm(&self.upon).is_some_and(|first| first.interventions == one.interventions);
        let is_wanted =
            |one: &&case::Together| !wanted.is_empty() && (is_first(one) || wanted.contains(&one.interventions));
        own.together.iter().filter(is_wanted).cloned().collect()
    }

    /// What became of the function that holds most of the rest; none where nothing was tried.
    fn of_the_rest(&self, own: &Answer, trials: &[Trial]) -> Option<String> {
        let Candidate { function, share } = self.candidate.as_ref()?;
        let finding = own.findings.first()?;
        let share = Share(*share);
        let holds = match self.upon.as_str() {
            "" => format!(" {function} is {share} of the CPU time"),
            upon => format!(" With {upon}, {function} is {share} of the remaining CPU time"),
        };
        let Some(tried) = finding.tried.last() else { return Some(format!("{holds}.")) };
        let arms = self.experiment.attempts.iter().map(|attempt| attempt.arm.as_str()).collect::<Vec<_>>();
        let mut rows = trials.iter().filter(|trial| arms.contains(&trial.arm.as_str()));
        let because = match tried.problem.as_str() {
            _ if finding.status == Status::Confirmed => ", and the output does not need it".to_string(),
            "" => "; without it the program is hardly faster".to_string(),
            _ if rows.any(|row| row.output == output::DIFFERENT) => ", but the output needs it".to_string(),
            problem => format!("; whether it is needed is not known ({problem})"),
        };
        Some(format!("{holds}{because}."))
    }
}

/// Adds what the second round took.
fn add(proof: &mut Proof, own: &Proof) {
    proof.trials += own.trials;
    proof.rounds = proof.rounds.max(own.rounds);
    proof.spent_ns += own.spent_ns;
    proof.budget_ns += own.budget_ns;
    if own.stopped == Some(Stopped::Interrupted) {
        proof.stopped = own.stopped;
    }
    proof.not_tried.extend(own.not_tried.iter().cloned());
    proof.untried.extend(own.untried.iter().cloned());
}

#[cfg(test)]
mod tests;
