//! A thread that looks into a socket, finds nothing, sleeps, and looks again, instead of waiting in the kernel: what comes
//! meanwhile waits until the sleep is over.

use crate::analysis::{Analysis, PotentialSaving};
use crate::detectors::{Found, costly_call, median, rows};
use crate::number;
use crate::pauses;
use crate::syscall;
use crate::threads::call_end;
use case::Nanos;
use case::tables::{Call, direction};

/// Fewer are chance.
const REPEATED: usize = 3;

/// A sleep after which something was there that had not been before it.
struct Overslept {
    sleep: usize,
    /// When it had come, where segments tell; else the middle of the sleep, which is right on average.
    came: u64,
}

pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    let threads = analysis.threads.all().iter();
    let mut overslept: Vec<Overslept> = threads.flat_map(|thread| of_thread(analysis, thread.calls.clone())).collect();
    overslept.sort_by_key(|one| analysis.call(one.sleep).start);
    (overslept.len() >= REPEATED).then(|| found(analysis, &overslept))
}

fn of_thread(analysis: &Analysis, calls: std::ops::Range<usize>) -> Vec<Overslept> {
    let mut found = Vec::new();
    // What was looked at in vain, and the sleep since.
    let (mut empty, mut slept): (Option<(u16, i32)>, Option<usize>) = (None, None);
    for row in calls {
        let call = analysis.call(row);
        let is_sleep = call.blocked.0 > 0 && pauses::sleeps(analysis, call);
        match look(call) {
            _ if is_sleep => slept = Some(row).filter(|_| empty.is_some()),
            Some(Look::Empty) => (empty, slept) = (Some((call.number, call.fd)), None),
            Some(Look::Full) => {
                let same = empty.take() == Some((call.number, call.fd));
                found.extend(slept.take().filter(|_| same).map(|sleep| overslept(analysis, sleep, call)));
            }
            None if call.blocked.0 > 0 => (empty, slept) = (None, None),
            None => (),
        }
    }
    found
}

/// What a look that does not wait found.
enum Look {
    Empty,
    Full,
}

/// Whether a call looks without waiting whether something is there: a read or an accept, or a poll of descriptors that it is
/// given. An event loop's own `epoll_wait` also looks between what it runs, and some runtimes have a thread that looks after it.
fn look(call: &Call) -> Option<Look> {
    let takes = syscall::is_read(call.number) && call.connection != 0 || syscall::is_accept(call.number);
    let asks = syscall::is_given_descriptors(call.number) && !syscall::is_nap(call);
    match call.result {
        _ if call.blocked.0 > 0 => None,
        syscall::EAGAIN if takes => Some(Look::Empty),
        0 if asks => Some(Look::Empty),
        1.. if takes || asks => Some(Look::Full),
        _ => None,
    }
}

fn overslept(analysis: &Analysis, sleep: usize, full: &Call) -> Overslept {
    let call = analysis.call(sleep);
    let (from, to) = (call.start.0, call_end(call));
    let slot = analysis.connections.slot(full.connection).filter(|_| full.connection != 0);
    let segments = slot.map_or(&[][..], |slot| analysis.connections.segments(slot));
    let mut arrived = segments.iter().filter(|one| one.direction == direction::IN && one.payload > 0);
    let came = arrived.find(|one| (from..to).contains(&one.time.0)).map(|one| one.time.0);
    Overslept { sleep, came: came.unwrap_or(from + (to - from) / 2) }
}

fn found(analysis: &Analysis, overslept: &[Overslept]) -> Found {
    let lost = |one: &Overslept| call_end(analysis.call(one.sleep)).saturating_sub(one.came);
    let mut saving = PotentialSaving { affected: overslept.len() as u64, ..PotentialSaving::default() };
    for one in overslept {
        let (wall, outside) = analysis.split(analysis.call(one.sleep).tid, one.came, one.came + lost(one));
        saving.wall += wall;
        saving.outside += outside;
    }
    let count = analysis.exchanges.len().max(1) as u64;
    let place = costly_call(analysis, overslept.iter().map(|one| (one.sleep, lost(one))));
    let pid = analysis.call(overslept[0].sleep).pid;
    let program = analysis.recording.processes.iter().rfind(|row| row.pid == pid);
    let program = program.map_or("a program", |row| analysis.recording.program(row));
    let usual = Nanos(median(overslept.iter().map(|one| analysis.call(one.sleep).blocked.0).collect()));
    let what = "What has come waits until a sleep is over".to_string();
    Found {
        title: format!("{what}: {} per request{}", Nanos((saving.wall + saving.outside) / count), place.in_words()),
        what,
        mechanism: vec![format!(
            "{} times a thread of {program} looked for something to read, found nothing, slept (median {usual}), and looked \
             again. By then it had been there for a median of {}.",
            number::count(overslept.len() as u64),
            Nanos(median(overslept.iter().map(lost).collect())),
        )],
        saving,
        place,
        remedy: "Wait for it in the kernel (a blocking read, poll or epoll with a time-out): it wakes the thread when it comes."
            .to_string(),
        rows: rows("calls", overslept.iter().map(|one| one.sleep)),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::syscall::EAGAIN;
    use crate::tests::{answer, names};
    use case::Recording;

    const NANOSLEEP: u16 = 35;
    const POLL: u16 = 7;

    /// Twenty requests whose answers come 1 ms after they were looked for in vain, by a call that returns this; the client then
    /// does something for 10 ms.
    fn looking(number: u16, nothing: i64, meanwhile: impl Fn(&mut Fixture)) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        for _ in 0..20 {
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 200);
            fixture.travels(start + 3 * US, 1, 1001, 200);
            let look = |fixture: &mut Fixture, result| {
                fixture.does(CLIENT, 2 * US, number, |call| {
                    (call.connection, call.fd, call.argument_1, call.result) = (1, 3, 1, result);
                });
            };
            look(&mut fixture, nothing);
            let asleep = fixture.now;
            fixture.now = asleep + MS;
            fixture.moves(SERVER, 1001, READ, 200);
            fixture.moves(SERVER, 1001, WRITE, 1000);
            fixture.travels(asleep + MS + 12 * US, 1001, 1, 1000);
            fixture.now = asleep;
            meanwhile(&mut fixture);
            fixture.now = fixture.now.max(asleep + 2 * MS);
            look(&mut fixture, 1000);
            if number != READ {
                fixture.moves(CLIENT, 1, READ, 1000);
            }
        }
        fixture.end()
    }

    fn is_found(recording: &Recording) -> bool {
        names(recording).contains(&"sleep-polling".to_string())
    }

    fn sleeps(fixture: &mut Fixture) {
        fixture.waits(CLIENT, 10 * MS, NANOSLEEP, |_| ());
    }

    #[test]
    fn sleeps_between_two_reads_that_do_not_wait_are_found() {
        let answer = answer(&looking(READ, EAGAIN, sleeps));
        let finding = answer.findings.iter().find(|one| one.name == "sleep-polling").expect("it is found");
        assert_eq!(finding.cost.affected, 20);
        // From when it came.
        assert!((8 * MS..9 * MS + MS / 2).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
    }

    #[test]
    fn sleeps_between_polls_that_do_not_wait_are_found() {
        assert!(is_found(&looking(POLL, 0, sleeps)));
    }

    #[test]
    fn who_waits_in_the_kernel_or_works_meanwhile_is_left_alone() {
        assert!(!is_found(&looking(READ, EAGAIN, |fixture| {
            fixture.waits(CLIENT, 10 * MS, POLL, |call| (call.connection, call.argument_1, call.result) = (1, 1, 1));
        })));
        assert!(!is_found(&looking(READ, EAGAIN, |fixture| fixture.computes(CLIENT, 10 * MS, 0))));
    }
}
