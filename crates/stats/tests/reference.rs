//! Every statistic against scipy's value of it, on samples with the shapes and sizes that experiments have. The CSV files
//! and the program that writes them are in the folder reference.

#![allow(clippy::unwrap_used)]

use stats::{Interval, Resampling};

/// One row: a statistic's name, its lists of numbers in, its numbers out.
struct Row {
    name: String,
    given: Vec<Vec<f64>>,
    expected: Vec<f64>,
}

fn rows(text: &str) -> Vec<Row> {
    let numbers = |list: &str| list.split(' ').map(|number| number.parse().unwrap()).collect::<Vec<f64>>();
    let row = |line: &str| {
        let [name, given, expected] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        Row {
            name: name.to_owned(),
            given: given.split(';').map(numbers).collect(),
            expected: expected.split(';').map(|number| number.parse().unwrap()).collect(),
        }
    };
    text.lines().map(row).collect()
}

/// Compares each row with what `compute` makes of it, to `tolerance`, relative to the larger of 1 and the value.
fn compare(text: &str, tolerance: f64, compute: impl Fn(&Row) -> Vec<f64>) {
    let rows = rows(text);
    assert!(rows.len() > 10, "an empty reference proves nothing");
    for row in rows {
        let computed = compute(&row);
        assert_eq!(computed.len(), row.expected.len(), "{}", row.name);
        for (one, other) in computed.iter().zip(&row.expected) {
            let near = (one - other).abs() <= tolerance * other.abs().max(1.0) || one.is_nan() && other.is_nan();
            assert!(near, "{} of {:?}: {computed:?}, reference {:?}", row.name, row.given, row.expected);
        }
    }
}

fn ends(interval: Option<Interval>) -> Vec<f64> {
    interval.map_or(vec![f64::NAN; 2], |interval| vec![interval.low, interval.high])
}

fn points(row: &Row) -> Vec<(f64, f64)> {
    row.given[0].iter().copied().zip(row.given[1].iter().copied()).collect()
}

#[test]
fn statistics_of_one_sample_are_those_of_scipy() {
    compare(include_str!("reference/one_sample.csv"), 1e-9, |row| {
        let values = &row.given[0];
        match row.name.as_str() {
            "mean" => vec![stats::mean(values)],
            "variance" => vec![stats::variance(values)],
            "quantile" => vec![stats::quantile(values, row.given[1][0])],
            "mean_interval" => ends(stats::mean_interval(values, row.given[1][0])),
            "signed_rank" => stats::signed_rank(values).map(|found| vec![found.positive, found.p]).unwrap(),
            "hodges_lehmann" => vec![stats::hodges_lehmann(values)],
            "center_interval" => ends(stats::center_interval(values, row.given[1][0])),
            other => panic!("unknown statistic {other}"),
        }
    });
}

#[test]
fn statistics_of_two_samples_are_those_of_scipy() {
    compare(include_str!("reference/two_samples.csv"), 1e-9, |row| {
        let (left, right) = (&row.given[0], &row.given[1]);
        match row.name.as_str() {
            "rank_sum" => stats::rank_sum(left, right).map(|found| vec![found.u, found.p]).unwrap(),
            "shift" => vec![stats::shift(left, right)],
            "shift_interval" => ends(stats::shift_interval(left, right, row.given[2][0])),
            other => panic!("unknown statistic {other}"),
        }
    });
}

#[test]
fn lines_and_power_laws_are_those_of_scipy() {
    let numbers = |line: stats::Line| {
        let Interval { low, high } = line.slope_interval;
        vec![line.intercept, line.slope, low, high]
    };
    compare(include_str!("reference/lines.csv"), 1e-7, |row| {
        let (points, confidence) = (points(row), row.given[2][0]);
        match row.name.as_str() {
            "least_squares" => numbers(stats::least_squares(&points, confidence).unwrap()),
            "theil_sen" => numbers(stats::theil_sen(&points, confidence).unwrap()),
            "power_law" => {
                let law = stats::power_law(&points, confidence).unwrap();
                let Interval { low, high } = law.interval;
                vec![law.factor, law.exponent, low, high, law.curvature, law.curvature_p]
            }
            other => panic!("unknown statistic {other}"),
        }
    });
}

#[test]
fn bootstrap_intervals_are_those_of_scipy_but_for_the_draws() {
    // The end of an interval read off 20,000 draws strays by about 1 % of the interval's width; four times that.
    let rows = rows(include_str!("reference/bootstrap.csv"));
    assert!(rows.len() > 50);
    for row in rows {
        let (values, confidence) = (&row.given[0], row.given[1][0]);
        let resampling = Resampling { times: 20_000, seed: 1, confidence };
        let (method, statistic) = row.name.split_once(' ').unwrap();
        let statistic = match statistic {
            "mean" => stats::mean,
            "variance" => stats::variance,
            _ => |values: &[f64]| stats::mean(&values.iter().map(|value| value.ln()).collect::<Vec<_>>()).exp(),
        };
        let computed = match method {
            "bca" => stats::bca_interval(values, statistic, resampling),
            _ => stats::percentile_interval(values, statistic, resampling),
        };
        let computed = ends(computed);
        let tolerance = 0.04 * (row.expected[1] - row.expected[0]);
        for (one, other) in computed.iter().zip(&row.expected) {
            assert!((one - other).abs() < tolerance, "{}: {computed:?}, reference {:?}", row.name, row.expected);
        }
    }
}
