//! What the program writes with a cure and without it: whole runs for it, and their comparison.

use super::{Proving, entries, is_reference_row, soundness};
use crate::arms::Arm;
use crate::engine::{self, Budget, Design, Entry, Order, Pace, Stop, Stopped, Turn};
use crate::error::LabError;
use crate::extent::Extent;
use crate::outcome::Outcome;
use crate::outputs::{self, Exactly};
use crate::verdict;
use case::facts::Sameness;
use std::collections::BTreeSet;
use std::time::Duration;

impl Proving<'_, '_> {
    /// Lets each arm that gains run to the program's end once, where all its trials were cut: what it breaks can show late. As
    /// far as the budget allows it, together with the run without an intervention that it is compared with.
    pub(super) fn run_cures_whole(&mut self, arms: &[Arm]) -> Result<(), LabError> {
        let rows = self.rows().cloned().collect::<Vec<_>>();
        let recorded = Duration::from_nanos(self.answer.wall_ns);
        let has_ended = |name: &str| rows.iter().any(|row| row.arm == name && row.exit >= 0);
        if self.answer.subject_exit.is_none() {
            return Ok(());
        }
        let gains = verdict::gains(self.answer, &self.experiment, &rows);
        let whole = gains.iter().filter(|(name, _)| !has_ended(name)).filter_map(|(name, ratio)| {
            let arm = arms.iter().find(|arm| arm.name == *name)?;
            Some((arm.clone(), recorded.div_f64(ratio.max(1.0)) + self.overhead))
        });
        let (cures, costs): (Vec<Arm>, Vec<Duration>) = whole.unzip();
        let reference = if self.has_whole_reference() { Duration::ZERO } else { recorded + self.overhead };
        let begun = self.state.trials();
        let design = Design {
            doing: "proving with whole runs",
            arms: entries(&cures),
            order: Order::Listed((0..cures.len()).collect()),
            most_rounds: 1,
            budget: Budget { time: self.terms.budget, pace: Pace::Unlimited },
            open: Design::<Self>::all(cures.len()),
            stop: Stop::at_trials(|proving: &Self| {
                let next = costs.get((proving.state.trials() - begun) as usize);
                let fits = next.is_none_or(|cost| *cost + reference <= proving.state.left());
                (!fits).then_some(Stopped::BudgetSpent)
            }),
            say: self.terms.say,
        };
        let extent = std::mem::replace(&mut self.extent, Extent::whole(recorded));
        let stopped = engine::run(&design, self, &mut |proving, turn| proving.trial(&cures[turn.arm], turn));
        self.extent = extent;
        engine::unless_interrupted(stopped?).map(|_| ())
    }

    fn has_whole_reference(&self) -> bool {
        let has_ended = |outcome: &Outcome| outcome.row.exit >= 0 && is_reference_row(&outcome.row);
        !self.wholes.is_empty() || self.outcomes.iter().any(has_ended)
    }

    /// Compares what was written with interventions to what was written without. Where too few trials without ran to
    /// their end, more are run for that, if the budget allows it.
    pub(super) fn compare_outputs(&mut self) -> Result<(), LabError> {
        let ended =
            |outcome: &&Outcome, without: bool| outcome.row.exit >= 0 && is_reference_row(&outcome.row) == without;
        if self.outcomes.is_empty() {
            return Ok(());
        }
        if !self.outcomes.iter().any(|outcome| ended(&outcome, false)) {
            self.experiment.output = Sameness::NotCompared("every trial was cut short".to_string());
            self.compare_to_the_letter(&[]);
            return Ok(());
        }
        let references = |proving: &Self| {
            let without = proving.outcomes.iter().filter(|one| ended(one, true));
            without.chain(&proving.wholes).map(|one| one.output.clone()).collect::<Vec<_>>()
        };
        let before = self.wholes.len() as u32;
        let begun = self.state.round();
        let design = Design {
            doing: "proving",
            arms: vec![Entry::tried("whole")],
            order: Order::Listed(vec![0]),
            most_rounds: outputs::LEAST_REFERENCES as u32,
            budget: Budget { time: self.terms.budget, pace: Pace::Unlimited },
            open: Design::<Self>::all(1),
            stop: Stop::at_rounds(|proving: &mut Self| {
                let is_answered = !outputs::asks_for_reference(&references(proving), &proving.outcomes)
                    && !soundness::asks_for_reference(&proving.outcomes, &proving.wholes);
                // One that was not run, or did not come to its end, will not the next time.
                let has_failed = (proving.wholes.len() as u32) < before + proving.state.round() - begun;
                (is_answered || has_failed).then_some(Stopped::Answered)
            }),
            say: &|_| {},
        };
        let stopped = engine::run(&design, self, &mut |proving, _: &Turn| proving.whole())?;
        engine::unless_interrupted(stopped)?;
        self.mark();
        let references = references(self);
        self.experiment.output = outputs::compare(&references, &mut self.outcomes);
        self.compare_to_the_letter(&references);
        Ok(())
    }

    /// What some interventions do is only harmless as far as the output is the same to the letter.
    fn compare_to_the_letter(&mut self, references: &[Vec<u8>]) {
        let without = self.outcomes.iter().filter(|one| is_reference_row(&one.row)).chain(&self.wholes);
        let statuses = without.map(|one| one.row.exit).filter(|exit| *exit >= 0).collect::<Vec<_>>();
        let strict = self.experiment.attempts.iter().filter(|attempt| attempt.needs_same_output());
        let arms = strict.map(|attempt| attempt.arm.clone()).collect::<BTreeSet<_>>();
        let of_these = self.outcomes.iter_mut().filter(|one| arms.contains(&one.row.arm));
        let exactly = Exactly { references, statuses: &statuses, otherwise: &self.experiment.output };
        of_these.for_each(|outcome| exactly.compare(outcome));
    }
}
