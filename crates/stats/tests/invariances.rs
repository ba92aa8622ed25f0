//! What must not change a result, or only in a known way, whatever the numbers.

#![allow(clippy::unwrap_used)]

use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, prop_assume, proptest};
use stats::{Bracket, Interval, Looks, Ratio};

fn pairs() -> impl Strategy<Value = Vec<(f64, f64)>> {
    vec((0.001_f64..1000.0, 0.001_f64..1000.0), 2..40)
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1.0)
}

fn same(one: &Ratio, other: &Ratio) -> bool {
    near(one.ratio.ln(), other.ratio.ln())
        && near(one.low.ln(), other.low.ln())
        && near(one.high.ln(), other.high.ln())
        && one.pairs == other.pairs
}

proptest! {
    #[test]
    fn the_unit_of_time_does_not_matter(pairs in pairs(), unit in 0.001_f64..1000.0) {
        let scaled: Vec<_> = pairs.iter().map(|(before, after)| (before * unit, after * unit)).collect();
        let (one, other) = (stats::ratio_of_pairs(&pairs, 0.95).unwrap(), stats::ratio_of_pairs(&scaled, 0.95).unwrap());
        prop_assert!(same(&one, &other), "{one:?} {other:?}");
    }

    #[test]
    fn swapping_before_and_after_inverts_the_ratio(pairs in pairs()) {
        let swapped: Vec<_> = pairs.iter().map(|(before, after)| (*after, *before)).collect();
        let one = stats::ratio_of_pairs(&pairs, 0.95).unwrap();
        let other = stats::ratio_of_pairs(&swapped, 0.95).unwrap();
        let inverse = Ratio { ratio: 1.0 / other.ratio, low: 1.0 / other.high, high: 1.0 / other.low, ..other };
        prop_assert!(same(&one, &inverse), "{one:?} {inverse:?}");
        prop_assert!(near(one.rank_p, other.rank_p));
    }

    #[test]
    fn a_slower_after_divides_the_ratio(pairs in pairs(), factor in 0.1_f64..10.0) {
        let slower: Vec<_> = pairs.iter().map(|(before, after)| (*before, after * factor)).collect();
        let (one, other) = (stats::ratio_of_pairs(&pairs, 0.95).unwrap(), stats::ratio_of_pairs(&slower, 0.95).unwrap());
        let undone = Ratio { ratio: other.ratio * factor, low: other.low * factor, high: other.high * factor, ..other };
        prop_assert!(same(&one, &undone), "{one:?} {undone:?}");
    }

    #[test]
    fn the_order_of_pairs_does_not_matter(pairs in pairs(), turn in any::<usize>()) {
        let mut turned = pairs.clone();
        turned.rotate_left(turn % pairs.len());
        turned.reverse();
        let (one, other) = (stats::ratio_of_pairs(&pairs, 0.95).unwrap(), stats::ratio_of_pairs(&turned, 0.95).unwrap());
        prop_assert!(same(&one, &other), "{one:?} {other:?}");
    }

    #[test]
    fn an_estimate_lies_in_its_interval(pairs in pairs(), confidence in 0.01_f64..0.999) {
        let found = stats::ratio_of_pairs(&pairs, confidence).unwrap();
        prop_assert!(found.low <= found.ratio && found.ratio <= found.high, "{found:?}");
        prop_assert!(found.rank_p > 0.0 && found.rank_p <= 1.0);
    }

    #[test]
    fn more_confidence_never_narrows_an_interval(pairs in pairs(), less in 0.01_f64..0.999, more in 0.01_f64..0.999) {
        prop_assume!(less < more);
        // A higher confidence can be out of the ranks' reach; Student's t then takes over and may be narrower.
        prop_assume!(pairs.len() >= 12);
        let (less, more) = (stats::ratio_of_pairs(&pairs, less).unwrap(), stats::ratio_of_pairs(&pairs, more).unwrap());
        prop_assert!(more.low <= less.low && less.high <= more.high, "{less:?} {more:?}");
    }

    #[test]
    fn looking_does_not_change_what_is_seen(pairs in pairs()) {
        let looks = Looks::standard();
        for seen in 0..=pairs.len() {
            let passed = looks.planned().iter().map(|look| look.pairs).filter(|look| *look <= seen).max();
            prop_assert_eq!(looks.interval(&pairs[..seen]), passed.and_then(|passed| looks.interval(&pairs[..passed])));
        }
    }

    #[test]
    fn ranks_do_not_see_a_monotonous_scale(left in vec(0.1_f64..9.0, 1..20), right in vec(0.1_f64..9.0, 1..20)) {
        let cubed = |values: &[f64]| values.iter().map(|value| value.powi(3)).collect::<Vec<_>>();
        prop_assert_eq!(stats::rank_sum(&left, &right), stats::rank_sum(&cubed(&left), &cubed(&right)));
    }

    #[test]
    fn the_shift_of_swapped_samples_is_its_negative(left in vec(-9.0_f64..9.0, 5..20), right in vec(-9.0_f64..9.0, 5..20)) {
        prop_assert!(near(stats::shift(&left, &right), -stats::shift(&right, &left)));
        let one = stats::shift_interval(&left, &right, 0.9).unwrap();
        let other = stats::shift_interval(&right, &left, 0.9).unwrap();
        prop_assert!(near(one.low, -other.high) && near(one.high, -other.low));
    }

    #[test]
    fn units_change_the_factor_of_a_power_law_only(points in vec((0.1_f64..99.0, 0.1_f64..99.0), 4..20), unit in 0.01_f64..99.0) {
        let scaled: Vec<_> = points.iter().map(|(x, y)| (x * unit, y * unit)).collect();
        let (Some(one), Some(other)) = (stats::power_law(&points, 0.95), stats::power_law(&scaled, 0.95)) else {
            return Ok(());
        };
        prop_assert!((one.exponent - other.exponent).abs() < 1e-6 * one.exponent.abs().max(1.0));
        prop_assert!((one.curvature_p - other.curvature_p).abs() < 1e-4, "{one:?} {other:?}");
    }

    #[test]
    fn steps_are_mirrored_with_their_sequence(values in vec(0.0_f64..1.0, 8..30), height in 3.0_f64..9.0) {
        let half = values.len() / 2;
        let stepped: Vec<_> = values.iter().enumerate().map(|(at, value)| value + if at < half { 0.0 } else { height }).collect();
        let mirrored: Vec<_> = stepped.iter().rev().copied().collect();
        let places = |values: &[f64]| stats::change_points(values, 0.05, 1).iter().map(|step| step.at).collect::<Vec<_>>();
        if let ([at], [mirror]) = (&places(&stepped)[..], &places(&mirrored)[..]) {
            prop_assert_eq!((*at, values.len() - *mirror), (half, half));
        }
    }

    #[test]
    fn a_bisection_ends_and_holds_the_cliff(below in -1000.0_f64..1000.0, width in 0.5_f64..5000.0, share in 0.01_f64..0.99) {
        let bracket = Bracket { below, above: below + width, level_below: 1.0, level_above: 2.0, p: 0.01 };
        let cliff = below + share * width;
        let mut search = stats::Bisection::new(bracket, 0.25).unwrap();
        for _ in 0..200 {
            let Some(value) = search.next() else { break };
            prop_assert!(search.bracket().below < value && value < search.bracket().above);
            search.take(if value > cliff { 2.0 } else { 1.0 });
        }
        prop_assert_eq!(search.next(), None);
        let Bracket { below, above, .. } = search.bracket();
        let found = Interval { low: below, high: above };
        prop_assert!(found.contains(cliff));
        // The ends given need not be multiples of the grain.
        prop_assert!(above - below <= 0.5, "{below} {above}");
    }
}
