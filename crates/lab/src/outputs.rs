//! Whether a program writes the same with an intervention as without: what it wrote is the proof that it still does its
//! work.

use crate::outcome::Outcome;
use case::tables::output;

/// So many outputs without an intervention must agree before another is called different: what differs by itself, by a
/// name drawn at random or a date, would be blamed on an intervention.
const LEAST_REFERENCES: usize = 3;

/// Whether another run without an intervention is needed before anything can be said.
pub fn asks_for_reference(references: &[Vec<u8>], outcomes: &[Outcome]) -> bool {
    let Some(reference) = references.first() else { return true };
    let differs = |other: &Vec<u8>| masked(other) != masked(reference);
    references.len() < LEAST_REFERENCES
        && !references.iter().any(differs)
        && outcomes.iter().any(|outcome| outcome.row.exit >= 0 && differs(&outcome.output))
}

/// Compares the output of every trial that ran to its end with that of trials without interventions, and notes it in
/// the rows. The word for the whole: `same`, `same but for figures`, `different`, or why nothing was compared.
pub fn compare(references: &[Vec<u8>], outcomes: &mut [Outcome]) -> String {
    let Some(reference) = references.first() else {
        return "no run without an intervention came to its end within the budget".to_string();
    };
    let is_steady = references.iter().all(|other| other == reference);
    let is_steady_but_for_figures = references.iter().all(|other| masked(other) == masked(reference));
    if !is_steady_but_for_figures {
        return "it differs from run to run without any intervention".to_string();
    }
    if asks_for_reference(references, outcomes) {
        return "too few runs without an intervention came to their end to tell what differs by itself".to_string();
    }
    let mut worst = output::SAME;
    let mut figures_differ = !is_steady;
    for outcome in outcomes.iter_mut().filter(|outcome| outcome.row.exit >= 0) {
        let is_same = outcome.output == *reference;
        let is_similar = masked(&outcome.output) == masked(reference);
        figures_differ |= !is_same && is_similar;
        // One reference alone does not tell figures that always differ from figures that an intervention changed.
        outcome.row.output = if is_similar { output::SAME } else { output::DIFFERENT };
        if !is_similar {
            worst = output::DIFFERENT;
            outcome.row.problem = "the program wrote something else than without it".to_string();
        }
    }
    match (worst, figures_differ) {
        (output::DIFFERENT, _) => "different",
        (_, true) => "same but for figures",
        _ => "same",
    }
    .to_string()
}

/// The text with every run of digits replaced by one mark: times and counts differ from run to run.
pub(crate) fn masked(text: &[u8]) -> Vec<u8> {
    let mut masked = Vec::with_capacity(text.len());
    for &byte in text {
        let byte = if byte.is_ascii_digit() { b'#' } else { byte };
        if byte != b'#' || masked.last() != Some(&b'#') {
            masked.push(byte);
        }
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::Traces;
    use case::tables::Trial;
    use std::time::Duration;

    fn wrote(text: &str) -> Outcome {
        Outcome {
            row: Trial::default(),
            traces: Traces::default(),
            output: text.into(),
            errors: String::new(),
            took: Duration::ZERO,
        }
    }

    #[test]
    fn the_same_words_are_the_same_whatever_the_figures() {
        let mut outcomes = [wrote("100 requests, median 0.2 ms")];
        assert_eq!(compare(&["100 requests, median 44.1 ms".into()], &mut outcomes), "same but for figures");
        assert_eq!(outcomes[0].row.output, output::SAME);
        assert_eq!(compare(&["100 requests, median 0.2 ms".into()], &mut outcomes), "same");
    }

    #[test]
    fn other_words_are_a_broken_program() {
        let mut outcomes = [wrote("error")];
        assert_eq!(compare(&["fine".into(), "fine".into(), "fine".into()], &mut outcomes), "different");
        assert_eq!(outcomes[0].row.output, output::DIFFERENT);
        assert!(!outcomes[0].row.problem.is_empty());
    }

    #[test]
    fn one_reference_is_not_enough_to_call_words_other() {
        let mut outcomes = [wrote("session fe")];
        assert!(asks_for_reference(&["session ab".into()], &outcomes));
        assert!(compare(&["session ab".into()], &mut outcomes).starts_with("too few"));
        assert!(outcomes[0].row.problem.is_empty());
        assert!(!asks_for_reference(&["session ab".into(), "session cd".into()], &outcomes));
    }

    #[test]
    fn what_differs_by_itself_proves_nothing() {
        let mut outcomes = [wrote("b")];
        assert!(compare(&["a".into(), "b".into()], &mut outcomes).starts_with("it differs"));
        assert_eq!(outcomes[0].row.output, output::NOT_COMPARED);
    }
}
