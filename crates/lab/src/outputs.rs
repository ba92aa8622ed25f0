//! Whether a program writes the same with an intervention as without: what it wrote is the proof that it still does its
//! work.

use crate::outcome::Outcome;
use crate::trial::MOST_OUTPUT;
use case::facts::Sameness;
use case::tables::output;

/// So many outputs without an intervention must agree before another is called different: what differs by itself, by a
/// name drawn at random or a date, would be blamed on an intervention.
pub const LEAST_REFERENCES: usize = 3;

/// Whether another run without an intervention is needed before anything can be said.
pub fn asks_for_reference(references: &[Vec<u8>], outcomes: &[Outcome]) -> bool {
    let Some(reference) = references.first() else { return true };
    let differs = |other: &Vec<u8>| masked(other) != masked(reference);
    references.len() < LEAST_REFERENCES
        && !references.iter().any(differs)
        && outcomes.iter().any(|outcome| outcome.row.exit >= 0 && differs(&outcome.output))
}

/// Compares the output of every trial that ran to its end with that of trials without interventions, and notes it in
/// the rows. What it comes to for the whole.
pub fn compare(references: &[Vec<u8>], outcomes: &mut [Outcome]) -> Sameness {
    let not_compared = |why: &str| Sameness::NotCompared(why.to_string());
    let Some(reference) = references.first() else {
        return not_compared("no run without an intervention came to its end within the budget");
    };
    let is_steady = references.iter().all(|other| other == reference);
    let is_steady_but_for_figures = references.iter().all(|other| masked(other) == masked(reference));
    if !is_steady_but_for_figures {
        return not_compared("it differs from run to run without any intervention");
    }
    if asks_for_reference(references, outcomes) {
        return not_compared("too few runs without an intervention came to their end to tell what differs by itself");
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
        (output::DIFFERENT, _) => Sameness::Different,
        (_, true) => Sameness::SameButForFigures,
        _ => Sameness::Same,
    }
}

/// A comparison to the letter: for what may only be believed where the program does the same work.
pub struct Exactly<'a> {
    /// What was written without interventions.
    pub references: &'a [Vec<u8>],
    /// How the program ended without.
    pub statuses: &'a [i32],
    /// What the usual comparison says, which comes first.
    pub otherwise: &'a Sameness,
}

impl Exactly<'_> {
    /// Notes in a trial's row why it cannot be believed. Figures count, but for those that differ among the references.
    pub fn compare(&self, outcome: &mut Outcome) {
        if outcome.row.exit < 0 || !outcome.row.problem.is_empty() || !outcome.row.applied {
            return;
        }
        if let Some((word, problem)) = self.fault(outcome) {
            outcome.row.output = word;
            outcome.row.problem = problem;
        }
    }

    fn fault(&self, outcome: &Outcome) -> Option<(u8, String)> {
        let longest = self.references.iter().map(Vec::len).max().unwrap_or(0);
        let why = match () {
            () if self.references.is_empty() || outcome.row.output != output::SAME => self.otherwise.clone().into(),
            () if self.references.iter().any(Vec::is_empty) => {
                "the program writes nothing that could be compared".to_string()
            }
            () if self.references.len() < LEAST_REFERENCES => "too few runs without an intervention".to_string(),
            () if longest as u64 >= MOST_OUTPUT => "the program writes more than is compared".to_string(),
            () if !self.statuses.contains(&outcome.row.exit) => {
                let why = format!("the program ended with status {}, as it never did without", outcome.row.exit);
                return Some((output::DIFFERENT, why));
            }
            () if !self.holds(&outcome.output) => {
                return Some((output::DIFFERENT, "the program wrote other figures than without it".to_string()));
            }
            () => return None,
        };
        Some((output::NOT_COMPARED, format!("its output could not be compared: {why}")))
    }

    /// Whether a text is that of the references, but for figures that differ among them. They are of the same words.
    fn holds(&self, text: &[u8]) -> bool {
        let references = self.references.iter().map(|one| figures(one)).collect::<Vec<_>>();
        let Some(first) = references.first() else { return false };
        let own = figures(text);
        let is_steady = |place: usize| references.iter().all(|other| other.get(place) == first.get(place));
        own.len() == first.len() && (0..own.len()).all(|place| own[place] == first[place] || !is_steady(place))
    }
}

/// The figures in a text, decimals with what stands before their point.
fn figures(text: &[u8]) -> Vec<&[u8]> {
    let is_digit = |place: usize| text.get(place).is_some_and(u8::is_ascii_digit);
    let is_point = |place: usize| place > 0 && text[place] == b'.' && is_digit(place - 1) && is_digit(place + 1);
    let is_part = |place: &usize| is_digit(*place) || is_point(*place);
    let places = (0..text.len()).filter(is_part).collect::<Vec<_>>();
    places.chunk_by(|one, next| one + 1 == *next).map(|run| &text[run[0]..=run[run.len() - 1]]).collect()
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
    use crate::intervention_counters::InterventionCounters;
    use case::tables::Trial;
    use std::time::Duration;

    fn wrote(text: &str) -> Outcome {
        Outcome {
            mapped: std::collections::BTreeSet::new(),
            row: Trial::default(),
            counters: InterventionCounters::default(),
            output: text.into(),
            errors: String::new(),
            took: Duration::ZERO,
        }
    }

    #[test]
    fn the_same_words_are_the_same_whatever_the_figures() {
        let mut outcomes = [wrote("100 requests, median 0.2 ms")];
        assert_eq!(
            compare(&["100 requests, median 44.1 ms".into()], &mut outcomes),
            Sameness::from("same but for figures")
        );
        assert_eq!(outcomes[0].row.output, output::SAME);
        assert_eq!(compare(&["100 requests, median 0.2 ms".into()], &mut outcomes), Sameness::from("same"));
    }

    #[test]
    fn other_words_are_a_broken_program() {
        let mut outcomes = [wrote("error")];
        assert_eq!(compare(&["fine".into(), "fine".into(), "fine".into()], &mut outcomes), Sameness::from("different"));
        assert_eq!(outcomes[0].row.output, output::DIFFERENT);
        assert!(!outcomes[0].row.problem.is_empty());
    }

    #[test]
    fn one_reference_is_not_enough_to_call_words_other() {
        let mut outcomes = [wrote("session fe")];
        assert!(asks_for_reference(&["session ab".into()], &outcomes));
        assert!(String::from(compare(&["session ab".into()], &mut outcomes)).starts_with("too few"));
        assert!(outcomes[0].row.problem.is_empty());
        assert!(!asks_for_reference(&["session ab".into(), "session cd".into()], &outcomes));
    }

    #[test]
    fn what_differs_by_itself_proves_nothing() {
        let mut outcomes = [wrote("b")];
        assert!(String::from(compare(&["a".into(), "b".into()], &mut outcomes)).starts_with("it differs"));
        assert_eq!(outcomes[0].row.output, output::NOT_COMPARED);
    }

    /// What a comparison to the letter says of a text, after the usual one.
    fn to_the_letter(references: &[&str], text: &str) -> Trial {
        let references = references.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
        let mut outcomes = [wrote(text)];
        outcomes[0].row.applied = true;
        let otherwise = compare(&references, &mut outcomes);
        Exactly { references: &references, statuses: &[0], otherwise: &otherwise }.compare(&mut outcomes[0]);
        outcomes[0].row.clone()
    }

    #[test]
    fn figures_count_to_the_letter_unless_they_differ_by_themselves() {
        let timed = ["9 items, 3 twice, 1.05 s", "9 items, 3 twice, 1.17 s", "9 items, 3 twice, 1.21 s"];
        let same = to_the_letter(&timed, "9 items, 3 twice, 0.04 s");
        assert_eq!((same.output, same.problem.as_str()), (output::SAME, ""));
        let other = to_the_letter(&timed, "9 items, 0 twice, 0.04 s");
        assert_eq!(other.output, output::DIFFERENT);
        assert!(other.problem.contains("other figures"), "{}", other.problem);
    }

    #[test]
    fn what_writes_nothing_cannot_be_told_from_what_does_nothing() {
        let row = to_the_letter(&["", "", ""], "");
        assert_eq!(row.output, output::NOT_COMPARED);
        assert!(row.problem.contains("writes nothing that could be compared"), "{}", row.problem);
    }

    #[test]
    fn two_references_are_too_few_to_the_letter() {
        let row = to_the_letter(&["fine", "fine"], "fine");
        assert_eq!(row.output, output::NOT_COMPARED);
        assert!(row.problem.contains("too few"), "{}", row.problem);
    }
}
