//! P39: requests wait for a disk.

use super::{Found, detector, rows};
use crate::connections::End;
use crate::evidence::{Evidence, Toll};
use crate::ledger::Account;
use crate::place;
use crate::syscall;
use crate::threads::call_end;
use case::Nanos;
use case::tables::{Call, reason};

detector! {
    /// # sync-disk
    ///
    /// ## What it is
    /// While it answers a request, a thread waits for data to be on a disk: fsync and its kin, or a write that the
    /// kernel makes wait for the device.
    ///
    /// ## Evidence
    /// The time that threads with a request in hand were blocked in fsync, fdatasync, msync, sync_file_range or sync,
    /// or uninterruptibly in a write to a file.
    ///
    /// ## What proves it
    /// The same files on a tmpfs, or a sync that does nothing (for the trial only): the wait vanishes.
    ///
    /// ## Remedy
    /// Gather several requests' changes in one sync, sync in another thread and answer after it, write logs without
    /// syncing each line; if every answer must be on disk first, a faster disk.
    ///
    /// ## Not to be confused with
    /// A sync in a thread that answers nobody (harmless), reading a cold file, a lock held by someone who syncs.
    "P39" "sync-disk"
}

fn detect(evidence: &Evidence) -> Option<Found> {
    let mut in_hand = 0;
    let mut shown: Vec<usize> = Vec::new();
    let mut longest: Option<(u64, usize)> = None;
    for (row, call) in evidence.recording.calls.iter().enumerate().filter(|(_, call)| call.blocked.0 > 0) {
        let waits = syscall::is_sync(call.number) || (is_file_write(call) && is_uninterruptible(evidence, call));
        // The whole call would go: while the thread was blocked others took its processor.
        let inside = if waits { evidence.split(call.tid, call.start.0, call_end(call)).0 } else { 0 };
        if inside > 0 {
            in_hand += inside;
            shown.push(row);
            longest = longest.max(Some((inside, row)));
        }
    }
    let syncs = |account| matches!(account, Account::Blocked(_, number, _) if syscall::is_sync(number));
    // One sync can hold up many exchanges at a time: their books know.
    let wall = in_hand.max(evidence.accounts.of_exchanges(syncs));
    let (length, row) = longest?;
    let call = evidence.call(row);
    let place = place::of_call(&evidence.code, call);
    let count = evidence.exchanges.len().max(1) as u64;
    let at_server = evidence.accounts.of_exchanges(
        |account| matches!(account, Account::Blocked(End::Server, number, _) if syscall::is_sync(number)),
    );
    let who = if at_server > 0 { "the server" } else { "the client" };
    let title = format!(
        "Requests wait for a disk: {who} is blocked in {} for {} of every {} request{}",
        syscall::name(call.number),
        Nanos(wall / count),
        Nanos(evidence.exchange_wall() / count),
        place::in_words(&place),
    );
    let mechanism = vec![
        format!("With a request in hand, {who} waited {} times for data to reach a disk.", shown.len()),
        format!("The longest of these waits took {}.", Nanos(length)),
    ];
    let remedy =
        "Sync once for several requests, or in a thread that answers nobody; write logs without syncing each line."
            .to_string();
    let toll = Toll { wall, outside: 0, cpu: 0, affected: shown.len() as u64 };
    let rows = rows("calls", std::iter::once(row).chain(shown.into_iter().filter(|&other| other != row)));
    Some(Found { title, mechanism, toll, place, remedy, rows, explains: Vec::new() })
}

fn is_file_write(call: &Call) -> bool {
    syscall::is_write(call.number) && call.connection == 0 && call.path != 0
}

/// Whether the call's thread was off the processor uninterruptibly while it lasted.
fn is_uninterruptible(evidence: &Evidence, call: &Call) -> bool {
    let Some(thread) = evidence.threads.get(call.tid) else { return false };
    let switches = &evidence.recording.switches[thread.switches.clone()];
    let first = switches.partition_point(|row| row.start < call.start);
    let within = switches[first..].iter().take_while(|row| row.start.0 < call_end(call));
    within.into_iter().any(|row| row.reason == reason::UNINTERRUPTIBLE)
}

#[cfg(test)]
mod tests {
    use crate::scene::{EPOLL_WAIT, MS, READ, SERVER, Scene, US, WRITE, keep_alive};
    use crate::tests::{answer, names};
    use case::Recording;
    use case::tables::Thread;

    /// Requests whose answers wait for an fsync in the server's thread, or that goes on in another one.
    fn syncing(thread: u32) -> Recording {
        let mut scene = Scene::new();
        scene.recording.threads.push(Thread {
            tid: 201,
            pid: SERVER,
            start: case::Nanos(scene.now),
            ..Thread::default()
        });
        scene.path(1, "/var/lib/db/log");
        scene.connect(1, crate::scene::CLIENT);
        let mut idle = scene.now;
        for _ in 0..20 {
            let start = scene.now;
            scene.moves(crate::scene::CLIENT, 1, WRITE, 200);
            scene.travels(start + 3 * US, 1, 1001, 200);
            let waiting = scene.now;
            scene.now = idle;
            scene.waits(SERVER, start + 12 * US - idle, EPOLL_WAIT, |call| call.result = 1);
            scene.moves(SERVER, 1001, READ, 200);
            if thread == SERVER {
                scene.waits(SERVER, 8 * MS, 74, |call| call.path = 1);
            } else {
                let before = scene.now;
                scene.waits(thread, 8 * MS, 74, |call| (call.pid, call.path) = (SERVER, 1));
                scene.now = before + 300 * US;
            }
            let answered = scene.now;
            scene.moves(SERVER, 1001, WRITE, 1000);
            scene.travels(answered + 3 * US, 1001, 1, 1000);
            idle = scene.now;
            scene.now = waiting;
            scene.waits_for(crate::scene::CLIENT, 1, answered + 12 * US - waiting, 1000);
            scene.now += 9 * MS;
        }
        scene.end()
    }

    #[test]
    fn a_sync_before_each_answer_is_found() {
        let answer = answer(&syncing(SERVER));
        assert_eq!(answer.findings[0].name, "sync-disk");
        assert!(answer.findings[0].cost.share_of_wall > 0.9, "{:?}", answer.findings[0].cost);
        let name = "server blocked in fsync (/var/lib/db/log)";
        assert!(answer.ledger.accounts.iter().any(|account| account.name == name), "{:?}", answer.ledger);
    }

    #[test]
    fn a_sync_in_a_thread_that_answers_nobody_is_left_alone() {
        assert_eq!(names(&syncing(201)), Vec::<String>::new());
    }

    #[test]
    fn a_server_that_never_syncs_is_left_alone() {
        assert_eq!(names(&keep_alive(20, 300 * US).end()), Vec::<String>::new());
    }
}
