//! The first runs of a sweep, at its ends: whether there are exchanges, how long runs take, and whether they work at all.

use super::bench::{Bench, failure, seconds};
use super::value::Value;
use crate::error::LabError;
use crate::extent::Extent;
use crate::metric::Metric;
use case::tables::Trial;
use std::time::Duration;

/// A trial that takes more than this part of the budget leaves none for the others.
pub(super) const LONGEST_TRIAL: u32 = 6;
/// Exchanges that show what they are like, and the time that they are given at least.
const SHOWING: u64 = 20;
const SHOWING_TIME: Duration = Duration::from_millis(300);
/// A window is long enough for the ticks of the kernel's clock and for so many exchanges, unless these take too long.
const WINDOW: Duration = Duration::from_millis(400);
const WANTED_EXCHANGES: u64 = 8;
const LONGEST_WINDOW: Duration = Duration::from_secs(4);
/// Exchanges dropped at the beginning: TCP leaves its quick beginnings within the first few.
const MOST_WARM_UP: u64 = 3;
/// Shells say so of what they cannot start.
const NOT_STARTED: i32 = 126;

/// What the first runs showed.
pub(super) struct Ends {
    /// How long a trial takes at the first value, all in all; none where that is not known, as of a run that did not end.
    pub first: Option<Duration>,
    /// At the last.
    pub last: Option<Duration>,
}

/// A first run.
struct First {
    result: Result<(Trial, String), LabError>,
    took: Duration,
}

/// Runs the program at both ends, chooses the metric where none is given, and how far trials go.
///
/// # Errors
/// Where the program fails wherever it is tried, takes too long at both ends, or the user wants an end.
pub(super) fn run(bench: &mut Bench) -> Result<Ends, LabError> {
    let values = bench.vary.values();
    let mut firsts = vec![try_at(bench, &values[0])?];
    if values.len() > 1 {
        firsts.push(try_at(bench, &values[values.len() - 1])?);
    }
    if values.len() > 2 && firsts.iter().all(First::has_failed) {
        firsts.push(try_at(bench, &values[values.len() / 2])?);
    }
    if firsts.iter().all(First::has_failed) {
        bench.usual_exit = usual_failure(firsts)?;
        // Such a program is measured whole, as it ends: with its own status.
        choose(bench, &[]);
        return Ok(Ends { first: Some(Duration::ZERO), last: Some(Duration::ZERO) });
    }
    choose(bench, &firsts.iter().filter_map(First::sound).cloned().collect::<Vec<_>>());
    let takes_exchanges = bench.extent.window.is_some();
    let took = |first: &First| {
        let is_too_long = first.sound().is_some_and(|row| row.exit < 0) && !takes_exchanges;
        (!is_too_long).then_some(first.took)
    };
    let ends = Ends { first: took(&firsts[0]), last: firsts.get(1).map_or_else(|| took(&firsts[0]), took) };
    let is_endless = |first: &First| first.took >= bench.terms.budget.mul_f64(0.9) / LONGEST_TRIAL;
    if ends.first.is_none() && ends.last.is_none() && firsts.iter().all(is_endless) {
        let limit = seconds(bench.terms.budget / LONGEST_TRIAL);
        return Err(LabError::World(format!(
            "a run takes longer than {limit}, a sixth of the budget: use a longer --budget"
        )));
    }
    Ok(ends)
}

fn try_at(bench: &mut Bench, value: &Value) -> Result<First, LabError> {
    (bench.terms.say)(&format!("a first run at {}={}", bench.vary.name, value.label));
    let longest = bench.terms.budget / LONGEST_TRIAL;
    let extent = Extent {
        // What comes before the first exchange is no part of it.
        warm_up: 1,
        exchanges: Some(SHOWING),
        least: SHOWING_TIME,
        window: Some(longest / 2),
        longest,
    };
    let (result, took) = bench.execute(value, &extent);
    match result {
        Ok(outcome) => Ok(First { result: Ok((outcome.row, outcome.errors)), took }),
        Err(LabError::Interrupted) => Err(LabError::Interrupted),
        Err(error) => Ok(First { result: Err(error), took }),
    }
}

impl First {
    fn has_failed(&self) -> bool {
        self.sound().is_none()
    }

    fn sound(&self) -> Option<&Trial> {
        self.result.as_ref().ok().map(|(row, _)| row).filter(|row| row.exit <= 0 && row.problem.is_empty())
    }
}

/// The status of a program that always ends with the same one, other than 0, and complains of nothing, as grep does where
/// it finds nothing; else the error that it always fails.
fn usual_failure(firsts: Vec<First>) -> Result<i32, LabError> {
    let rows = || firsts.iter().filter_map(|first| first.result.as_ref().ok());
    let exit = rows().next().map_or(-1, |(row, _)| row.exit);
    let is_usual = |(row, errors): &(Trial, String)| row.exit == exit && row.problem.is_empty() && errors.is_empty();
    if (1..NOT_STARTED).contains(&exit) && rows().count() == firsts.len() && rows().all(is_usual) {
        return Ok(exit);
    }
    let mut why = String::new();
    for first in firsts {
        match first.result {
            Ok((row, _)) if !row.problem.is_empty() => why = row.problem,
            Ok((row, errors)) => why = failure(row.exit, &errors),
            Err(error) => return Err(error),
        }
    }
    Err(LabError::World(format!("the program fails at every value that was tried: {why}")))
}

/// Chooses the metric, and an extent for it.
fn choose(bench: &mut Bench, rows: &[Trial]) {
    // A run of one exchange is a whole that it stands for.
    let has_exchanges = !rows.is_empty() && rows.iter().all(|row| row.exchanges > 1);
    let shares = rows.iter().map(|row| row.exchange_wall.0 as f64 / row.wall.0.max(1) as f64);
    let share = shares.sum::<f64>() / rows.len().max(1) as f64;
    bench.metric = match (&bench.terms.metric, has_exchanges) {
        (Some(metric), _) => metric.clone(),
        (None, true) if share >= 0.5 => Metric::WallPerExchange,
        (None, true) => Metric::ElapsedPerExchange,
        (None, false) => Metric::Wall,
    };
    let longest = bench.terms.budget / LONGEST_TRIAL;
    let whole = Extent { longest, ..Extent::whole(Duration::ZERO) };
    bench.extent = if has_exchanges && !bench.metric.needs_whole_run() {
        let fewest = rows.iter().map(|row| row.exchanges).min().unwrap_or_default();
        Extent {
            warm_up: (fewest / 5).min(MOST_WARM_UP),
            exchanges: Some(WANTED_EXCHANGES),
            least: WINDOW,
            window: Some(LONGEST_WINDOW.min(longest / 2)),
            longest,
        }
    } else {
        whole
    };
}
