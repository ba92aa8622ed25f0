//! What was switched on and off in a running program, as its case keeps it.

use case::{Answer, Case, CaseError};
use lab::live::Live;
use serde::{Deserialize, Serialize};

/// The file that keeps it.
const FILE: &str = "live.json";

/// What was switched, and what could not be.
#[derive(Serialize, Deserialize)]
pub struct Switched(pub Vec<Live>, pub Vec<String>);

impl Switched {
    /// What a case keeps; none where nothing was tried in a running program.
    pub fn kept(case: &Case) -> Result<Option<Switched>, CaseError> {
        case.kept(FILE)
    }

    /// Keeps it in its case.
    pub fn keep(&self, case: &Case) -> Result<(), CaseError> {
        case.keep(FILE, self)
    }

    /// Puts it into the answer.
    pub fn enter(self, answer: &mut Answer) {
        let Switched(switched, others) = self;
        for live in switched {
            live.enter(answer);
        }
        answer.missing.extend(others);
    }
}
