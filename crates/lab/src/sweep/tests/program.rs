//! A made-up program: how long its exchanges or runs take at a value, with noise.

use crate::error::LabError;
use crate::extent::Extent;
use crate::intervention_counters::InterventionCounters;
use crate::outcome::Outcome;
use crate::sweep::{SweepTerms, Swept, Value, Vary, sweep};
use case::Nanos;
use case::tables::Trial;
use fastrand::Rng;
use std::time::Duration;

/// What starting and ending a program takes.
const START: f64 = 0.05;
/// Exchanges of a whole run.
const EXCHANGES: u64 = 1_000;

/// The terms of these tests' sweeps.
pub fn terms(seconds: u64, seed: u64) -> SweepTerms<'static> {
    SweepTerms { budget: Duration::from_secs(seconds), seed, metric: None, grain: None, say: &|_| {} }
}

/// A factor of so much noise, lognormal.
pub fn noisy(random: &mut Rng, noise: f64) -> f64 {
    // Twelve uniform values make a normal one.
    let normal = (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
    (noise * normal).exp()
}

/// A trial of exchanges of so many seconds each, as far as the extent goes.
pub fn exchanging(seconds: f64, extent: &Extent) -> Outcome {
    let least = extent.least.as_secs_f64();
    let wanted = extent.exchanges.map_or(EXCHANGES, |wanted| wanted.max((least / seconds).ceil() as u64));
    let in_window = extent.window.map_or(EXCHANGES, |window| (window.as_secs_f64() / seconds).ceil() as u64);
    let exchanges = wanted.min(in_window).clamp(1, EXCHANGES);
    let wall = exchanges as f64 * seconds;
    let row = Trial {
        wall: nanos(wall * 1.05),
        exchanges,
        exchange_wall: nanos(wall),
        exit: if exchanges == EXCHANGES { 0 } else { -1 },
        ..Trial::default()
    };
    outcome(row, START + (extent.warm_up as f64) * seconds + wall, "")
}

/// A whole run of so many seconds, without exchanges; given up where it takes longer than the extent.
pub fn running(seconds: f64, extent: &Extent) -> Outcome {
    let longest = extent.longest.as_secs_f64();
    let exit = if seconds > longest { -1 } else { 0 };
    let row = Trial { wall: nanos(seconds.min(longest)), exit, ..Trial::default() };
    outcome(row, seconds.min(longest) + START, "")
}

/// A run that fails.
pub fn failing(exit: i32, errors: &str) -> Outcome {
    outcome(Trial { wall: nanos(0.01), exit, ..Trial::default() }, START, errors)
}

fn outcome(row: Trial, took: f64, errors: &str) -> Outcome {
    let took = Duration::from_secs_f64(took);
    Outcome {
        row,
        mapped: std::collections::BTreeSet::new(),
        counters: InterventionCounters::default(),
        output: Vec::new(),
        errors: errors.to_string(),
        took,
    }
}

fn nanos(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9) as u64)
}

/// Sweeps a program whose exchanges take so many seconds, with noise of 5 %.
pub fn swept(vary: &str, seed: u64, mut seconds: impl FnMut(f64, &mut Rng) -> f64) -> Swept {
    let mut random = Rng::with_seed(seed);
    let mut execute = |value: &Value, extent: &Extent| -> Result<Outcome, LabError> {
        let seconds = seconds(value.number, &mut random) * noisy(&mut random, 0.05);
        Ok(exchanging(seconds, extent))
    };
    sweep(&Vary::parse(vary).expect("values"), &mut execute, &terms(120, seed)).expect("a sweep")
}

/// Sweeps a program without exchanges.
pub fn swept_whole(vary: &str, seed: u64, noise: f64, seconds: impl Fn(f64) -> f64) -> Swept {
    let mut random = Rng::with_seed(seed);
    let mut execute = |value: &Value, extent: &Extent| -> Result<Outcome, LabError> {
        Ok(running(seconds(value.number) * noisy(&mut random, noise), extent))
    };
    sweep(&Vary::parse(vary).expect("values"), &mut execute, &terms(120, seed)).expect("a sweep")
}
