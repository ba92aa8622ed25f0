//! Cliffs: found, narrowed, and not seen where there are none.

use super::program::{swept, swept_whole};
use crate::sweep::Swept;

fn places(swept: &Swept) -> Vec<(f64, f64)> {
    swept.sweep.cliffs.iter().map(|cliff| (cliff.below, cliff.above)).collect()
}

/// Whether a cliff is enclosed in no more than eight.
fn encloses((below, above): (f64, f64), last: f64) -> bool {
    below <= last && last < above && above - below <= 8.0
}

#[test]
fn a_stall_below_one_segment_is_located_within_8_bytes_by_at_most_30_points() {
    for seed in 0..40 {
        let swept = swept("size=1..16K:log", seed, |size, _| if size <= 1418.0 { 0.044 } else { 0.0002 });
        let places = places(&swept);
        assert!(places.len() == 1 && encloses(places[0], 1418.0), "seed {seed}: {places:?}");
        assert!(swept.sweep.points.len() <= 30, "{}", swept.sweep.points.len());
        let cliff = &swept.sweep.cliffs[0];
        assert!(cliff.level_below / cliff.level_above > 150.0 && cliff.p < 0.01, "{cliff:?}");
        assert!(swept.sweep.spent_ns <= swept.sweep.budget_ns);
        assert_eq!((swept.sweep.knee, swept.sweep.growth.as_ref()), (None, None));
    }
}

#[test]
fn two_cliffs_are_both_located() {
    for seed in 0..20 {
        let height = |size: f64| if (300.0..5000.0).contains(&size) { 0.04 } else { 0.001 };
        let swept = swept("size=1..16K:log", seed, |size, _| height(size));
        let places = places(&swept);
        assert!(places.len() == 2 && encloses(places[0], 299.5), "seed {seed}: {places:?}");
        assert!(places[1].0 < 5000.0 && places[1].1 >= 5000.0 && places[1].1 - places[1].0 <= 40.0, "{places:?}");
        assert!(swept.sweep.points.len() <= 30);
    }
}

#[test]
fn two_cliffs_in_one_coarse_gap_are_found_separately() {
    let mut both = 0;
    for seed in 0..20 {
        let height = |size: f64| {
            if size < 1200.0 {
                0.001
            } else if size < 1700.0 {
                0.01
            } else {
                0.1
            }
        };
        let swept = swept("size=1..16K:log", seed, |size, _| height(size));
        let places = places(&swept);
        both += usize::from(places.len() == 2);
        assert!(places.iter().all(|(below, above)| [1200.0, 1700.0].iter().any(|at| below < at && above >= at)));
    }
    assert!(both >= 15, "{both}");
}

#[test]
fn a_value_that_is_sometimes_slow_does_not_hide_the_cliff_beside_it() {
    let mut located = 0;
    for seed in 0..40 {
        // Between 1400 and 1420 an exchange is as often slow as fast.
        let swept = swept("size=1..16K:log", seed, |size, random| {
            let is_slow = if (1400.0..1420.0).contains(&size) { random.bool() } else { size < 1400.0 };
            if is_slow { 0.044 } else { 0.0002 }
        });
        let places = places(&swept);
        assert!(places.len() <= 2 && swept.sweep.points.len() <= 30, "{places:?}");
        let is_there = |(below, above): &(f64, f64)| *below < 1420.0 && *above >= 1400.0;
        let is_near = |(below, above): &(f64, f64)| *below >= 1380.0 && *above <= 1460.0;
        assert!(places.iter().all(is_there), "seed {seed}: {places:?}");
        located += usize::from(places.iter().all(is_near) && !places.is_empty());
    }
    assert!(located >= 36, "{located} of 40");
}

#[test]
fn a_small_cliff_on_a_slope_is_located() {
    let mut located = 0;
    for seed in 0..40 {
        let height = |size: f64| 1e-5 * size.max(8.0) * if size < 3000.0 { 1.0 } else { 2.0 };
        let swept = swept("size=1..16K:log", seed, |size, _| height(size));
        let places = places(&swept);
        let is_there = |(below, above): &(f64, f64)| *below < 3000.0 && *above >= 3000.0;
        assert!(places.iter().all(is_there), "seed {seed}: {places:?}");
        located += places.len();
    }
    assert!(located >= 32, "{located} of 40");
}

#[test]
fn level_noise_has_no_cliffs() {
    let alarms = (0..200).filter(|seed| !places(&swept("size=1..16K:log", *seed, |_, _| 0.001)).is_empty()).count();
    assert!(alarms <= 10, "{alarms} of 200");
}

#[test]
fn slopes_and_bends_have_no_cliffs_however_steep() {
    let curves: [fn(f64) -> f64; 5] = [
        |size| 1e-6 * size,
        |size| 1e-8 * size * size,
        |size| 0.001 + 1e-6 * size,
        |size| (1e-6 * size).max(0.001),
        // Six times as much, over one octave.
        |size| 0.001 * 6_f64.powf((size / 700.0).log2().clamp(0.0, 1.0)),
    ];
    for (number, curve) in curves.iter().enumerate() {
        let is_alarm = |seed: &u64| !places(&swept("size=16..16K:log", *seed, |size, _| curve(size))).is_empty();
        let alarms = (0..40).filter(is_alarm).count();
        assert!(alarms <= 2, "curve {number}: {alarms} of 40");
    }
}

#[test]
fn between_the_values_of_a_list_nothing_is_tried() {
    let swept = swept("k=1,4,16,64,256,1024", 1, |k, _| if k < 50.0 { 0.001 } else { 0.04 });
    assert_eq!(places(&swept), [(16.0, 64.0)]);
    assert_eq!(swept.sweep.points.len(), 6);
    assert!(swept.sweep.warnings.iter().any(|warning| warning.contains("k=16..64")), "{:?}", swept.sweep.warnings);
}

#[test]
fn files_of_growing_size_have_no_cliff_where_the_fixed_cost_gives_way() {
    let is_alarm = |seed: &u64| {
        let swept = swept_whole("k=16,64,256,1024,4096,16384,65536", *seed, 0.15, |k| 0.0012 + 4e-6 * k);
        !swept.sweep.cliffs.is_empty()
    };
    assert_eq!((0..60).filter(is_alarm).count(), 0);
}

#[test]
fn a_cliff_in_a_linear_sweep_of_fractions_is_located() {
    let swept = swept("load=0.1..0.9:0.1", 1, |load, _| if load < 0.437 { 0.001 } else { 0.003 });
    let places = places(&swept);
    assert!(places.len() == 1 && places[0].0 < 0.437 && places[0].1 >= 0.437, "{places:?}");
    assert!(places[0].1 - places[0].0 <= 0.0051, "{places:?}");
}

#[test]
fn words_have_no_cliffs() {
    let swept = swept("cipher=a,b,c,d,e,f", 1, |place, _| if place < 3.0 { 0.001 } else { 0.03 });
    assert_eq!(swept.sweep.points.len(), 6);
    assert!(swept.sweep.cliffs.is_empty() && swept.sweep.knee.is_none() && swept.sweep.growth.is_none());
    assert_eq!(swept.sweep.points[5].label, "f");
}
