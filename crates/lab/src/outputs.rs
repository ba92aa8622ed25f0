//! Whether a program writes the same with an intervention as without: what it wrote is the proof that it still does its
//! work.

mod learned;

use crate::outcome::Outcome;
use crate::trial::MOST_OUTPUT;
use case::facts::Sameness;
use case::tables::output;
pub(crate) use learned::Learned;

/// So many outputs without an intervention must agree before another is called different: what differs by itself, by a
/// name drawn at random or a date, would be blamed on an intervention.
pub const LEAST_REFERENCES: usize = 3;

/// So much of a word is shown.
const LONGEST_WORD: usize = 40;

/// Whether another run without an intervention is needed before anything can be said.
pub fn asks_for_reference(references: &[Vec<u8>], outcomes: &[Outcome]) -> bool {
    let Some(learned) = Learned::from(references) else { return references.is_empty() };
    let differs = |outcome: &Outcome| outcome.row.exit >= 0 && !learned.holds(&outcome.output);
    references.len() < LEAST_REFERENCES && outcomes.iter().any(differs)
}

/// Compares the output of every trial that ran to its end with that of trials without interventions, and notes it in
/// the rows. What it comes to for the whole.
pub fn compare(references: &[Vec<u8>], outcomes: &mut [Outcome]) -> Sameness {
    let not_compared = |why: &str| Sameness::NotCompared(why.to_string());
    let Some(reference) = references.first() else {
        return not_compared("no run without an intervention completed within the budget");
    };
    let Some(learned) = Learned::from(references) else {
        return not_compared("it differs from run to run even without an intervention");
    };
    if asks_for_reference(references, outcomes) {
        for outcome in outcomes.iter_mut().filter(|outcome| outcome.row.exit >= 0) {
            let holds = learned.holds(&outcome.output);
            outcome.row.output = if holds { output::NOT_COMPARED } else { output::UNSETTLED };
        }
        return not_compared("too few runs without an intervention completed to know what always differs");
    }
    let mut worst = output::SAME;
    let mut varies = references.iter().any(|other| other != reference);
    for outcome in outcomes.iter_mut().filter(|outcome| outcome.row.exit >= 0) {
        let is_same = outcome.output == *reference || learned.holds(&outcome.output);
        varies |= is_same && outcome.output != *reference;
        outcome.row.output = match is_same {
            false => output::DIFFERENT,
            true if learned.says_something() => output::SAME,
            true => output::NOT_COMPARED,
        };
        if !is_same {
            worst = output::DIFFERENT;
            let word = learned.difference(&outcome.output).unwrap_or_default();
            let shown = word.chars().take(LONGEST_WORD).collect::<String>();
            let place =
                if shown.is_empty() { "it ends early".to_string() } else { format!("beginning with `{shown}`") };
            outcome.row.problem = format!("the program's output was different: {place}");
        }
    }
    match (worst, learned.says_something(), varies) {
        (output::DIFFERENT, ..) => Sameness::Different,
        (_, false, false) => not_compared("the program writes nothing to compare"),
        (_, false, true) => not_compared("it holds nothing that is the same in all runs without an intervention"),
        (_, true, true) => Sameness::SameButForFigures,
        (_, true, false) => Sameness::Same,
    }
}

/// A comparison that has to be made: for what may only be believed where the program does the same work.
pub struct Exactly<'a> {
    /// What was written without interventions.
    pub references: &'a [Vec<u8>],
    /// How the program ended without.
    pub statuses: &'a [i32],
    /// What the usual comparison says, which comes first.
    pub otherwise: &'a Sameness,
}

impl Exactly<'_> {
    /// Notes in a trial's row why it cannot be believed.
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
            () if self.references.len() < LEAST_REFERENCES => "too few runs without an intervention".to_string(),
            () if longest as u64 >= MOST_OUTPUT => "the program writes more than whyslow compares".to_string(),
            () if !self.statuses.contains(&outcome.row.exit) => {
                let why = format!(
                    "the program exited with status {}, which it never did without the intervention",
                    outcome.row.exit
                );
                return Some((output::DIFFERENT, why));
            }
            () => return None,
        };
        Some((output::NOT_COMPARED, format!("its output could not be compared: {why}")))
    }
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
        assert!(outcomes[0].row.problem.is_empty() && outcomes[0].row.output == output::UNSETTLED);
        assert!(!asks_for_reference(&["session ab".into(), "session cd".into()], &outcomes));
    }

    #[test]
    fn what_differs_by_itself_proves_nothing() {
        for (plain, other, why) in [(["a", "b"], "b", "it holds nothing"), (["a", "a b"], "a", "it differs")] {
            let mut outcomes = [wrote(other)];
            assert!(String::from(compare(&plain.map(Vec::from), &mut outcomes)).starts_with(why));
            assert_eq!(outcomes[0].row.output, output::NOT_COMPARED);
        }
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
        assert!(other.problem.contains("output was different: beginning with `0`"), "{}", other.problem);
    }

    #[test]
    fn what_writes_nothing_cannot_be_distinguished_from_what_does_nothing() {
        let row = to_the_letter(&["", "", ""], "");
        assert_eq!(row.output, output::NOT_COMPARED);
        assert!(row.problem.contains("writes nothing to compare"), "{}", row.problem);
    }

    #[test]
    fn two_references_are_too_few_to_the_letter() {
        let row = to_the_letter(&["fine", "fine"], "fine");
        assert_eq!(row.output, output::NOT_COMPARED);
        assert!(row.problem.contains("too few"), "{}", row.problem);
    }
}
