//! What the program writes with a cure and without it: whole runs for it, and their comparison.

use super::{Proving, entries, is_reference_row};
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
    /// Lets each cure run to the program's end once, where all its trials were cut: what it breaks can show late. As far
    /// as the budget allows it, together with the run without an intervention that it is compared with.
    pub(super) fn run_cures_whole(&mut self, arms: &[Arm]) -> Result<(), LabError> {
        let rows = self.rows().cloned().collect::<Vec<_>>();
        let mut answer = self.answer.clone();
        verdict::judge(&mut answer, &self.experiment, &rows);
        let recorded = Duration::from_nanos(self.answer.wall_ns);
        let has_ended = |name: &str| rows.iter().any(|row| row.arm == name && row.exit >= 0);
        if self.answer.subject_exit.is_none() {
            return Ok(());
        }
        let cures = verdict::cures(&answer);
        let cures = cures.iter().filter_map(|name| arms.iter().find(|arm| arm.name == *name && !has_ended(name)));
        let cures = cures.cloned().collect::<Vec<_>>();
        let design = Design {
            doing: "proving, to the program's end",
            arms: entries(&cures),
            order: Order::Listed((0..cures.len()).collect()),
            most_rounds: 1,
            budget: Budget { time: self.terms.budget, pace: Pace::Unlimited },
            open: Design::<Self>::all(cures.len()),
            stop: Stop::at_trials(|proving: &Self| {
                let fits = (recorded + proving.overhead) * 2 <= proving.state.left();
                (!fits).then_some(Stopped::BudgetSpent)
            }),
            say: self.terms.say,
        };
        let extent = std::mem::replace(&mut self.extent, Extent::whole(recorded));
        let stopped = engine::run(&design, self, &mut |proving, turn| proving.trial(&cures[turn.arm], turn));
        self.extent = extent;
        engine::unless_interrupted(stopped?).map(|_| ())
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
            self.experiment.output = Sameness::NotCompared("every trial was cut before the program's end".to_string());
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
                let is_answered = !outputs::asks_for_reference(&references(proving), &proving.outcomes);
                // One that was not run, or did not come to its end, will not the next time.
                let has_failed = (proving.wholes.len() as u32) < before + proving.state.round() - begun;
                (is_answered || has_failed).then_some(Stopped::Answered)
            }),
            say: &|_| {},
        };
        let stopped = engine::run(&design, self, &mut |proving, _: &Turn| proving.whole())?;
        engine::unless_interrupted(stopped)?;
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
