//! P75: bytes have come, and whoever wants them waits until a time-out, since the wait does not end as they come.

use super::{Found, costly_call, detector, median, of_every_request, rows, sleep_polling};
use crate::analysis::{Analysis, PotentialSaving};
use crate::number;
use crate::syscall;
use crate::threads::call_end;
use crate::unread::unread;
use case::Nanos;
use case::tables::Call;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;

detector! {
    /// # missed-readiness
    ///
    /// ## What it is
    /// A thread waits for descriptors in poll, select or epoll_wait, and bytes that have come do not end the wait: it goes on until its
    /// time is over, and only then are they read. The wait is edge-triggered and not all was read the last time (EPOLLET), the event was
    /// not armed again (EPOLLONESHOT), the socket is not among those waited for, or more bytes are asked for than come (SO_RCVLOWAT).
    ///
    /// ## Evidence
    /// Segments with payload that arrive at a connection while a thread waits, a wait that ends for want of events, and a read by the same
    /// thread that gets these bytes, with no other wait in between. Three times or more, and hardly ever more than once
    /// in a request: who takes what comes in portions paces itself.
    ///
    /// ## What proves it
    /// Shorter time-outs (`short-timeouts`): the wait gets shorter with them, since nothing else ends it.
    ///
    /// ## Remedy
    /// With EPOLLET, read until EAGAIN; with EPOLLONESHOT, arm the event again after each read. Watch every socket that is to be read,
    /// and leave SO_RCVLOWAT at 1.
    ///
    /// ## Not to be confused with
    /// sleep-polling, in which the thread does not wait for events at all; close-wait-framing, in which all has been read and nothing
    /// more comes; a limit of the rate, which leaves bytes unread on purpose.
    "P75" "missed-readiness",
    follows_from: &[sleep_polling::DETECTOR.page.id],
    needs: &[Server, Tcp]
}

/// Fewer are chance.
const REPEATED: usize = 3;
/// Bytes that come as late as this before the time is over come too late to end the wait sooner.
const LEAST: u64 = 1_000_000;
/// Who waits more than once in more than one in so many requests takes what comes in portions: it paces itself.
const PORTIONS: usize = 5;

/// A read after waits that timed out, with none in between that did not: rows of the table of calls.
struct Late {
    /// The first and the last of these waits.
    waits: (usize, usize),
    read: usize,
}

/// Bytes that waited for a time-out.
struct Missed {
    /// The wait that timed out last, and the read: rows of the table of calls.
    wait: usize,
    read: usize,
    /// When they had come, or the first of these waits began, if that is later.
    came: u64,
    /// When the time was over.
    over: u64,
}

impl Missed {
    fn length(&self) -> u64 {
        self.over - self.came
    }

    /// How much of it is time of requests that the thread took part in.
    fn within(&self, analysis: &Analysis) -> u64 {
        analysis.split(analysis.call(self.wait).tid, self.came, self.over).0
    }
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let threads = analysis.threads.all().iter();
    let mut late: BTreeMap<usize, Vec<Late>> = BTreeMap::new();
    for one in threads.flat_map(|thread| of_thread(analysis, thread.calls.clone())) {
        if let Some(slot) = analysis.connections.slot(analysis.call(one.read).connection) {
            late.entry(slot).or_default().push(one);
        }
    }
    let mut missed: Vec<Missed> = late.iter().flat_map(|(&slot, late)| on_connection(analysis, slot, late)).collect();
    if takes_portions(analysis, &missed) {
        return None;
    }
    missed.sort_by_key(|one| one.came);
    (missed.len() >= REPEATED).then(|| found(analysis, &missed))
}

/// Whether bytes of many requests were read only after several such waits.
fn takes_portions(analysis: &Analysis, missed: &[Missed]) -> bool {
    let mut requests: FxHashMap<usize, usize> = FxHashMap::default();
    for request in missed.iter().filter_map(|one| request_of(analysis, one)) {
        *requests.entry(request).or_default() += 1;
    }
    let several = requests.values().filter(|&&waits| waits > 1).count();
    several * PORTIONS > requests.len()
}

/// The last request that had begun on the connection as the bytes were read: its place among the exchanges.
fn request_of(analysis: &Analysis, missed: &Missed) -> Option<usize> {
    let read = analysis.call(missed.read);
    let slot = analysis.connections.slot(read.connection)?;
    let peer = analysis.connections.all()[slot].peer;
    let begun = analysis.exchanges.partition_point(|exchange| exchange.start <= read.start.0);
    (0..begun).rev().find(|&number| {
        let connection = analysis.exchanges[number].connection;
        connection == slot || Some(connection) == peer
    })
}

/// What a thread read at once after waits that had timed out, and nothing else that it waited for. What it reads where it has written
/// something first may be an answer to that.
fn of_thread(analysis: &Analysis, calls: Range<usize>) -> Vec<Late> {
    let mut found = Vec::new();
    // The waits that timed out, one after another, and the connections that were written to since.
    let mut waits: Option<(usize, usize)> = None;
    let mut written: Vec<u32> = Vec::new();
    for row in calls {
        let call = analysis.call(row);
        if is_timed_out(call) {
            waits = Some((waits.map_or(row, |waits| waits.0), row));
            written.clear();
        } else if call.blocked.0 > 0 || syscall::is_poll(call.number) && call.result > 0 {
            waits = None;
        } else if call.connection != 0 && call.result > 0 {
            let is_first = !written.contains(&call.connection);
            let late = waits.filter(|_| is_first && syscall::is_read(call.number));
            found.extend(late.map(|waits| Late { waits, read: row }));
            if waits.is_some() && is_first && syscall::is_write(call.number) {
                written.push(call.connection);
            }
        }
    }
    found
}

/// Whether a call waited for descriptors, and in vain.
fn is_timed_out(call: &Call) -> bool {
    syscall::is_poll(call.number) && call.result == 0 && call.blocked.0 > 0 && !syscall::is_nap(call)
}

/// The reads of a connection that got what had come while their threads waited.
fn on_connection(analysis: &Analysis, slot: usize, late: &[Late]) -> Vec<Missed> {
    let transfers = analysis.connections.transfer_numbers(slot).iter().map(|&row| row as usize);
    let reads = transfers.filter(|&row| syscall::is_read(analysis.call(row).number));
    let unread = unread(analysis.connections.segments(slot), &analysis.recording.calls, reads);
    let missed = |late: &Late| {
        let ((first, wait), read) = (late.waits, analysis.call(late.read));
        let span = unread.get(unread.partition_point(|span| span.1 < call_end(read)))?;
        let came = span.0.max(analysis.call(first).start.0);
        // When it was to run again, not when it did: what comes while a thread has no CPU does not end its wait.
        let over = analysis.call(wait).start.0.saturating_add(analysis.call(wait).blocked.0);
        (came.saturating_add(LEAST) <= over).then_some(Missed { wait, read: late.read, came, over })
    };
    let mut missed: Vec<Missed> = late.iter().filter_map(missed).collect();
    // Of several reads after one wait the first counts; and what no request waited for is left out.
    missed.dedup_by_key(|one| one.wait);
    missed.retain(|one| one.within(analysis) >= LEAST);
    missed
}

fn found(analysis: &Analysis, missed: &[Missed]) -> Found {
    let wall = missed.iter().map(|one| one.within(analysis)).sum();
    let saving = PotentialSaving { wall, affected: missed.len() as u64, ..PotentialSaving::default() };
    let place = costly_call(analysis, missed.iter().map(|one| (one.wait, one.length())));
    let longest = missed.iter().max_by_key(|one| (one.length(), std::cmp::Reverse(one.wait))).unwrap_or(&missed[0]);
    let call = analysis.call(longest.wait);
    let program = analysis.recording.processes.iter().rfind(|row| row.pid == call.pid);
    let program = program.map_or("a program", |row| analysis.recording.program(row));
    let waits: Vec<u64> = missed.iter().map(|one| analysis.call(one.wait).blocked.0).collect();
    let what = format!("{program} reads what has arrived only after its wait times out");
    Found {
        title: of_every_request(analysis, &what, wall, &place),
        what,
        mechanism: vec![
            format!(
                "{} times, a thread of {program} waited in {} until the time-out (median {}), and then read what had been there for a \
                 median of {}.",
                number::count(missed.len() as u64),
                syscall::name(call.number),
                Nanos(median(waits)),
                Nanos(median(missed.iter().map(Missed::length).collect())),
            ),
            "A wait that watches a socket ends as bytes arrive. This one had reported them before (edge-triggered, and not all was \
             read), watches other descriptors, or asks for more bytes than arrived."
                .to_string(),
        ],
        saving,
        place,
        remedy: "With EPOLLET, read until EAGAIN; with EPOLLONESHOT, arm the event again after each read. Watch every socket that is to \
                 be read, and leave SO_RCVLOWAT at 1."
            .to_string(),
        rows: rows("calls", missed.iter().map(|one| one.wait)),
        stalls: missed.iter().map(|one| (one.came, one.over)).collect(),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::{answer, names};
    use case::Recording;

    const EPOLL_WAIT: u16 = 232;
    const POLL: u16 = 7;

    /// Twenty requests of a kept connection, each of so many reads of the server's; it waits before each, and what it reads comes so
    /// long after it began to.
    fn serving(reads: usize, comes: u64, wait: impl Fn(&mut Fixture)) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        for _ in 0..20 {
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 100);
            let asked = fixture.now;
            for _ in 0..reads {
                let now = fixture.now;
                fixture.travels(now + comes, 1, 1001, 100);
                wait(&mut fixture);
                fixture.moves(SERVER, 1001, READ, 100);
            }
            let answered = fixture.now;
            fixture.moves(SERVER, 1001, WRITE, 200);
            fixture.travels(answered + 3 * US, 1001, 1, 200);
            fixture.now = asked;
            fixture.waits_for(CLIENT, 1, answered + 12 * US - asked, 200);
            fixture.now = fixture.now.max(start + 25 * MS);
        }
        fixture.end()
    }

    fn waits(number: u16, result: i64) -> impl Fn(&mut Fixture) {
        move |fixture| {
            fixture.waits(SERVER, 20 * MS, number, |call| (call.argument_1, call.result) = (1, result));
        }
    }

    fn is_found(recording: &Recording) -> bool {
        names(recording).contains(&"missed-readiness".to_string())
    }

    #[test]
    fn bytes_that_are_read_after_a_time_out_are_found() {
        for number in [EPOLL_WAIT, POLL] {
            let answer = answer(&serving(1, 3 * US, waits(number, 0)));
            let finding = answer.findings.iter().find(|one| one.name == "missed-readiness").expect("it is found");
            assert_eq!(finding.cost.affected, 20);
            assert!((19 * MS..21 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
        }
    }

    #[test]
    fn a_wait_that_ends_as_bytes_come_and_a_sleep_are_left_alone() {
        assert!(!is_found(&serving(1, 3 * US, waits(EPOLL_WAIT, 1))));
        // Woken as the bytes come, late.
        assert!(!is_found(&serving(1, 3 * US, |fixture| {
            fixture.waits(SERVER, 20 * MS, EPOLL_WAIT, |call| call.result = 0);
            fixture.waits(SERVER, 30 * US, EPOLL_WAIT, |call| call.result = 1);
        })));
        // Without descriptors it is a sleep.
        assert!(!is_found(&serving(1, 3 * US, |fixture| {
            fixture.waits(SERVER, 20 * MS, POLL, |call| call.result = 0);
        })));
    }

    #[test]
    fn what_is_read_once_it_was_asked_for_or_waited_for_is_left_alone() {
        assert!(!is_found(&serving(1, 3 * US, |fixture| {
            fixture.waits(SERVER, 20 * MS, EPOLL_WAIT, |call| call.result = 0);
            fixture.moves(SERVER, 1001, WRITE, 10);
        })));
        assert!(!is_found(&serving(1, 3 * US, |fixture| {
            fixture.waits(SERVER, 20 * MS, EPOLL_WAIT, |call| call.result = 0);
            fixture.waits_for(SERVER, 1001, 20 * US, 50);
        })));
    }

    #[test]
    fn bytes_that_come_as_the_time_is_over_and_portions_are_left_alone() {
        assert!(!is_found(&serving(1, 20 * MS - 500 * US, waits(EPOLL_WAIT, 0))));
        assert!(!is_found(&serving(4, 3 * US, waits(EPOLL_WAIT, 0))));
    }
}
