//! Who takes and answers the requests that come to a port.

use crate::analysis::Analysis;
use crate::syscall;
use case::tables::Process;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The operation of `epoll_ctl` that adds a descriptor (`linux/eventpoll.h`).
const ADD: u64 = 1;

/// A thread that answers requests, or could.
#[derive(Debug, Default)]
pub struct Worker {
    pub tid: u32,
    /// What it answered: places in the list of exchanges.
    pub exchanges: Vec<usize>,
    /// The connections on which it did.
    pub connections: BTreeSet<usize>,
    /// The calls by which it took connections: rows.
    pub accepts: Vec<usize>,
    /// Whether it takes connections itself, or waits for them.
    listens: bool,
}

impl Worker {
    /// From the start of its first request to the end of its last.
    pub fn span(&self, analysis: &Analysis) -> (u64, u64) {
        let all = || self.exchanges.iter().map(|&index| &analysis.exchanges[index]);
        let (first, last) = (all().map(|one| one.start).min(), all().map(|one| one.end).max());
        (first.unwrap_or_default(), last.unwrap_or_default())
    }
}

/// A port and its workers.
#[derive(Debug, Default)]
pub struct Service {
    pub port: u16,
    pub workers: Vec<Worker>,
}

impl Service {
    /// How many requests they answered.
    pub fn exchanges(&self) -> usize {
        self.workers.iter().map(|worker| worker.exchanges.len()).sum()
    }
}

/// The ports at which several threads answer, each on connections of its own.
pub fn find(analysis: &Analysis) -> Vec<Service> {
    let (mut ports, shared) = readers(analysis);
    let families = families(analysis);
    add_listeners(analysis, &families, &mut ports);
    let services = ports.into_iter().filter(|(port, _)| !shared.contains(port));
    services.map(|(port, workers)| service(analysis, port, workers)).collect()
}

type Ports = BTreeMap<u16, BTreeMap<u32, Worker>>;

/// Who read the requests of each port, and the ports at which several threads read from one connection: these could all have
/// read any request.
fn readers(analysis: &Analysis) -> (Ports, BTreeSet<u16>) {
    let mut ports = Ports::new();
    let mut shared = BTreeSet::new();
    let mut readers: FxHashMap<usize, u32> = FxHashMap::default();
    for (index, exchange) in analysis.exchanges.iter().enumerate() {
        let Some(slot) = analysis.server_slot(exchange) else { continue };
        let port = analysis.connections.row(slot).local_port;
        let mut calls = analysis.server_transfers(exchange).iter().map(|&row| analysis.call(row as usize));
        let Some(read) = calls.find(|call| syscall::is_read(call.number)).filter(|_| port != 0) else { continue };
        if *readers.entry(slot).or_insert(read.tid) != read.tid {
            shared.insert(port);
        }
        let worker = ports.entry(port).or_default().entry(read.tid).or_default();
        worker.tid = read.tid;
        worker.exchanges.push(index);
        worker.connections.insert(slot);
    }
    (ports, shared)
}

/// For each process the one that it was forked from, where that runs the same program; else itself. Descriptors that both have
/// are the same ones.
fn families(analysis: &Analysis) -> FxHashMap<u32, u32> {
    // Of several images of a process the last counts.
    let images: FxHashMap<u32, &Process> = analysis.recording.processes.iter().map(|row| (row.pid, row)).collect();
    let family = |row: &Process| {
        let parent = images.get(&row.parent).filter(|parent| parent.executable == row.executable);
        (row.pid, parent.map_or(row.pid, |parent| parent.pid))
    };
    images.values().map(|row| family(row)).collect()
}

/// Adds who takes connections from the ports, and who waits for some.
fn add_listeners(analysis: &Analysis, families: &FxHashMap<u32, u32>, ports: &mut Ports) {
    let family = |pid: u32| families.get(&pid).copied().unwrap_or(pid);
    let calls = &analysis.recording.calls;
    let mut listeners: BTreeMap<(u32, i32), u16> = BTreeMap::new();
    for (row, call) in calls.iter().enumerate().filter(|(_, call)| syscall::is_accept(call.number)) {
        let slot = analysis.connections.slot(call.connection).filter(|_| call.result >= 0);
        let port = slot.map_or(0, |slot| analysis.connections.row(slot).local_port);
        if let Some(workers) = ports.get_mut(&port) {
            listeners.insert((family(call.pid), call.fd), port);
            let worker = workers.entry(call.tid).or_default();
            worker.tid = call.tid;
            worker.accepts.push(row);
        }
    }
    for call in calls {
        let descriptor = match call.number {
            number if syscall::is_accept(number) => call.fd,
            syscall::EPOLL_CTL if call.argument_1 == ADD => call.argument_2 as i32,
            _ => continue,
        };
        let workers = listeners.get(&(family(call.pid), descriptor)).and_then(|port| ports.get_mut(port));
        if let Some(workers) = workers {
            let worker = workers.entry(call.tid).or_default();
            (worker.tid, worker.listens) = (call.tid, true);
        }
    }
}

/// Of those that have to do with a port, the ones that could answer a request that comes to it next.
fn service(analysis: &Analysis, port: u16, workers: BTreeMap<u32, Worker>) -> Service {
    let pid = |tid: u32| analysis.threads.get(tid).map_or(tid, |thread| thread.pid);
    let answering: BTreeSet<u32> =
        workers.values().filter(|worker| !worker.exchanges.is_empty()).map(|worker| pid(worker.tid)).collect();
    let could = |worker: &Worker| match worker.exchanges.len() {
        // Who takes connections and answers nobody hands them over, as does a thread beside those that answer.
        0 => worker.listens && worker.accepts.is_empty() && !answering.contains(&pid(worker.tid)),
        // Who has one connection and takes none is there for that one.
        _ => worker.listens || worker.connections.len() > 1,
    };
    Service { port, workers: workers.into_values().filter(could).collect() }
}
