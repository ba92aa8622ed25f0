//! The turns of a transfer that a window of the application holds: a burst, a quiet round trip, and what lets the next burst go.

use crate::analysis::Analysis;
use crate::pieces;
use crate::threads::{Cursor, State};
use case::tables::{direction, transport};

/// Fewer turns are chance.
const REPEATED: usize = 5;
/// A shorter round trip is nothing that a program waits for, and a longer one none of a network.
const ROUND_TRIPS: std::ops::RangeInclusive<u64> = 1_000_000..=10_000_000_000;
/// How soon after an update the next burst leaves, as with Nagle's algorithm; what its sender waits for a processor is not counted.
const RELEASE: u64 = 1_000_000;
/// A pause is at least this part of a round trip: windows are opened in two parts as a rule, and the bursts that they let go may be
/// half a round trip apart.
const QUIET: f64 = 0.25;
/// Whatever went within this part of a round trip is under way together. The same burst a turn before ended a round trip ago at
/// least; that between them, where a window is opened in two parts, began less than one ago, if only just.
const WITHIN: f64 = 0.97;
/// Within this part of a round trip nobody asks twice who waits for answers: it is the shortest round trip that was seen.
const TURN: f64 = 0.99;
/// A smaller burst is no window that anybody sets: frames alone may have 16 kB.
const LEAST_BURST: u64 = 8_192;
/// The middle half of the bursts lies within this part of their median: the first has a head, the last is what is left.
const EQUAL: f64 = 0.1;
/// So many of the turns must begin with updates and nothing else: a request may come between.
const MOSTLY: f64 = 0.8;

/// A WINDOW_UPDATE: a head of 9 bytes and an increment of 4 (RFC 9113, 6.9).
const UPDATE: u32 = 13;
/// A record of TLS: its head of 5, and with it a tag of 16 and a type (TLS 1.3), or an explicit nonce of 8 (AES-GCM in TLS 1.2), or
/// neither (ChaCha20 there).
const TLS_1_3: [u32; 1] = [5 + 16 + 1];
const TLS_1_2: [u32; 2] = [5 + 8 + 16, 5 + 16];
const PLAIN: [u32; 1] = [0];
const VERSION_1_3: u16 = 0x0304;
/// Updates come for a stream and for the connection, often in one record, and more records may arrive together.
const MOST_RECORDS: u32 = 8;

/// A pause between two bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// When the burst before ended, and when the next one began.
    pub from: u64,
    pub to: u64,
    /// Bytes that had left within the round trip before: what was under way.
    pub bytes: u64,
}

impl Turn {
    pub fn span(&self) -> (u64, u64) {
        (self.from, self.to)
    }
}

/// A connection on which a window holds one direction.
pub(super) struct Windowed {
    /// The end whose segments show it.
    pub seen: usize,
    /// The ends, where they were recorded.
    pub sender: Option<usize>,
    pub receiver: Option<usize>,
    pub round_trip: u64,
    pub turns: Vec<Turn>,
    /// What was transferred from the end of the first turn to that of the last one, and how long that took.
    pub moved: u64,
    pub lasted: u64,
}

/// A turn with what let the next burst go.
struct Step {
    turn: Turn,
    /// Whether only updates came since the payload before.
    is_by_updates: bool,
    /// How many records or segments of them came within a round trip, before the burst or from its beginning on.
    updates: u32,
}

/// All connections that a window holds, each seen from its sender where that was recorded.
pub(super) fn find(analysis: &Analysis) -> Vec<Windowed> {
    let connections = &analysis.connections;
    let mut found = Vec::new();
    for slot in 0..connections.all().len() {
        let is_long = connections.segments(slot).len() > REPEATED;
        if connections.row(slot).transport != transport::TCP || !is_long || !pieces::is_multiplexed(analysis, slot) {
            continue;
        }
        let Some(round_trip) = connections.round_trip(slot).filter(|trip| ROUND_TRIPS.contains(trip)) else { continue };
        let peer = connections.all()[slot].peer;
        let ways: &[u8] = if peer.is_some() { &[direction::OUT] } else { &[direction::OUT, direction::IN] };
        for &way in ways {
            if let Some(turns) = held(steps(analysis, slot, way, round_trip)) {
                let [sender, receiver] = if way == direction::OUT { [Some(slot), peer] } else { [peer, Some(slot)] };
                let (first, last) = (turns[0].to, turns[turns.len() - 1].to);
                let rows = connections.segments(slot).iter();
                let own = rows.filter(|row| row.direction == way && (first..last).contains(&row.time.0));
                let (moved, lasted) = (own.map(|row| u64::from(row.payload)).sum(), last - first);
                found.push(Windowed { seen: slot, sender, receiver, round_trip, turns, moved, lasted });
            }
        }
    }
    found
}

/// The turns, where they are what a window makes.
fn held(steps: Vec<Step>) -> Option<Vec<Turn>> {
    let by_updates = steps.iter().filter(|step| step.is_by_updates).count();
    // Whoever asks one question at a time sends one message in a round trip; a receiver opens its window before it is used up.
    let several = steps.iter().filter(|step| step.is_by_updates && step.updates > 1).count();
    if by_updates < REPEATED || (by_updates as f64) < MOSTLY * steps.len() as f64 || 2 * several < by_updates {
        return None;
    }
    let turns: Vec<Turn> = steps.into_iter().filter(|step| step.is_by_updates).map(|step| step.turn).collect();
    let mut bursts: Vec<u64> = turns.iter().map(|turn| turn.bytes).collect();
    bursts.sort_unstable();
    let of = |part: usize| bursts[(bursts.len() - 1) * part / 4];
    let is_equal = (of(3) - of(1)) as f64 <= EQUAL * of(2) as f64;
    (is_equal && of(2) >= LEAST_BURST).then_some(turns)
}

/// Pauses in one direction of a connection, as one end saw them.
fn steps(analysis: &Analysis, slot: usize, way: u8, round_trip: u64) -> Vec<Step> {
    let overheads = overheads(analysis, slot);
    let unsent = &analysis.connections.all()[slot].unsent;
    let is_sender = way == direction::OUT;
    let holds_back = |from: u64, to: u64| {
        let next = unsent.partition_point(|&(_, end)| end <= from);
        is_sender && unsent.get(next).is_some_and(|&(start, _)| start < to.saturating_sub(RELEASE))
    };
    let (mut steps, mut begun) = (Vec::new(), Vec::new());
    let mut last: Option<u64> = None;
    // What went this way, and the other: when, and how much.
    let mut sent: Vec<(u64, u32)> = Vec::new();
    let mut back: Vec<(u64, u32)> = Vec::new();
    // How much of that came back before the turn.
    let mut told = 0;
    for segment in analysis.connections.segments(slot).iter().filter(|segment| segment.payload > 0) {
        let time = segment.time.0;
        if segment.direction != way {
            back.push((time, segment.payload));
            continue;
        }
        // What was asked before the first byte is no update, and that one follows no pause.
        let from = last.unwrap_or(time);
        if time - from >= (round_trip as f64 * QUIET) as u64 && told < back.len() {
            // Windows are opened in parts: what is under way is what went within a round trip.
            let recent = |all: &[(u64, u32)], end: u64, part: f64| {
                all.partition_point(|&(at, _)| at <= end.saturating_sub((round_trip as f64 * part) as u64))
            };
            // Its receiver sent them a round trip ago.
            let within = if is_sender { TURN } else { 2.0 * TURN };
            let updates =
                back[recent(&back, time, within)..].iter().filter_map(|&(_, payload)| records(payload, overheads));
            let is_by_updates = is_let_go(analysis, slot, &back, (from, time), round_trip, is_sender)
                && back[told..].iter().all(|&(_, payload)| records(payload, overheads).is_some());
            let bytes = sent[recent(&sent, from, WITHIN)..].iter().map(|&(_, payload)| u64::from(payload)).sum();
            if !holds_back(from, time) {
                // Where it began: the update that let the burst go is the last that came before it.
                begun.push(back.len().saturating_sub(1));
                steps.push(Step { turn: Turn { from, to: time, bytes }, is_by_updates, updates: updates.sum() });
            }
        }
        told = back.len();
        last = Some(time);
        sent.push((time, segment.payload));
    }
    for (step, first) in steps.iter_mut().zip(begun).filter(|_| is_sender) {
        let begins = back.get(first).map_or(0, |&(at, _)| at);
        let until = begins.saturating_add((round_trip as f64 * TURN) as u64);
        let within = back[first.min(back.len())..].iter().take_while(|&&(at, _)| at < until);
        step.updates = step.updates.max(within.filter_map(|&(_, payload)| records(payload, overheads)).sum());
    }
    steps
}

/// How long the thread that used one end of a connection last before `to` had waited for a processor since `from`.
fn run_delay(analysis: &Analysis, slot: usize, from: u64, to: u64) -> u64 {
    let calls = analysis.connections.transfer_numbers(slot);
    let next = calls.partition_point(|&row| analysis.call(row as usize).start.0 <= to);
    let user = next.checked_sub(1).map(|at| analysis.call(calls[at] as usize).tid);
    let mut waited = 0;
    if let Some(thread) = user.and_then(|tid| analysis.threads.slot(tid)) {
        analysis.threads.walk(thread, from, to, &mut Cursor::default(), &mut |moment| {
            waited += if moment.state == State::Runnable { moment.end - moment.start } else { 0 };
        });
    }
    waited
}

/// Whether what came back let a pause end: the sender goes on at once, and who only saw the receiver's end finds what it sent a round
/// trip before. What either waits for a processor makes a turn longer, and no other one of it.
fn is_let_go(
    analysis: &Analysis,
    slot: usize,
    back: &[(u64, u32)],
    (from, to): (u64, u64),
    round_trip: u64,
    is_sender: bool,
) -> bool {
    if is_sender {
        let Some(&(last, _)) = back.last().filter(|&&(at, _)| at > from) else { return false };
        let peer = analysis.connections.all()[slot].peer;
        let own = run_delay(analysis, slot, last, to);
        let all = own + peer.map_or(0, |peer| run_delay(analysis, peer, from, last));
        return to - last < RELEASE + own && to - from <= 2 * round_trip + all;
    }
    let is_due = |&(at, _): &(u64, u32)| (round_trip * 7 / 10..=round_trip * 3 / 2).contains(&(to - at));
    back.iter().rev().take_while(|&&(at, _)| to - at <= 2 * round_trip).any(is_due)
}

/// What a record adds to the frames in it.
fn overheads(analysis: &Analysis, slot: usize) -> &'static [u32] {
    let peer = analysis.connections.all()[slot].peer;
    let handshake = std::iter::once(slot).chain(peer).find_map(|slot| analysis.connections.handshake(slot));
    match handshake.map(|row| row.version) {
        None => &PLAIN,
        Some(VERSION_1_3) => &TLS_1_3,
        Some(_) => &TLS_1_2,
    }
}

/// How many updates, or pairs of them, a payload is; none where it is something else. A record has one or two of them, or several
/// pairs where the receiver was late.
fn records(payload: u32, overheads: &[u32]) -> Option<u32> {
    let inside = |records: u32, overhead: u32| payload.checked_sub(records * overhead).filter(|it| it % UPDATE == 0);
    let fits = |&overhead: &u32| {
        (1..=MOST_RECORDS).find(|&records| {
            inside(records, overhead).is_some_and(|it| (records..=2 * records).contains(&(it / UPDATE)))
        })
    };
    let in_one = |&overhead: &u32| {
        let pairs = inside(1, overhead).filter(|it| it % (2 * UPDATE) == 0).map(|it| it / (2 * UPDATE));
        pairs.filter(|pairs| (1..=MOST_RECORDS).contains(pairs))
    };
    overheads.iter().find_map(fits).or_else(|| overheads.iter().find_map(in_one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_are_told_by_their_length_alone_in_pairs_and_in_several_records() {
        assert_eq!(records(13, &PLAIN), Some(1));
        assert_eq!([35, 48, 70, 96].map(|payload| records(payload, &TLS_1_3)), [Some(1), Some(1), Some(2), Some(2)]);
        assert_eq!([74, 100].map(|payload| records(payload, &TLS_1_3)), [Some(2), Some(3)]);
        assert_eq!([42, 55, 34, 47].map(|payload| records(payload, &TLS_1_2)), [Some(1); 4]);
    }

    #[test]
    fn other_lengths_are_something_else() {
        for payload in [14, 22, 36, 47, 61, 400] {
            assert_eq!(records(payload, &TLS_1_3), None, "{payload}");
        }
    }
}
