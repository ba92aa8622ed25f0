//! What was tried in the bad world of a bisection to cure it as it is: a card each, as for a run.

use super::card::{Card, card};
use crate::blocks::cures::ordered;
use crate::document::Document;
use crate::figure::is_each_request;
use case::{Answer, Bisection, SCHEMA, Verdict};

/// A card for each finding; none where nothing was tried.
pub(super) fn cards(bisection: &Bisection, document: &Document) -> Vec<Card> {
    let answer = answer(bisection);
    let cards = answer.findings.iter().map(|finding| Card {
        // Their rows and trials are in the case of the bad world's run, not on this page.
        has_rows: false,
        has_trials: false,
        ..card(finding, &answer, document)
    });
    cards.collect()
}

/// The bad world's findings as the answer of a run. How many requests they touched stands on that run's own page.
fn answer(bisection: &Bisection) -> Answer {
    let is_a_request = bisection.baseline.first().is_some_and(|first| is_each_request(&first.metric));
    let mut findings = ordered(bisection).into_iter().cloned().collect::<Vec<_>>();
    for finding in &mut findings {
        finding.cost.affected = 0;
    }
    Answer {
        schema: SCHEMA,
        command: bisection.command.clone(),
        case: bisection.case.clone(),
        exchanges: u64::from(is_a_request),
        subject_exit: Some(0),
        verdict: Verdict::None,
        findings,
        ..Answer::default()
    }
}
