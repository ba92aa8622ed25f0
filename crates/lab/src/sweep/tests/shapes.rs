//! Knees and growth of made-up programs.

use super::program::{swept, swept_whole};

#[test]
fn a_quadratic_program_grows_out_of_hand_and_a_proportional_one_does_not() {
    for seed in 0..20 {
        let growth = |seconds: fn(f64) -> f64| {
            swept_whole("items=500..16000:log", seed, 0.07, seconds).sweep.growth.expect("a growth")
        };
        let quadratic = growth(|items| 0.02 + 2e-8 * items * items);
        assert!(quadratic.out_of_hand && quadratic.exponent > 1.8 && quadratic.low > 1.25, "{quadratic:?}");
        let proportional = growth(|items| 0.02 + 2e-5 * items);
        assert!(!proportional.out_of_hand, "{proportional:?}");
        let sorting = growth(|items| 2e-6 * items * items.ln());
        assert!(!sorting.out_of_hand, "{sorting:?}");
    }
}

#[test]
fn a_knee_is_found_where_a_limit_is_reached() {
    let swept = swept("size=1..16K:log", 3, |size, _| 0.001 * (size / 200.0).max(1.0));
    let knee = swept.sweep.knee.expect("a knee");
    assert!(knee.low <= 200.0 && 200.0 <= knee.high && knee.high / knee.low < 4.0, "{knee:?}");
    assert!(knee.before.abs() < 0.15 && (knee.after - 1.0).abs() < 0.15, "{knee:?}");
    assert!(swept.sweep.cliffs.is_empty());
}

#[test]
fn a_program_that_takes_a_while_to_start_has_no_knee() {
    let has_knee =
        |seed: &u64| swept_whole("n=100..1000000:log", *seed, 0.05, |n| 0.02 + 2e-6 * n).sweep.knee.is_some();
    let knees = (0..20).filter(has_knee).count();
    assert!(knees <= 1, "{knees} of 20");
}

#[test]
fn a_search_that_tries_everything_grows_out_of_hand_over_few_values() {
    for seed in 0..10 {
        let growth = swept_whole("n=10..26:1", seed, 0.05, |n| 0.02 + 4e-8 * 2_f64.powf(n)).sweep.growth;
        let growth = growth.expect("a growth");
        assert!(growth.out_of_hand && growth.exponent > 6.0, "{growth:?}");
    }
}

#[test]
fn a_straight_curve_has_no_knee() {
    let knees =
        (0..40).filter(|seed| swept("size=1..16K:log", *seed, |size, _| 1e-5 * size.sqrt()).sweep.knee.is_some());
    assert!(knees.count() <= 5);
}
