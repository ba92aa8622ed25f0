use super::bucket::{self, Emptied};
use super::*;
use case::Quantity;

/// Values by the tenth of a second: each rate for so many of them, with a little noise.
fn series(parts: &[(f64, usize)]) -> Measurements {
    let rates = parts.iter().flat_map(|&(rate, count)| std::iter::repeat_n(rate, count));
    let noise = |place: usize| 1.0 + (((place * 7_919) % 13) as f64 - 6.0) / 1_000.0;
    let value = |(place, rate): (usize, f64)| Measurement {
        at_s: place as f64 / 10.0,
        length_s: 0.1,
        value: rate * noise(place),
    };
    let values = rates.enumerate().map(value).collect();
    Measurements { values, are_bits_per_second: true, ..Measurements::default() }
}

#[test]
fn levels_and_the_times_of_the_steps_between_them_are_read_off() {
    let found = of_series("x", &series(&[(400e6, 30), (80e6, 50), (200e6, 20)]));
    assert_eq!(found.quantity, Quantity::BitsPerSecond);
    let values: Vec<u64> = found.levels.iter().map(|level| (level.value / 1e6).round() as u64).collect();
    assert_eq!(values, [400, 80, 200]);
    let times: Vec<f64> = found.steps.iter().map(|step| step.at_s).collect();
    assert_eq!(times, [3.0, 8.0]);
    assert!(found.steps.iter().all(|step| step.low_s < step.at_s && step.at_s < step.high_s), "{:?}", found.steps);
    assert!((0.19..0.21).contains(&found.steps[0].ratio) && found.steps[0].ratio_low <= found.steps[0].ratio);
    assert!((found.steps[0].amount / 1_200e6 - 1.0).abs() < 0.01, "{}", found.steps[0].amount);
}

#[test]
fn a_series_without_steps_has_one_level() {
    let found = of_series("x", &series(&[(100e6, 60)]));
    assert_eq!((found.levels.len(), found.steps.len()), (1, 0));
    // What chance or a drift of 2 % makes is none.
    let found = of_series("x", &series(&[(100e6, 60), (102e6, 60)]));
    assert_eq!((found.levels.len(), found.steps.len()), (1, 0));
}

#[test]
fn many_values_are_gathered_and_none_is_lost() {
    let found = of_series("x", &series(&[(100e6, 5_000), (50e6, 5_000)]));
    assert_eq!(found.values, 10_000);
    assert!(found.samples.len() <= MOST_VALUES);
    assert_eq!((found.levels.len(), found.steps[0].at_s.round() as u64), (2, 500));
}

#[test]
fn a_bucket_is_read_off_its_plateau_and_says_when_it_is_empty() {
    // 40 MB at 400 Mbit/s while 80 Mbit/s flow in: empty after 1 s.
    let read = series(&[(400e6, 10), (80e6, 50)]);
    let (levels, steps) = read_off(&read.values);
    let bucket = bucket::infer(&read.values, bucket::drop(&levels, &steps).expect("a step down")).expect("a bucket");
    assert!((bucket.rate / 80e6 - 1.0).abs() < 0.005, "{bucket:?}");
    assert!((bucket.burst_bytes / 40e6 - 1.0).abs() < 0.02, "{bucket:?}");
    assert!(bucket.burst_low <= 40e6 && 40e6 <= bucket.burst_high, "{bucket:?}");
    let half = Emptied { asked: 200e6, filled: 1.0 }.at_s(&bucket).expect("it gets empty");
    assert!((half - 2.67).abs() < 0.06, "{half}");
    assert_eq!(Emptied { asked: 70e6, filled: 1.0 }.at_s(&bucket), None);
}

#[test]
fn a_rise_is_no_bucket() {
    let read = series(&[(80e6, 10), (400e6, 50)]);
    let (levels, steps) = read_off(&read.values);
    assert_eq!(bucket::drop(&levels, &steps), None);
}
