//! P27: a transfer is fast until a bucket of tokens is empty, then slow and steady.

mod rates;

use super::{Found, costly_call, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::number;
use crate::spans;
use crate::syscall;
use crate::threads::call_end;
use case::tables::{direction, event, transport};
use case::{Bytes, Nanos, Share};
use rates::Step;
use std::collections::BTreeMap;

detector! {
    /// # token-bucket
    ///
    /// ## What it is
    /// Something on the way lets a burst of bytes through at full speed and then only as many as tokens come in: a traffic shaper,
    /// the burst credits of a cloud machine's network, the fair use of a provider. Short tests are fast; what is longer gets slow after
    /// so many bytes, not after some time. While the line idles the bucket fills again.
    ///
    /// ## Evidence
    /// The bytes that arrive from one host, over all connections, come at one rate and then, from one moment on, at half of it or less,
    /// and that steadily (nine tenths of the time within 15 %), for a third of the time at least. From then on the sender had more
    /// to send, the receiver waited for it, and almost nothing was sent again: neither end explains it, nor loss. Both ends have to be
    /// recorded.
    ///
    /// ## What proves it
    /// On a link of ours (`--link burst=..`), a bucket ten times as large (`large-bucket`). A shaper of somebody else cannot be
    /// switched off from here: there it remains a suspicion, and its size and rate are predictions.
    ///
    /// ## Remedy
    /// Find out who shapes (the machine's class, the provider, tc on a host between), and plan with the steady rate; send less,
    /// compress, or spread transfers over time so that the bucket fills in between.
    ///
    /// ## Not to be confused with
    /// A receiver that gets slow (a disk that has to write what its cache does not hold any more); a sender that reads from a disk what is
    /// not in its cache; loss-and-rto; a link whose rate is the same from the beginning.
    "P27" "token-bucket",
    needs: &[Server, Tcp]
}

/// The steady rate is this part of the first one at most: less of a change is what networks do every day.
const SLOWER: f64 = 0.5;
/// So much of the time that bytes came goes by at the steady rate: a short dip at the end is no plateau.
const LEAST_PLATEAU: f64 = 1.0 / 3.0;
/// A bucket of fewer bytes is what every queue on the way holds.
const LEAST_BUCKET: u64 = 1_000_000;
/// Of the segments, so many may be sent again: a shaper drops a few as its queue fills, and the sender finds its rate.
const MOST_REPAIRED: f64 = 0.02;
/// How much of the plateau the sender has more to send, and the receiver waits. Both also work, and bytes come in bursts.
const MOSTLY: f64 = 0.5;

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut hosts: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (slot, rows) in analysis.connections.all().iter().enumerate() {
        let row = analysis.connections.row(slot);
        let has_both = rows.peer.is_some_and(|peer| !analysis.connections.all()[peer].segments.is_empty());
        if row.transport == transport::TCP && has_both && !rows.segments.is_empty() {
            hosts.entry(&row.remote_address).or_default().push(slot);
        }
    }
    let found = hosts.into_iter().filter_map(|(host, slots)| of_host(analysis, host, &slots));
    found.max_by_key(|found| found.saving.wall + found.saving.outside)
}

/// What came from one host on some connections.
fn of_host(analysis: &Analysis, host: &str, slots: &[usize]) -> Option<Found> {
    let arrivals = slots.iter().flat_map(|&slot| arrivals(analysis, slot)).collect();
    let step = rates::step(arrivals)?;
    let is_plateau = (step.end - step.at) as f64 >= LEAST_PLATEAU * (step.end - step.start) as f64;
    if step.slow > SLOWER * step.fast || !is_plateau || step.bucket < LEAST_BUCKET {
        return None;
    }
    let is_explained = repaired(analysis, slots, &step) > MOST_REPAIRED
        || share(&step, sending(analysis, slots)) < MOSTLY
        || share(&step, waiting(analysis, slots)) < MOSTLY;
    (!is_explained).then(|| found(analysis, host, slots, &step))
}

/// The payload that arrived at one end of a connection: time and bytes.
fn arrivals(analysis: &Analysis, slot: usize) -> impl Iterator<Item = (u64, u64)> {
    let segments = analysis.connections.segments(slot).iter();
    let came = segments.filter(|row| row.direction == direction::IN && row.payload > 0);
    came.map(|row| (row.time.0, u64::from(row.payload)))
}

/// The share of segments that the other ends sent again during the plateau.
fn repaired(analysis: &Analysis, slots: &[usize], step: &Step) -> f64 {
    let (mut sent, mut again) = (0usize, 0usize);
    for peer in slots.iter().filter_map(|&slot| analysis.connections.all()[slot].peer) {
        let plateau = step.at..step.end;
        let segments = analysis.connections.segments(peer).iter();
        let left = |row: &&case::tables::Segment| row.direction == direction::OUT && row.payload > 0;
        sent += segments.filter(left).filter(|row| plateau.contains(&row.time.0)).count();
        let events = analysis.connections.events(peer).iter().filter(|row| row.event == event::RETRANSMIT);
        again += events.filter(|row| plateau.contains(&row.time.0)).count();
    }
    again as f64 / sent.max(1) as f64
}

/// When the other ends had written more than had left, or more was under way than one segment.
fn sending(analysis: &Analysis, slots: &[usize]) -> Vec<(u64, u64)> {
    let rows = |slot: usize| &analysis.connections.all()[slot];
    let peers = slots.iter().filter_map(|&slot| rows(slot).peer).map(rows);
    let mut spans: Vec<(u64, u64)> = peers.flat_map(|rows| rows.unsent.iter().copied()).collect();
    spans.extend(slots.iter().filter_map(|&slot| rows(slot).under_way.as_deref()).flatten());
    spans
}

/// When the threads that read these connections were blocked in a call that waits for bytes.
fn waiting(analysis: &Analysis, slots: &[usize]) -> Vec<(u64, u64)> {
    let calls = slots.iter().flat_map(|&slot| analysis.connections.transfers_of(slot));
    let readers = calls.filter(|call| syscall::is_read(call.number)).map(|call| call.tid);
    let readers: std::collections::BTreeSet<u32> = readers.collect();
    let mut spans = Vec::new();
    for thread in readers.into_iter().filter_map(|tid| analysis.threads.get(tid)) {
        for call in &analysis.recording.calls[thread.calls.clone()] {
            let waits = syscall::is_read(call.number) || syscall::is_poll(call.number);
            if waits && call.blocked.0 > 0 {
                spans.push((call.start.0, call_end(call)));
            }
        }
    }
    spans
}

/// The share of the plateau that some stretches cover.
fn share(step: &Step, stretches: Vec<(u64, u64)>) -> f64 {
    let within = |&(from, to): &(u64, u64)| to.min(step.end).saturating_sub(from.max(step.at));
    let covered: u64 = spans::merge(stretches).iter().map(within).sum();
    covered as f64 / (step.end - step.at).max(1) as f64
}

fn found(analysis: &Analysis, host: &str, slots: &[usize], step: &Step) -> Found {
    // What came at the steady rate would have come at the first one.
    let too_long = 1.0 - step.slow / step.fast;
    let (mut wall, mut affected) = (0.0, 0);
    let within = |exchange: &crate::Exchange| {
        let rows = &analysis.connections.all()[exchange.connection];
        slots.contains(&exchange.connection) || rows.peer.is_some_and(|peer| slots.contains(&peer))
    };
    for exchange in analysis.exchanges.iter().filter(|exchange| within(exchange)) {
        let length = exchange.end.min(step.end).saturating_sub(exchange.start.max(step.at));
        wall += length as f64 * too_long;
        affected += u64::from(length > 0);
    }
    let reads: Vec<(usize, u64)> = slots.iter().flat_map(|&slot| reads(analysis, slot, step)).collect();
    let place = costly_call(analysis, reads.iter().copied());
    let what =
        format!("After {} the rate drops in one step and stays there, as with a token bucket", Bytes(step.fast_bytes));
    let refilled = Nanos((step.bucket as f64 / step.slow) as u64);
    let plateau = Share((step.end - step.at) as f64 / (step.end - step.start).max(1) as f64);
    Found {
        title: format!("{what}: from {} to {}{}", number::per_second(step.fast), number::per_second(step.slow), place.in_words()),
        what,
        mechanism: vec![
            format!(
                "{} came from {host} in {} at {}; for the rest of the time, {plateau} of it, bytes came at {}, within 15 % of that for {} of \
                 the time.",
                Bytes(step.fast_bytes),
                Nanos(step.fast_time()),
                number::per_second(step.fast),
                number::per_second(step.slow),
                Share(step.steady),
            ),
            "The sender had more to send, the receiver waited for it, and almost nothing was lost.".to_string(),
            format!(
                "A bucket of {} that fills at {} explains it. Then less than {} at a time is fast throughout, and {refilled} without \
                 traffic fill the bucket again.",
                Bytes(step.bucket),
                number::per_second(step.slow),
                Bytes(step.fast_bytes),
            ),
        ],
        saving: PotentialSaving { wall: wall as u64, affected, ..PotentialSaving::default() },
        place,
        remedy: "Find out who shapes the traffic (the machine's class, the provider, a host between) and plan with the steady rate; \
                 send less, or spread transfers over time."
            .to_string(),
        rows: rows("calls", reads.iter().map(|&(row, _)| row)),
        ..Found::default()
    }
}

/// The calls that read a connection's bytes during the plateau, and for how long they were blocked.
fn reads(analysis: &Analysis, slot: usize, step: &Step) -> impl Iterator<Item = (usize, u64)> {
    let calls = analysis.connections.transfer_numbers(slot).iter().map(|&row| row as usize);
    let late = calls.filter(|&row| (step.at..step.end).contains(&analysis.call(row).start.0));
    late.filter(|&row| syscall::is_read(analysis.call(row).number)).map(|row| (row, analysis.call(row).blocked.0 + 1))
}

#[cfg(test)]
mod tests;
