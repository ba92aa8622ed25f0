//! What was tried, and what for: the part of an experiment that is kept in the case beside its trials, so that the same
//! verdict can be drawn again.

use crate::extent::Extent;
use crate::interventions;
use crate::metric::Metric;
use case::facts::{NotTried, Sameness};
use case::tables::Trial;
use case::{Purpose, Stopped};
use serde::{Deserialize, Serialize};
use stats::Looks;

/// The arm with nothing attached.
pub const PLAIN: &str = "plain";
/// The sham: the machinery of all others, inert.
pub const SHAM: &str = "nothing";

/// What the name of a sham that carries the machinery of some arms only begins with; the first of these arms follows.
const OWN_SHAM: &str = "nothing:";

/// The name of the sham of an arm whose machinery is not that of all.
pub fn own_sham(arm: &str) -> String {
    format!("{OWN_SHAM}{arm}")
}

/// The arm whose machinery a sham carries; none of the sham of all, and of what is no sham.
pub fn sham_of(arm: &str) -> Option<&str> {
    arm.strip_prefix(OWN_SHAM)
}

/// Whether an arm is a sham, of all or of some.
pub fn is_sham(arm: &str) -> bool {
    arm == SHAM || sham_of(arm).is_some()
}

/// The file in a case that keeps an experiment.
pub const FILE: &str = "experiment.json";

/// An experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Each intervention tried for a finding.
    pub attempts: Vec<Attempt>,
    /// Interventions tried together, in the order tried.
    pub joints: Vec<Joint>,
    /// What was not tried, and why.
    pub not_tried: Vec<NotTried>,
    /// How far each trial went; none where there was none.
    pub extent: Option<Extent>,
    /// Time allowed, in nanoseconds.
    pub budget_ns: u64,
    /// Time spent, in nanoseconds.
    pub spent_ns: u64,
    /// Why its rounds went no further; none where there were none, or of a case that was made before this was kept.
    #[serde(default)]
    pub stopped: Option<Stopped>,
    /// What became of the comparison of outputs: `same`, `different`, or why there was none.
    pub output: Sameness,
    /// Whether the trials tell what work they did; not so of a case that was made before this was kept.
    #[serde(default)]
    pub compares_work: bool,
    /// The rounds that are its own, the first and the one after its last; none where all are.
    #[serde(default)]
    pub rounds: Option<(u32, u32)>,
}

impl Experiment {
    /// The looks at which its claims are judged: they share the 5 % of false alarms of the whole run.
    pub fn looks(&self) -> Looks {
        let claims = self.attempts.iter().filter(|attempt| attempt.claims()).count();
        Looks::standard().sharing(1.0 / claims.max(1) as f64)
    }

    /// Numbers its rounds and trials so that they follow those of the experiments before it.
    pub fn follow(&mut self, before: &[Trial], own: &mut [Trial]) {
        let first = before.iter().map(|trial| trial.round + 1).max().unwrap_or(0);
        for trial in own.iter_mut() {
            trial.round += first;
            trial.position += before.len() as u32;
        }
        self.rounds = Some((first, own.iter().map(|trial| trial.round + 1).max().unwrap_or(first)));
    }

    /// The trials that are its own.
    pub fn own(&self, trials: &[Trial]) -> Vec<Trial> {
        let is_own = |trial: &&Trial| self.rounds.is_none_or(|(first, end)| (first..end).contains(&trial.round));
        trials.iter().filter(is_own).cloned().collect()
    }
}

/// One intervention, tried for one finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The finding's identifier.
    pub finding: String,
    /// The arm, as the trials name it.
    pub arm: String,
    /// The intervention.
    pub intervention: String,
    /// Its dose with its unit, or what is named for it; empty for none.
    pub dose: String,
    /// What it was tried for.
    pub purpose: Purpose,
    /// What it is judged by.
    pub metric: Metric,
    /// The arm that it is compared with: the sham, or, for one that stands on others, those others.
    pub reference: String,
}

impl Attempt {
    /// Whether its gain would confirm something. A control, a dose or what the user asks for confirms nothing by itself.
    pub fn claims(&self) -> bool {
        matches!(self.purpose, Purpose::Cause | Purpose::Incremental)
    }

    /// Whether its trials must not be cut.
    pub fn needs_whole_run(&self) -> bool {
        self.metric.needs_whole_run() || self.needs_same_output()
    }

    /// Whether it only proves something where the program writes the same to the letter.
    pub fn needs_same_output(&self) -> bool {
        interventions::find(&self.intervention).is_some_and(|one| one.needs_same_output)
    }
}

/// Several interventions, tried together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Joint {
    /// The arm, as the trials name it.
    pub arm: String,
    /// The interventions, the one added last at the end.
    pub interventions: Vec<String>,
    /// The arm of all but the last.
    pub before: String,
    /// What it is judged by.
    pub metric: Metric,
}
