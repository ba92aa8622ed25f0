//! `whyslow feeds`: rounds over many feeds, and how long they took over days.

use crate::{Activity, Console, StudyError};
use case::{Bytes, FeedHistory, FeedRefresh, Nanos, PastRound, RoundStep, SCHEMA};
use load::feeds::Live;
use stats::{ChangePoint, change_points};
use std::path::Path;
use std::time::Duration;

pub use load::feeds::{FeedsFailure, Hosts, List, Plan, read_hosts, read_list};

/// Between two looks at how it is doing.
const INTERVAL: Duration = Duration::from_millis(200);
/// Of histories without a step, so many show one.
const ALARMS: f64 = 0.05;
/// Rounds that are shown: a week of them, one every ten minutes.
const MOST_ROUNDS: usize = 1008;
/// Where the random numbers of the statistics begin: the same history always shows the same steps.
const SEED: u64 = 1;

/// Makes the rounds, or those of them that are over when someone interrupts it.
///
/// # Errors
/// Where it cannot begin, or the database cannot be read or written.
pub fn refresh(plan: &Plan, console: &dyn Console) -> Result<FeedRefresh, StudyError> {
    let activity = Activity::of(console, "opening the database");
    let mut goes_on = true;
    let rounds = load::feeds::refresh(plan, &mut |live| {
        activity.say(&said(live, plan.rounds));
        goes_on &= console.next(INTERVAL).is_none();
        goes_on
    })?;
    drop(activity);
    if rounds.iter().any(|round| round.ports.is_short()) {
        console.note("local ports are running short: fewer connections at a time (-c) take fewer");
    }
    let database = plan.database.display().to_string();
    Ok(FeedRefresh { schema: SCHEMA, list: plan.list.clone(), database, rounds })
}

/// How it is doing.
fn said(live: &Live, rounds: u64) -> String {
    let of = if rounds > 1 { format!("round {} of {rounds}: ", live.round) } else { String::new() };
    if !live.rests.is_zero() {
        return format!("{of}done; the next begins in {} s", live.rests.as_secs() + 1);
    }
    let failed = if live.failed == 0 { String::new() } else { format!(", {} failed", live.failed) };
    let rate = live.settled as f64 / live.elapsed.as_secs_f64().max(1e-3);
    format!(
        "{of}{} of {} feeds ({rate:.0}/s), {} unchanged, {} new entries{failed}, {} received",
        live.settled,
        live.feeds,
        live.unchanged,
        live.new_entries,
        Bytes(live.received)
    )
}

/// The rounds over a list, or over the last one, and where their time stepped to another level.
///
/// # Errors
/// Where the database cannot be read, or has no such round.
pub fn history(database: &Path, list: Option<&str>) -> Result<FeedHistory, StudyError> {
    let mut past = load::feeds::past(database, list)?;
    past.rounds.drain(..past.rounds.len().saturating_sub(MOST_ROUNDS));
    let steps = steps(&past.rounds);
    let database = database.display().to_string();
    Ok(FeedHistory { schema: SCHEMA, list: past.list, database, rounds: past.rounds, steps })
}

/// Where the time of rounds stepped. Of rounds that were interrupted only a part is known: they are left out.
fn steps(rounds: &[PastRound]) -> Vec<RoundStep> {
    let whole = rounds.iter().filter(|round| !round.interrupted).collect::<Vec<_>>();
    let times = whole.iter().map(|round| Nanos(round.wall_ns).seconds()).collect::<Vec<_>>();
    let at = |place: f64| whole[(place.max(0.0) as usize).min(whole.len() - 1)];
    let nanos = |seconds: f64| (seconds * 1e9) as u64;
    let one = |point: ChangePoint| {
        let (first, low, high) = (whole[point.at], at(point.interval.low), at(point.interval.high));
        RoundStep {
            number: first.number,
            at_s: first.began_s,
            low_number: low.number,
            high_number: high.number,
            low_s: low.began_s,
            high_s: high.began_s,
            before_ns: nanos(point.before),
            after_ns: nanos(point.after),
            p: point.p,
        }
    };
    change_points(&times, ALARMS, SEED).into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round every ten minutes, of so many seconds, a little more or less.
    fn rounds(seconds: &[u64]) -> Vec<PastRound> {
        let one = |(index, seconds): (usize, &u64)| PastRound {
            number: index as u64 + 1,
            began_s: 1_700_000_000 + index as i64 * 600,
            wall_ns: seconds * 1_000_000_000 + (index as u64 * 7919 % 13) * 1_000_000_000,
            ..PastRound::default()
        };
        seconds.iter().enumerate().map(one).collect()
    }

    #[test]
    fn the_round_is_named_at_which_an_upgrade_doubled_the_time() {
        let all = rounds(&[vec![360; 30], vec![720; 30]].concat());
        let found = steps(&all);
        let [step] = &found[..] else { panic!("{found:?}") };
        assert_eq!((step.number, step.at_s), (31, 1_700_000_000 + 30 * 600));
        assert!(step.low_number <= 31 && step.high_number >= 31 && step.low_s <= step.at_s && step.at_s <= step.high_s);
        assert!(step.before_ns < 400_000_000_000 && step.after_ns > 700_000_000_000, "{step:?}");
    }

    #[test]
    fn without_a_step_there_is_none_and_interrupted_rounds_do_not_make_one() {
        assert_eq!(steps(&rounds(&[360; 40])), []);
        let mut all = rounds(&[vec![360; 20], vec![20; 8], vec![360; 20]].concat());
        all[20..28].iter_mut().for_each(|round| round.interrupted = true);
        assert_eq!(steps(&all), []);
        assert_eq!(steps(&[]), []);
    }

    #[test]
    fn what_goes_on_is_said_in_a_line() {
        let live =
            Live { round: 2, feeds: 10, settled: 5, elapsed: Duration::from_secs(1), failed: 1, ..Live::default() };
        let line = said(&live, 3);
        assert!(line.starts_with("round 2 of 3: 5 of 10 feeds (5/s)") && line.contains("1 failed"), "{line}");
        let rests = Live { rests: Duration::from_secs(9), ..live };
        assert_eq!(said(&rests, 3), "round 2 of 3: done; the next begins in 10 s");
    }
}
