//! P56: a cork holds the end of a message until the kernel's timer lets it go.

use super::{Found, costly_call, detector, median, rows, within_exchanges};
use crate::analysis::{Analysis, PotentialSaving};
use crate::number;
use crate::send_stalls::SendStall;
use crate::threads::call_end;
use case::tables::{Call, direction};
use case::{Nanos, syscall};
use rustc_hash::FxHashMap;

detector! {
    /// # corked-writes
    ///
    /// ## What it is
    /// A program has the kernel hold whatever does not fill a segment, since more is to follow (TCP_CORK on the socket,
    /// or MSG_MORE on a write), and then nothing follows: it waits for the peer without pulling the cork. The end of
    /// the message leaves when the kernel's timer fires, after 200 ms, or the connection's retransmission time-out
    /// where that is longer.
    ///
    /// ## Evidence
    /// The option or the flag was set at the write. Less than a segment then waited in the kernel, nothing arrived that
    /// could have let it go, and it left although the program did nothing about the connection meanwhile.
    ///
    /// ## What proves it
    /// The socket is never corked: TCP_CORK does nothing, and writes lose MSG_MORE. TCP_NODELAY, the control, changes
    /// nothing: a cork is stronger.
    ///
    /// ## Remedy
    /// Clear TCP_CORK when a message is complete, and leave MSG_MORE out of its last write. One write of the whole
    /// message (writev) needs neither.
    ///
    /// ## Not to be confused with
    /// nagle-delayed-ack (an ACK lets the bytes go, after 40 ms); a program that pulls the cork late (what it does
    /// meanwhile is what takes the time); a full window of the peer.
    "P56" "corked-writes",
    needs: &[Tcp, Calls]
}

/// Fewer stalls are chance.
const REPEATED: usize = 3;
/// What lets bytes go does so within this: measured 15 to 25 us after an acknowledgement; 1 ms allows for a busy
/// processor.
const AT_ONCE: u64 = 1_000_000;
/// Level and option of TCP_CORK (`linux/tcp.h`).
const CORK: (u64, u64) = (6, 3);
/// More is to follow (`linux/socket.h`).
const MSG_MORE: u64 = 0x8000;

/// A message's end that a cork held.
struct Corked {
    slot: usize,
    /// The last write of the message: a row of the table of calls.
    write: usize,
    start: u64,
    end: u64,
    bytes: u64,
    /// By the flag of that write, else by the socket's option.
    by_flag: bool,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let corks = corks(analysis);
    let mut held = Vec::new();
    for (slot, rows) in analysis.connections.all().iter().enumerate() {
        let of_socket = corks.get(&analysis.connections.row(slot).id).map_or(&[][..], Vec::as_slice);
        held.extend(rows.send_stalls.iter().filter_map(|stall| corked(analysis, slot, stall, of_socket)));
    }
    (held.len() >= REPEATED).then(|| found(analysis, &held))
}

/// A stall as a cork's, if it is one and its timer ended it: less than a segment waited, and left although nothing had
/// arrived and nothing was done about the connection.
fn corked(analysis: &Analysis, slot: usize, stall: &SendStall, corks: &[usize]) -> Option<Corked> {
    let transfers = analysis.connections.transfer_numbers(slot);
    let first = transfers.partition_point(|&row| (row as usize) < stall.write);
    let meanwhile = transfers[first..].iter().map(|&row| row as usize);
    let meanwhile = meanwhile.take_while(|&row| analysis.call(row).start.0 <= stall.end);
    let (mut write, mut bytes) = (stall.write, 0);
    for row in meanwhile.filter(|&row| syscall::is_write(analysis.call(row).number)) {
        bytes += if row == stall.write { stall.bytes } else { analysis.call(row).result.max(0) as u64 };
        write = row;
    }
    let mss = u64::from(analysis.connections.row(slot).mss);
    let start = call_end(analysis.call(write));
    let (before, after) = corks.split_at(corks.partition_point(|&row| row < write));
    let by_flag = has_more(analysis.call(write));
    let by_option = before.last().is_some_and(|&row| analysis.call(row).argument_3 != 0);
    let is_touched = after.first().is_some_and(|&row| analysis.call(row).start.0 <= stall.end);
    let is_held = (by_flag || by_option) && !is_touched && start + AT_ONCE < stall.end && (mss == 0 || bytes < mss);
    let arrives = || {
        let segments = analysis.connections.segments(slot);
        let last = segments.partition_point(|row| row.time.0 <= stall.end);
        let mut recent = segments[..last].iter().rev().take_while(|row| row.time.0 + AT_ONCE >= stall.end);
        recent.any(|row| row.direction == direction::IN)
    };
    (is_held && !arrives()).then_some(Corked { slot, write, start, end: stall.end, bytes, by_flag })
}

/// The calls that set or cleared the option, by connection, in order of time, as the table of calls is.
fn corks(analysis: &Analysis) -> FxHashMap<u32, Vec<usize>> {
    let mut corks: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    for (row, call) in analysis.calls_of(|number| number == syscall::SETSOCKOPT) {
        let is_one = call.result == 0 && (call.argument_1, call.argument_2) == CORK;
        if is_one && call.connection != 0 {
            corks.entry(call.connection).or_default().push(row);
        }
    }
    corks
}

/// Whether a write has the flag.
fn has_more(write: &Call) -> bool {
    let flags = match write.number {
        syscall::SENDTO => write.argument_3,
        syscall::SENDMSG => write.argument_2,
        _ => 0,
    };
    flags & MSG_MORE != 0
}

fn found(analysis: &Analysis, held: &[Corked]) -> Found {
    let wall = within_exchanges(analysis, held.iter().map(|one| (one.slot, one.start, one.end)));
    let place = costly_call(analysis, held.iter().map(|one| (one.write, one.end - one.start)));
    let count = analysis.exchanges.len().max(1) as u64;
    let end = analysis.end(held[0].slot);
    let flags = held.iter().filter(|one| one.by_flag).count();
    let (how, remedy) = if 2 * flags > held.len() {
        ("MSG_MORE on its write", format!("Leave MSG_MORE out of the last write of a message of the {end}."))
    } else {
        ("TCP_CORK on its socket", format!("Clear TCP_CORK on the socket of the {end} when a message is complete."))
    };
    let what = format!("A cork holds the {end}'s writes until the kernel's timer fires");
    let bytes = median(held.iter().map(|one| one.bytes).collect());
    let usual = median(held.iter().map(|one| one.end - one.start).collect());
    Found {
        title: format!(
            "{what}: {} of every {} request{}",
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words(),
        ),
        what,
        mechanism: vec![
            format!("The {end} has its kernel wait for more ({how}), and then nothing more comes."),
            format!(
                "{} times the last bytes of a message, {bytes} in half of them, waited in the kernel, until they left by \
                 themselves after {}: nothing had arrived, and the {end} had done nothing about the connection.",
                number::count(held.len() as u64),
                Nanos(usual),
            ),
        ],
        saving: PotentialSaving { wall, affected: held.len() as u64, ..PotentialSaving::default() },
        place,
        remedy,
        rows: rows("calls", held.iter().map(|one| one.write)),
        stalls: held.iter().map(|one| (one.start, one.end)).collect(),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::{answer, names};
    use case::{Recording, syscall};

    /// What ends a stall.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Ends {
        Timer,
        Cork,
        Peer,
    }

    /// Ten answers whose end waits 200 ms at a server with such a cork.
    fn answers(cork: u64, flags: u64, ends: Ends) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        let sets = |fixture: &mut Fixture, value| {
            fixture.does(SERVER, US, syscall::SETSOCKOPT, |call| {
                (call.connection, call.fd) = (1001, 4);
                (call.argument_1, call.argument_2, call.argument_3) = (super::CORK.0, super::CORK.1, value);
            });
        };
        sets(&mut fixture, cork);
        for _ in 0..10 {
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 112);
            fixture.travels(start + 3 * US, 1, 1001, 112);
            let waiting = fixture.now;
            fixture.moves(SERVER, 1001, READ, 112);
            fixture.moves(SERVER, 1001, WRITE, 60);
            let write = fixture.moves(SERVER, 1001, syscall::SENDTO, 600);
            fixture.recording.calls[write].argument_3 = flags;
            let left = fixture.now + 200 * MS;
            match ends {
                Ends::Timer => (),
                Ends::Cork => {
                    fixture.now = left - 5 * US;
                    sets(&mut fixture, 0);
                    sets(&mut fixture, cork);
                }
                Ends::Peer => fixture.acknowledges(left - 20 * US, 1, 1001),
            }
            fixture.travels(left, 1001, 1, 660);
            fixture.now = waiting;
            fixture.waits_for(CLIENT, 1, left + 10 * US - waiting, 660);
            fixture.off(SERVER, waiting + 20 * US, fixture.now + MS);
            fixture.now += MS;
        }
        fixture.end()
    }

    #[test]
    fn an_answer_that_leaves_when_the_timer_of_a_cork_fires_is_found_with_what_it_costs() {
        let answer = answer(&answers(1, 0, Ends::Timer));
        let finding = &answer.findings[0];
        assert_eq!((finding.id.as_str(), finding.cost.affected), ("P56", 10));
        assert!(finding.title.starts_with("A cork holds the server's writes"), "{}", finding.title);
        assert!(finding.cost.share_of_wall > 0.95, "{:?}", finding.cost);
        assert!(finding.mechanism[0].contains("TCP_CORK"), "{:?}", finding.mechanism);
    }

    #[test]
    fn a_last_write_that_promises_more_is_a_cork_as_well() {
        let answer = answer(&answers(0, super::MSG_MORE, Ends::Timer));
        assert!(answer.findings[0].mechanism[0].contains("MSG_MORE"), "{:?}", answer.findings[0].mechanism);
    }

    #[test]
    fn without_a_cork_or_where_it_is_pulled_or_the_peer_lets_go_nothing_is_found() {
        for (cork, ends) in [(0, Ends::Timer), (1, Ends::Cork), (1, Ends::Peer)] {
            assert!(!names(&answers(cork, 0, ends)).contains(&"corked-writes".to_string()), "{cork}");
        }
    }
}
