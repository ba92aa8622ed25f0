//! Comparisons of made-up programs.

use super::*;
use crate::intervention_counters::InterventionCounters;
use case::{Nanos, Verdict};

/// A program as trials see it: what a run takes, what it writes, how it ends.
#[derive(Clone, Copy)]
struct Made {
    millis: f64,
    writes: &'static str,
    exit: i32,
}

const SOUND: Made = Made { millis: 10.0, writes: "done\n", exit: 0 };

fn measured(a: Made, b: Made, seed: u64, noise: f64) -> Measured {
    let mut random = fastrand::Rng::with_seed(seed);
    let sides = Which::BOTH.map(|which| (which, Arm::plain()));
    let terms = Terms {
        sides: &sides,
        extent: Extent::whole(Duration::from_millis(10)),
        metrics: &[Metric::Wall, Metric::Cpu],
        conditions: &[],
        budget: Duration::from_mins(1),
        seed,
        doing: "comparing",
        compares_output: true,
        say: &|_| {},
    };
    let mut execute = |which: Which, _: &Extent| {
        let made = if which == Which::A { a } else { b };
        let wall = made.millis * (noise * (random.f64() + random.f64() - random.f64() - random.f64())).exp();
        let wall = Nanos((wall * 1e6) as u64);
        let row = Trial { wall, client_user: wall, exit: made.exit, applied: true, ..Trial::default() };
        let (output, errors) = (made.writes.into(), "it broke".to_string());
        Ok(Outcome {
            row,
            mapped: std::collections::BTreeSet::new(),
            counters: InterventionCounters::default(),
            output,
            errors,
            took: Duration::ZERO,
        })
    };
    compare(&terms, &mut execute).expect("run")
}

fn outcome_of(measured: &Measured) -> Contrast {
    compared(&measured.trials, &[Metric::Wall, Metric::Cpu])[0].outcome
}

#[test]
fn a_slower_program_is_found_with_its_ratio_and_soon() {
    let measured = measured(SOUND, Made { millis: 15.0, ..SOUND }, 1, 0.02);
    let wall = compared(&measured.trials, &[Metric::Wall])[0].clone();
    assert_eq!(wall.outcome, Contrast::More);
    assert!(wall.low < 1.5 && wall.high > 1.5 && wall.low > 1.3, "{wall:?}");
    assert!(measured.trials.len() <= 2 * 24, "{}", measured.trials.len());
    assert_eq!((measured.output, measured.unlike), (case::facts::Sameness::Same, None));
}

#[test]
fn a_program_seldom_differs_from_itself() {
    let claims = (0..200)
        .filter(|seed| !matches!(outcome_of(&measured(SOUND, SOUND, *seed, 0.05)), Contrast::Same | Contrast::Open));
    // 5 % of false alarms are allowed, over all metrics and looks.
    assert!(claims.count() <= 17);
}

#[test]
fn a_side_that_fails_is_named_with_what_it_said() {
    let unlike = measured(SOUND, Made { exit: 7, ..SOUND }, 1, 0.0).unlike;
    let fails = Unlike::Fails { which: Which::B, status: 7, other: 0, said: "it broke".into() };
    assert_eq!(unlike, Some(fails));
}

#[test]
fn sides_that_write_something_else_are_not_compared_and_figures_are_no_difference() {
    let unlike = measured(SOUND, Made { writes: "failed\n", ..SOUND }, 1, 0.0).unlike;
    assert_eq!(unlike, Some(Unlike::Writes { a: "`done`".into(), b: "`failed`".into() }));
    let figures = measured(Made { writes: "p95 44\n", ..SOUND }, Made { writes: "p95 7\n", ..SOUND }, 1, 0.0);
    assert_eq!(figures.unlike, None);
}

#[test]
fn bytes_that_are_no_text_do_not_reach_the_terminal() {
    let unlike = measured(SOUND, Made { writes: "\u{1b}[2Jdone\n", ..SOUND }, 1, 0.0).unlike;
    assert_eq!(unlike, Some(Unlike::Writes { a: "`done`".into(), b: "bytes that are not text".into() }));
}

#[test]
fn a_side_without_the_figure_that_decides_is_named() {
    let sides = Which::BOTH.map(|which| (which, Arm::plain()));
    let metric = "stdout:rate=(.*)".parse::<Metric>().expect("a metric");
    let terms = Terms {
        sides: &sides,
        extent: Extent::whole(Duration::from_millis(10)),
        metrics: &[metric, Metric::Wall],
        conditions: &[],
        budget: Duration::from_mins(1),
        seed: 1,
        doing: "comparing",
        compares_output: false,
        say: &|_| {},
    };
    let mut execute = |which: Which, _: &Extent| {
        let metric = if which == Which::A { 5.0 } else { f64::NAN };
        let row = Trial { wall: Nanos(10_000_000), metric, applied: true, ..Trial::default() };
        Ok(Outcome {
            row,
            mapped: std::collections::BTreeSet::new(),
            counters: InterventionCounters::default(),
            output: vec![],
            errors: String::new(),
            took: Duration::ZERO,
        })
    };
    let measured = compare(&terms, &mut execute).expect("run");
    let unlike = Unlike::Unmeasured { which: Which::B, metric: "stdout:rate=(.*)".into() };
    assert_eq!(measured.unlike, Some(unlike));
    assert!(measured.trials.len() <= 6, "said at once");
}

#[test]
fn what_cannot_fit_into_the_budget_is_known_before() {
    let ended = |wall: Duration| Answer {
        wall_ns: wall.as_nanos() as u64,
        subject_exit: Some(0),
        verdict: Verdict::Suspected,
        ..Answer::default()
    };
    let excess = |wall: Duration| {
        let (a, b) = (ended(wall), ended(wall));
        let extent = extent_of(&[&a, &b], None, Duration::from_secs(10));
        excess_of(&[&a, &b], &extent, Duration::from_secs(10))
    };
    assert_eq!(excess(Duration::from_secs(2)), None);
    assert_eq!(excess(Duration::from_secs(3)), Some(Duration::from_millis(8 * 3_150)));
}

#[test]
fn trials_of_an_earlier_day_are_compared_without_pairs() {
    let [earlier, now] = [(10.0, 3), (15.0, 4)].map(|(millis, seed)| {
        let mut random = fastrand::Rng::with_seed(seed);
        let wall = (0..12).map(|_| Nanos((millis * 1e6 * (1.0 + 0.02 * random.f64())) as u64)).collect::<Vec<_>>();
        wall.into_iter().map(|wall| Trial { wall, applied: true, ..Trial::default() }).collect::<Vec<_>>()
    });
    let wall = against_earlier(&earlier, &now, &[Metric::Wall])[0].clone();
    assert!(wall.outcome == Contrast::More && wall.low > 1.4 && wall.high < 1.6, "{wall:?}");
    let same = against_earlier(&earlier, &earlier, &[Metric::Wall])[0].clone();
    assert_eq!(same.outcome, Contrast::Same);
}
