//! What each arm must do if the cause is what was suspected: controls, doses, and what removes more than the cause.

use super::*;

#[test]
fn a_control_that_gains_as_much_as_the_cause_leaves_it_open() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    let arms = arms(&[("P01", "cure", Purpose::Cause), ("P01", "control", Purpose::Control)]);
    proved(&mut answer, arms, &|arm| made(if arm == SHAM || arm == PLAIN { 44.0 } else { 0.2 }, turn()));
    assert_eq!(answer.findings[0].status, Status::Undecided);
    assert!(answer.findings[0].caveats.iter().any(|caveat| caveat.contains("should have no effect")));
}

#[test]
fn a_gain_of_what_removes_more_than_the_cause_is_explained_by_that_where_what_removes_just_the_cause_gains_nothing() {
    let proved_with = |nodelay: f64| {
        let turn = turns();
        let mut answer = answer(vec![finding("P01", 0.95)]);
        let arms = arms(&[("P01", "tcp-nodelay", Purpose::Cause), ("P01", "coalesce-writes", Purpose::Cause)]);
        proved(&mut answer, arms, &|arm| {
            made(
                if arm == "coalesce-writes" {
                    0.2
                } else if arm == "tcp-nodelay" {
                    nodelay
                } else {
                    44.0
                },
                turn(),
            )
        });
        answer.findings.remove(0)
    };
    let explained = proved_with(44.0);
    assert_eq!(explained.status, Status::Undecided, "{:?}", explained.tried);
    let why = "coalesce-writes helps, but tcp-nodelay, which removes this cause and nothing else, does not";
    assert!(explained.caveats.iter().any(|caveat| caveat.starts_with(why)), "{:?}", explained.caveats);
    // The effect that is shown is that of what removes just the cause, though another gained more.
    let confirmed = proved_with(0.4);
    assert_eq!((confirmed.status, confirmed.caveats.len()), (Status::Confirmed, 0), "{:?}", confirmed.tried);
    assert_eq!(confirmed.effect.expect("an effect").intervention, "tcp-nodelay");
}

#[test]
fn a_gain_of_what_removes_more_than_the_cause_proves_nothing_while_it_is_open_what_removes_just_the_cause_does() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    let arms = arms(&[("P01", "tcp-nodelay", Purpose::Cause), ("P01", "coalesce-writes", Purpose::Cause)]);
    proved(&mut answer, arms, &|arm| {
        let turn = turn();
        // It gains fourfold in one trial of two, and nothing in the other.
        let nodelay = if turn.is_multiple_of(2) { 11.0 } else { 47.0 };
        made(
            [("coalesce-writes", 22.0), ("tcp-nodelay", nodelay)]
                .into_iter()
                .find(|one| one.0 == arm)
                .map_or(44.0, |one| one.1),
            turn,
        )
    });
    let found = &answer.findings[0];
    assert_eq!(found.tried[1].status, Status::Confirmed, "{:?}", found.tried);
    assert_eq!(found.status, Status::Undecided, "{:?}", found.tried);
    assert!(found.caveats.iter().any(|caveat| caveat.contains("helps as well remains open")), "{:?}", found.caveats);
}

#[test]
fn a_control_is_asked_no_longer_than_it_takes_to_tell_it_from_the_cause() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    let arms = arms(&[("P01", "cure", Purpose::Cause), ("P01", "control", Purpose::Control)]);
    // A tenth of noise says nothing about a gain of a twentieth, and enough about one of two hundred times.
    let trials = proved(&mut answer, arms, &|arm| {
        let turn = turn();
        let noise = 1.0 + 0.1 * f64::from(turn).mul_add(1.7, 0.2).sin();
        made(if arm == "cure" { 0.2 } else { 44.0 * noise }, turn)
    });
    let of = |arm: &str| trials.iter().filter(|trial| trial.arm == arm).count();
    assert!(of("control") <= ENOUGH_PAIRS, "{} beside {}", of("control"), of("cure"));
    assert_eq!((answer.findings[0].status, answer.findings[0].tried[1].status), (Status::Confirmed, Status::Refuted));
}

#[test]
fn a_cost_that_does_not_rise_with_the_dose_leaves_the_cause_open() {
    let proved_with = |of_dose: &dyn Fn(f64) -> f64| {
        let turn = turns();
        let mut answer = answer(vec![finding("P01", 0.95)]);
        let doses = [8.0, 20.0].map(|dose| (format!("cap={dose}ms"), dose));
        let mut arms = arms(&[
            ("P01", "cure", Purpose::Cause),
            ("P01", &doses[0].0, Purpose::Dose),
            ("P01", &doses[1].0, Purpose::Dose),
        ]);
        for (attempt, (_, dose)) in arms.experiment.attempts.iter_mut().skip(1).zip(&doses) {
            (attempt.intervention, attempt.dose) = ("cap".into(), format!("{dose} ms"));
        }
        proved(&mut answer, arms, &|arm| {
            let dose = doses.iter().find(|(name, _)| name == arm).map(|(_, dose)| of_dose(*dose));
            made(dose.unwrap_or(if arm == "cure" { 0.2 } else { 44.0 }), turn())
        });
        answer.findings.remove(0)
    };
    let rising = proved_with(&|dose| dose);
    let trend = rising.trend.expect("a trend");
    assert_eq!(rising.status, Status::Confirmed, "{:?}", rising.tried);
    assert!(trend.low < 1e6 && 1e6 < trend.high && trend.high < 1.2e6, "a millisecond for each: {trend:?}");
    let falling = proved_with(&|dose| 60.0 - dose);
    assert_eq!(falling.status, Status::Undecided, "{:?}", falling.trend);
    assert!(falling.caveats.iter().any(|caveat| caveat.contains("does not rise with the dose")));
}
