//! Who took part in an exchange: the threads at both ends.

use crate::analysis::Analysis;
use crate::connections::End;
use crate::exchange::Exchange;
use crate::threads::call_end;
use case::views::Lane;

/// Threads at one end that are looked at: a connection that goes from hand to hand has no life line.
const MOST_THREADS: usize = 32;

/// The two ends of an exchange.
pub struct Participants {
    /// Their life lines, the client's first.
    pub lanes: Vec<Lane>,
    /// For each lane its connection, where it was recorded: a place among all connections.
    pub slots: [Option<usize>; 2],
    /// For each lane the threads that moved the exchange's bytes or set the connection up, the first one first.
    pub threads: [Vec<u32>; 2],
}

impl Participants {
    /// Those of an exchange.
    pub fn of(analysis: &Analysis, exchange: &Exchange) -> Participants {
        let ours = lane_of(exchange.end_seen);
        let mut slots = [None, None];
        slots[ours] = Some(exchange.connection);
        slots[1 - ours] = analysis.connections.all()[exchange.connection].peer;
        let threads = slots.map(|slot| slot.map(|slot| threads(analysis, exchange, slot)).unwrap_or_default());
        let lanes = [End::Client, End::Server].into_iter().enumerate().map(|(lane, end)| {
            let owner = slots[lane].map(|slot| analysis.connections.row(slot).pid);
            let first = threads[lane].first().and_then(|&tid| analysis.threads.get(tid)).map(|thread| thread.pid);
            let process = first.or(owner).map(|pid| process(analysis, pid, exchange.start)).unwrap_or_default();
            Lane { end, process }
        });
        Participants { lanes: lanes.collect(), slots, threads }
    }

    /// The lanes whose connection was recorded, each with its place among all connections.
    pub fn ends(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.slots.iter().enumerate().filter_map(|(lane, slot)| Some((lane, (*slot)?)))
    }

    /// How a thread is named beside a lane: not at all where it is the lane's first.
    pub fn process_of(&self, analysis: &Analysis, lane: usize, tid: u32, at: u64) -> String {
        if self.threads[lane].first() == Some(&tid) {
            return String::new();
        }
        let pid = analysis.threads.get(tid).map_or(tid, |thread| thread.pid);
        let name = process(analysis, pid, at);
        if pid == tid { name } else { format!("{name}, thread {tid}") }
    }
}

/// The lane of an end.
fn lane_of(end: End) -> usize {
    usize::from(end == End::Server)
}

/// Threads that moved bytes on a connection during the exchange, or opened it.
fn threads(analysis: &Analysis, exchange: &Exchange, slot: usize) -> Vec<u32> {
    let rows = analysis.connections.transfer_numbers(slot);
    let first = rows.partition_point(|&row| call_end(analysis.call(row as usize)) < exchange.start);
    let here = rows[first..].iter().map(|&row| analysis.call(row as usize));
    let moved = here.take_while(|call| call.start.0 <= exchange.end).map(|call| call.tid);
    let connect = analysis.connections.all()[slot].connect.map(|row| analysis.call(row));
    let opened = connect.filter(|call| exchange.set_up.is_some() && call_end(call) > exchange.start);
    let mut threads: Vec<u32> = Vec::new();
    for tid in opened.map(|call| call.tid).into_iter().chain(moved) {
        if threads.last() != Some(&tid) && threads.len() < MOST_THREADS && !threads.contains(&tid) {
            threads.push(tid);
        }
    }
    threads
}

/// What stands for the program at an end of which only the wire was captured.
const CAPTURED: &str = "not recorded";

/// A program and its process: `python3 (4711)`.
fn process(analysis: &Analysis, pid: u32, at: u64) -> String {
    if analysis.is_capture() {
        return CAPTURED.to_string();
    }
    let images = analysis.recording.processes.iter().filter(|row| row.pid == pid);
    let image = images.clone().rfind(|row| row.start.0 <= at).or_else(|| images.clone().next());
    match image {
        Some(row) if !row.executable.is_empty() => format!("{} ({pid})", analysis.recording.program(row)),
        _ => format!("process {pid}"),
    }
}
