//! A recording with every index that a diagnosis needs: what detectors get.

pub(crate) mod asked;
pub(crate) mod awaited;
mod calls;
pub(crate) mod ender;
mod ends;
pub mod ledger;
pub mod peer_stalls;
pub(crate) mod ready;
mod reconcile;

use crate::code::Code;
use crate::connections::{Connections, End};
use crate::exchange::{self, Exchange, Exchanges};
use crate::place::{self, Located};
use crate::search::not_after;
use crate::side_by_side::both;
use crate::threads::{Cursor, State, Threads, call_end};
use crate::windows::Windows;
use asked::Asked;
use awaited::Awaited;
use calls::CallNumbers;
use case::tables::{Call, HttpMessage, Sample, direction};
use case::{Cost, Ledger, Queue, Recording};
use ends::Ends;
use ledger::{Account, Accounts, Booked, Breakdown, Pools, is_within};
use peer_stalls::PeerStalls;
use reconcile::{Reconciliation, reconcile};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A recording, indexed once. The rows of each table are in order, as [`Recording::load`] and [`Recording::sort`] leave
/// them.
pub struct Analysis<'r> {
    /// The tables.
    pub(crate) recording: &'r Recording,
    /// When there are rows.
    pub(crate) windows: Windows,
    /// Threads over time.
    pub(crate) threads: Threads<'r>,
    /// Calls by their numbers.
    pub(crate) numbers: CallNumbers,
    /// Connections and their transfers.
    pub(crate) connections: Connections<'r>,
    /// Stacks and modules.
    pub(crate) code: Code<'r>,
    /// How many steps behind the clients' the exchanges are that count: 0 are the clients' own.
    pub(crate) steps: usize,
    /// Exchanges that count.
    pub(crate) exchanges: Vec<Exchange>,
    /// What servers asked others within them.
    pub(crate) inner: Vec<Exchange>,
    /// When there was an exchange of which only a part has rows.
    pub(crate) cut: Vec<(u64, u64)>,
    /// When each thread took part in an exchange that counts: merged, in order of time.
    pub(crate) taking_part: BTreeMap<u32, Vec<(u64, u64)>>,
    /// When bytes were held at peers that nobody watched.
    pub(crate) peer_stalls: PeerStalls,
    /// Where the exchanges' time and the run's went.
    pub(crate) accounts: Accounts,
    /// What the user-mode time of each process consists of.
    pub(crate) pools: Pools,
    /// When threads and processes ended.
    pub(crate) ends: Ends,
    /// Who ended the waits that are booked.
    pub(crate) awaited: Awaited,
    /// What the scheduler's own sums say of the threads' rows.
    pub(crate) reconciliation: Reconciliation,
    /// The ledgers of all exchanges, once they were asked for; until then what these are made from.
    breakdown: OnceLock<Breakdown>,
    booked: Mutex<Vec<Booked>>,
    /// Requests that wait in line, once that was asked for.
    pub(crate) queue: OnceLock<Option<Queue>>,
    /// What event loops asked others for each request, once that was asked for.
    pub(crate) asked: OnceLock<Asked>,
}

/// What removing a mechanism could save at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PotentialSaving {
    /// Wall time within exchanges, in nanoseconds.
    pub wall: u64,
    /// Wall time between exchanges.
    pub outside: u64,
    /// CPU time.
    pub cpu: u64,
    /// Exchanges or events touched.
    pub affected: u64,
}

impl<'r> Analysis<'r> {
    /// Indexes a recording, splits it into exchanges and breaks the time down.
    pub fn new(recording: &'r Recording) -> Analysis<'r> {
        Analysis::of(recording, 0, None)
    }

    /// The same of requests that are known, so many steps behind the clients': what their servers ask other recorded ones.
    pub(crate) fn behind(recording: &'r Recording, steps: usize, requests: Exchanges) -> Analysis<'r> {
        Analysis::of(recording, steps, Some(requests))
    }

    fn of(recording: &'r Recording, steps: usize, known: Option<Exchanges>) -> Analysis<'r> {
        let windows = Windows::new(recording);
        let on_connections = || {
            let connections = Connections::new(recording, &windows);
            let exchanges = known.unwrap_or_else(|| exchange::find(recording, &connections, &windows, steps));
            let taking_part = taking_part(recording, &connections, &exchanges.counted);
            (connections, exchanges, taking_part)
        };
        let on_threads = || (Threads::new(recording, &windows), CallNumbers::new(&recording.calls));
        let (on_connections, (threads, numbers)) = both(on_connections, on_threads);
        let (connections, Exchanges { counted, inner, cut }, taking_part) = on_connections;
        let mut analysis = Analysis {
            recording,
            threads,
            numbers,
            windows,
            connections,
            code: Code::new(recording),
            steps,
            exchanges: counted,
            inner,
            cut,
            taking_part,
            peer_stalls: PeerStalls::new(),
            accounts: Accounts::default(),
            pools: Pools::default(),
            ends: Ends::default(),
            awaited: Awaited::default(),
            reconciliation: Reconciliation::default(),
            breakdown: OnceLock::new(),
            booked: Mutex::default(),
            queue: OnceLock::new(),
            asked: OnceLock::new(),
        };
        analysis.ends = Ends::new(recording, &analysis.threads);
        analysis.reconciliation = reconcile(recording, &analysis.threads, &analysis.windows);
        analysis.threads.set_doubts(std::mem::take(&mut analysis.reconciliation.doubts));
        analysis.peer_stalls = peer_stalls::find(&analysis);
        analysis.pools = Pools::new(&analysis);
        let (accounts, booked) = Accounts::new(&analysis);
        analysis.accounts = accounts;
        analysis.booked = Mutex::new(booked);
        analysis
    }

    /// Whether only packets on a wire were captured: then nothing is known of processes.
    pub fn is_capture(&self) -> bool {
        !self.recording.manifest.source.is_recording()
    }

    /// The exchanges that count, in order of their starts.
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// Where the time of all exchanges together went; its total is the sum of their lengths.
    pub fn exchange_ledger(&self) -> Ledger {
        ledger::of_exchanges(self)
    }

    /// Where the time of each exchange went, in the order of [`Analysis::exchanges`].
    pub fn exchange_ledgers(&self) -> Vec<Ledger> {
        let mut walker = ledger::Walker::new(self);
        self.exchanges.iter().map(|exchange| ledger::of_exchange(&mut walker, exchange)).collect()
    }

    /// The same in few bytes, made once.
    pub(crate) fn breakdown(&self) -> &Breakdown {
        let booked = || std::mem::take(&mut *self.booked.lock().unwrap_or_else(PoisonError::into_inner));
        self.breakdown.get_or_init(|| Breakdown::new(self, booked()))
    }

    /// Where each thread's life went, with its id, in order of ids.
    pub fn thread_ledgers(&self) -> Vec<(u32, Ledger)> {
        let threads = self.threads.all().iter().enumerate();
        threads.map(|(slot, thread)| (thread.tid, ledger::of_thread(self, slot))).collect()
    }

    /// How long was recorded: without the time that has no rows on purpose.
    pub fn wall(&self) -> u64 {
        self.windows.length(self.recording.manifest.start.0, self.recording.manifest.end.0)
    }

    /// The sum of the exchanges' lengths; the run's where there are none.
    pub fn exchange_wall(&self) -> u64 {
        if self.exchanges.is_empty() { self.wall() } else { self.exchanges.iter().map(Exchange::length).sum() }
    }

    /// The exchanges' time but for what their threads wait for a CPU: that is a crowded machine's, and the rest is as much on a calm
    /// one.
    pub fn wall_given_cpus(&self) -> u64 {
        let for_a_cpu = self.accounts.of_exchanges(|account| matches!(account, Account::Processor(_)));
        self.exchange_wall().saturating_sub(for_a_cpu)
    }

    /// The exchanges' time in which bytes were held back for want of a full segment or an ACK, at either end.
    pub fn held_wall(&self) -> u64 {
        let is_held = |account: &Account| matches!(account, Account::HeldByNagle(_) | Account::HeldAtPeer);
        let held = self.accounts.exchanges.iter().filter(|(account, _)| is_held(account));
        held.map(|(_, length)| *length).sum::<f64>() as u64
    }

    /// CPU time of all threads recorded.
    pub fn total_cpu(&self) -> u64 {
        let exact: u64 = self.threads.all().iter().map(|thread| thread.on_processor).sum();
        if exact > 0 { exact } else { self.recording.samples.len() as u64 * self.sample_period() }
    }

    /// How long a process's threads were on CPU, or waited for one, within some spans, which are in order.
    pub fn busy(&self, pid: u32, spans: &[(u64, u64)]) -> u64 {
        self.busy_in_each(pid, spans).into_iter().fold(0, u64::saturating_add)
    }

    /// The same in each of the spans.
    pub fn busy_in_each(&self, pid: u32, spans: &[(u64, u64)]) -> Vec<u64> {
        let mut sums = vec![0_u64; spans.len()];
        for (slot, _) in self.threads.all().iter().enumerate().filter(|(_, thread)| thread.pid == pid) {
            let mut cursor = Cursor::default();
            for (&(from, to), sum) in spans.iter().zip(&mut sums) {
                self.threads.walk(slot, from, to, &mut cursor, &mut |moment| {
                    if matches!(moment.state, State::OnProcessor | State::Runnable) {
                        *sum = sum.saturating_add(moment.end - moment.start);
                    }
                });
            }
        }
        sums
    }

    /// How long a thread was on CPU between two times.
    pub fn on_cpu(&self, tid: u32, from: u64, to: u64) -> u64 {
        let Some(slot) = self.threads.slot(tid) else { return 0 };
        let mut sum = 0;
        self.threads.walk(slot, from, to, &mut Cursor::default(), &mut |moment| {
            if moment.state == State::OnProcessor {
                sum += moment.end - moment.start;
            }
        });
        sum
    }

    /// The CPU time a sample stands for.
    pub fn sample_period(&self) -> u64 {
        1_000_000_000 / u64::from(self.recording.manifest.sampling_hertz.max(1))
    }

    /// The stretches that samples stand for, each with its thread: a period, with the sample in its middle.
    pub fn stretches(&self, samples: &[&Sample]) -> Vec<(u32, u64, u64)> {
        let half = self.sample_period() / 2;
        let stretch = |time: u64| (time.saturating_sub(half), time.saturating_add(half));
        let stretches = samples.iter().map(|sample| (sample.tid, stretch(sample.time.0)));
        stretches.map(|(tid, (from, to))| (tid, from, to)).collect()
    }

    /// Whether a sample fell into a request that its thread took part in, or that waited for what it was at, as for a pool's.
    pub(crate) fn is_for_requests(&self, sample: &Sample) -> bool {
        is_within(self, sample) || self.awaited.is_at_work(sample.tid, sample.time.0)
    }

    /// Wall time of a stretch of one thread, split into what falls within its exchanges and what falls outside.
    pub fn split(&self, tid: u32, start: u64, end: u64) -> (u64, u64) {
        let spans = self.taking_part.get(&tid).map_or(&[][..], Vec::as_slice);
        let first = not_after(spans, |span| span.1, start);
        let overlaps = spans[first..].iter().take_while(|&&(span_start, _)| span_start < end);
        let inside: u64 = overlaps.map(|&(from, to)| to.min(end).saturating_sub(from.max(start))).sum();
        (inside, self.windows.length(start, end).saturating_sub(inside))
    }

    /// A saving as the answer's cost.
    pub fn cost(&self, saving: &PotentialSaving) -> Cost {
        let count = self.exchanges.len().max(1) as u64;
        // What lies between exchanges is no part of their wall time; it joins both sides of the fraction.
        let between = if self.exchanges.is_empty() { 0 } else { saving.outside };
        let wall = saving.wall + saving.outside;
        Cost {
            ns_per_exchange: wall / count,
            between_ns_per_exchange: between / count,
            share_of_wall: share(wall, self.exchange_wall() + between),
            cpu_ns_per_exchange: saving.cpu / count,
            share_of_cpu: share(saving.cpu, self.total_cpu()),
            affected: if self.exchanges.is_empty() { saving.affected } else { saving.affected.min(count) },
            few: None,
        }
    }

    /// The place of the calls that took most of a cost: each call's row with its part of it.
    pub fn place_of_calls(&self, calls: impl IntoIterator<Item = (usize, u64)>) -> Located {
        let stacks = calls.into_iter().map(|(row, weight)| {
            let call = self.call(row);
            ((call.script_stack, call.stack), weight)
        });
        place::of_most(&self.code, stacks)
    }

    /// A call by its row.
    pub fn call(&self, row: usize) -> &'r Call {
        &self.recording.calls[row]
    }

    /// The calls that moved an exchange's bytes, as rows.
    pub fn transfers(&self, exchange: &Exchange) -> &[u32] {
        &self.connections.transfers()[as_rows(&exchange.transfers)]
    }

    /// The head of an exchange's final answer as its client read it, where it is in plain text.
    pub fn response_head(&self, exchange: &Exchange) -> Option<&'r HttpMessage> {
        self.heads(exchange).filter(|row| row.direction == direction::IN && row.status >= 200).last()
    }

    /// The head of an exchange's request, likewise.
    pub fn request_head(&self, exchange: &Exchange) -> Option<&'r HttpMessage> {
        self.heads(exchange).find(|row| row.status == 0)
    }

    fn heads(&self, exchange: &Exchange) -> impl Iterator<Item = &'r HttpMessage> {
        let (id, end) = (self.connections.row(exchange.connection).id, exchange.end);
        let messages = &self.recording.http_messages;
        let first = messages.partition_point(|row| (row.connection, row.time.0) < (id, exchange.start));
        messages[first..].iter().take_while(move |row| row.connection == id && row.time.0 <= end)
    }

    /// The server's end of an exchange's connection; none where the server was not recorded.
    pub fn server_slot(&self, exchange: &Exchange) -> Option<usize> {
        match exchange.end_seen {
            End::Client => self.connections.all()[exchange.connection].peer,
            End::Server => Some(exchange.connection),
        }
    }

    /// The calls by which the server moved the bytes of an exchange, as rows of the table of calls; none where it was
    /// not recorded.
    pub fn server_transfers(&self, exchange: &Exchange) -> &[u32] {
        &self.connections.transfers()[as_rows(&exchange.served)]
    }

    /// The end that a connection is of; the client's where that is not known.
    pub fn end(&self, slot: usize) -> End {
        self.connections.all()[slot].end.unwrap_or_default()
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64).clamp(0.0, 1.0) }
}

/// A part of a list, as it is kept.
fn as_rows(part: &Range<u32>) -> Range<usize> {
    part.start as usize..part.end as usize
}

/// When each thread, at either end, took part in exchanges.
fn taking_part(
    recording: &Recording,
    connections: &Connections,
    exchanges: &[Exchange],
) -> BTreeMap<u32, Vec<(u64, u64)>> {
    let mut spans: rustc_hash::FxHashMap<u32, Vec<(u64, u64)>> = rustc_hash::FxHashMap::default();
    let mut take_part = |tid: u32, start: u64, end: u64| {
        let spans = spans.entry(tid).or_default();
        match spans.last_mut() {
            Some(last) if last.0 <= start && start <= last.1 => last.1 = last.1.max(end),
            _ => spans.push((start, end)),
        }
    };
    for exchange in exchanges {
        let ours = &connections.transfers()[as_rows(&exchange.transfers)];
        let peers = connections.all()[exchange.connection].peer.map_or(&[][..], |peer| {
            let rows = connections.transfer_numbers(peer);
            let time = |&index: &u32| call_end(&recording.calls[index as usize]);
            let first = not_after(rows, time, exchange.start);
            let last = not_after(rows, time, exchange.end);
            &rows[first.min(last)..last]
        });
        let mut before = 0;
        for &index in ours.iter().chain(peers) {
            let tid = recording.calls[index as usize].tid;
            if tid != before {
                take_part(tid, exchange.start, exchange.end);
            }
            before = tid;
        }
    }
    spans.into_iter().map(|(tid, spans)| (tid, crate::spans::merge(spans))).collect()
}
