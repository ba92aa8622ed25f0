//! P23: a receiver reads more slowly than the sender sends.

mod full_pipe;

use super::{Found, costly_call, detector, rows};
use crate::analysis::{Analysis, PotentialSaving, ender};
use crate::exchange::Exchange;
use crate::syscall;
use crate::threads::{Cursor, State, call_end};
use case::tables::{direction, transport};
use case::{Nanos, Share};
use std::collections::BTreeMap;

detector! {
    /// # slow-reader
    ///
    /// ## What it is
    /// The end that receives does something else between its reads. Its window closes, what the sender wrote stays in the
    /// sender's kernel, and the message takes as long as the receiver's pauses.
    ///
    /// ## Evidence
    /// Bytes were written and could not leave, because the receiver had no room, where others waited unread, while the thread that
    /// reads them was blocked in something other than waiting for data: a sleep, a lock, a disk, another connection, or a wait for
    /// events that ends by a time-out, as a runtime's timer. That time makes up a fifth of the requests' time or more. Or requests
    /// waited for a write into a pipe or a Unix socket that was full, until another thread read from it, which had been blocked in
    /// something else or on CPU.
    ///
    /// ## What proves it
    /// The receiver without its pauses: where it sleeps, sleeps a hundred times shorter.
    ///
    /// ## Remedy
    /// Read in one thread and do what takes time in another, with a bounded queue between them; or hand over more at a time.
    ///
    /// ## Not to be confused with
    /// A socket buffer that is too small (fixed-socket-buffers: the receiver waits for data); a slow network; a receiver that
    /// computes (it is on CPU); a sender whose own kernel holds bytes back (nagle-delayed-ack: the receiver has read all there is).
    "P23" "slow-reader",
    needs: &[Server, Tcp]
}

/// A pause that takes less of the requests' time than this is not what makes them slow.
const LEAST_SHARE: f64 = 0.2;
/// Fewer pauses are chance.
const REPEATED: u64 = 3;

/// What a receiver was blocked in while bytes for it could not leave: time by call, and how many pauses.
#[derive(Default)]
struct Pauses {
    of_calls: BTreeMap<usize, u64>,
    wall: u64,
    affected: u64,
}

/// When bytes lay unread at ends of connections, by the end's place in the list of all: worked out where it is asked for.
type Unread = BTreeMap<usize, Vec<(u64, u64)>>;

fn detect(analysis: &Analysis) -> Option<Found> {
    let pipe = full_pipe::find(analysis).map(|waits| full_pipe::found(analysis, &waits));
    [on_connection(analysis), pipe].into_iter().flatten().max_by_key(|found| found.saving.wall)
}

/// Whether some sleeps, rows of the table of calls, are pauses between reads from a pipe that is full.
pub(super) fn explains(analysis: &Analysis, sleeps: &[usize]) -> bool {
    full_pipe::find(analysis).is_some_and(|waits| sleeps.iter().any(|row| waits.of_calls.contains_key(row)))
}

fn on_connection(analysis: &Analysis) -> Option<Found> {
    let (mut pauses, mut unread) = (Pauses::default(), Unread::new());
    for exchange in &analysis.exchanges {
        let before = pauses.wall;
        let ours = exchange.connection;
        if let Some(peer) = analysis.connections.all()[ours].peer
            && analysis.connections.row(ours).transport == transport::TCP
        {
            find(analysis, exchange, [ours, peer], &mut unread, &mut pauses);
            find(analysis, exchange, [peer, ours], &mut unread, &mut pauses);
        }
        pauses.affected += u64::from(pauses.wall > before);
    }
    let share = Nanos(pauses.wall).share_of(Nanos(analysis.exchange_wall()));
    let number = pauses.of_calls.len() as u64;
    if number < REPEATED || share.0 < LEAST_SHARE || analysis.exchanges.is_empty() {
        return None;
    }
    Some(found(analysis, &pauses, share))
}

/// Pauses of a receiver within an exchange.
fn find(
    analysis: &Analysis,
    exchange: &Exchange,
    [sender, receiver]: [usize; 2],
    unread: &mut Unread,
    pauses: &mut Pauses,
) {
    let unsent = &analysis.connections.all()[sender].unsent;
    let first = unsent.partition_point(|&(_, end)| end <= exchange.start);
    let spans = unsent[first..].iter().take_while(|&&(start, _)| start < exchange.end);
    for &(start, end) in spans {
        let (from, to) = (start.max(exchange.start), end.min(exchange.end));
        let Some(thread) = reader(analysis, receiver, from) else { continue };
        let unread = unread.entry(receiver).or_insert_with(|| lay_unread(analysis, receiver));
        let first = unread.partition_point(|&(_, end)| end <= from);
        for &(since, until) in unread[first..].iter().take_while(|&&(since, _)| since < to) {
            let (from, to) = (from.max(since), to.min(until));
            analysis.threads.walk(thread, from, to, &mut Cursor::default(), &mut |moment| {
                let is_blocked = matches!(moment.state, State::Blocked | State::BlockedOnDisk);
                if let Some(row) = moment.call.filter(|&row| is_blocked && is_elsewhere(analysis, row, receiver)) {
                    *pauses.of_calls.entry(row).or_default() += moment.end - moment.start;
                    pauses.wall += moment.end - moment.start;
                }
            });
        }
    }
}

/// When bytes that had arrived at an end had not been read yet. A receiver that has read all there is does not keep the sender
/// waiting, whatever it does meanwhile.
fn lay_unread(analysis: &Analysis, slot: usize) -> Vec<(u64, u64)> {
    let segments = analysis.connections.segments(slot);
    let mut changes: Vec<(u64, i64)> = Vec::new();
    let mut arrived: Option<u32> = None;
    for row in segments.iter().filter(|row| row.direction == direction::IN && row.payload > 0) {
        let last = row.sequence.wrapping_add(row.payload);
        // What was sent again counts once.
        let fresh = arrived.map_or(i64::from(row.payload), |end| i64::from(last.wrapping_sub(end) as i32));
        if fresh > 0 {
            arrived = Some(last);
            changes.push((row.time.0, fresh));
        }
    }
    let reads = analysis.connections.transfers_of(slot).filter(|call| syscall::is_read(call.number));
    changes.extend(reads.map(|call| (call_end(call), -call.result)));
    changes.sort_by_key(|&(time, _)| time);
    let (mut spans, mut unread, mut since) = (Vec::new(), 0, 0);
    for (time, bytes) in changes {
        if unread > 0 {
            spans.push((since, time));
        }
        // More was read than was seen to arrive: some segments are missing.
        unread = (unread + bytes).max(0);
        since = time;
    }
    spans
}

/// The thread that makes the next read on a connection.
pub(super) fn reader(analysis: &Analysis, slot: usize, from: u64) -> Option<usize> {
    let transfers = analysis.connections.transfer_numbers(slot);
    let next = transfers.partition_point(|&row| analysis.call(row as usize).start.0 < from);
    let mut calls = transfers[next..].iter().map(|&row| analysis.call(row as usize));
    calls.find(|call| syscall::is_read(call.number)).and_then(|call| analysis.threads.slot(call.tid))
}

/// Whether a call waits for something other than data on a connection, some of which lies there. Polls may wait for it and for
/// others; one that ends by its time-out all the same was not asked about this connection: so runtimes sleep that wait for
/// events.
fn is_elsewhere(analysis: &Analysis, row: usize, receiver: usize) -> bool {
    let call = analysis.call(row);
    let reads_it = syscall::is_read(call.number) && call.connection == analysis.connections.row(receiver).id;
    !reads_it && (!syscall::is_poll(call.number) || ender::is_timed_out(call))
}

fn found(analysis: &Analysis, pauses: &Pauses, share: Share) -> Found {
    let count = analysis.exchanges.len().max(1) as u64;
    let (&dearest, _) = pauses.of_calls.iter().max_by_key(|(_, length)| **length).expect("there are some");
    let call = analysis.call(dearest);
    let of_server = analysis.recording.processes.iter().any(|row| row.pid == call.pid && row.role == "server");
    let [reader, sender] = if of_server { ["server", "client"] } else { ["client", "server"] };
    let place = costly_call(analysis, pauses.of_calls.iter().map(|(&row, &length)| (row, length)));
    let what = format!("The {reader} reads more slowly than the {sender} sends");
    Found {
        title: format!(
            "{what}: it pauses for {} of every {} request{}",
            Nanos(pauses.wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words(),
        ),
        what,
        mechanism: vec![format!(
            "While bytes could not leave the {sender} because the {reader} had no room, the {reader}'s thread was blocked in \
             something else, mostly in {}{}, for {share} of the requests' time.",
            syscall::name(call.number),
            if syscall::is_poll(call.number) { " until a time-out" } else { "" },
        )],
        saving: PotentialSaving { wall: pauses.wall, affected: pauses.affected, ..PotentialSaving::default() },
        place,
        remedy: "Read in one thread and do what takes time in another, with a bounded queue between them.".to_string(),
        rows: rows("calls", pauses.of_calls.keys().copied()),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::{answer, names};
    use case::Recording;

    const NANOSLEEP: u16 = 35;
    const POLL: u16 = 7;
    /// A call, and what it returns.
    type Pause = (u16, i64);
    /// Bytes of a part of the answer.
    const PART: u32 = 1_000;

    /// Answers of ten parts that are written at once; each leaves when the client has read one of so many that lay there, and has
    /// dealt with it, in a call of this number or on CPU.
    fn read_slowly(pause: Option<Pause>, ahead: usize) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        for _ in 0..10 {
            fixture.moves(CLIENT, 1, WRITE, 20);
            let asked = fixture.now;
            fixture.travels(asked, 1, 1001, 20);
            fixture.now += 10 * US;
            fixture.moves(SERVER, 1001, READ, 20);
            fixture.moves(SERVER, 1001, WRITE, i64::from(PART) * 10);
            for part in 0..10 {
                let leaves = fixture.now;
                for _ in 0..if part == 0 { 1 + ahead } else { usize::from(part + ahead < 10) } {
                    fixture.travels(leaves, 1001, 1, PART);
                }
                fixture.now = leaves + 20 * US;
                fixture.moves(CLIENT, 1, READ, i64::from(PART));
                match pause {
                    Some((number, result)) => {
                        fixture.waits(CLIENT, 5 * MS, number, |call| call.result = result);
                    }
                    None => fixture.now += 5 * MS,
                }
            }
            fixture.now += MS;
        }
        fixture.end()
    }

    #[test]
    fn a_client_that_sleeps_between_its_reads_is_found() {
        let recording = read_slowly(Some((NANOSLEEP, 0)), 1);
        let answer = answer(&recording);
        let finding = answer.findings.iter().find(|finding| finding.name == "slow-reader").expect("found");
        assert!((30 * MS..50 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
        assert!(finding.title.starts_with("The client reads more slowly than the server sends"), "{}", finding.title);
    }

    #[test]
    fn a_runtime_that_lets_a_timer_run_out_between_its_reads_is_found() {
        let answer = answer(&read_slowly(Some((EPOLL_WAIT, 0)), 1));
        let finding = answer.findings.iter().find(|finding| finding.name == "slow-reader").expect("found");
        assert!(finding.mechanism[0].contains("mostly in epoll_wait until a time-out"), "{:?}", finding.mechanism);
    }

    #[test]
    fn one_that_waits_for_data_or_computes_is_left_alone() {
        for pause in [Some((POLL, 1)), None] {
            assert!(!names(&read_slowly(pause, 1)).contains(&"slow-reader".to_string()), "{pause:?}");
        }
    }

    #[test]
    fn one_that_has_read_all_there_is_is_left_alone_whatever_it_waits_in() {
        // What keeps bytes back is then at the sender's end: Nagle's algorithm, or a queue for the link.
        assert!(!names(&read_slowly(Some((NANOSLEEP, 0)), 0)).contains(&"slow-reader".to_string()));
    }
}
