//! How often trials that scatter confirm what is not there, and miss what is.

use super::*;
use case::{Nanos, Verdict};

/// Numbers around 1 that scatter by a tenth, as lengths of trials do on a crowded machine, and now and then one of twice that
/// (Knuth's MMIX generator, its high bits; the sum of twelve is close to normal).
fn scattered(state: &RefCell<u64>) -> f64 {
    let mut state = state.borrow_mut();
    let mut next = || {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    let normal = (0..12).map(|_| next()).sum::<f64>() - 6.0;
    (0.1 * normal).exp() * if next() < 0.05 { 2.0 } else { 1.0 }
}

/// In how many of so many runs anything was confirmed, of four claims of two findings, where one cure takes this share off.
fn confirmed(runs: u64, cured: f64) -> usize {
    let proves = |seed: &u64| {
        let state = RefCell::new(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(*seed + 1));
        let mut answer = answer(vec![finding("P01", 0.5), finding("P39", 0.4)]);
        let claims = ["one", "other", "third", "fourth"];
        let findings = ["P01", "P01", "P39", "P39"];
        let tried = findings.into_iter().zip(claims).map(|(finding, name)| (finding, name, Purpose::Cause));
        proved(&mut answer, arms(&tried.collect::<Vec<_>>()), &|arm| {
            let left = if arm.contains("one") { 1.0 - cured } else { 1.0 };
            let mut outcome = made(1.0, 1);
            let length = Nanos((44e6 * left * scattered(&state)) as u64);
            (outcome.row.exchange_wall, outcome.row.wall) = (Nanos(length.0 * 10), Nanos(length.0 * 11));
            outcome
        });
        answer.verdict == Verdict::Confirmed
    };
    (0..runs).filter(|seed| proves(seed)).count()
}

#[test]
#[ignore = "long: make calibrate"]
fn at_most_one_run_in_twenty_of_what_has_no_cause_confirms_anything() {
    let alarms = confirmed(200, 0.0);
    assert!(alarms <= 10, "{alarms} of 200");
}

#[test]
fn a_cure_of_a_third_is_found_also_on_a_crowded_machine() {
    let found = confirmed(10, 0.33);
    assert!(found >= 8, "{found} of 10");
}
