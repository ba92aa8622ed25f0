//! Experiments whose trials are made up: numbers instead of programs.

use super::*;
use crate::error::LabError;
use std::time::Duration;

/// A study that keeps which arm had a turn, and in which round.
struct Made {
    state: State,
    turns: Vec<(u32, usize)>,
}

impl Study for Made {
    fn state(&self) -> &State {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

const SECOND: Duration = Duration::from_secs(1);

fn made(budget: Duration) -> Made {
    Made { state: State::new(budget), turns: Vec::new() }
}

/// Two arms, the second one the control, for so many rounds at most.
fn design<'d>(seconds: u64, pace: Pace, open: impl Fn(&mut Made) -> Vec<usize> + 'd) -> Design<'d, Made> {
    Design {
        doing: "testing",
        arms: vec![Entry::tried("one"), Entry::reference("control")],
        order: Order::Random(3),
        most_rounds: 6,
        budget: Budget { time: Duration::from_secs(seconds), pace },
        open: Box::new(open),
        stop: Stop::never(),
        say: &|_| {},
    }
}

/// A trial of any arm takes a second.
#[allow(clippy::unnecessary_wraps, reason = "trials can fail, this one does not")]
fn take_a_second(made: &mut Made, turn: &Turn) -> Result<(), LabError> {
    let name = ["one", "control"][turn.arm];
    made.state.book(Some(name), SECOND);
    made.turns.push((turn.round, turn.arm));
    Ok(())
}

fn both(_: &mut Made) -> Vec<usize> {
    vec![0, 1]
}

#[test]
fn every_arm_has_a_turn_a_round_and_each_odd_round_is_the_mirror_of_the_one_before() {
    let mut study = made(SECOND);
    let stopped = run(&design(60, Pace::Average, both), &mut study, &mut take_a_second).expect("it runs");
    assert_eq!((stopped, study.state.round(), study.state.trials()), (Stopped::MostRounds, 6, 12));
    for block in study.turns.chunks_exact(4) {
        let arms = block.iter().map(|turn| turn.1).collect::<Vec<_>>();
        assert_eq!(arms, [arms[0], 1 - arms[0], 1 - arms[0], arms[0]]);
    }
}

#[test]
fn a_budget_that_holds_no_further_round_ends_it_and_the_least_rounds_may_exceed_it() {
    let rounds = |seconds, pace| {
        let mut study = made(SECOND);
        let stopped = run(&design(seconds, pace, both), &mut study, &mut take_a_second).expect("it runs");
        (stopped, study.state.round())
    };
    let usual = Pace::Usual { expected: SECOND };
    assert_eq!(rounds(5, usual), (Stopped::BudgetSpent, 2));
    assert_eq!(rounds(1, usual), (Stopped::BudgetSpent, 0));
    assert_eq!(rounds(10, Pace::Average), (Stopped::BudgetSpent, 5));
    // Four rounds take eight seconds, which two budgets hold.
    assert_eq!(rounds(4, Pace::Average), (Stopped::BudgetSpent, 4));
    assert_eq!(rounds(1, Pace::Average), (Stopped::BudgetSpent, 1));
    assert_eq!(rounds(1, Pace::Unlimited), (Stopped::MostRounds, 6));
}

#[test]
fn a_trial_that_no_longer_fits_is_left_out() {
    let mut study = made(SECOND);
    let stopped = run(&design(5, Pace::Trials, both), &mut study, &mut take_a_second).expect("it runs");
    assert_eq!((stopped, study.turns.len()), (Stopped::MostRounds, 5));
}

#[test]
fn an_arm_that_is_answered_drops_out_and_a_reference_alone_is_no_reason_to_go_on() {
    let mut study = made(SECOND);
    let until_third = |made: &mut Made| if made.state.round() < 3 { vec![0, 1] } else { vec![1] };
    let stopped = run(&design(60, Pace::Average, until_third), &mut study, &mut take_a_second).expect("it runs");
    assert_eq!((stopped, study.turns.len()), (Stopped::Answered, 6));
}

#[test]
fn rules_are_asked_between_rounds_and_trials() {
    let mut study = made(SECOND);
    let looks = Stop::at_rounds(|made: &mut Made| (made.state.round() == 4).then_some(Stopped::Answered));
    let design_of = |stop| Design { stop, ..design(60, Pace::Average, both) };
    assert_eq!(run(&design_of(looks), &mut study, &mut take_a_second).expect("it runs"), Stopped::Answered);
    assert_eq!(study.turns.len(), 8);
    let mut study = made(SECOND);
    let gone = Stop::at_trials(|made: &Made| (made.turns.len() == 3).then_some(Stopped::Gone));
    assert_eq!(run(&design_of(gone), &mut study, &mut take_a_second).expect("it runs"), Stopped::Gone);
    assert_eq!((study.turns.len(), study.state.round()), (3, 1));
}

#[test]
fn ctrl_c_is_no_error_and_what_fails_is() {
    let mut study = made(SECOND);
    let mut interrupted = |made: &mut Made, turn: &Turn| match turn.position {
        5 => Err(LabError::Interrupted),
        _ => take_a_second(made, turn),
    };
    let design = design(60, Pace::Average, both);
    assert_eq!(run(&design, &mut study, &mut interrupted).expect("no error"), Stopped::Interrupted);
    assert_eq!(study.turns.len(), 5);
    let mut fails = |_: &mut Made, _: &Turn| Err(LabError::World("it does not start".into()));
    assert!(run(&design, &mut study, &mut fails).is_err());
}

#[test]
fn rounds_and_positions_go_on_over_several_experiments_of_a_study() {
    let mut study = made(SECOND);
    let listed = Design { order: Order::Listed(vec![0, 1, 1, 0]), most_rounds: 1, ..design(60, Pace::Average, both) };
    for _ in 0..2 {
        run(&listed, &mut study, &mut take_a_second).expect("it runs");
    }
    assert_eq!(study.turns.iter().map(|turn| turn.0).collect::<Vec<_>>(), [0, 0, 0, 0, 1, 1, 1, 1]);
    assert_eq!(study.turns[..4].iter().map(|turn| turn.1).collect::<Vec<_>>(), [0, 1, 1, 0]);
    assert_eq!((study.state.trials(), study.state.spent()), (8, 8 * SECOND));
}
