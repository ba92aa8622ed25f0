//! How the cost of each byte grows within a message that arrives in many parts: with what was read of it before.
//!
//! Only what happens between the first read and the last counts. What is done with the whole afterwards is no part's cost.

use super::{FEWEST_OF_STEP, InputGrowth, Turn, of_turns, one_thread, step};
use crate::analysis::Analysis;
use crate::connections::End;
use crate::exchange::Exchange;
use crate::syscall;
use crate::threads::call_end;
use case::facts::Input;
use std::collections::BTreeMap;

/// A message is cut into so many slices of equal size. With quarters of an octave, three slices or more a step, one message
/// alone shows the last three octaves.
const SLICES: usize = 96;
/// A message of fewer reads than slices has no cost for each of them.
const FEWEST_READS: usize = SLICES;
/// So many messages are looked at, from all parts of the run: more of them tell the same law.
const MOST: usize = 64;

/// By what the cost of a slice is divided.
#[derive(Clone, Copy)]
enum Per {
    Byte,
    Read,
}

/// The cost of a read rises if it doubles: what is done for a read of one size varies by less.
const RISES: f64 = 2.0;

/// A message as one end read it.
struct Message {
    tid: u32,
    /// When each read ended, and how many bytes there were by then.
    reads: Vec<(u64, u64)>,
}

/// The law of the messages that an end reads; none where none is long enough, or the cost of a read does not grow.
pub(super) fn growth(analysis: &Analysis, end: End) -> Option<InputGrowth> {
    let long: Vec<Message> =
        analysis.exchanges.iter().filter_map(|exchange| message(analysis, exchange, end)).collect();
    let input = match end {
        End::Client => Input::ResponseBytesSoFar,
        End::Server => Input::RequestBytesSoFar,
    };
    let chosen: Vec<&Message> = long.iter().step_by(long.len().div_ceil(MOST).max(1)).collect();
    let of = |per: Per| chosen.iter().flat_map(|message| slices(analysis, message, per)).collect::<Vec<Turn>>();
    // Small reads cost more a byte than large ones, and no more each.
    if last_quarter_to_first(of(Per::Read))? < RISES {
        return None;
    }
    let turns = of(Per::Byte);
    let cheaper = cheaper_half(turns.clone());
    let rise = last_quarter_to_first(cheaper.clone())?;
    let found = of_turns(input, end, cheaper, cost)?;
    // A fit of a fixed cost beside what grows leaves of the rise only what it is sure of; quarters need no fit.
    let growth = stats::Growth { rise: found.growth.rise.max(rise), ..found.growth };
    Some(InputGrowth { growth, turns, exchanges: chosen.len() as u64, ..found })
}

fn cost(turn: &Turn) -> f64 {
    turn.cpu as f64 / turn.amount as f64
}

/// The cheaper half of the turns of each step. Now and then a slice costs many times as much as its neighbours, whatever was read
/// before it: memory that is new to the process, a collection of garbage. What grows is what the others cost.
fn cheaper_half(turns: Vec<Turn>) -> Vec<Turn> {
    let mut steps: BTreeMap<i64, Vec<Turn>> = BTreeMap::new();
    for turn in turns {
        steps.entry(step(turn.input)).or_default().push(turn);
    }
    let cheaper = |mut turns: Vec<Turn>| {
        turns.sort_by(|one, other| cost(one).total_cmp(&cost(other)));
        turns.truncate(turns.len().div_ceil(2).max(FEWEST_OF_STEP));
        turns
    };
    steps.into_values().flat_map(cheaper).collect()
}

/// How many times as much the last quarter of some turns costs as the first; none where there are no turns.
fn last_quarter_to_first(mut turns: Vec<Turn>) -> Option<f64> {
    turns.sort_by_key(|turn| turn.input);
    let costs: Vec<f64> = turns.iter().map(cost).collect();
    let quarter = costs.len().div_ceil(4);
    (quarter > 0).then(|| stats::median(&costs[costs.len() - quarter..]) / stats::median(&costs[..quarter]))
}

/// What an end read of an exchange, where that is a long message and one thread read all of it.
fn message(analysis: &Analysis, exchange: &Exchange, end: End) -> Option<Message> {
    let rows = match end {
        End::Server => analysis.server_transfers(exchange),
        End::Client if exchange.end_seen == End::Client => analysis.transfers(exchange),
        End::Client => return None,
    };
    if rows.len() < FEWEST_READS {
        return None;
    }
    let mut so_far = 0;
    let calls = rows.iter().map(|&row| analysis.call(row as usize));
    let reads: Vec<(u64, u64)> = calls
        .filter(|call| syscall::is_read(call.number) && call.result > 0)
        .map(|call| {
            so_far += call.result as u64;
            (call_end(call), so_far)
        })
        .collect();
    let tid = one_thread(analysis, rows).filter(|_| reads.len() >= FEWEST_READS)?;
    Some(Message { tid, reads })
}

/// A message in slices, each with the CPU time of the thread from the read that ends one to the read that ends the next.
fn slices(analysis: &Analysis, message: &Message, per: Per) -> Vec<Turn> {
    let Some(&(_, whole)) = message.reads.last() else { return Vec::new() };
    let ends = (1..=SLICES as u64).map(|slice| whole * slice / SLICES as u64);
    let mut bounds: Vec<usize> = ends.map(|end| message.reads.partition_point(|&(_, so_far)| so_far < end)).collect();
    bounds.dedup();
    let turn = |pair: &[usize]| {
        let ((start, before), (end, after)) = (message.reads[pair[0]], message.reads[pair[1]]);
        let amount = match per {
            Per::Byte => after - before,
            Per::Read => (pair[1] - pair[0]) as u64,
        };
        let (outside, within) = analysis.threads.on_processor(message.tid, start, end);
        let cpu = outside + within;
        (cpu > 0).then_some(Turn { tid: message.tid, start, end, input: before, amount, cpu })
    };
    bounds.windows(2).filter_map(turn).collect()
}
