//! P01: Nagle's algorithm at one end waits for the other's delayed acknowledgement.

mod at_the_peer;
mod away;
mod held_lengths;

use super::{Found, costly_call, detector, median, rows, within_exchanges};
use crate::analysis::{Analysis, PotentialSaving};
use crate::send_stalls::Release;
use crate::syscall;
use case::Nanos;
use case::tables::{Call, event};
use std::collections::BTreeMap;

detector! {
    /// # nagle-delayed-ack
    ///
    /// ## What it is
    /// A program writes a message in two or more pieces and then waits for the answer. Nagle's algorithm (on unless
    /// TCP_NODELAY is set) holds the second piece, if it is smaller than a segment, until the first is acknowledged.
    /// The peer delays that ACK (40 ms on Linux, up to 200 ms elsewhere) in the hope of sending it along with an
    /// answer, but it cannot answer, because it does not have the second piece.
    ///
    /// ## Evidence
    /// Two writes without a read in between. The second is smaller than the maximum segment size; it returned at once,
    /// but left the host only when the ACK for the first arrived. If the peer was recorded, its delayed-ACK timer fired
    /// just before that ACK was sent; if not, the ACK came 20 ms or more, and at least five round trips, after the
    /// data.
    ///
    /// If only the reading end was recorded: a piece smaller than a segment arrived, the reader's thread waited for the
    /// rest, its own delayed-ACK timer fired, and a round trip after that ACK the rest arrived, also smaller than a
    /// segment. This must happen in three requests or more, in nearly all that stalled, and in step with the ACK
    /// rather than with the first piece.
    ///
    /// In a capture of packets: a small segment, its ACK 20 ms or more after it, and the next small segment at once after that
    /// (from the other end: a round trip), in three cases or more and in nearly all; and no small segment that left before an
    /// earlier one was acknowledged.
    ///
    /// ## What proves it
    /// Setting TCP_NODELAY from outside removes the stall, and so does an immediate ACK from the peer; either is
    /// enough. A message larger than a segment does not stall.
    ///
    /// ## Remedy
    /// Set TCP_NODELAY at the writing end, or send head and body in one write (writev, MSG_MORE, a buffer). If you
    /// cannot change the writer, disable delayed ACKs at the reading end (`ip route ... quickack 1`).
    ///
    /// ## Not to be confused with
    /// split-writes (the pieces themselves cost, nothing is held); a slow peer (the bytes had left; seen from the
    /// reader, they come when they are ready, not when it acknowledges); a full window (many bytes wait, not few);
    /// corked-writes (a timer of the writer's own kernel lets the bytes go);
    /// delayed-ack-at-mss-multiple (only what follows upon full segments is held). What is held while its reader sleeps, gets no
    /// CPU or still reads what came before does not count.
    "P01" "nagle-delayed-ack",
    on_the_wire: true,
    // There the ACK is delayed by a fault of the other end's kernel, and only that.
    follows_from: &["P02"],
    held: Some(held_lengths::find),
    needs: &[Tcp]
}

/// Linux delays an acknowledgement by 40 ms at least, others by more; anything under half of that is no such timer.
pub(super) const DELAYED: u64 = 20_000_000;

/// A wait is a delayed acknowledgement's, and not the way's, from this many round trips.
const ROUND_TRIPS: u64 = 5;

/// How long before the acknowledgement's arrival its timer fired: 6 us measured at the peer, the way comes on top.
const TIMER_LEAD: u64 = 5_000_000;

/// A hold with both halves.
pub(super) struct Stall {
    pub slot: usize,
    pub write: usize,
    bytes: u64,
    pub start: u64,
    pub end: u64,
    pub release: Release,
    timer_seen: bool,
}

impl Stall {
    /// On which connection, from when to when.
    pub fn held(&self) -> (usize, u64, u64) {
        (self.slot, self.start, self.end)
    }
}

/// The dearer of the two sides: what a recorded writer's kernel held, and what an unseen writer's did.
fn detect(analysis: &Analysis) -> Option<Found> {
    let found = here(analysis).into_iter().chain(at_the_peer::found(analysis));
    found.reduce(|here, there| if there.saving.wall > here.saving.wall { there } else { here })
}

fn here(analysis: &Analysis) -> Option<Found> {
    let stalls = stalls(analysis);
    let total: u64 = stalls.iter().map(|stall| stall.end - stall.start).sum();
    let example = typical(analysis, &stalls)?;
    let within = within_exchanges(analysis, stalls.iter().map(Stall::held));
    let saving = PotentialSaving { wall: within, outside: 0, cpu: 0, affected: stalls.len() as u64 };
    let place = costly_call(analysis, stalls.iter().map(|stall| (stall.write, stall.end - stall.start)));
    let count = analysis.exchanges.len().max(1) as u64;
    let title = format!(
        "Nagle's algorithm and delayed ACKs hold the {}'s writes: {} of every {} request{}",
        analysis.end(example.slot),
        Nanos(within / count),
        Nanos(analysis.exchange_wall() / count),
        place.in_words(),
    );
    let remedy = format!(
        "Set TCP_NODELAY on the socket of the {}, or send head and body in one write (one buffer, writev, or MSG_MORE).",
        analysis.end(example.slot)
    );
    let mechanism = mechanism(analysis, &stalls, example, total / stalls.len() as u64);
    let rows = rows("calls", stalls.iter().map(|stall| stall.write));
    let what = format!("Nagle's algorithm and delayed ACKs hold the {}'s writes", analysis.end(example.slot));
    let stalls = stalls.iter().map(|stall| (stall.start, stall.end)).collect();
    Some(Found { title, what, mechanism, saving, place, remedy, rows, stalls, ..Found::default() })
}

/// Every hold with both halves that a recorded writer's kernel made.
pub(super) fn stalls(analysis: &Analysis) -> Vec<Stall> {
    let mut stalls = Vec::new();
    for (slot, rows) in analysis.connections.all().iter().enumerate() {
        for stall in &rows.send_stalls {
            let Some(release) = stall.nagle else { continue };
            let timer_seen = timer_fired(analysis, slot, release);
            if timer_seen || came_late(analysis, slot, release) {
                let (start, end) = (stall.start, stall.end);
                stalls.push(Stall { slot, write: stall.write, bytes: stall.bytes, start, end, release, timer_seen });
            }
        }
    }
    stalls.retain(|stall| !away::is_reader_away(analysis, stall));
    stalls
}

/// Whether the peer's delayed-ACK timer fired just before the acknowledgement.
fn timer_fired(analysis: &Analysis, slot: usize, release: Release) -> bool {
    let Some(peer) = analysis.connections.all()[slot].peer else { return false };
    let events = analysis.connections.events(peer);
    let last = events.partition_point(|row| row.time.0 <= release.acknowledged);
    let recent =
        events[..last].iter().rev().take_while(|row| row.time.0 >= release.acknowledged.saturating_sub(TIMER_LEAD));
    recent.filter(|row| row.time.0 >= release.sent).any(|row| row.event == event::DELAYED_ACK_FIRED)
}

fn came_late(analysis: &Analysis, slot: usize, release: Release) -> bool {
    let delay = release.acknowledged.saturating_sub(release.sent);
    let round_trip = analysis.connections.all()[slot].round_trip;
    delay >= DELAYED && round_trip.is_some_and(|round_trip| delay >= ROUND_TRIPS * round_trip)
}

/// A stall at the line that held most, to show.
fn typical<'s>(analysis: &Analysis, stalls: &'s [Stall]) -> Option<&'s Stall> {
    let mut by_place: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let key = |stall: &Stall| {
        let call = analysis.call(stall.write);
        if call.script_stack != 0 { (call.script_stack, 0) } else { (0, call.stack) }
    };
    for stall in stalls {
        *by_place.entry(key(stall)).or_default() += stall.end - stall.start;
    }
    let known = |place: &(u32, u32)| *place != (0, 0);
    let (top, _) = by_place.iter().max_by_key(|(place, total)| (known(place), **total))?;
    stalls.iter().find(|stall| key(stall) == *top)
}

fn mechanism(analysis: &Analysis, stalls: &[Stall], example: &Stall, mean: u64) -> Vec<String> {
    let owner = analysis.end(example.slot);
    let peer = owner.other();
    let row = analysis.connections.row(example.slot);
    let pieces = pieces_before(analysis, example);
    let same = || stalls.iter().filter(|stall| stall.slot == example.slot);
    let release = median(same().map(|stall| stall.end.saturating_sub(stall.release.acknowledged)).collect());
    let late = median(same().map(|stall| stall.release.acknowledged.saturating_sub(stall.release.sent)).collect());
    let fired = stalls.iter().filter(|stall| stall.timer_seen).count();
    let second_half = if fired > 0 {
        format!(
            "The ACK is delayed: the delayed-ACK timer of the {peer} fired in {fired} of {} cases, and the ACK came {} \
             after the data.",
            stalls.len(),
            Nanos(late)
        )
    } else {
        let unseen = if analysis.is_capture() { "This" } else { "Nothing was recorded at the {peer}, but this" };
        format!(
            "The ACK is late: it came {} after the data, while a round trip takes {}. {} is what a delayed ACK looks like.",
            Nanos(late),
            Nanos(analysis.connections.all()[example.slot].round_trip.unwrap_or_default()),
            unseen.replace("{peer}", &peer.to_string()),
        )
    };
    vec![
        format!("In one turn, the {owner} writes {pieces} bytes without reading in between."),
        if analysis.is_capture() {
            format!(
                "The last {} bytes do not fill a segment ({} bytes), and leave only when the bytes before them are acknowledged: \
                 Nagle's algorithm, with TCP_NODELAY off.",
                example.bytes, row.mss
            )
        } else {
            format!(
                "Its kernel holds the last {} bytes: they do not fill a segment ({} bytes), earlier bytes are not yet \
             acknowledged, and TCP_NODELAY is off (Nagle's algorithm).",
                example.bytes, row.mss
            )
        },
        second_half,
        format!("The held bytes leave {} after the ACK; each stall lasts {}.", Nanos(release), Nanos(mean)),
    ]
}

/// The sizes of the writes of one turn, up to the held one: `112 + 109`.
fn pieces_before(analysis: &Analysis, stall: &Stall) -> String {
    let transfers = analysis.connections.transfer_numbers(stall.slot);
    let position = transfers.iter().position(|&row| row as usize == stall.write).unwrap_or_default();
    let turn = transfers.iter().take(position + 1).rev().map(|&row| analysis.call(row as usize));
    let shaken = analysis.connections.handshake(stall.slot).map_or(0, |row| row.end.0);
    let of_turn = |call: &&Call| syscall::is_write(call.number) && call.start.0 >= shaken;
    let mut sizes: Vec<String> = turn.take_while(of_turn).take(4).map(|call| call.result.to_string()).collect();
    sizes.reverse();
    sizes.join(" + ")
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::{answer, names};
    use case::tables::{Call, reason};
    use case::{Nanos, Recording};

    const NANOSLEEP: u16 = 35;

    /// Head and body in two writes; the body waits `delay` for the server's acknowledgement of the head.
    fn write_write_read(delay: u64, nodelay: bool) -> Recording {
        read_after(delay, nodelay, EPOLL_WAIT)
    }

    /// The same, where the server waits for the rest in a call of a kind.
    fn read_after(delay: u64, nodelay: bool, waits: u16) -> Recording {
        let mut fixture = Fixture::new();
        fixture.script(7, &["/usr/lib/python3.11/http/client.py:1000:send", "/srv/client.py:12:post"]);
        fixture.connect(1, CLIENT);
        fixture.recording.connections[0].nodelay = nodelay;
        for _ in 0..20 {
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 112);
            fixture.travels(start + 3 * US, 1, 1001, 112);
            let held = fixture.moves(CLIENT, 1, WRITE, 109);
            fixture.recording.calls[held].script_stack = 7;
            let waiting = fixture.now;
            let acknowledged = start + delay;
            fixture.timer_fires(acknowledged - 6 * US, 1001);
            fixture.acknowledges(acknowledged, 1001, 1);
            fixture.travels(acknowledged + 25 * US, 1, 1001, 109);
            fixture.travels(acknowledged + 100 * US, 1001, 1, 300);
            fixture.waits_for(CLIENT, 1, acknowledged + 110 * US - waiting, 300);
            let client_now = fixture.now;
            fixture.now = start + 10 * US;
            fixture.moves(SERVER, 1001, READ, 112);
            let duration = acknowledged + 35 * US - fixture.now;
            fixture.waits(SERVER, duration, waits, |call| call.result = 1);
            fixture.moves(SERVER, 1001, READ, 109);
            fixture.now = acknowledged + 95 * US;
            fixture.moves(SERVER, 1001, WRITE, 300);
            fixture.off(SERVER, fixture.now, client_now + MS + 9 * US);
            fixture.now = client_now + MS;
        }
        fixture.end()
    }

    #[test]
    fn a_second_write_held_until_a_delayed_acknowledgement_is_found() {
        let answer = answer(&write_write_read(41 * MS, false));
        let finding = &answer.findings[0];
        assert_eq!((finding.id.as_str(), finding.cost.affected), ("P01", 20));
        assert!(finding.cost.share_of_wall > 0.95, "{:?}", finding.cost);
        assert!(finding.title.contains("client.py:12 in post"), "{}", finding.title);
        assert_eq!(finding.place[1].line, 1000);
        assert!(finding.mechanism[0].contains("112 + 109 bytes"), "{:?}", finding.mechanism);
        assert!(finding.mechanism[2].contains("fired in 20 of 20 cases"), "{:?}", finding.mechanism);
        let held = answer.ledger.accounts.iter().find(|row| row.name.starts_with("held by Nagle")).expect("an account");
        assert!(held.ns > 20 * 40 * MS, "{:?}", answer.ledger);
    }

    #[test]
    fn what_a_reader_sleeps_through_holds_nobody_up() {
        let sleeps = read_after(41 * MS, false, NANOSLEEP);
        assert!(!names(&sleeps).contains(&"nagle-delayed-ack".to_string()), "{:?}", names(&sleeps));
    }

    /// The same, where the server reads on so many times, a millisecond apart.
    fn read_on(reads: u64) -> Recording {
        let mut recording = read_after(41 * MS, false, EPOLL_WAIT);
        let firsts =
            recording.calls.iter().filter(|call| call.tid == SERVER && call.number == READ && call.result == 112);
        let firsts: Vec<Call> = firsts.cloned().collect();
        for first in firsts {
            let later = (1..=reads).map(|number| Call { start: first.start + Nanos(number * MS), ..first.clone() });
            recording.calls.extend(later);
        }
        recording
    }

    #[test]
    fn what_a_reader_does_not_get_to_holds_nobody_up() {
        let is_found = |recording: &Recording| names(recording).contains(&"nagle-delayed-ack".to_string());
        assert!(is_found(&read_on(3)));
        assert!(!is_found(&read_on(38)));
        let mut starved = read_after(41 * MS, false, EPOLL_WAIT);
        let waits = starved.switches.iter_mut().filter(|row| row.tid == SERVER && (row.end - row.start).0 > 30 * MS);
        waits.for_each(|row| (row.runnable, row.reason) = (row.start, reason::PREEMPTED));
        assert!(!is_found(&starved));
    }

    #[test]
    fn a_peer_that_was_not_watched_is_judged_by_when_its_acknowledgement_came() {
        let unwatched = |delay| {
            let mut recording = write_write_read(delay, false);
            recording.connections.retain(|row| row.id == 1);
            recording.connections[0].peer = 0;
            recording.segments.retain(|row| row.connection == 1);
            recording.tcp_events.clear();
            names(&recording)
        };
        assert_eq!(unwatched(41 * MS), ["nagle-delayed-ack"]);
        // An acknowledgement that takes a few milliseconds may as well be the way's.
        assert_eq!(unwatched(5 * MS), Vec::<String>::new());
    }

    #[test]
    fn with_nodelay_nothing_is_nagles() {
        assert_eq!(names(&write_write_read(41 * MS, true)), Vec::<String>::new());
    }
}
