use super::super::factorial::Factorial;
use super::super::measure::{Measured, Terms, measure};
use super::tried;
use crate::arms::Arm;
use crate::extent::Extent;
use crate::intervention_counters::{InterventionCounters, ShimCounts};
use crate::metric::Metric;
use crate::outcome::Outcome;
use case::tables::Trial;
use case::{Contrast, Nanos, TriedOn};
use std::collections::BTreeSet;
use std::time::Duration;

const DESIGN: Factorial = Factorial { versions: 2, tries: 1 };

fn metrics() -> Vec<Metric> {
    vec!["cpu_ns".parse().expect("a metric")]
}

/// Two versions, then both with contexts shared, that take so many milliseconds, a little off by the trial's place. The
/// intervention finds nothing to change where its milliseconds are 0.
fn measured(milliseconds: [f64; 4], absent: &[usize]) -> Measured {
    let share = crate::interventions::find("share-ssl-context").expect("it");
    let plain = |name: &str| Arm { name: name.into(), ..Arm::plain() };
    let with = |name: &str| Arm { name: format!("{name}+{}", share.name), parts: vec![share], ..Arm::plain() };
    let arms = [plain("1.1.1w"), plain("3.0.2"), with("1.1.1w"), with("3.0.2")];
    let metrics = metrics();
    let terms = Terms {
        arms: &arms,
        design: DESIGN,
        absent: &absent.iter().copied().collect::<BTreeSet<_>>(),
        exits: &[0, 0],
        metrics: &metrics,
        extent: Extent::whole(Duration::from_secs(1)),
        budget: Duration::from_mins(1),
        seed: 7,
        say: &|_| {},
    };
    let mut turn = 0;
    let mut execute = |place: usize, _: &Extent| {
        turn += 1;
        let took = milliseconds[place] * (1.0 + f64::from(turn % 7) / 100.0);
        let changed = if place >= 2 && took > 0.0 { 19 } else { 0 };
        let counts = ShimCounts { loaded: 1, seen: 20, changed };
        Ok(Outcome {
            row: Trial { wall: Nanos(9), client_user: Nanos((took * 1e6) as u64), ..Trial::default() },
            counters: InterventionCounters {
                shims: [("tls-context", counts)].into(),
                ..InterventionCounters::default()
            },
            output: Vec::new(),
            errors: String::new(),
            mapped: BTreeSet::new(),
            took: Duration::ZERO,
        })
    };
    measure(&terms, &mut execute).expect("run")
}

fn both(measured: &Measured) -> [TriedOn; 2] {
    [0, 1].map(|version| tried(measured, &metrics(), DESIGN, (version, 0), "share-ssl-context"))
}

#[test]
fn what_it_gains_and_what_remains_are_reported_for_each_version() {
    let measured = measured([5.0, 90.0, 2.0, 6.0], &[]);
    assert_eq!(measured.trials.len() as u32, measured.rounds * 4, "every arm is run in every round");
    let [first, other] = both(&measured);
    assert!(first.applied && other.applied && other.problem.is_empty(), "{other:?}");
    assert_eq!(other.changes, 19);
    let (gain, remains) = (&other.gain[0], &other.remains[0]);
    assert!(gain.outcome == Contrast::More && (gain.ratio - 15.0).abs() < 1.0, "{gain:?}");
    assert!(remains.outcome == Contrast::More && (remains.ratio - 3.0).abs() < 0.3, "{remains:?}");
    assert!((remains.b - remains.a - 4e6).abs() < 3e5 && (other.figures[0].median - 6.1e6).abs() < 3e5, "{other:?}");
    assert!(first.remains.is_empty() && (first.gain[0].ratio - 2.5).abs() < 0.2, "{first:?}");
}

#[test]
fn what_did_not_take_effect_is_no_finding_of_no_effect() {
    let measured = measured([5.0, 90.0, 2.0, 0.0], &[]);
    let [first, other] = both(&measured);
    assert!(first.applied && !other.applied && other.changes == 0);
    assert!(other.gain.is_empty() && other.figures.is_empty() && other.remains.is_empty(), "{other:?}");
    assert!(other.problem.contains("nothing to change"), "{}", other.problem);
    // It is given up, and does not keep the others from being measured.
    assert_eq!(measured.places.iter().filter(|place| **place == 3).count(), 4);
    assert!(measured.rounds < 128, "{}", measured.rounds);
}

#[test]
fn what_cannot_be_tried_is_not_run() {
    let measured = measured([5.0, 90.0, 2.0, 6.0], &[2]);
    assert!(!measured.places.contains(&2));
    let [first, other] = both(&measured);
    assert!(!first.applied && other.applied && other.remains.is_empty() && !other.gain.is_empty());
}
