//! Requests that have arrived and lie unread while whoever reads them later is blocked in others: requests of the program's
//! clients, or what one of its servers asks another.

use super::{LEAST_REQUESTS, LEAST_SHARE, RARE, longest_line};
use crate::analysis::{Analysis, PotentialSaving};
use crate::detectors::held_up::held_up;
use crate::detectors::occupied::{is_of_client, is_others};
use crate::detectors::{Found, costly_call, median, rows};
use crate::exchange::Exchange;
use crate::in_hand;
use crate::spans;
use crate::syscall;
use crate::threads::{Cursor, State};
use crate::waits::{self, most_at_a_time, unread};
use case::Nanos;
use case::facts::Observation;
use std::collections::{BTreeMap, BTreeSet};

/// A request that lay unread.
struct Queued {
    from: u64,
    to: u64,
    /// For how long the thread that read it was blocked in others meanwhile.
    blocked: u64,
    reader: u32,
}

/// The requests that lay unread before one server's threads.
#[derive(Default)]
struct Line {
    /// How many requests there were, unread ones or not.
    requests: usize,
    queued: Vec<Queued>,
    readers: BTreeSet<u32>,
    /// What the readers were blocked in meanwhile: rows of calls, and for how long.
    calls: BTreeMap<usize, u64>,
}

impl Line {
    fn wall(&self) -> u64 {
        self.queued.iter().map(|one| one.blocked).sum()
    }
}

/// The line in which most time is spent.
pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    longest_line(analysis, |asked, peer| found(analysis, &line(analysis, asked), peer))
}

fn line(analysis: &Analysis, exchanges: &[&Exchange]) -> Line {
    let mut line = Line::default();
    let mut cursors = BTreeMap::new();
    let in_hand = in_hand::by_reader(analysis, exchanges.iter().copied());
    for &exchange in exchanges {
        line.requests += 1;
        let Some((arrived, read)) = unread(analysis, exchange) else { continue };
        line.readers.insert(read.tid);
        let Some(thread) = analysis.threads.slot(read.tid) else { continue };
        let mut blocked = 0;
        let cursor = cursors.entry(thread).or_insert_with(Cursor::default);
        analysis.threads.walk(thread, arrived, read.start.0, cursor, &mut |moment| {
            let Some(row) = moment.call.filter(|&row| is_others(analysis, row)) else { return };
            if matches!(moment.state, State::Blocked | State::BlockedOnDisk) {
                // Whoever has read no other request waits for something else: a time to look again, say.
                let of_others = in_hand.get(&read.tid).map_or(&[][..], Vec::as_slice);
                let length = spans::length(spans::within(of_others, moment.start, moment.end));
                blocked += length;
                *line.calls.entry(row).or_default() += length;
            }
        });
        if blocked > 0 {
            line.queued.push(Queued { from: arrived, to: read.start.0, blocked, reader: read.tid });
        }
    }
    line
}

/// `peer` is the server before which they wait, where that is not the one that the clients ask.
fn found(analysis: &Analysis, line: &Line, peer: Option<&str>) -> Option<Found> {
    let Line { queued, calls, .. } = line;
    let (wall, whole) = (line.wall(), analysis.exchange_wall());
    if queued.len() < LEAST_REQUESTS.max(line.requests / RARE) || (wall as f64) < LEAST_SHARE * whole as f64 {
        return None;
    }
    let blocking = calls.iter().max_by_key(|(_, length)| **length).map(|(&row, _)| analysis.call(row))?;
    let place = costly_call(analysis, calls.iter().map(|(&row, &length)| (row, length)));
    let most = most_at_a_time(queued.iter().map(|one| (one.from, one.to)));
    let usual = Nanos(median(queued.iter().map(|one| one.to - one.from).collect()));
    let whose = peer.map_or_else(|| "the server's".to_string(), |peer| format!("{peer}'s"));
    let workers = match line.readers.len() {
        1 => format!("{whose} only worker"),
        several => format!("{whose} {several} workers"),
    };
    let requests = analysis.exchanges.len().max(1) as u64;
    let (part, each) = (Nanos(wall / requests), Nanos(whole / requests));
    let idle = queued.iter().map(|one| one.reader).collect::<BTreeSet<_>>().len();
    let asked = peer.map_or_else(String::new, |peer| format!(" that {peer} was asked"));
    let takes_slowly = syscall::is_write(blocking.number) && is_of_client(analysis, blocking);
    Some(Found {
        title: format!("Requests wait in line for {workers}: {part} of every {each} request{}", place.in_words()),
        what: format!("Requests wait in line for {workers}"),
        mechanism: vec![
            format!(
                "{} of {} requests{asked} had arrived and waited unread, half of them for at least {usual}, up to {most} at a time.",
                queued.len(),
                line.requests
            ),
            format!(
                "Meanwhile the {} blocked on behalf of others, mostly in {}{}.",
                if idle == 1 {
                    "thread that reads them was".to_string()
                } else {
                    format!("{idle} threads that read them were")
                },
                syscall::name(blocking.number),
                if takes_slowly { ", by clients that take their answers slowly" } else { "" }
            ),
        ],
        saving: PotentialSaving { wall, affected: queued.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: remedy(takes_slowly).to_string(),
        rows: rows("calls", calls.keys().copied()),
        observed: peer.map_or_else(|| behind_few(analysis), |_| Vec::new()),
        stalls: queued.iter().map(|one| (one.from, one.to)).collect(),
        ..Found::default()
    })
}

/// The few requests behind which most of the others wait, where there are such.
fn behind_few(analysis: &Analysis) -> Vec<Observation> {
    let queue = waits::queue(analysis);
    queue.and_then(|queue| held_up(queue, analysis.exchanges.len())).into_iter().collect()
}

fn remedy(takes_slowly: bool) -> &'static str {
    if takes_slowly {
        "Let a proxy before the server take answers whole and hand them out at the clients' pace (nginx: proxy_buffering on, with \
         room for the largest), or write them without blocking, in an event loop; or allow more workers (threads or processes)."
    } else {
        "Allow more workers (threads or processes), keep blocking calls out of the thread that serves everybody, or make what the \
         workers wait for faster."
    }
}

#[cfg(test)]
mod tests;
