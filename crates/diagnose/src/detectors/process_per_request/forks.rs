//! Forks that take long by themselves: all page tables of a large process are copied, and given up again at the child's end.

use crate::analysis::{Analysis, PotentialSaving};
use crate::detectors::{Found, costly_call, median, of_every_request, rows};
use crate::number;
use crate::spans;
use crate::syscall;
use crate::threads::call_end;
use case::Nanos;
use std::collections::BTreeSet;

/// Fewer are no habit.
const FORKS: usize = 5;

/// A small process was forked in 45 us, a thread started in 14 (Linux 6.18): a fork that takes so much longer copies much.
const LONG: u64 = 1_000_000;

pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    let requests = spans::merge(analysis.exchanges.iter().map(|one| (one.start, one.end)).collect());
    let threads = dealing_with_requests(analysis);
    let forks = analysis.calls_of(syscall::is_fork).filter_map(|(row, call)| {
        if call.result <= 0 || !threads.contains(&call.tid) {
            return None;
        }
        // Whoever is blocked in it waits until the child has become another program (vfork): that is the child's start.
        let within = spans::within(&requests, call.start.0, call_end(call));
        let length: u64 = within.map(|(from, to)| analysis.on_cpu(call.tid, from, to)).sum();
        (length >= LONG).then_some((row, length))
    });
    let forks: Vec<(usize, u64)> = forks.collect();
    if forks.len() < FORKS {
        return None;
    }
    let wall: u64 = forks.iter().map(|(_, length)| length).sum();
    let affected = forks.len().min(analysis.exchanges.len()) as u64;
    let usual = Nanos(median(forks.iter().map(|(_, length)| *length).collect()));
    let place = costly_call(analysis, forks.iter().copied());
    let what = "Requests wait while a large process is copied (fork)".to_string();
    Some(Found {
        title: of_every_request(analysis, &what, wall, &place),
        what,
        mechanism: vec![
            format!(
                "Half of the {} forks within requests took {usual} of CPU time or more: the kernel copies a table with an entry for \
                 each page of the process.",
                number::count(forks.len() as u64)
            ),
            "The child gives its table up again at its end, and each page that either of them writes until then is copied, too."
                .to_string(),
        ],
        saving: PotentialSaving { wall, outside: 0, cpu: wall, affected },
        rows: rows("calls", forks.iter().map(|(row, _)| *row)),
        place,
        remedy: "Start processes without a copy (posix_spawn, vfork), from a small helper that was started early, or keep a pool \
                 of workers."
            .to_string(),
        ..Found::default()
    })
}

/// The threads that take connections, read requests or write answers.
fn dealing_with_requests(analysis: &Analysis) -> BTreeSet<u32> {
    let transfers = analysis.exchanges.iter().flat_map(|exchange| analysis.server_transfers(exchange));
    let accepts = analysis.calls_of(syscall::is_accept).filter(|(_, call)| call.result >= 0);
    transfers.map(|&row| analysis.call(row as usize).tid).chain(accepts.map(|(_, call)| call.tid)).collect()
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, SERVER, US, request};
    use crate::tests::{answer, names};
    use case::Recording;

    const FORK: u16 = 57;

    const ACCEPT: u16 = 43;
    /// A thread that takes connections and leaves what comes on them to others.
    const DOOR: u32 = SERVER + 70;

    /// Twenty requests in each of which the server forks for so long.
    fn forking(length: u64, is_blocked: bool) -> Recording {
        forking_by(SERVER, length, is_blocked).end()
    }

    /// The same by one of its threads.
    fn forking_by(tid: u32, length: u64, is_blocked: bool) -> Fixture {
        let mut fixture = Fixture::new();
        fixture.process(DOOR, "server");
        fixture.connect(1, CLIENT);
        let mut idle = fixture.now;
        for _ in 0..20 {
            let start = fixture.now;
            request(&mut fixture, CLIENT, 1, length + 20 * US, &mut idle);
            let answered = fixture.now;
            fixture.now = start + 25 * US;
            if is_blocked {
                fixture.waits(tid, length, FORK, |call| call.result = 77);
            } else {
                fixture.does(tid, length, FORK, |call| call.result = 77);
            }
            fixture.now = answered + 20 * US;
        }
        fixture
    }

    #[test]
    fn forks_of_a_large_process_are_found_with_what_they_take() {
        let answer = answer(&forking(10 * MS, false));
        let finding = answer.findings.iter().find(|one| one.name == "process-per-request").expect("found");
        assert!((9 * MS..11 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
    }

    #[test]
    fn those_of_a_thread_that_only_takes_connections_are_found_and_those_of_others_are_not() {
        let is_found = |fixture: Fixture| names(&fixture.end()).contains(&"process-per-request".to_string());
        assert!(!is_found(forking_by(DOOR, 10 * MS, false)));
        let mut fixture = forking_by(DOOR, 10 * MS, false);
        fixture.does(DOOR, 5 * US, ACCEPT, |call| (call.connection, call.result) = (1001, 5));
        assert!(is_found(fixture));
    }

    #[test]
    fn quick_forks_and_waits_for_a_child_to_start_are_left_alone() {
        assert!(!names(&forking(100 * US, false)).contains(&"process-per-request".to_string()));
        assert!(!names(&forking(10 * MS, true)).contains(&"process-per-request".to_string()), "vfork");
    }
}
