//! How CPU time grows with what exchanges work on, within one run: only where inputs varied enough to tell.

mod parts;

use crate::analysis::Analysis;
use crate::connections::End;
use crate::exchange::Exchange;
use crate::syscall;
use case::facts::{Input, Observation, WhyNoGrowth};
use std::collections::BTreeMap;

/// Fewer exchanges than this tell no law.
const FEWEST: usize = 20;

/// Inputs are told apart by quarters of an octave. A step has this many exchanges at least, so that its median is not one
/// exchange's chance.
const STEPS_OF_OCTAVE: f64 = 4.0;
const FEWEST_OF_STEP: usize = 3;

/// So many steps, over this range: as many as [`stats::growth`] asks for, over what it calls conclusive.
const FEWEST_STEPS: usize = 4;
const LEAST_RANGE: f64 = 4.0;

/// More exchanges than this add nothing to a law; as many are taken from all parts of the run.
const MOST: usize = 5_000;

/// A cost that depends on what was before it adds up: the sum's has one power more. [`stats::Growth`] takes
/// a power beyond 1.5 for out of hand, and costs that do not rise fourfold for undecided.
const OF_THE_SUM: f64 = 0.5;
const LEAST_RISE: f64 = 4.0;
/// The power of the last values alone must still exceed that of a logarithm.
const LASTING: f64 = 0.25;

/// What one thread did for one exchange, or for a part of one.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// The thread.
    pub tid: u32,
    /// From when, nanoseconds since boot.
    pub start: u64,
    /// Until when.
    pub end: u64,
    /// What its cost may grow with, as a number.
    pub input: u64,
    /// How much was worked on: in proportion to this the cost is not out of hand.
    pub amount: u64,
    /// Its CPU time.
    pub cpu: u64,
}

/// A growth that was measured.
pub struct InputGrowth {
    /// With what.
    pub input: Input,
    /// At which end.
    pub end: End,
    /// The power and its interval.
    pub growth: stats::Growth,
    /// What it rests on.
    pub turns: Vec<Turn>,
    /// Of how many exchanges that is.
    pub exchanges: u64,
}

impl InputGrowth {
    /// Whether it grows faster than memory or sorting would make it.
    pub fn is_out_of_hand(&self) -> bool {
        let growth = &self.growth;
        match self.input {
            Input::RequestBytes | Input::ResponseBytes => growth.is_out_of_hand(),
            Input::Exchanges | Input::RequestBytesSoFar | Input::ResponseBytesSoFar => {
                growth.interval.low > OF_THE_SUM && growth.last > LASTING && growth.rise >= LEAST_RISE
            }
        }
    }

    /// As a fact.
    pub fn observation(&self) -> Observation {
        Observation::Growth {
            input: self.input,
            exponent: self.growth.exponent,
            low: self.growth.interval.low,
            high: self.growth.interval.high,
            smallest: self.growth.from.round() as u64,
            largest: self.growth.to.round() as u64,
            exchanges: self.exchanges,
        }
    }

    /// The CPU time of each turn beyond what those of the smaller inputs predict, in proportion to what was worked on.
    pub fn excess(&self) -> Vec<u64> {
        let mut by_input: Vec<&Turn> = self.turns.iter().collect();
        by_input.sort_by_key(|turn| turn.input);
        let small = by_input[..by_input.len().div_ceil(4)].iter().map(|turn| turn.cpu as f64 / turn.amount as f64);
        let rate = stats::median(&small.collect::<Vec<f64>>());
        self.turns.iter().map(|turn| turn.cpu.saturating_sub((rate * turn.amount as f64) as u64)).collect()
    }
}

/// A growth within exchanges that is out of hand: each part that is read costs more than the one before. None where none is.
pub fn within(analysis: &Analysis) -> Option<InputGrowth> {
    let out_of_hand = |end| parts::growth(analysis, end).filter(InputGrowth::is_out_of_hand);
    let found = [End::Client, End::Server].into_iter().filter_map(out_of_hand);
    found.max_by_key(|growth| growth.excess().iter().sum::<u64>())
}

/// The steepest growth that the run shows, or why it shows none.
pub fn measure(analysis: &Analysis) -> Result<InputGrowth, WhyNoGrowth> {
    if analysis.exchanges.len() < FEWEST {
        return Err(WhyNoGrowth::FewExchanges);
    }
    let works = works(analysis);
    let measured = [
        growth(analysis, &works, Input::ResponseBytes, End::Client),
        growth(analysis, &works, Input::RequestBytes, End::Client),
        growth(analysis, &works, Input::ResponseBytes, End::Server),
        growth(analysis, &works, Input::RequestBytes, End::Server),
    ];
    let mut measured: Vec<InputGrowth> = measured.into_iter().flatten().collect();
    // Where sizes vary, a cost that rises from exchange to exchange may rise with them.
    if measured.is_empty() {
        let of_numbers = [End::Client, End::Server].map(|end| growth(analysis, &works, Input::Exchanges, end));
        measured.extend(of_numbers.into_iter().flatten().filter(InputGrowth::is_out_of_hand));
    }
    let steepest = |one: &InputGrowth, other: &InputGrowth| {
        let low = |measured: &InputGrowth| measured.growth.interval.low;
        (one.is_out_of_hand().cmp(&other.is_out_of_hand())).then(low(one).total_cmp(&low(other)))
    };
    measured.into_iter().max_by(steepest).ok_or(WhyNoGrowth::InputsAlike)
}

/// An exchange with what each end read and wrote.
struct Work<'e> {
    exchange: &'e Exchange,
    number: u64,
    request: u64,
    response: u64,
    client: Option<u32>,
    server: Option<u32>,
}

impl Work<'_> {
    fn input(&self, input: Input) -> u64 {
        match input {
            Input::RequestBytes => self.request,
            Input::ResponseBytes => self.response,
            // Parts of an exchange are no works of their own.
            Input::Exchanges | Input::RequestBytesSoFar | Input::ResponseBytesSoFar => self.number,
        }
    }
}

fn works<'a>(analysis: &'a Analysis) -> Vec<Work<'a>> {
    let step = analysis.exchanges.len().div_ceil(MOST).max(1);
    let numbered = (1..).zip(&analysis.exchanges).step_by(step).filter(|(_, exchange)| exchange.answered);
    numbered.map(|(number, exchange)| work(analysis, number, exchange)).collect()
}

fn work<'a>(analysis: &Analysis, number: u64, exchange: &'a Exchange) -> Work<'a> {
    let (mut written, mut read) = (0, 0);
    for &row in analysis.transfers(exchange) {
        let call = analysis.call(row as usize);
        let bytes = call.result.max(0) as u64;
        if syscall::is_write(call.number) { written += bytes } else { read += bytes }
    }
    let own = one_thread(analysis, analysis.transfers(exchange));
    let peer =
        analysis.connections.all()[exchange.connection].peer.and_then(|peer| peer_thread(analysis, exchange, peer));
    match exchange.end_seen {
        End::Client => Work { exchange, number, request: written, response: read, client: own, server: peer },
        End::Server => Work { exchange, number, request: read, response: written, client: None, server: own },
    }
}

fn peer_thread(analysis: &Analysis, exchange: &Exchange, peer: usize) -> Option<u32> {
    let rows = analysis.connections.transfer_numbers(peer);
    let end = |row: &u32| crate::threads::call_end(analysis.call(*row as usize));
    let first = rows.partition_point(|row| end(row) <= exchange.start);
    let last = rows.partition_point(|row| end(row) <= exchange.end);
    one_thread(analysis, &rows[first.min(last)..last])
}

/// The thread that made all of some transfers: where several share them, whose CPU time it was is not plain.
fn one_thread(analysis: &Analysis, rows: &[u32]) -> Option<u32> {
    let mut threads = rows.iter().map(|row| analysis.call(*row as usize).tid);
    let first = threads.next()?;
    threads.all(|tid| tid == first).then_some(first)
}

fn growth(analysis: &Analysis, works: &[Work], input: Input, end: End) -> Option<InputGrowth> {
    let has_thread = |work: &&Work| if end == End::Client { work.client.is_some() } else { work.server.is_some() };
    let inputs: Vec<u64> = works.iter().filter(has_thread).map(|work| work.input(input)).collect();
    // Their CPU time need not be asked for where the inputs tell nothing.
    steps(&inputs)?;
    of_turns(input, end, turns(analysis, works, input, end), |turn| turn.cpu as f64)
}

/// The law of some turns by what each costs; none where there are too few steps.
fn of_turns(input: Input, end: End, turns: Vec<Turn>, cost: impl Fn(&Turn) -> f64) -> Option<InputGrowth> {
    let steps = steps(&turns.iter().map(|turn| turn.input).collect::<Vec<u64>>())?;
    let points: Vec<(f64, f64)> =
        turns.iter().filter_map(|turn| Some((*steps.get(&step(turn.input))?, cost(turn)))).collect();
    let growth = stats::growth(&points)?;
    Some(InputGrowth { input, end, growth, exchanges: turns.len() as u64, turns })
}

/// The steps that enough inputs fall into, with the mean of those; none where they are too few or too close.
fn steps(inputs: &[u64]) -> Option<BTreeMap<i64, f64>> {
    let mut members: BTreeMap<i64, (f64, usize)> = BTreeMap::new();
    for &input in inputs.iter().filter(|input| **input > 0) {
        let (sum, count) = members.entry(step(input)).or_default();
        *sum += input as f64;
        *count += 1;
    }
    members.retain(|_, (_, count)| *count >= FEWEST_OF_STEP);
    let means: BTreeMap<i64, f64> =
        members.into_iter().map(|(step, (sum, count))| (step, sum / count as f64)).collect();
    let range = means.values().last()? / means.values().next()?;
    (means.len() >= FEWEST_STEPS && range >= LEAST_RANGE).then_some(means)
}

fn step(input: u64) -> i64 {
    ((input.max(1) as f64).log2() * STEPS_OF_OCTAVE).round() as i64
}

/// What threads of an end did for exchanges of their own: a client makes its request before it sends it, and works on the
/// response until the next request; a server does its work within the exchange.
fn turns(analysis: &Analysis, works: &[Work], input: Input, end: End) -> Vec<Turn> {
    let mut by_thread: BTreeMap<u32, Vec<&Work>> = BTreeMap::new();
    for work in works {
        if let Some(tid) = if end == End::Client { work.client } else { work.server } {
            by_thread.entry(tid).or_default().push(work);
        }
    }
    let mut turns = Vec::new();
    for (tid, mut works) in by_thread {
        works.sort_by_key(|work| work.exchange.start);
        for (at, work) in works.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| works[before].exchange.end);
            let after = works.get(at + 1).map(|after| after.exchange.start);
            let (own_start, own_end) = (begins(work.exchange), work.exchange.end);
            // A thread with several exchanges at once works on any of them.
            if before.is_some_and(|end| end > work.exchange.start) || after.is_some_and(|start| start < own_end) {
                continue;
            }
            let span = match (end, input) {
                (End::Server, _) => Some((own_start, own_end)),
                (End::Client, Input::RequestBytes) => before.map(|before| (before, own_end)),
                (End::Client, _) => after.map(|after| (own_start, after)),
            };
            let Some((start, end)) = span else { continue };
            let (outside, within) = analysis.threads.on_processor(tid, start, end);
            let cpu = outside + within;
            let size = work.input(input);
            let amount = if input == Input::Exchanges { 1 } else { size };
            turns.extend((cpu > 0).then_some(Turn { tid, start, end, input: size, amount, cpu }));
        }
    }
    turns
}

/// Where an exchange begins once its connection is set up.
fn begins(exchange: &Exchange) -> u64 {
    exchange.set_up.as_ref().map_or(exchange.start, |set_up| set_up.application)
}
