//! Whether a world is good or bad, by runs in turns with the bad one: as few as it takes.
//!
//! Each pair of runs, one in the world that is probed and one in the bad world (the control), gives the logarithm of how much
//! faster the probe was. Where it is as slow as the control that is 0, where it is as fast as the good world it is that of the
//! whole gain: Wald's sequential test ([`stats::SequentialTest`]) tells which, wrong once in a thousand each way, so that twenty
//! probes are all right in 98 of 100 searches. A single pair far out, as on a shared machine, never decides.
//!
//! A world in between, to which only a part of the gain comes, is neither: the answer is unclear, and its place is reported.

use crate::engine::{self, Budget, Design, Entry, MOST_FAILURES, Order, Pace, State, Stop, Stopped, Study, Turn};
use crate::error::LabError;
use crate::metric::Metric;
use crate::pairs::{middle, pairs};
use case::ProbeResult;
use case::tables::Trial;
use stats::{Mean, SequentialTest, median};
use std::time::Duration;

/// The chance of a wrong answer, either way.
const ERROR: f64 = 0.001;
/// In a single pair, both runs may have been disturbed.
const LEAST_PAIRS: u32 = 2;
/// After this many pairs a probe ends without an answer. By then it detects runs 1.1 times as long where single runs vary
/// by a tenth.
pub const MOST_PAIRS: u32 = 40;
/// Ratios of runs vary by at least this much: the effect of where a program lies in memory.
const LEAST_DEVIATION: f64 = 0.01;
/// The standard deviation of normal values over the middle of their distances from their middle.
const DEVIATION_OF_MIDDLE: f64 = 1.4826;
/// Fewer pairs have no spread of their own to go by.
const OWN_SPREAD: usize = 6;
/// A place from here to here is neither good nor bad, ...
const BETWEEN: (f64, f64) = (0.3, 0.7);
/// ... at this confidence.
const CONFIDENCE: f64 = 0.95;
/// Standard deviations to either side that a normal mean lies within with that confidence.
const REACH: f64 = 1.96;

/// What good and bad are, and how far runs vary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// The middle of the metric in the good world.
    pub good: f64,
    /// The same in the bad world; less is better, so it is larger.
    pub bad: f64,
    /// The standard deviation of the logarithm of the ratio of a pair of runs.
    pub deviation: f64,
}

impl Axis {
    /// From interleaved trials of both worlds, the arms `A` (good) and `B` (bad); none where there are fewer than two pairs, or
    /// the bad world is not the slower one.
    ///
    /// The deviation is drawn from the middle of the distances, which single disturbed runs do not move, and is made
    /// larger by what so few pairs may have hidden.
    pub fn of(trials: &[Trial], metric: &Metric) -> Option<Axis> {
        let (pairs, logs) = (pairs(trials, metric, "A", "B"), gains_of(trials, metric));
        let (good, bad) = (middle(pairs.iter().map(|pair| pair.0)), middle(pairs.iter().map(|pair| pair.1)));
        let is_sound = pairs.len() >= 2 && bad > good && good > 0.0;
        is_sound.then(|| Axis { good, bad, deviation: deviation(&logs).max(LEAST_DEVIATION) })
    }

    /// The logarithm of the whole gain.
    fn length(&self) -> f64 {
        (self.bad / self.good).ln()
    }
}

/// The logarithms of how much faster the good world (`A`) was than the bad one (`B`), pair by pair.
pub fn gains_of(trials: &[Trial], metric: &Metric) -> Vec<f64> {
    let logs = pairs(trials, metric, "A", "B").into_iter().map(|(good, bad)| (bad / good).ln());
    logs.filter(|gain| gain.is_finite()).collect()
}

/// The standard deviation that values may have been drawn with: robust, and rather too large than too small.
fn deviation(values: &[f64]) -> f64 {
    let center = median(values);
    let distances = values.iter().map(|value| (value - center).abs()).collect::<Vec<_>>();
    // The middle of few distances is too small as often as not: by half of itself with five.
    let hidden = 1.0 + 1.5 / (values.len() as f64).sqrt();
    DEVIATION_OF_MIDDLE * median(&distances) * hidden
}

/// A probe under way.
#[derive(Clone, Debug)]
pub struct Probing {
    axis: Axis,
    most_pairs: u32,
    gains: Vec<f64>,
}

impl Probing {
    /// Nothing was run yet.
    pub fn new(axis: &Axis) -> Probing {
        Probing { axis: *axis, most_pairs: MOST_PAIRS, gains: Vec::new() }
    }

    /// Adds a pair: the metric of a run in the probed world and in the bad one. What has no logarithm is left out.
    pub fn add(&mut self, probe: f64, control: f64) {
        let gain = (control / probe).ln();
        if gain.is_finite() {
            self.gains.push(gain);
        }
    }

    /// Pairs that count.
    pub fn pairs(&self) -> u32 {
        self.gains.len() as u32
    }

    /// What it is; none where more pairs are to be run.
    pub fn decision(&self) -> Option<ProbeResult> {
        if self.pairs() < LEAST_PAIRS {
            return None;
        }
        let is_end = self.pairs() >= self.most_pairs;
        let (place, low, high) = self.place();
        if low > BETWEEN.0 && high < BETWEEN.1 {
            return Some(ProbeResult::Unclear);
        }
        let is_between = place > BETWEEN.0 && place < BETWEEN.1;
        match self.tested() {
            Some(Mean::First) if place <= 0.5 && (is_end || !is_between) => Some(ProbeResult::Bad),
            Some(Mean::Second) if place >= 0.5 && (is_end || !is_between) => Some(ProbeResult::Good),
            _ => is_end.then_some(ProbeResult::Unclear),
        }
    }

    /// Whether the gain is none (the first) or the whole. The spread is the baseline's, or that of these pairs where they vary
    /// more.
    fn tested(&self) -> Option<Mean> {
        let mut test = SequentialTest::new(0.0, self.axis.length(), self.deviation(), ERROR)?;
        self.gains.iter().for_each(|gain| test.add(*gain));
        test.decision()
    }

    fn deviation(&self) -> f64 {
        let own = if self.gains.len() >= OWN_SPREAD { deviation(&self.gains) } else { 0.0 };
        own.max(self.axis.deviation)
    }

    /// Its place from bad (0) to good (1), and the ends of the place's interval of 95 %. Not numbers without a pair.
    pub fn place(&self) -> (f64, f64, f64) {
        let length = self.axis.length();
        let center = median(&self.gains);
        let reach = REACH * self.deviation() / (self.gains.len() as f64).sqrt();
        let pairs = self.gains.iter().map(|gain| (gain.exp(), 1.0)).collect::<Vec<_>>();
        match stats::ratio_of_pairs(&pairs, CONFIDENCE).filter(|ratio| ratio.pairs >= OWN_SPREAD) {
            Some(ratio) => (ratio.ratio.ln() / length, ratio.low.ln() / length, ratio.high.ln() / length),
            None => (center / length, (center - reach) / length, (center + reach) / length),
        }
    }
}

/// What a probe says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Probed {
    /// Good, bad, or neither.
    pub result: ProbeResult,
    /// The place from bad (0) to good (1); none where nothing was measured.
    pub place: Option<f64>,
    /// Lower end of its interval of 95 %.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Pairs of runs that count.
    pub pairs: u32,
}

/// A run of the subject: the metric, or none where the run did not work.
pub type Run<'r> = &'r mut dyn FnMut() -> Result<Option<f64>, LabError>;

/// The probed world and the bad one, by their numbers in the design.
const ARMS: [&str; 2] = ["probe", "control"];

/// What pairs come to so far; none where more are to be run.
type Decide<'d> = &'d dyn Fn(&Probing) -> Option<ProbeResult>;

/// A probe under way: its runs, and the pair that is not complete.
struct Pairs<'d> {
    state: State,
    probing: Probing,
    decide: Decide<'d>,
    /// What each world's run of this round came to.
    pair: [Option<f64>; 2],
    /// Runs of each that did not work.
    failed: [usize; 2],
    result: Option<ProbeResult>,
}

impl Study for Pairs<'_> {
    fn state(&self) -> &State {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

impl Pairs<'_> {
    fn take(&mut self, turn: &Turn, value: Option<f64>) {
        self.pair[turn.arm] = value;
        self.failed[turn.arm] += usize::from(value.is_none());
    }

    /// After each pair: it is decided, or there is no bad world to compare with.
    fn is_over(&mut self) -> Option<Stopped> {
        if let [Some(value), Some(control)] = std::mem::take(&mut self.pair) {
            self.probing.add(value, control);
        }
        self.result = (self.decide)(&self.probing);
        match self.result {
            Some(_) => Some(Stopped::Answered),
            None => (self.failed[1] >= MOST_FAILURES).then_some(Stopped::NothingSound),
        }
    }
}

/// Runs pairs, each of one run in the probed world and one in the bad one, until the answer is there or `most_pairs` were run.
/// Which comes first is drawn from the seed, and changes from pair to pair.
///
/// Where the subject fails twice in the probed world, that cannot be tried; where it fails twice in the bad one, the probe is
/// unclear.
///
/// # Errors
/// As the runs.
pub fn probe(axis: &Axis, most_pairs: u32, run_probe: Run, run_control: Run, seed: u64) -> Result<Probed, LabError> {
    Ok(run_pairs(axis, most_pairs, &Probing::decision, [run_probe, run_control], seed)?.0)
}

/// Runs pairs as [`probe`] does until `is_enough` says so of their gains: the logarithms of how much faster than the bad world
/// the probed one was. They come along with what they say; there are none where the probed world cannot be tried. A place
/// from which the ends are not certainly off by more than `slack` is good or bad, any other is unclear.
///
/// # Errors
/// As the runs.
pub fn gains(
    axis: &Axis,
    (most_pairs, slack): (u32, f64),
    is_enough: &dyn Fn(&[f64]) -> bool,
    runs: [Run; 2],
    seed: u64,
) -> Result<(Probed, Vec<f64>), LabError> {
    let decide = |probing: &Probing| {
        let is_end = probing.pairs() >= probing.most_pairs;
        (is_end || is_enough(&probing.gains)).then(|| probing.near(slack))
    };
    let (probed, gains) = run_pairs(axis, most_pairs, &decide, runs, seed)?;
    Ok((probed, if probed.result == ProbeResult::Untestable { Vec::new() } else { gains }))
}

fn run_pairs(
    axis: &Axis,
    most_pairs: u32,
    decide: Decide,
    [run_probe, run_control]: [Run; 2],
    seed: u64,
) -> Result<(Probed, Vec<f64>), LabError> {
    let probing = Probing { most_pairs: most_pairs.max(LEAST_PAIRS), ..Probing::new(axis) };
    let most_rounds = probing.most_pairs + 2 * MOST_FAILURES as u32;
    let mut pairs = Pairs { state: State::default(), probing, decide, pair: [None; 2], failed: [0; 2], result: None };
    let is_untestable = |pairs: &Pairs| pairs.failed[0] >= MOST_FAILURES;
    let design = Design {
        doing: "probing",
        arms: vec![Entry::tried(ARMS[0]), Entry::reference(ARMS[1])],
        order: Order::Random(seed),
        most_rounds,
        budget: Budget { time: Duration::MAX, pace: Pace::Unlimited },
        open: Design::<Pairs>::all(ARMS.len()),
        stop: Stop::at_rounds(Pairs::is_over)
            .or_at_trials(move |pairs| is_untestable(pairs).then_some(Stopped::NothingSound)),
        say: &|_| {},
    };
    let stopped = engine::run(&design, &mut pairs, &mut |pairs, turn| {
        let value = if turn.arm == 0 { run_probe()? } else { run_control()? };
        pairs.take(turn, value);
        Ok(())
    })?;
    engine::unless_interrupted(stopped)?;
    let unclear = if is_untestable(&pairs) { ProbeResult::Untestable } else { ProbeResult::Unclear };
    let probed = pairs.probing.probed(pairs.result.unwrap_or(unclear));
    Ok((probed, pairs.probing.gains))
}

impl Probing {
    /// Which end its place is at, as far as can be told; else it is in between.
    fn near(&self, slack: f64) -> ProbeResult {
        let (place, low, high) = self.place();
        match (low <= slack, high >= 1.0 - slack) {
            (true, false) => ProbeResult::Bad,
            (false, true) => ProbeResult::Good,
            (true, true) if place < BETWEEN.0 => ProbeResult::Bad,
            (true, true) if place > BETWEEN.1 => ProbeResult::Good,
            _ => ProbeResult::Unclear,
        }
    }

    fn probed(&self, result: ProbeResult) -> Probed {
        let (place, low, high) = self.place();
        let number = |value: f64| value.is_finite().then_some(value);
        Probed { result, place: number(place), low: number(low), high: number(high), pairs: self.pairs() }
    }
}

#[cfg(test)]
mod tests;
