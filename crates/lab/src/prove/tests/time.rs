//! What a budget allows, and how trials are cut.

use super::*;

#[test]
fn what_does_not_fit_the_budget_is_said_and_not_begun() {
    let mut answer = answer(vec![finding("P01", 0.95)]);
    let say = |_: &str| {};
    let terms = Terms { budget: Duration::from_secs(1), seed: 7, compares_output: true, say: &say };
    let mut execute = |_: &Arm, _: &Extent| -> Result<Outcome, LabError> { panic!("a trial was run") };
    let arms = arms(&[("P01", "cure", Purpose::Cause)]);
    let (experiment, trials) = prove(arms, &answer, &mut execute, &terms).expect("an experiment");
    verdict::judge(&mut answer, &experiment, &trials);
    assert!(trials.is_empty() && answer.findings[0].status == Status::Suspected);
    assert!(answer.proof.is_some_and(|proof| proof.not_tried.iter().any(|why| why.contains("--budget"))));
}

#[test]
fn a_run_whose_beginning_is_not_like_the_whole_is_tried_whole() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    // The first exchanges take 1 ms whatever is attached; what is slow comes later.
    let mut execute = |arm: &Arm, extent: &Extent| {
        let later = if arm.name == "cure" { 0.2 } else { 44.0 };
        Ok(seen_to_its_end(made(if extent.window.is_some() { 1.0 } else { later }, turn()), extent))
    };
    executed(&mut answer, arms(&[("P01", "cure", Purpose::Cause)]), &mut execute);
    assert_eq!(answer.findings[0].status, Status::Confirmed);
}

#[test]
fn a_run_whose_long_exchanges_are_the_last_is_tried_whole() {
    let turn = turns();
    let mut answer = answer(vec![finding("P20", 0.9)]);
    // As many a second as in the whole run have their answers before it is cut, those that need not wait.
    let mut execute = |arm: &Arm, extent: &Extent| {
        let mut outcome = made(44.0, turn());
        let later = if arm.name == "cure" { 4.0 } else { 44.0 };
        outcome.row.exchange_wall = made(if extent.window.is_some() { 4.0 } else { later }, turn()).row.exchange_wall;
        Ok(seen_to_its_end(outcome, extent))
    };
    executed(&mut answer, arms(&[("P20", "cure", Purpose::Cause)]), &mut execute);
    assert_eq!(answer.findings[0].status, Status::Confirmed);
}

#[test]
fn a_run_that_recording_made_much_longer_is_planned_by_what_it_takes_without() {
    let turn = turns();
    let mut answer = answer(vec![finding("P42", 0.95)]);
    (answer.wall_ns, answer.exchanges) = (24_000_000_000, 200);
    // Recorded, a request took 120 ms; by itself it takes 10.
    let mut execute = |arm: &Arm, extent: &Extent| {
        Ok(seen_to_its_end(made(if arm.name == "cure" { 0.2 } else { 10.0 }, turn()), extent))
    };
    let terms = Terms { budget: Duration::from_mins(1), seed: 7, compares_output: true, say: &|_: &str| {} };
    let arms = arms(&[("P42", "cure", Purpose::Cause)]);
    let (experiment, trials) = prove(arms, &answer, &mut execute, &terms).expect("an experiment");
    verdict::judge(&mut answer, &experiment, &trials);
    assert_eq!(answer.findings[0].status, Status::Confirmed, "{:?}", experiment.not_tried);
}

#[test]
fn where_the_budget_is_short_what_repeats_a_proof_goes_before_its_control() {
    let answer = answer(vec![finding("P01", 0.95)]);
    let tried = |budget: Duration| {
        let turn = turns();
        let arms = arms(&[
            ("P01", "cure", Purpose::Cause),
            ("P01", "again", Purpose::Cause),
            ("P01", "control", Purpose::Control),
        ]);
        let terms = Terms { budget, seed: 7, compares_output: false, say: &|_: &str| {} };
        let mut execute = |arm: &Arm, extent: &Extent| {
            let cured = arm.name == "cure" || arm.name == "again";
            Ok(seen_to_its_end(made(if cured { 0.2 } else { 44.0 }, turn()), extent))
        };
        let (_, trials) = prove(arms, &answer, &mut execute, &terms).expect("an experiment");
        ["cure", "again", "control"].map(|name| trials.iter().any(|trial| trial.arm == name))
    };
    let budgets = (1..80).map(|quarters| tried(Duration::from_millis(quarters * 250))).collect::<Vec<_>>();
    assert!(budgets.iter().all(|[cure, again, control]| !again || (*cure && *control)), "{budgets:?}");
    assert!(budgets.contains(&[true, false, true]) && budgets.contains(&[true, true, true]), "{budgets:?}");
}

/// Proves a cure beside two doses within 30 s; starting and ending the program with a dose takes so long.
fn beside_doses(took: Duration) -> (Finding, usize) {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    let tried = [("P01", "cure", Purpose::Cause), ("P01", "one", Purpose::Dose), ("P01", "two", Purpose::Dose)];
    let mut execute = |arm: &Arm, extent: &Extent| {
        let mut outcome = seen_to_its_end(made(if arm.name == "cure" { 0.2 } else { 44.0 }, turn()), extent);
        if ["one", "two"].contains(&arm.name.as_str()) {
            outcome.took = took;
        }
        Ok(outcome)
    };
    let terms = Terms { budget: Duration::from_secs(30), seed: 7, compares_output: false, say: &|_: &str| {} };
    let (experiment, trials) = prove(arms(&tried), &answer, &mut execute, &terms).expect("an experiment");
    verdict::judge(&mut answer, &experiment, &trials);
    (answer.findings.remove(0), trials.iter().filter(|trial| trial.arm == "one").count())
}

#[test]
fn what_only_shows_the_cost_of_machinery_gives_way_to_the_first_look_at_the_cause() {
    let (turn, answer) = (turns(), answer(vec![finding("P01", 0.95)]));
    let tried =
        [("P01", "cure", Purpose::Cause), ("P01", "again", Purpose::Cause), ("P01", "control", Purpose::Control)];
    // Starting and ending the program takes so long with anything but a cure: three rounds of all would fit.
    let mut execute = |arm: &Arm, extent: &Extent| {
        let is_cure = arm.name == "cure" || arm.name == "again";
        let mut outcome = seen_to_its_end(made(if is_cure { 0.2 } else { 44.0 }, turn()), extent);
        outcome.took = if is_cure || turn() < 4 { Duration::from_millis(500) } else { Duration::from_millis(2_500) };
        Ok(outcome)
    };
    let terms = Terms { budget: Duration::from_secs(30), seed: 7, compares_output: false, say: &|_: &str| {} };
    let (_, trials) = prove(arms(&tried), &answer, &mut execute, &terms).expect("an experiment");
    let of = |arm: &str| trials.iter().filter(|trial| trial.arm == arm).count();
    assert!(of(PLAIN) < 4 && of("cure") >= 4 && of("control") >= 4, "{} {} {}", of(PLAIN), of("cure"), of("control"));
}

#[test]
fn doses_that_take_longer_than_expected_do_not_take_the_time_of_the_cause() {
    assert!(beside_doses(Duration::from_millis(500)).1 >= 4);
    let (cause, doses) = beside_doses(Duration::from_secs(5));
    // The second is begun with what is left at last.
    assert_eq!((cause.tried[0].ratio > 1.0, doses), (true, 2), "{:?}", cause.tried);
    let why = "only 2 of the 4 pairs of runs that a figure takes fit into the budget; --budget 60 would do";
    assert_eq!(cause.tried[1].problem, why);
}

#[test]
fn time_is_kept_for_whole_runs_with_what_starting_them_takes() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.5)]);
    let mut execute = |arm: &Arm, extent: &Extent| {
        let turn = turn();
        // So much noise that the gain is certain, and never exact.
        let noise = [0.6, 1.0, 1.5][turn as usize % 3];
        let mut outcome = made(noise * if arm.name == "cure" { 12.0 } else { 44.0 }, turn);
        let is_whole = extent.window.is_none();
        outcome.row.exit = if is_whole { 0 } else { -1 };
        let length = if is_whole { Duration::from_millis(4_400) } else { Duration::from_nanos(outcome.row.wall.0) };
        outcome.took = length + Duration::from_secs(2);
        Ok(outcome)
    };
    let terms = Terms { budget: Duration::from_mins(1), seed: 7, compares_output: true, say: &|_: &str| {} };
    let arms = arms(&[("P01", "cure", Purpose::Cause)]);
    let (experiment, trials) = prove(arms, &answer, &mut execute, &terms).expect("an experiment");
    verdict::judge(&mut answer, &experiment, &trials);
    let cured = trials.iter().filter(|trial| trial.arm == "cure");
    assert!(cured.clone().count() > 8 && cured.clone().any(|trial| trial.exit >= 0), "{}", cured.count());
    assert_eq!(answer.findings[0].status, Status::Confirmed, "{:?}", answer.findings[0].tried);
}
