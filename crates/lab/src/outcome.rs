//! What came of one trial.

use crate::arms::Arm;
use crate::error::LabError;
use crate::intervention_counters::InterventionCounters;
use case::Nanos;
use case::tables::Trial;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// What came of a trial.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its row; round, position and arm are still to be filled in.
    pub row: Trial,
    /// What its treatment left.
    pub counters: InterventionCounters,
    /// What the client wrote to its standard output.
    pub output: Vec<u8>,
    /// The end of what the client wrote to its standard error.
    pub errors: String,
    /// The files that the programs of the end that was asked about had mapped; empty where nobody asked.
    pub mapped: BTreeSet<PathBuf>,
    /// How long it took, starting and ending included.
    pub took: Duration,
}

impl Outcome {
    /// Of a trial whose programs did not start.
    pub fn not_started(error: &LabError, arm: &Arm, round: u32, position: u32) -> Outcome {
        let row = Trial {
            round,
            position,
            arm: arm.name.clone(),
            exit: -1,
            metric: f64::NAN,
            problem: error.to_string(),
            ..Trial::default()
        };
        Outcome {
            row,
            counters: InterventionCounters::default(),
            output: Vec::new(),
            errors: String::new(),
            mapped: BTreeSet::new(),
            took: Duration::ZERO,
        }
    }

    /// Whether it is of a trial whose programs did not start: nothing was measured.
    pub fn has_not_started(&self) -> bool {
        self.row.wall == Nanos(0) && !self.row.applied
    }

    /// Completes the row: which arm it was, and whether the arm's interventions took effect.
    #[must_use]
    pub fn of_arm(mut self, arm: &Arm, round: u32, position: u32) -> Outcome {
        self.row.round = round;
        self.row.position = position;
        self.row.arm.clone_from(&arm.name);
        self.row.applied = true;
        for part in &arm.parts {
            match (part.applied)(&self.counters) {
                Ok(changes) => self.row.changes += changes,
                Err(why) => {
                    self.row.applied = false;
                    // Of one alone the arm's name tells whose problem it is.
                    let whose = if arm.parts.len() > 1 { format!("{}: ", part.name) } else { String::new() };
                    self.row.problem = whose + &why;
                }
            }
        }
        self
    }
}
