//! What is tried on top of a cure.

use super::*;

/// Arms that stand on one that has cured something already, and one upon it that takes a function away.
fn upon_a_cure() -> Arms {
    let mut arms = arms(&[("P36", "cure+switch-off=search", Purpose::Cause)]);
    let cure = Arm { name: "cure".into(), ..arms.alone[1].clone() };
    arms.alone[2].parts = find("tcp-nodelay").into_iter().collect();
    arms.alone[0] = cure.clone();
    let attempt = &mut arms.experiment.attempts[0];
    (attempt.intervention, attempt.dose) = ("switch-off".into(), "search".into());
    (attempt.reference, attempt.metric) = ("cure".into(), Metric::Wall);
    let joint = |arm: &str, parts: &[&str], before: &str| Joint {
        arm: arm.into(),
        interventions: parts.iter().map(ToString::to_string).collect(),
        before: before.into(),
        metric: Metric::Wall,
    };
    arms.experiment.joints =
        vec![joint("cure", &["cure"], SHAM), joint("cure+switch-off=search", &["cure", "switch-off=search"], "cure")];
    arms.base = Some(Base { arm: cure, without: Duration::from_secs(4) });
    arms
}

/// A whole run that writes something.
pub(super) fn whole(milliseconds: f64, turn: u32, output: &str) -> Outcome {
    let mut outcome = made(milliseconds, turn);
    (outcome.row.exit, outcome.row.exchanges, outcome.row.made, outcome.output) = (0, 0, 0, output.into());
    outcome
}

/// Tries a function upon a cure; what the program writes, and how it ends, with and without it.
fn switched(with: &str, without: (&str, i32)) -> (Answer, Vec<Trial>) {
    let turn = turns();
    let mut answer = answer(vec![finding("P36", 0.8)]);
    (answer.exchanges, answer.wall_ns) = (0, 100_000_000);
    let trials = proved(&mut answer, upon_a_cure(), &|arm| match arm {
        SHAM => whole(40.0, turn(), with),
        "cure" => whole(10.0, turn(), with),
        _ => {
            let mut outcome = whole(2.0, turn(), without.0);
            outcome.row.exit = without.1;
            outcome
        }
    });
    (answer, trials)
}

#[test]
fn a_function_that_nobody_misses_is_proved_upon_the_cure_and_with_it() {
    let (answer, trials) = switched("9 items", ("9 items", 0));
    let found = &answer.findings[0];
    assert_eq!(found.status, Status::Confirmed, "{:?}", found.tried);
    let effect = found.effect.as_ref().expect("an effect");
    assert!(effect.low < 5.0 && 5.0 < effect.high && effect.also[0].metric == Metric::Cpu, "{effect:?}");
    let is_about = |one: &case::Together, ratio: f64| (one.ratio / ratio - 1.0).abs() < 0.1;
    assert!(is_about(&answer.together[0], 4.0) && is_about(&answer.together[1], 20.0), "{:?}", answer.together);
    let shams = trials.iter().filter(|trial| trial.arm == SHAM).count();
    assert!(shams <= ENOUGH_PAIRS, "what is cured already is not measured longer than needed");
    assert!(trials.iter().all(|trial| trial.arm != PLAIN));
}

#[test]
fn a_function_without_which_the_program_writes_other_figures_is_not_accused() {
    let (answer, _) = switched("9 items", ("12 items", 0));
    assert_eq!(answer.findings[0].status, Status::Suspected, "{:?}", answer.findings[0].tried);
    assert!(
        answer.findings[0].tried[0].problem.contains("output was different: beginning with `12`"),
        "{:?}",
        answer.findings[0].tried
    );
}

#[test]
fn a_function_of_a_program_that_writes_nothing_is_not_accused() {
    let (answer, _) = switched("", ("", 0));
    assert_eq!(answer.findings[0].status, Status::Suspected);
    assert!(answer.findings[0].tried[0].problem.contains("writes nothing"), "{:?}", answer.findings[0].tried);
}

#[test]
fn a_function_without_which_the_program_ends_otherwise_is_not_accused() {
    let (answer, _) = switched("9 items", ("9 items", 139));
    assert_eq!(answer.findings[0].status, Status::Suspected);
    assert!(answer.findings[0].tried[0].problem.contains("status 139"), "{:?}", answer.findings[0].tried);
}

#[test]
fn without_a_comparison_of_outputs_a_function_is_not_accused() {
    let (mut answer, mut trials) = switched("9 items", ("9 items", 0));
    let experiment = upon_a_cure().experiment;
    for trial in &mut trials {
        trial.output = case::tables::output::NOT_COMPARED;
    }
    answer.findings[0].status = Status::Suspected;
    verdict::judge(&mut answer, &experiment, &trials);
    assert_ne!(answer.findings[0].status, Status::Confirmed);
    assert!(answer.findings[0].tried[0].problem.contains("not compared"), "{:?}", answer.findings[0].tried);
}

#[test]
fn what_stands_on_a_cure_is_judged_by_its_own_rounds_only() {
    let (answer, trials) = switched("9 items", ("9 items", 0));
    let mut experiment = upon_a_cure().experiment;
    // Earlier rounds, in which the cure took longer than all that came later.
    let early = (0..8).flat_map(|round| {
        ["cure", SHAM].map(|arm| Trial { round, arm: arm.into(), applied: true, ..whole(900.0, round, "").row })
    });
    let early = early.collect::<Vec<_>>();
    let mut own = trials.clone();
    experiment.follow(&early, &mut own);
    let all = early.into_iter().chain(own).collect::<Vec<_>>();
    let mut again = answer.clone();
    verdict::judge(&mut again, &experiment, &all);
    assert_eq!((&again.findings, &again.together), (&answer.findings, &answer.together));
    assert_eq!(all.iter().map(|trial| trial.position).max(), Some(all.len() as u32 - 1));
}
