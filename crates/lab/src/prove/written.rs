//! What the program writes with a cure and without it: whole runs for it, and their comparison.

use super::{Course, is_reference_row};
use crate::arms::Arm;
use crate::error::LabError;
use crate::extent::Extent;
use crate::outcome::Outcome;
use crate::outputs::{self, Exactly};
use crate::verdict;
use std::collections::BTreeSet;
use std::time::Duration;

impl Course<'_, '_> {
    /// Lets each cure run to the program's end once, where all its trials were cut: what it breaks can show late. As far
    /// as the budget allows it, together with the run without an intervention that it is compared with.
    pub(super) fn run_cures_whole(&mut self, arms: &[Arm]) -> Result<(), LabError> {
        let rows = self.rows().cloned().collect::<Vec<_>>();
        let mut answer = self.answer.clone();
        verdict::judge(&mut answer, &self.experiment, &rows);
        let recorded = Duration::from_nanos(self.answer.wall_ns);
        let has_ended = |name: &str| rows.iter().any(|row| row.arm == name && row.exit >= 0);
        for arm in verdict::cures(&answer).iter().filter_map(|name| arms.iter().find(|arm| arm.name == *name)) {
            let fits = self.begun.elapsed() + (recorded + self.overhead) * 2 <= self.terms.budget;
            if self.answer.subject_exit.is_none() || has_ended(&arm.name) || !fits {
                continue;
            }
            let extent = std::mem::replace(&mut self.extent, Extent::whole(recorded));
            let tried = self.trial(arm);
            self.extent = extent;
            tried?;
        }
        Ok(())
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
            self.experiment.output = "every trial was cut before the program's end".to_string();
            self.compare_to_the_letter(&[]);
            return Ok(());
        }
        let references = |course: &Self| {
            let without = course.outcomes.iter().filter(|one| ended(one, true));
            without.chain(&course.wholes).map(|one| one.output.clone()).collect::<Vec<_>>()
        };
        while outputs::asks_for_reference(&references(self), &self.outcomes) {
            let before = self.wholes.len();
            self.whole()?;
            if self.wholes.len() == before {
                break;
            }
        }
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
