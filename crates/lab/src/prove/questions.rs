//! What is still to be asked: which arms need more trials.

use super::{DOSE_ROUNDS, ENOUGH_PAIRS, FIRST_LOOK, PRECISION, Proving, is_reference};
use crate::arms::Arm;
use crate::engine::is_given_up;
use crate::experiment::{Attempt, PLAIN, SHAM};
use crate::pairs::{decide, pairs, ratio};
use crate::verdict;
use case::tables::Trial;
use case::{Purpose, Status};
use stats::{Decision, Looks, Ratio};

impl Proving<'_, '_> {
    /// Whether more trials of an arm are needed, in the rounds since `first`.
    pub(super) fn is_open(&self, arm: &Arm, first: u32) -> bool {
        let rows = self.rows().filter(|row| row.arm == arm.name && row.round >= first);
        let failures = rows.clone().filter(|row| !row.applied || !row.problem.is_empty()).count();
        let trials = rows.count();
        if is_given_up(failures, trials) {
            return false;
        }
        if (trials as u32) < FIRST_LOOK {
            return true;
        }
        if is_reference(arm) {
            // For as long as others are compared with it (see `open`); by itself it is there to show what all the machinery
            // costs, which takes some rounds, and may not take the others' time.
            let most = self.usual_cost(arm) * ENOUGH_PAIRS as u32;
            return !self.is_machinery_known() && (self.base.is_none() || most < self.terms.budget / 2);
        }
        let all = self.rows().cloned().collect::<Vec<_>>();
        // What stands on others is asked about as such.
        let is_alone = |attempt: &&Attempt| attempt.arm == arm.name && attempt.purpose != Purpose::Incremental;
        let attempts = self.experiment.attempts.iter().filter(is_alone);
        let is_open = |attempt: &Attempt| {
            let pairs = pairs(&all, &attempt.metric, &attempt.reference, &arm.name);
            match attempt.purpose {
                Purpose::Dose => (pairs.len() as u32) < DOSE_ROUNDS,
                Purpose::Incremental => self.is_step_open(&pairs),
                Purpose::Cause => !is_settled(&pairs, &self.looks),
                Purpose::Control => self.is_control_open(&attempt.finding, &pairs, &all),
                Purpose::Asked => !is_settled(&pairs, &Looks::standard()),
            }
        };
        let mut joints = self.experiment.joints.iter().filter(|joint| joint.arm == arm.name);
        attempts.clone().any(is_open)
            || joints.any(|joint| self.is_step_open(&pairs(&all, &joint.metric, &joint.before, &arm.name)))
    }

    /// Whether what the machinery costs is known as exactly as a gain.
    fn is_machinery_known(&self) -> bool {
        let rows = self.rows().cloned().collect::<Vec<_>>();
        let Some(first) = self.experiment.attempts.first() else { return true };
        let pairs = pairs(&rows, &first.metric, PLAIN, SHAM);
        let looks = Looks::standard();
        let is_exact = |ratio: Ratio| PRECISION.is_met(ratio.low, ratio.high, pairs.len());
        pairs.len() >= ENOUGH_PAIRS || looks.is_look(pairs.len()) && ratio(&looks, &pairs).is_some_and(is_exact)
    }

    fn is_step_open(&self, pairs: &[(f64, f64)]) -> bool {
        pairs.len() < ENOUGH_PAIRS && decide(&self.looks, pairs) == Decision::Open
    }

    /// Whether a control needs more pairs. It is there for a gain that it could put in doubt: until it is told apart from that, and
    /// in no case for longer than other figures.
    fn is_control_open(&self, finding: &str, pairs: &[(f64, f64)], rows: &[Trial]) -> bool {
        let is_cause = |attempt: &&Attempt| attempt.finding == finding && attempt.purpose == Purpose::Cause;
        let causes = self.experiment.attempts.iter().filter(is_cause);
        let of_cause = |attempt: &Attempt| {
            let pairs = crate::pairs::pairs(rows, &attempt.metric, &attempt.reference, &attempt.arm);
            ratio(&self.looks, &pairs)
                .filter(|ratio| verdict::status(ratio) != Status::Refuted)
                .map(|ratio| ratio.ratio)
        };
        let Some(gain) = causes.filter_map(of_cause).max_by(f64::total_cmp) else { return false };
        let looks = Looks::standard();
        let is_answered = || ratio(&looks, pairs).is_some_and(|ratio| verdict::is_told_apart(&ratio, gain));
        pairs.len() < ENOUGH_PAIRS && !(looks.is_look(pairs.len()) && is_answered())
    }
}

/// Whether pairs give a verdict, and a ratio worth showing.
fn is_settled(pairs: &[(f64, f64)], looks: &Looks) -> bool {
    if !looks.is_look(pairs.len()) {
        return false;
    }
    let Some(ratio) = ratio(looks, pairs) else { return false };
    match verdict::status(&ratio) {
        Status::Confirmed => PRECISION.is_met(ratio.low, ratio.high, pairs.len()),
        Status::Refuted => true,
        Status::Suspected | Status::Undecided => false,
    }
}
