//! Trials whose work is not that of a plain run.

use super::upon::whole;
use super::*;

#[test]
fn a_program_that_was_still_running_is_cut_in_trials_too_and_its_output_not_compared() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    (answer.subject_exit, answer.wall_ns, answer.exchanges) = (None, 440_000_000, 10);
    let mut execute = |arm: &Arm, extent: &Extent| {
        let cured = arm.name == "cure";
        let mut outcome = made(if cured { 0.2 } else { 44.0 }, turn());
        // A cured program comes to its end; any other does so at no time, even where it is waited for.
        outcome.row.exit = if cured { 0 } else { -1 };
        outcome.output = if cured { b"done".to_vec() } else { Vec::new() };
        assert!(extent.window.is_some(), "a whole run would not end");
        Ok(outcome)
    };
    executed(&mut answer, arms(&[("P01", "cure", Purpose::Cause)]), &mut execute);
    assert_eq!(answer.findings[0].status, Status::Confirmed, "{:?}", answer.findings[0].tried);
}

#[test]
fn an_output_that_differs_by_itself_is_not_blamed_on_a_cure_that_alone_comes_to_its_end() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    let mut execute = |arm: &Arm, extent: &Extent| {
        let (cured, turn) = (arm.name == "cure", turn());
        let mut outcome = made(if cured { 0.2 } else { 44.0 }, turn);
        let has_ended = cured || extent.window.is_none();
        outcome.row.exit = if has_ended { 0 } else { -1 };
        outcome.output = ["alpha", "beta", "gamma"][turn as usize % 3].into();
        Ok(outcome)
    };
    executed(&mut answer, arms(&[("P01", "cure", Purpose::Cause)]), &mut execute);
    assert_eq!(answer.findings[0].status, Status::Confirmed, "{:?}", answer.findings[0].tried);
    assert!(answer.proof.is_some_and(|proof| String::from(proof.output).starts_with("it holds nothing")));
}

#[test]
fn a_cure_whose_trials_were_all_cut_is_tried_to_the_end_and_dropped_where_it_breaks_the_program_there() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    let mut execute = |arm: &Arm, extent: &Extent| {
        let cured = arm.name == "cure";
        let mut outcome = made(if cured { 0.2 } else { 44.0 }, turn());
        outcome.row.exit = if extent.window.is_none() { 0 } else { -1 };
        outcome.output = if cured { b"no answer".to_vec() } else { b"all answered".to_vec() };
        Ok(outcome)
    };
    executed(&mut answer, arms(&[("P01", "cure", Purpose::Cause)]), &mut execute);
    assert_eq!(answer.findings[0].status, Status::Suspected, "{:?}", answer.findings[0].tried);
    assert!(answer.findings[0].tried[0].problem.contains("output was different"), "{:?}", answer.findings[0].tried);
}

/// Proves with whole runs in which the cure is quick and does what `change` makes of its trial.
fn cured_by(change: &dyn Fn(&mut Outcome)) -> Finding {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    let mut execute = |arm: &Arm, extent: &Extent| {
        let cured = arm.name == "cure";
        let mut outcome = made(if cured { 0.2 } else { 44.0 }, turn());
        let is_whole = extent.window.is_none();
        (outcome.row.exit, outcome.row.made) = if is_whole { (0, 100) } else { (-1, 10) };
        outcome.row.answered_bytes = outcome.row.made * 500;
        outcome.output = b"100 ok, 0 failed, median 44.00 ms".to_vec();
        if cured && is_whole {
            change(&mut outcome);
        }
        Ok(outcome)
    };
    executed(&mut answer, arms(&[("P01", "cure", Purpose::Cause)]), &mut execute);
    answer.findings.remove(0)
}

/// What is said of a trial, and what breaks in it.
type Breaks<'a> = (&'a str, &'a dyn Fn(&mut Outcome));

#[test]
fn what_cures_by_breaking_the_work_is_not_confirmed() {
    let fine = cured_by(&|outcome| outcome.output = b"100 ok, 0 failed, median 0.20 ms".to_vec());
    assert_eq!((fine.status, fine.tried[0].work), (Status::Confirmed, case::facts::Work::Same), "{:?}", fine.tried);
    let broken: [Breaks; 6] = [
        ("output was different", &|outcome| outcome.output = b"0 ok, 100 failed, median 0.20 ms".to_vec()),
        ("made 90 requests instead of 100", &|outcome| (outcome.row.made, outcome.row.answered_bytes) = (90, 45_000)),
        ("made 200 requests", &|outcome| (outcome.row.made, outcome.row.answered_bytes) = (200, 100_000)),
        ("bytes on average", &|outcome| outcome.row.answered_bytes = 20_000),
        ("reset or refused (10)", &|outcome| outcome.row.resets = 10),
        ("status 3 instead of 0", &|outcome| outcome.row.exit = 3),
    ];
    for (why, change) in broken {
        let finding = cured_by(change);
        assert_eq!(finding.status, Status::Suspected, "{why}: {:?}", finding.tried);
        assert!(finding.tried[0].problem.contains(why), "{why}: {:?}", finding.tried);
    }
}

#[test]
fn what_was_only_seen_cut_of_a_program_that_ends_is_left_open() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    (answer.wall_ns, answer.exchanges) = (44_000_000_000, 1_000);
    let say = |_: &str| {};
    let terms = Terms { budget: Duration::from_secs(40), seed: 7, compares_output: true, say: &say };
    let mut execute = |arm: &Arm, extent: &Extent| {
        assert!(extent.window.is_some(), "no whole run fits");
        let outcome = made(if arm.name == "cure" { 0.2 } else { 44.0 }, turn());
        Ok(Outcome { took: Duration::from_millis(800), ..outcome })
    };
    let (experiment, trials) =
        prove(arms(&[("P01", "cure", Purpose::Cause)]), &answer, &mut execute, &terms).expect("an experiment");
    verdict::judge(&mut answer, &experiment, &trials);
    assert_eq!(answer.findings[0].status, Status::Undecided, "{:?}", answer.findings[0].tried);
    assert!(answer.findings[0].tried[0].problem.contains("--budget 220"), "{:?}", answer.findings[0].tried);
}

#[test]
fn a_gain_of_a_program_whose_work_cannot_be_seen_is_left_open() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    answer.exchanges = 0;
    proved(&mut answer, arms(&[("P01", "cure", Purpose::Cause)]), &|arm| {
        let mut outcome = whole(if arm == "cure" { 0.2 } else { 44.0 }, turn(), "");
        (outcome.row.exchanges, outcome.row.answered_bytes) = (10, 0);
        outcome
    });
    assert_eq!(answer.findings[0].status, Status::Undecided, "{:?}", answer.findings[0].tried);
    assert!(answer.findings[0].tried[0].problem.contains("same work could not be compared"));
}
