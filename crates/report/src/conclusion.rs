//! What an answer comes down to: the one place that decides it, for the words and for the exit code.

use crate::ranking::{measured, slower};
use case::{
    Answer, Bisection, BisectionOutcome, Comparison, Contrast, Document, GateState, Matrix, Nanos, Status, Steps,
    Sweep, Traffic, Watched,
};

/// With more than this share of the time unexplained, finding nothing says nothing.
const MOST_UNEXPLAINED: f64 = 0.20;

/// Fewer values than this show neither a cliff nor growth.
const LEAST_VALUES: usize = 3;

/// What an answer comes down to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// Nothing to report.
    Nothing,
    /// At least one cause, suspected or confirmed.
    Findings,
    /// Neither can be said; the sentence says why.
    Inconclusive(String),
}

/// What a document comes down to.
pub fn conclusion_of(document: &Document) -> Conclusion {
    match document {
        Document::Answer(answer) => conclusion(answer),
        Document::Comparison(comparison) => comparison_conclusion(comparison),
        Document::Sweep(sweep) => sweep_conclusion(sweep),
        Document::Bisection(bisection) => bisection_conclusion(bisection),
        Document::Matrix(matrix) => matrix_conclusion(matrix),
    }
}

/// What a series comes down to: whether it has steps.
pub fn steps_conclusion(series: &Steps) -> Conclusion {
    if series.steps.is_empty() { Conclusion::Nothing } else { Conclusion::Findings }
}

/// What logs come down to: whether a part of the traffic could be turned away.
pub fn traffic_conclusion(traffic: &Traffic) -> Conclusion {
    match (traffic.total.requests, traffic.suspects.is_empty()) {
        (0, _) => Conclusion::Inconclusive("No line could be read.".into()),
        (_, true) => Conclusion::Nothing,
        (_, false) => Conclusion::Findings,
    }
}

/// What watching comes down to: whether a service is out of line.
pub fn watched_conclusion(watched: &Watched) -> Conclusion {
    match (watched.services.is_empty(), watched.deviations.is_empty()) {
        (true, _) => Conclusion::Inconclusive("Nothing was watched in that time.".into()),
        (_, true) => Conclusion::Nothing,
        (_, false) => Conclusion::Findings,
    }
}

/// What an answer comes down to.
pub fn conclusion(answer: &Answer) -> Conclusion {
    let standing = |finding: &case::Finding| matches!(finding.status, Status::Suspected | Status::Confirmed);
    if answer.findings.iter().any(standing) {
        return Conclusion::Findings;
    }
    if answer.findings.iter().any(|finding| finding.status == Status::Undecided) {
        return Conclusion::Inconclusive("The trials settled none of the suspicions.".into());
    }
    if answer.ledger.total == 0 {
        return Conclusion::Inconclusive("Nothing was recorded of the program's time.".into());
    }
    let unexplained = Nanos(answer.ledger.unexplained).share_of(Nanos(answer.ledger.total));
    if unexplained.0 > MOST_UNEXPLAINED {
        return Conclusion::Inconclusive(format!("{unexplained} of the recorded time could not be explained."));
    }
    Conclusion::Nothing
}

/// What a comparison comes down to: with gates what they say, without any whether there is a difference.
pub fn comparison_conclusion(comparison: &Comparison) -> Conclusion {
    let has = |state: GateState| comparison.gates.iter().any(|gate| gate.state == state);
    if has(GateState::Failed) {
        return Conclusion::Findings;
    }
    if has(GateState::Open) {
        return Conclusion::Inconclusive("A limit is within the interval of what was measured.".into());
    }
    match comparison.outcome {
        _ if !comparison.gates.is_empty() => Conclusion::Nothing,
        Contrast::More | Contrast::Less => Conclusion::Findings,
        Contrast::Same => Conclusion::Nothing,
        Contrast::Open => Conclusion::Inconclusive("The interval is too wide to say.".into()),
    }
}

/// What a sweep comes down to: whether there is a cliff, growth out of hand, or a suspicion anywhere.
pub fn sweep_conclusion(sweep: &Sweep) -> Conclusion {
    let standing = |finding: &case::Finding| matches!(finding.status, Status::Suspected | Status::Confirmed);
    let suspicions = sweep.regimes.iter().flat_map(|regime| &regime.findings);
    let out_of_hand = sweep.growth.as_ref().is_some_and(|growth| growth.out_of_hand);
    if !sweep.cliffs.is_empty() || out_of_hand || suspicions.into_iter().any(standing) {
        return Conclusion::Findings;
    }
    let sound = sweep.points.iter().filter(|point| point.trials > 0 && point.measured > 0.0).count();
    match (sound, sweep.points.len()) {
        (0, _) => Conclusion::Inconclusive("No value had a sound trial.".into()),
        (sound, all) if sound < all && sound < LEAST_VALUES && sweep.growth.is_none() => {
            Conclusion::Inconclusive(format!("Of {all} values only {sound} had a sound trial."))
        }
        // Every sweep that goes to its end records a run; one that was ended early has not found that there is nothing.
        _ if sweep.regimes.is_empty() => Conclusion::Inconclusive("It was ended early.".into()),
        _ => Conclusion::Nothing,
    }
}

/// What a bisection comes down to: whether what makes the difference was found.
pub fn bisection_conclusion(bisection: &Bisection) -> Conclusion {
    match bisection.outcome {
        BisectionOutcome::Confirmed | BisectionOutcome::Found => Conclusion::Findings,
        BisectionOutcome::NoEffect => Conclusion::Nothing,
        BisectionOutcome::NotSeparable => {
            Conclusion::Inconclusive("Nothing that can be switched alone makes the difference.".into())
        }
        BisectionOutcome::Undecided => Conclusion::Inconclusive("The search ended early.".into()),
    }
}

/// What a matrix comes down to: whether a version is significantly slower than the first.
pub fn matrix_conclusion(matrix: &Matrix) -> Conclusion {
    if measured(matrix).any(|version| slower(version).is_some()) {
        return Conclusion::Findings;
    }
    // Where nothing could be compared, nothing was found to be as fast.
    if measured(matrix).count() < 2 {
        return Conclusion::Inconclusive("Fewer than two versions were measured.".into());
    }
    Conclusion::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::answer as examples;
    use crate::examples::bisection as bisections;
    use crate::examples::matrix as matrices;

    #[test]
    fn a_suspicion_is_a_finding() {
        assert_eq!(conclusion(&examples::slow()), Conclusion::Findings);
    }

    #[test]
    fn a_healthy_program_has_none() {
        assert_eq!(conclusion(&examples::healthy()), Conclusion::Nothing);
    }

    #[test]
    fn too_much_unexplained_time_is_no_bill_of_health() {
        let mut answer = examples::healthy();
        answer.ledger.unexplained = answer.ledger.total / 4;
        assert!(matches!(conclusion(&answer), Conclusion::Inconclusive(why) if why.contains("25 %")));
        answer.ledger = case::Ledger::default();
        assert!(matches!(conclusion(&answer), Conclusion::Inconclusive(_)));
    }

    #[test]
    fn refuted_suspicions_are_nothing_and_undecided_ones_leave_it_open() {
        let mut answer = examples::slow();
        answer.findings[0].status = Status::Refuted;
        assert_eq!(conclusion(&answer), Conclusion::Nothing);
        answer.findings[0].status = Status::Undecided;
        assert!(matches!(conclusion(&answer), Conclusion::Inconclusive(_)));
    }

    #[test]
    fn a_bisection_that_found_nothing_to_blame_is_no_bill_of_health() {
        assert_eq!(bisection_conclusion(&bisections::bundle()), Conclusion::Findings);
        assert_eq!(bisection_conclusion(&bisections::no_effect()), Conclusion::Nothing);
        let open = [bisections::not_separable(), bisections::undecided()];
        assert!(open.iter().all(|one| matches!(bisection_conclusion(one), Conclusion::Inconclusive(_))));
    }

    #[test]
    fn a_slower_version_is_a_finding() {
        assert_eq!(matrix_conclusion(&matrices::openssl()), Conclusion::Findings);
        assert_eq!(matrix_conclusion(&matrices::level()), Conclusion::Nothing);
        assert!(matches!(matrix_conclusion(&matrices::alone()), Conclusion::Inconclusive(_)));
        let mut more = matrices::openssl();
        // Of a rate, more is better.
        for compared in more.versions.iter_mut().flat_map(|version| &mut version.ratios) {
            compared.metric = "stdout-more:rate".into();
        }
        assert_eq!(matrix_conclusion(&more), Conclusion::Nothing);
    }
}
