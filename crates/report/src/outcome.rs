//! What an answer comes down to: the one place that decides it, for the words and for the exit code.

use case::{Answer, Nanos, Status};

/// With more than this share of the time unexplained, finding nothing says nothing.
const MOST_UNEXPLAINED: f64 = 0.20;

/// What an answer comes down to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing to report.
    Nothing,
    /// At least one cause, suspected or confirmed.
    Findings,
    /// Neither can be said; the sentence says why.
    Inconclusive(String),
}

/// What an answer comes down to.
pub fn outcome(answer: &Answer) -> Outcome {
    let standing = |finding: &case::Finding| matches!(finding.status, Status::Suspected | Status::Confirmed);
    if answer.findings.iter().any(standing) {
        return Outcome::Findings;
    }
    if answer.findings.iter().any(|finding| finding.status == Status::Undecided) {
        return Outcome::Inconclusive("The trials left every suspicion open.".into());
    }
    if answer.ledger.total == 0 {
        return Outcome::Inconclusive("Nothing was recorded of the program's time.".into());
    }
    let unexplained = Nanos(answer.ledger.unexplained).share_of(Nanos(answer.ledger.total));
    if unexplained.0 > MOST_UNEXPLAINED {
        return Outcome::Inconclusive(format!("Of the time recorded, {unexplained} could not be explained."));
    }
    Outcome::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::examples;

    #[test]
    fn a_suspicion_is_a_finding() {
        assert_eq!(outcome(&examples::slow()), Outcome::Findings);
    }

    #[test]
    fn a_healthy_program_has_none() {
        assert_eq!(outcome(&examples::healthy()), Outcome::Nothing);
    }

    #[test]
    fn too_much_unexplained_time_is_no_bill_of_health() {
        let mut answer = examples::healthy();
        answer.ledger.unexplained = answer.ledger.total / 4;
        assert!(matches!(outcome(&answer), Outcome::Inconclusive(why) if why.contains("25 %")));
        answer.ledger = case::Ledger::default();
        assert!(matches!(outcome(&answer), Outcome::Inconclusive(_)));
    }

    #[test]
    fn refuted_suspicions_are_nothing_and_undecided_ones_leave_it_open() {
        let mut answer = examples::slow();
        answer.findings[0].status = Status::Refuted;
        assert_eq!(outcome(&answer), Outcome::Nothing);
        answer.findings[0].status = Status::Undecided;
        assert!(matches!(outcome(&answer), Outcome::Inconclusive(_)));
    }
}
