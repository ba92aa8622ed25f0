//! Runs a command at rates of our choice: once at full rate, once at about half of it with a bucket that is full again, once
//! resumed when it is half full. A bucket of tokens lets each go on for as long as it predicts; what is done by the clock does not.

use super::bucket::{self, Emptied};
use super::{of_series, read_off};
use crate::{Activity, Console, StudyError};
use case::{Bucket, Driven, DrivenKind, DrivenTrial, RateLimit, Step, Steps};
use import::{Measurements, Shape};
use std::process::{Command, Stdio};
use std::time::Duration;

/// How a command is driven.
pub struct Drive {
    /// Its words, in which `{rate}` and `{seconds}` stand for what is asked.
    pub words: Vec<String>,
    /// The full rate to ask for, in bits a second; 0 for as much as there is.
    pub full_rate: f64,
    /// How long the first run takes, in seconds.
    pub seconds: u32,
}

/// A bucket is waited for a little longer than it takes to fill: its rate is known to a percent.
const WELL_FULL: f64 = 1.15;
/// A resumed run begins when so much has flowed in.
const PARTLY: f64 = 0.5;
/// Half of the full rate empties a bucket only if it is above the rate at which that fills; else so much above it is.
const LEAST_ABOVE: f64 = 1.3;
/// A step comes as predicted within this part of the time,
const CLOSE: f64 = 0.15;
/// or within so many values of the series: steps are placed between two of them.
const VALUES_OFF: f64 = 2.0;
/// After a step, a run goes on for this part of its time, for the plateau to show.
const AFTERWARDS: f64 = 0.6;
/// And for so many seconds at least.
const LEAST_AFTERWARDS: f64 = 1.5;
/// Nobody waits longer for a bucket to fill, or a step to come.
const LONGEST: f64 = 120.0;
/// How often to look whether a pause is to be broken off.
const TICK: Duration = Duration::from_millis(100);

/// Drives the command.
pub fn drive(drive: &Drive, shape: &Shape, console: &dyn Console) -> Result<Steps, StudyError> {
    let mut activity = Activity::of(console, "running at full rate");
    let first = run(drive, drive.full_rate, f64::from(drive.seconds), shape)?;
    let mut document = of_series(&shlex::try_join(drive.words.iter().map(String::as_str)).unwrap_or_default(), &first);
    document.quantity = case::Quantity::BitsPerSecond;
    let mut driven = Driven { limit: RateLimit::None, ..Driven::default() };
    let step = bucket::drop(&document.levels, &document.steps).copied();
    let bucket = step.and_then(|step| bucket::infer(&first.values, &step));
    if let (Some(step), Some(bucket)) = (step, bucket) {
        driven.bucket = Some(bucket);
        driven.limit = RateLimit::Undecided;
        // The rate that it had before the step: what is asked for may not be had.
        let full = document.levels[0].value;
        let slower = (full / 2.0).max(bucket.rate * LEAST_ABOVE).min(full);
        for (kind, asked, filled) in [(DrivenKind::Slower, slower, 1.0), (DrivenKind::Resumed, full, PARTLY)] {
            let Some(predicted_s) = (Emptied { asked, filled }).at_s(&bucket) else { continue };
            let pause_s = bucket.fills_s * if filled < 1.0 { filled } else { WELL_FULL };
            if predicted_s + pause_s > LONGEST {
                continue;
            }
            activity.turn_to("waiting for a bucket to fill");
            if !pause(pause_s, console) {
                break;
            }
            activity.turn_to(match kind {
                DrivenKind::Slower => "running at about half the rate",
                DrivenKind::Resumed => "running again, with a bucket that is half full",
            });
            let seconds = (predicted_s * (1.0 + AFTERWARDS)).max(predicted_s.max(step.at_s) + LEAST_AFTERWARDS);
            let asked_for = if kind == DrivenKind::Resumed { drive.full_rate } else { asked };
            let again = run(drive, asked_for, seconds, shape)?;
            driven.trials.push(judged(&again, &bucket, kind, asked, pause_s, predicted_s));
        }
        driven.limit = limit(&driven.trials, &step);
    }
    document.driven = Some(driven);
    Ok(document)
}

/// What a further run shows.
fn judged(
    run: &Measurements,
    bucket: &Bucket,
    kind: DrivenKind,
    asked: f64,
    pause_s: f64,
    predicted_s: f64,
) -> DrivenTrial {
    let (levels, steps) = read_off(&run.values);
    let step = bucket::drop(&levels, &steps).copied();
    let length = run.values.first().map_or(0.0, |one| one.length_s);
    let is_close = |step: &Step| (step.at_s - predicted_s).abs() <= (CLOSE * predicted_s).max(VALUES_OFF * length);
    // Where it goes on afterwards is predicted as well.
    let last = levels.last().map_or(0.0, |level| level.value);
    let is_level = (last - bucket.rate).abs() <= CLOSE * bucket.rate;
    DrivenTrial { kind, asked, pause_s, predicted_s, met: step.as_ref().is_some_and(is_close) && is_level, step }
}

/// What limits the rate, by when the steps came.
fn limit(trials: &[DrivenTrial], first: &Step) -> RateLimit {
    let by_the_clock = |trial: &DrivenTrial| {
        let same = |step: &Step| (step.at_s - first.at_s).abs() <= CLOSE * first.at_s;
        trial.step.as_ref().is_some_and(same)
    };
    match trials {
        [] => RateLimit::Undecided,
        _ if trials.iter().all(|trial| trial.met) && !trials.iter().all(by_the_clock) => RateLimit::TokenBucket,
        _ if trials.iter().all(by_the_clock) => RateLimit::Schedule,
        _ => RateLimit::Undecided,
    }
}

/// Nothing for so long; whether nobody broke it off.
fn pause(seconds: f64, console: &dyn Console) -> bool {
    let until = std::time::Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, LONGEST));
    while std::time::Instant::now() < until {
        if console.next(TICK).is_some() {
            return false;
        }
    }
    true
}

/// Runs the command once, and reads what it prints.
fn run(drive: &Drive, rate: f64, seconds: f64, shape: &Shape) -> Result<Measurements, StudyError> {
    let (rate, seconds) = (format!("{rate:.0}"), format!("{:.0}", seconds.ceil()));
    let words = drive.words.iter().map(|word| word.replace("{rate}", &rate).replace("{seconds}", &seconds));
    let words: Vec<String> = words.collect();
    let failed = |why: String| StudyError::NotDriven { command: words.join(" "), why };
    let Some((program, arguments)) = words.split_first() else { return Err(failed("it is empty".to_string())) };
    let run = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let run = run.map_err(|error| failed(error.to_string()))?;
    let said = String::from_utf8_lossy(&run.stdout);
    let mut read = import::measurements(&said, shape);
    if read.values.is_empty() {
        let errors = String::from_utf8_lossy(&run.stderr);
        let last = errors.lines().chain(said.lines()).rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        return Err(failed(format!("{}, and no value in what it printed: {last}", run.status)));
    }
    if !read.are_bits_per_second {
        read.are_bits_per_second = true;
    }
    Ok(read)
}
