//! The requests that a process has read and not answered.

use crate::analysis::Analysis;
use crate::exchange::Exchange;
use crate::spans;
use crate::syscall;
use crate::threads::call_end;
use crate::waits;
use std::collections::BTreeMap;

/// A request that a process has read and not answered.
pub struct InHand {
    /// When it had come; `from` where that is not known, or it was read at once.
    pub arrived: u64,
    pub from: u64,
    pub to: u64,
    pub reader: u32,
    pub answers: u32,
}

/// The requests of the program's clients in each process, by its id.
pub fn by_process(analysis: &Analysis) -> BTreeMap<u32, Vec<InHand>> {
    of(analysis, analysis.exchanges.iter())
}

/// When each process had any of them in hand: merged, in order of time.
pub fn spans_by_process(analysis: &Analysis) -> BTreeMap<u32, Vec<(u64, u64)>> {
    merged(&by_process(analysis))
}

/// The same, of requests that are known.
pub fn merged(requests: &BTreeMap<u32, Vec<InHand>>) -> BTreeMap<u32, Vec<(u64, u64)>> {
    let spans = |requests: &[InHand]| spans::merge(requests.iter().map(|one| (one.from, one.to)).collect());
    requests.iter().map(|(&pid, requests)| (pid, spans(requests))).collect()
}

fn of<'a>(analysis: &Analysis, exchanges: impl Iterator<Item = &'a Exchange>) -> BTreeMap<u32, Vec<InHand>> {
    let mut processes: BTreeMap<u32, Vec<InHand>> = BTreeMap::new();
    for exchange in exchanges {
        let transfers = analysis.server_transfers(exchange).iter().map(|&row| analysis.call(row as usize));
        let Some(read) = transfers.clone().find(|call| syscall::is_read(call.number) && call.result > 0) else {
            continue;
        };
        let Some(last) = transfers.filter(|call| syscall::is_write(call.number)).last() else { continue };
        let from = call_end(read);
        let arrived = waits::unread(analysis, exchange).map_or(from, |(arrived, _)| arrived.min(from));
        let one = InHand { arrived, from, to: last.start.0, reader: read.tid, answers: last.tid };
        if one.from < one.to {
            processes.entry(read.pid).or_default().push(one);
        }
    }
    processes
}

/// When each thread, by its id, had one of some requests in hand that it had read, in order of time.
pub fn by_reader<'a>(
    analysis: &Analysis,
    exchanges: impl Iterator<Item = &'a Exchange>,
) -> BTreeMap<u32, Vec<(u64, u64)>> {
    by_reader_of(of(analysis, exchanges).values().flatten())
}

/// The same, of requests that are known.
pub fn by_reader_of<'a>(requests: impl Iterator<Item = &'a InHand>) -> BTreeMap<u32, Vec<(u64, u64)>> {
    let mut readers: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    for one in requests {
        readers.entry(one.reader).or_default().push((one.from, one.to));
    }
    readers.into_iter().map(|(tid, spans)| (tid, spans::merge(spans))).collect()
}
