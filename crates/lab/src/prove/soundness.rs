//! Whether trials can be believed: each alone, all of them together, and against the run that was recorded.

use super::is_reference_row;
use crate::engine::MOST_FAILURES;
use crate::experiment::{Attempt, Experiment};
use crate::metric::{Metric, elapsed_per_exchange};
use crate::outcome::Outcome;
use crate::work::Usual;
use case::tables::{Trial, work};
use case::{Answer, Finding};

/// The exchanges of a trial may be so many times longer than those of the recorded run, before they are called others.
const LONGER: f64 = 2.0;
/// And so many times shorter: recording itself makes very short ones longer.
const SHORTER: f64 = 3.0;

/// So many whole runs without an intervention are made to see a status that an intervention is blamed for.
const MOST_WHOLES: usize = 3;

/// Notes in each trial what was wrong with it. Asked again after each trial, since only several tell whether a program
/// ends with other statuses by itself.
pub(super) fn mark(outcomes: &mut [Outcome], wholes: &[Outcome], answer: &Answer, experiment: &Experiment) {
    let usual = usual_statuses(outcomes, wholes, answer);
    for outcome in outcomes.iter_mut() {
        match broken(outcome, answer, &usual).or_else(|| lacks(outcome, experiment)) {
            Some(why) => outcome.row.problem = why,
            // What did not take effect keeps its reason.
            None if outcome.row.applied => outcome.row.problem.clear(),
            None => {}
        }
    }
    mark_work(outcomes, wholes);
}

/// Notes in each trial whether it did what those without an intervention do.
fn mark_work(outcomes: &mut [Outcome], wholes: &[Outcome]) {
    let references = references(outcomes, wholes);
    for row in outcomes.iter_mut().map(|outcome| &mut outcome.row) {
        row.work = work::NOT_COMPARED;
        if is_reference_row(row) || !row.applied || !row.problem.is_empty() {
            continue;
        }
        let (word, difference) = Usual::for_trial(row, references.iter()).judge(row);
        row.work = word;
        row.problem = difference.map(|difference| difference.to_string()).unwrap_or_default();
    }
}

/// The rows of trials without an intervention, whole runs besides the trials included.
fn references(outcomes: &[Outcome], wholes: &[Outcome]) -> Vec<Trial> {
    let of_trials = outcomes.iter().filter(|outcome| is_reference_row(&outcome.row));
    of_trials.chain(wholes).map(|outcome| outcome.row.clone()).collect()
}

/// Whether a run to the program's end seems to have done other work, and too few without an intervention are there to tell.
pub(super) fn asks_for_reference(outcomes: &[Outcome], wholes: &[Outcome]) -> bool {
    let references = references(outcomes, wholes);
    let ended = outcomes.iter().map(|outcome| &outcome.row).filter(|row| row.exit >= 0 && !is_reference_row(row));
    let mut sound = ended.filter(|row| row.applied && row.problem.is_empty());
    sound.any(|row| Usual::for_trial(row, references.iter()).asks_for_more(row))
}

/// Whether an end is called odd only because too few trials without an intervention have come to their end yet: the
/// program may well end so by itself.
pub(super) fn asks_for_whole(outcomes: &[Outcome], wholes_begun: usize) -> bool {
    let is_odd = |outcome: &Outcome| outcome.row.exit > 0 && !outcome.row.problem.is_empty();
    let has_ended = |outcome: &&Outcome| outcome.row.exit >= 0 && is_reference_row(&outcome.row);
    outcomes.iter().any(is_odd) && wholes_begun + outcomes.iter().filter(has_ended).count() < MOST_WHOLES
}

/// What is wrong with all of an arm's trials that came to the program's end is wrong with those that were cut before it.
pub(super) fn spread(outcomes: &mut [Outcome]) {
    let has_ended = |row: &Trial| row.exit >= 0;
    let ended = outcomes.iter().map(|outcome| &outcome.row).filter(|row| has_ended(row) && !is_reference_row(row));
    let (broken, sound): (Vec<Trial>, Vec<Trial>) = ended.cloned().partition(|row| !row.problem.is_empty());
    for row in outcomes.iter_mut().map(|outcome| &mut outcome.row).filter(|row| !has_ended(row)) {
        let is_sound = sound.iter().any(|other| other.arm == row.arm);
        if let Some(other) = broken.iter().find(|other| other.arm == row.arm).filter(|_| !is_sound) {
            row.problem.clone_from(&other.problem);
        }
    }
}

/// Why no more trials are worth while: without any intervention the program does not do again what it did.
pub(super) fn hopeless(outcomes: &[Outcome]) -> Option<String> {
    let references = outcomes.iter().map(|outcome| &outcome.row).filter(|row| is_reference_row(row));
    let (sound, failed): (Vec<_>, Vec<_>) = references.partition(|row| row.problem.is_empty());
    let last = failed.last().filter(|_| sound.is_empty() && failed.len() > MOST_FAILURES)?;
    Some(format!("the rest: even without an intervention, {}", last.problem))
}

/// Whether the exchanges of a trial that was cut are like those of the recorded run. What made no exchange tells nothing.
pub(super) fn stands_for(trial: &Trial, answer: &Answer) -> bool {
    let Some(recorded) = elapsed_per_exchange(answer).filter(|_| trial.exchanges > 0) else { return true };
    let length = trial.wall.0 as f64 / trial.exchanges as f64;
    let ratio = length / recorded.0.max(1) as f64;
    (1.0 / SHORTER..=LONGER).contains(&ratio) && !lacks_long_ones(trial, answer)
}

/// Whether a trial was cut before the exchanges that take long had their answers: where many are under way at once, those are the last.
fn lacks_long_ones(trial: &Trial, answer: &Answer) -> bool {
    let within = |finding: &&Finding| finding.cost.metric(answer.exchanges) == Metric::WallPerExchange;
    let recorded = |finding: &Finding| finding.cost.ns_per_exchange as f64 / finding.cost.share_of_wall;
    let own = trial.exchange_wall.0 as f64 / trial.exchanges as f64;
    let costly = answer.findings.iter().filter(within).filter(|finding| finding.cost.share_of_wall > 0.0);
    costly.map(recorded).any(|recorded| own * SHORTER < recorded)
}

/// Whether the exchanges of a trial are shorter than recording alone makes them. The program may have phases, or so many calls that
/// recording made all of it longer.
pub(super) fn is_shorter(trial: &Trial, answer: &Answer) -> bool {
    let recorded = elapsed_per_exchange(answer).filter(|_| trial.exchanges > 0);
    recorded.is_some_and(|recorded| trial.wall.0 as f64 / trial.exchanges as f64 * SHORTER < recorded.0 as f64)
}

/// The statuses that say nothing: success, that of the recorded run, and those of runs without an intervention that made
/// their exchanges all the same.
fn usual_statuses(outcomes: &[Outcome], wholes: &[Outcome], answer: &Answer) -> Vec<i32> {
    let references = outcomes.iter().filter(|outcome| is_reference_row(&outcome.row)).chain(wholes);
    let has_worked = |row: &&Trial| row.exit >= 0 && row.exchanges * 2 >= answer.exchanges;
    let seen = references.map(|outcome| &outcome.row).filter(has_worked).map(|row| row.exit);
    [0].into_iter().chain(answer.subject_exit).chain(seen).collect()
}

/// What is wrong with a trial in which the program did not do what it did when it was recorded.
fn broken(outcome: &Outcome, answer: &Answer, usual: &[i32]) -> Option<String> {
    let exit = outcome.row.exit;
    if outcome.has_not_started() {
        return None;
    }
    if let Some(recorded) = answer.subject_exit.filter(|_| exit >= 0 && !usual.contains(&exit)) {
        let said = if outcome.errors.is_empty() { String::new() } else { format!(": {}", outcome.errors) };
        return Some(format!("the program exited with status {exit} instead of {recorded}{said}"));
    }
    let has_none = answer.exchanges > 0 && outcome.row.exchanges == 0;
    has_none.then(|| "the program made no exchange after warm-up".to_string())
}

/// What a trial lacks of what it is to be judged by.
fn lacks(outcome: &Outcome, experiment: &Experiment) -> Option<String> {
    let mut metrics = experiment.attempts.iter().map(|attempt| &attempt.metric);
    let has_ended = outcome.row.exit >= 0;
    if !has_ended && !outcome.has_not_started() && experiment.attempts.iter().any(Attempt::needs_whole_run) {
        return Some("the program did not finish in time".to_string());
    }
    let wants_figure = metrics.any(case::Metric::is_of_the_program);
    (wants_figure && has_ended && outcome.row.metric.is_nan())
        .then(|| "the program's output had no figure for --metric".to_string())
}
