//! The other side of P01: only the end that reads was recorded, and the sender that holds its bytes was not.

use crate::analysis::peer_stalls::PeerStall;
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::detectors::{Found, costly_call, median, rows};
use case::Nanos;
use std::collections::BTreeMap;

/// A stall and the place of its connection.
type Stall<'e> = (usize, &'e PeerStall);

/// The two ends in words, and what travels from the peer to here.
struct Words {
    reader: &'static str,
    peer: &'static str,
    /// Of many, as in `its answers`.
    message: &'static str,
    /// One of them.
    one: &'static str,
}

pub(super) fn found(analysis: &Analysis) -> Option<Found> {
    let all =
        analysis.peer_stalls.iter().flat_map(|(&slot, send_stalls)| send_stalls.iter().map(move |stall| (slot, stall)));
    let stalls: Vec<Stall> = all.collect();
    let example = top(analysis, &stalls)?;
    let wall: u64 = stalls.iter().map(|(_, stall)| stall.waited).sum();
    let place = costly_call(analysis, stalls.iter().map(|(_, stall)| (stall.read, stall.waited)));
    let count = analysis.exchanges.len().max(1) as u64;
    let words = words(analysis, example.0);
    let Words { reader, peer, message, .. } = words;
    let line = match place.in_words().strip_prefix(", ") {
        Some(line) => format!("; {line} waits for it"),
        None => String::new(),
    };
    // Of a capture nobody expects more than the wire.
    let unseen = if analysis.is_capture() { "" } else { ", which was not recorded," };
    let title = format!(
        "{}{unseen} holds the rest of its {message} until {reader}'s delayed ACK: {} of every {} request{line}",
        capitalized(peer),
        Nanos(wall / count),
        Nanos(analysis.exchange_wall() / count),
    );
    let remedy = format!(
        "At {peer}{}, set TCP_NODELAY on the socket, or send head and body in one write. If you cannot change that, \
         disable delayed ACKs at {reader}: a route to the peer with quickack 1 (ip route change ... quickack 1).",
        address(analysis, example.0),
    );
    let what = format!("{}{unseen} holds the rest of its {message} until {reader}'s delayed ACK", capitalized(peer));
    Some(Found {
        title,
        what,
        stalls: stalls.iter().map(|(_, stall)| (stall.start, stall.acknowledged.max(stall.start))).collect(),
        mechanism: mechanism(analysis, &stalls, example, &words),
        saving: PotentialSaving { wall, outside: 0, cpu: 0, affected: stalls.len() as u64 },
        place,
        remedy,
        rows: if analysis.is_capture() {
            rows("calls", stalls.iter().map(|(_, stall)| stall.read))
        } else {
            rows("tcp_events", stalls.iter().filter_map(|(_, stall)| stall.timer))
        },
        ..Found::default()
    })
}

/// A stall at the line that waited longest, to show.
fn top<'e>(analysis: &Analysis, stalls: &[Stall<'e>]) -> Option<Stall<'e>> {
    let line = |stall: &PeerStall| {
        let call = analysis.call(stall.read);
        if call.script_stack != 0 { (call.script_stack, 0) } else { (0, call.stack) }
    };
    let mut by_line: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for (_, stall) in stalls {
        *by_line.entry(line(stall)).or_default() += stall.waited;
    }
    let (longest, _) = by_line.iter().max_by_key(|(line, total)| (**line != (0, 0), **total))?;
    stalls.iter().find(|(_, stall)| line(stall) == *longest).copied()
}

fn words(analysis: &Analysis, slot: usize) -> Words {
    match analysis.connections.all()[slot].end {
        Some(End::Server) => Words { reader: "the server", peer: "the client", message: "requests", one: "a request" },
        _ => Words { reader: "the client", peer: "the server", message: "answers", one: "an answer" },
    }
}

/// Where the peer is; a client's address is one of many.
fn address(analysis: &Analysis, slot: usize) -> String {
    match analysis.connections.all()[slot].end {
        Some(End::Server) => String::new(),
        _ => format!(" ({})", analysis.connections.remote(slot)),
    }
}

fn capitalized(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn mechanism(analysis: &Analysis, stalls: &[Stall], (slot, example): Stall, words: &Words) -> Vec<String> {
    let Words { reader, peer, one, .. } = words;
    let is_capture = analysis.is_capture();
    let middle = |length: fn(&PeerStall) -> u64| Nanos(median(stalls.iter().map(|(_, stall)| length(stall)).collect()));
    let delay = middle(|stall| stall.acknowledged.saturating_sub(stall.start));
    let release = middle(PeerStall::release);
    let round_trip = analysis.connections.round_trip(slot).map(Nanos);
    let round_trip = round_trip.map_or(String::new(), |length| format!("; a round trip takes {length}"));
    let mut sentences = vec![
        format!(
            "The first piece of {one} arrives ({} bytes, fewer than a segment), and {reader} waits for the rest. \
             It has nothing to send that could carry the ACK, so its kernel delays it: {}the ACK left {delay} after the piece{}.",
            example.piece,
            if is_capture {
                String::new()
            } else {
                format!("the delayed-ACK timer fired in all {} cases, and ", stalls.len())
            },
            if is_capture { format!(", in all {} cases", stalls.len()) } else { String::new() },
        ),
        format!(
            "Only then does the rest arrive ({} bytes, fewer than a segment), {release} after the ACK{round_trip}.",
            example.bytes
        ),
        format!(
            "This is what a sender looks like that writes in two pieces with TCP_NODELAY off: its kernel holds the \
             second until the first is acknowledged (Nagle's algorithm). {}",
            if is_capture {
                format!("One that was merely slow would not stay in step with {reader}'s ACKs.")
            } else {
                format!(
                    "{} was not recorded; one that was merely slow would not stay in step with {reader}'s timer.",
                    capitalized(peer)
                )
            }
        ),
        format!(
            "The place shown is the line of {reader} that waits; the cause is where {peer} sends{}.",
            if is_on_this_machine(analysis, slot) { RELAY } else { "" }
        ),
    ];
    if is_capture {
        // No line of any program is known.
        sentences.pop();
    }
    sentences
}

/// Timers of one machine fire at the same ticks, so that a relay's stall towards its own upstream falls together with
/// the timer here: measured with a proxy whose two ends had TCP_NODELAY set.
const RELAY: &str = ", or, if it only relays data, further up: on one machine, the delayed ACKs of both fall on \
                     the same tick";

fn is_on_this_machine(analysis: &Analysis, slot: usize) -> bool {
    let row = analysis.connections.row(slot);
    row.remote_address == row.local_address
        || row.remote_address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::{answer, names};
    use case::Recording;
    use case::tables::direction::{IN, OUT};

    /// Answers in two pieces to a client recorded alone.
    struct Story {
        answers: u64,
        round_trip: u64,
        /// The bytes of the second piece.
        rest: u32,
        /// From the first piece to its acknowledgement by the timer, and to the second piece, of an answer.
        times: fn(u64) -> (u64, u64),
    }

    /// A delayed acknowledgement: 40 ms, rounded up to the next tick of 4 ms.
    fn delay(number: u64) -> u64 {
        40 * MS + number * 7 % 40 * 100 * US
    }

    /// On a loopback, the rest 30 us after the acknowledgement.
    const NAGLE: Story =
        Story { answers: 20, round_trip: 10 * US, rest: 300, times: |number| (delay(number), delay(number) + 30 * US) };

    fn fixture(story: &Story, second_read: fn(&mut Fixture, u64) -> usize) -> Fixture {
        let mut fixture = Fixture::new();
        fixture.script(7, &["/usr/lib/python3.11/socket.py:706:readinto", "/srv/client.py:5:ask"]);
        fixture.connect(1, CLIENT);
        fixture.recording.connections.retain(|row| row.id == 1);
        fixture.recording.connections[0].peer = 0;
        for number in 0..story.answers {
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 68);
            fixture.segment(start + 3 * US, 1, OUT, 68);
            fixture.segment(start + 3 * US + story.round_trip, 1, IN, 0);
            let piece = start + story.round_trip + 200 * US;
            fixture.segment(piece, 1, IN, 113);
            fixture.waits_for(CLIENT, 1, piece + 10 * US - fixture.now, 113);
            let (acknowledged, rest) = (story.times)(number);
            if acknowledged < rest && acknowledged < 40 * MS {
                fixture.segment(piece + acknowledged, 1, OUT, 0);
            } else if acknowledged < rest {
                fixture.timer_fires(piece + acknowledged - 12 * US, 1);
                fixture.segment(piece + acknowledged, 1, OUT, 0);
            }
            fixture.segment(piece + rest, 1, IN, story.rest);
            let until = piece + rest + 10 * US;
            let read = second_read(&mut fixture, until);
            fixture.recording.calls[read].script_stack = 7;
            fixture.segment(until, 1, OUT, 0);
            fixture.now += 100 * US;
        }
        fixture
    }

    fn recorded(story: &Story) -> Recording {
        fixture(story, |fixture, until| fixture.waits_for(CLIENT, 1, until - fixture.now, 300)).end()
    }

    fn is_accused(recording: &Recording) -> bool {
        names(recording).contains(&"nagle-delayed-ack".to_string())
    }

    #[test]
    fn an_answer_whose_rest_follows_each_delayed_acknowledgement_is_held_at_the_peer() {
        let answer = answer(&recorded(&NAGLE));
        let finding = &answer.findings[0];
        assert_eq!((finding.id.as_str(), finding.cost.affected, answer.findings.len()), ("P01", 20, 1));
        assert!(finding.cost.share_of_wall > 0.95, "{:?}", finding.cost);
        assert!(finding.title.starts_with("The server, which was not recorded, holds"), "{}", finding.title);
        assert!(finding.title.ends_with("client.py:5 in ask waits for it"), "{}", finding.title);
        assert!(finding.mechanism[0].contains("timer fired in all 20 cases"), "{:?}", finding.mechanism);
        assert!(finding.mechanism[1].contains("30.0 us after the ACK"), "{:?}", finding.mechanism);
        assert!(finding.remedy.starts_with("At the server (10.0.0.2:80), set TCP_NODELAY"), "{}", finding.remedy);
        let held =
            answer.ledger.accounts.iter().find(|row| row.name.starts_with("held at the peer")).expect("an account");
        assert!(held.ns > 20 * 40 * MS, "{:?}", answer.ledger);
        assert_eq!(answer.ledger.accounts.iter().map(|row| row.ns).sum::<u64>(), answer.ledger.total);
    }

    #[test]
    fn over_a_long_way_the_rest_comes_a_round_trip_after_the_acknowledgement() {
        let far = Story { round_trip: 20 * MS, times: |number| (delay(number), delay(number) + 20 * MS), ..NAGLE };
        assert!(is_accused(&recorded(&far)));
        // What comes sooner after an acknowledgement than that cannot know of it.
        let sooner = Story { times: |number| (delay(number), delay(number) + 15 * MS), ..far };
        assert!(!is_accused(&recorded(&sooner)));
    }

    #[test]
    fn a_server_that_takes_as_long_as_the_timer_is_not_accused() {
        for milliseconds in [
            |number: u64| (delay(number), 40 * MS),
            |number| (delay(number), 42 * MS),
            |number| (delay(number), 44 * MS),
            |number| (delay(number), 60 * MS),
        ] {
            assert!(!is_accused(&recorded(&Story { times: milliseconds, ..NAGLE })));
        }
    }

    #[test]
    fn a_server_in_step_with_the_first_piece_is_not_accused_however_well_its_time_fits() {
        let far = Story { round_trip: 20 * MS, times: |number| (delay(number), 65 * MS), ..NAGLE };
        assert!(!is_accused(&recorded(&far)));
    }

    #[test]
    fn a_relay_whose_own_timer_shares_our_tick_is_not_accused() {
        let relay = Story { times: |number| (delay(number), delay(number) + 100 * US), ..NAGLE };
        assert!(!is_accused(&recorded(&relay)));
    }

    #[test]
    fn a_rest_that_is_late_after_a_prompt_acknowledgement_too_waits_for_something_else() {
        // The first exchange of a connection is acknowledged at once.
        let relay = Story {
            times: |number| match number {
                0 => (20 * US, 41 * MS),
                _ => (delay(number), delay(number) + 30 * US),
            },
            ..NAGLE
        };
        assert!(!is_accused(&recorded(&relay)));
        let nagle = Story {
            times: |number| match number {
                0 => (20 * US, 50 * US),
                _ => (delay(number), delay(number) + 30 * US),
            },
            ..NAGLE
        };
        assert!(is_accused(&recorded(&nagle)));
    }

    #[test]
    fn twice_may_be_chance_and_three_times_is_not() {
        assert!(!is_accused(&recorded(&Story { answers: 2, ..NAGLE })));
        assert!(is_accused(&recorded(&Story { answers: 3, ..NAGLE })));
    }

    #[test]
    fn a_piece_that_arrives_before_the_write_of_the_request_returned_counts_as_well() {
        let mut recording = recorded(&NAGLE);
        for call in recording.calls.iter_mut().filter(|call| call.number == WRITE) {
            call.duration = case::Nanos(211 * US);
        }
        for call in recording.calls.iter_mut().filter(|call| call.number == READ && call.script_stack == 0) {
            call.start = case::Nanos(call.start.0 + call.duration.0 - 5 * US);
            (call.duration, call.blocked) = (case::Nanos(US), case::Nanos(0));
        }
        recording.switches.retain(|row| row.end - row.start > case::Nanos(MS));
        recording.sort();
        assert!(is_accused(&recording));
    }

    #[test]
    fn a_write_of_its_own_meanwhile_makes_the_wait_its_own() {
        let busy = |fixture: &mut Fixture, until: u64| {
            fixture.moves(CLIENT, 1, WRITE, 10);
            fixture.waits_for(CLIENT, 1, until - fixture.now, 300)
        };
        assert!(!is_accused(&fixture(&NAGLE, busy).end()));
    }

    #[test]
    fn a_rest_of_a_full_segment_is_not_held_by_nagle() {
        assert!(!is_accused(&recorded(&Story { rest: 1448, ..NAGLE })));
    }

    #[test]
    fn a_reader_that_had_other_things_to_do_did_not_wait() {
        let busy = |fixture: &mut Fixture, until: u64| {
            fixture.now = until;
            fixture.moves(CLIENT, 1, READ, 300)
        };
        assert!(!is_accused(&fixture(&NAGLE, busy).end()));
    }

    /// One loop serves a client whose requests come in two pieces and, between them, another client without a pause.
    fn busy_loop(asks: bool) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        fixture.connect(2, CLIENT);
        fixture.recording.connections.retain(|row| row.id > 1000);
        fixture.recording.connections.iter_mut().for_each(|row| row.peer = 0);
        for number in 0..20 {
            let piece = fixture.now;
            fixture.segment(piece, 1001, IN, 60);
            fixture.moves(SERVER, 1001, READ, 60);
            let (acknowledged, rest) = (NAGLE.times)(number);
            while fixture.now < piece + rest {
                if asks {
                    fixture.does(SERVER, 5 * US, EPOLL_WAIT, |call| call.result = 1);
                }
                fixture.moves(SERVER, 1002, READ, 200);
                fixture.now += 500 * US;
                fixture.moves(SERVER, 1002, WRITE, 200);
            }
            fixture.timer_fires(piece + acknowledged - 12 * US, 1001);
            fixture.segment(piece + acknowledged, 1001, OUT, 0);
            fixture.segment(piece + rest, 1001, IN, 300);
            fixture.moves(SERVER, 1001, READ, 300);
            let answered = fixture.now;
            fixture.moves(SERVER, 1001, WRITE, 200);
            fixture.segment(answered + 3 * US, 1001, OUT, 200);
            fixture.now += 100 * US;
        }
        fixture.end()
    }

    #[test]
    fn a_loop_that_serves_others_meanwhile_waits_for_the_rest_as_long_as_it_asks_for_it() {
        let answer = answer(&busy_loop(true));
        let finding = answer.findings.iter().find(|finding| finding.id == "P01").expect("P01");
        assert!(finding.title.starts_with("The client, which was not recorded, holds"), "{}", finding.title);
        let held = answer.ledger.accounts.iter().find(|row| row.name.starts_with("held at the peer"));
        assert!(held.is_some_and(|row| row.ns > answer.wall_ns / 3), "{:?}", answer.ledger);
        assert!(!is_accused(&busy_loop(false)));
    }

    #[test]
    fn a_peer_that_was_recorded_speaks_for_itself() {
        let mut recording = recorded(&NAGLE);
        let peer =
            case::tables::Connection { id: 1001, pid: 200, peer: 1, role: 2, ..recording.connections[0].clone() };
        recording.connections.push(peer);
        recording.connections[0].peer = 1001;
        assert!(!is_accused(&recording));
    }
}
