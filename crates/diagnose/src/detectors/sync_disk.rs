//! P39: requests wait for a disk.

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::ledger::{Account, Object};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::exchange::Exchange;
use crate::syscall;
use crate::threads::call_end;
use case::Nanos;
use case::tables::{Call, reason};
use std::collections::BTreeMap;

detector! {
    /// # sync-disk
    ///
    /// ## What it is
    /// While handling a request, a thread waits for data to reach the disk: in fsync and the like, or in a write that
    /// the kernel makes wait for the device: a database at the end of a transaction, for example, and one transaction
    /// for each row has one sync for each row. Or a client syncs after each answer before it sends the next request.
    ///
    /// ## Evidence
    /// The time that threads with a request in hand were blocked in fsync, fdatasync, msync, sync_file_range or sync,
    /// or uninterruptibly in a write to a file; and the syncs of a requesting thread between its first request and its
    /// last, if they take at least 5 % of the run.
    ///
    /// ## What proves it
    /// The same files on a tmpfs, or a sync that does nothing (in the trial only): the wait goes away.
    ///
    /// ## Remedy
    /// Sync the changes of several requests at once; sync in another thread and answer afterwards; write logs without
    /// syncing each line. Put many rows into one transaction (BEGIN and COMMIT around them, executemany, COPY). If
    /// every answer must be on disk first, use a faster disk.
    ///
    /// ## Not to be confused with
    /// A sync in a thread that serves no request (harmless); reading a cold file; a lock held by a thread that syncs.
    "P39" "sync-disk",
    needs: &[Server, Calls]
}

/// Syncs between the requests of a client count from this share of the run: what else it does between them is in no
/// exchange, so that a share of the exchanges would say too much.
const SHARE_OF_RUN: f64 = 0.05;

/// One wait for a disk: its call, and how much of it fell within exchanges and between those of a client.
struct Wait {
    row: usize,
    inside: u64,
    between: u64,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let waits = waits(analysis);
    let in_hand: u64 = waits.iter().map(|wait| wait.inside).sum();
    let between: u64 = waits.iter().map(|wait| wait.between).sum();
    let shown: Vec<usize> = waits.iter().map(|wait| wait.row).collect();
    let longest = waits.iter().map(|wait| (wait.inside + wait.between, wait.row)).max();
    // One sync can hold up many exchanges at a time: their breakdown knows.
    let wall = in_hand.max(analysis.accounts.of_exchanges(is_sync));
    let (length, row) = longest?;
    let call = analysis.call(row);
    let place = costly_call(analysis, waits.iter().map(|wait| (wait.row, wait.inside + wait.between)));
    let count = analysis.exchanges.len().max(1) as u64;
    let at = |end: End| {
        analysis.accounts.of_exchanges(|account| {
            matches!(account, Account::Blocked(of, ..) if of == end) && (is_sync(account) || is_write_to_file(account))
        })
    };
    let at_server = at(End::Server);
    let who = if at_server > 0 && at_server >= at(End::Client) { "the server" } else { "the client" };
    let (who, when) =
        if between > in_hand { ("the client", "Before the next request") } else { (who, "With a request in hand") };
    let call_name = syscall::name(call.number);
    let place_words = place.in_words();
    let title = if between > in_hand {
        let each = Nanos(between / count);
        format!(
            "The next request waits for the disk: {who} is blocked in {call_name} for {each} before each{place_words}"
        )
    } else {
        let (part, whole) = (Nanos(wall / count), Nanos(analysis.exchange_wall() / count));
        format!(
            "Requests wait for the disk: {who} is blocked in {call_name} for {part} of every {whole} request{place_words}"
        )
    };
    let mut mechanism = vec![
        format!("{when}, {who} waited {} times for data to reach the disk.", shown.len()),
        format!("The longest of these waits took {}.", Nanos(length)),
    ];
    let one_by_one = one_by_one(analysis, &waits);
    mechanism.extend(one_by_one.map(|count| {
        format!(
            "{count} requests of one shape came one after another over one connection, and each waited for a sync of its \
             own, as with a transaction for each row."
        )
    }));
    let remedy = if one_by_one.is_some() {
        "Let many of them share one sync: one transaction for all (BEGIN and COMMIT around them), or a batch."
    } else {
        "Sync once for several requests, or in a thread that serves none; write logs without syncing each line."
    };
    let remedy = remedy.to_string();
    let saving = PotentialSaving { wall, outside: between, cpu: 0, affected: shown.len() as u64 };
    let rows = rows("calls", std::iter::once(row).chain(shown.into_iter().filter(|&other| other != row)));
    let waiting = if between > in_hand { "The next request waits" } else { "Requests wait" };
    let what = format!("{waiting} for the disk ({who} in {call_name})");
    // One sync can hold up many requests: only what each waits for itself can be told one by one.
    let of_call = |wait: &Wait| {
        let call = analysis.call(wait.row);
        (call.start.0, call_end(call))
    };
    let stalls = waits.iter().filter(|wait| wait.inside > 0).map(of_call).collect();
    Some(Found { title, what, mechanism, saving, place, remedy, rows, stalls, ..Found::default() })
}

fn is_sync(account: Account) -> bool {
    matches!(account, Account::Blocked(_, number, _) if syscall::is_sync(number))
}

/// Also a write to a file that was opened to be synced with each of them.
fn is_write_to_file(account: Account) -> bool {
    matches!(account, Account::Blocked(_, number, Object::Path(_)) if syscall::is_write(number))
}

fn waits(analysis: &Analysis) -> Vec<Wait> {
    let asking = asking(analysis);
    let delays_next = |call: &Call| {
        let asks = asking.get(&call.tid);
        syscall::is_sync(call.number)
            && asks.is_some_and(|&(first, last)| first <= call.start.0 && call_end(call) <= last)
    };
    let mut waits = Vec::new();
    let may_wait = |number| syscall::is_sync(number) || syscall::is_write(number);
    for (row, call) in analysis.calls_of(may_wait).filter(|(_, call)| call.blocked.0 > 0) {
        if syscall::is_sync(call.number) || (is_file_write(call) && is_uninterruptible(analysis, call)) {
            // The whole call would go: while the thread was blocked others took its processor.
            let (inside, outside) = analysis.split(call.tid, call.start.0, call_end(call));
            waits.push(Wait { row, inside, between: if delays_next(call) { outside } else { 0 } });
        }
    }
    let between: u64 = waits.iter().map(|wait| wait.between).sum();
    if (between as f64) < SHARE_OF_RUN * analysis.wall() as f64 {
        for wait in &mut waits {
            wait.between = 0;
        }
    }
    waits.retain(|wait| wait.inside + wait.between > 0);
    waits
}

/// So many requests of one shape are a habit, and nearly all of a connection's.
const HABIT: usize = 10;
const MOSTLY: f64 = 0.8;

/// Of one shape are requests that move as many bytes, but for the digits of a number.
const SAME_SHAPE: u64 = 8;

/// How many requests of one shape a connection had, one after another, that each waited for the disk, where those are
/// nearly all.
fn one_by_one(analysis: &Analysis, waits: &[Wait]) -> Option<usize> {
    // What a server asks another comes one after another since its own clients' requests do.
    if analysis.steps > 0 {
        return None;
    }
    let mut times: Vec<u64> =
        waits.iter().filter(|wait| wait.inside > 0).map(|wait| analysis.call(wait.row).start.0).collect();
    times.sort_unstable();
    let waits = |exchange: &Exchange| {
        let next = times.partition_point(|&time| time < exchange.start);
        times.get(next).is_some_and(|&time| time < exchange.end)
    };
    let mut connections: BTreeMap<usize, Vec<&Exchange>> = BTreeMap::new();
    for exchange in &analysis.exchanges {
        connections.entry(exchange.connection).or_default().push(exchange);
    }
    let most = connections.into_values().max_by_key(Vec::len)?;
    let usual = median(most.iter().map(|exchange| exchange.bytes).collect());
    let is_alike = |exchange: &&&Exchange| exchange.bytes.abs_diff(usual) <= SAME_SHAPE && waits(exchange);
    let alike = most.iter().filter(is_alike).count();
    (alike >= HABIT && alike as f64 >= MOSTLY * most.len() as f64).then_some(alike)
}

/// For each thread that asks by itself, one request after the other: from its first to its last. What it waits for
/// meanwhile delays its next request.
fn asking(analysis: &Analysis) -> BTreeMap<u32, (u64, u64)> {
    let mut asking: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for exchange in analysis.exchanges.iter().filter(|exchange| exchange.end_seen == End::Client) {
        if let Some(&row) = analysis.transfers(exchange).first() {
            let times = asking.entry(analysis.call(row as usize).tid).or_insert((exchange.start, exchange.start));
            times.1 = exchange.start.max(times.1);
        }
    }
    asking
}

fn is_file_write(call: &Call) -> bool {
    syscall::is_write(call.number) && call.connection == 0 && call.path != 0
}

/// Whether the call's thread was off the processor uninterruptibly while it lasted.
fn is_uninterruptible(analysis: &Analysis, call: &Call) -> bool {
    let Some(thread) = analysis.threads.get(call.tid) else { return false };
    let switches = &analysis.recording.switches[thread.switches.clone()];
    let first = switches.partition_point(|row| row.start < call.start);
    let within = switches[first..].iter().take_while(|row| row.start.0 < call_end(call));
    within.into_iter().any(|row| row.reason == reason::UNINTERRUPTIBLE)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, SERVER, US, WRITE, keep_alive, request, request_with};
    use crate::tests::{answer, names};
    use case::Recording;
    use case::tables::{Thread, reason};

    /// Requests whose answers wait for an fsync in the server's thread, or that goes on in another one.
    fn syncing(thread: u32) -> Recording {
        syncing_in(thread, 74)
    }

    /// The same in another call.
    fn syncing_in(thread: u32, number: u16) -> Recording {
        let mut fixture = Fixture::new();
        fixture.recording.threads.push(Thread {
            tid: 201,
            pid: SERVER,
            start: case::Nanos(fixture.now),
            ..Thread::default()
        });
        fixture.path(1, "/var/lib/db/log");
        fixture.connect(1, CLIENT);
        let mut idle = fixture.now;
        for _ in 0..20 {
            request_with(&mut fixture, CLIENT, 1, &mut idle, |fixture| {
                let before = fixture.now;
                fixture.waits(thread, 8 * MS, number, |call| (call.pid, call.path, call.result) = (SERVER, 1, 100));
                if thread == SERVER {
                    fixture.recording.switches.last_mut().expect("it waited").reason = reason::UNINTERRUPTIBLE;
                } else {
                    fixture.now = before + 300 * US;
                }
            });
            fixture.now += 9 * MS;
        }
        fixture.end()
    }

    #[test]
    fn a_sync_before_each_answer_is_found() {
        let answer = answer(&syncing(SERVER));
        assert_eq!(answer.findings[0].name, "sync-disk");
        assert!(answer.findings[0].cost.share_of_wall > 0.9, "{:?}", answer.findings[0].cost);
        let finding = &answer.findings[0];
        assert!(finding.mechanism.iter().any(|line| line.starts_with("20 requests of one shape")), "{finding:?}");
        assert!(finding.remedy.contains("one transaction"), "{}", finding.remedy);
        let name = "server blocked in fsync (/var/lib/db/log)";
        assert!(answer.ledger.accounts.iter().any(|account| account.name == name), "{:?}", answer.ledger);
    }

    #[test]
    fn a_write_that_waits_for_the_disk_itself_is_its_writers() {
        let answer = answer(&syncing_in(SERVER, WRITE));
        assert!(answer.findings[0].title.contains("the server is blocked in write"), "{}", answer.findings[0].title);
        assert!(answer.findings[0].mechanism[0].contains("the server waited"), "{:?}", answer.findings[0].mechanism);
    }

    /// A client that does something for 8 ms after each answer.
    fn between_requests(number: u16) -> Recording {
        let mut fixture = Fixture::new();
        fixture.path(1, "/var/lib/mail/box");
        fixture.connect(1, CLIENT);
        let mut idle = fixture.now;
        for _ in 0..20 {
            request(&mut fixture, CLIENT, 1, 300 * US, &mut idle);
            fixture.waits(CLIENT, 8 * MS, number, |call| call.path = 1);
        }
        fixture.end()
    }

    #[test]
    fn a_sync_before_the_next_request_is_found() {
        let answer = answer(&between_requests(74));
        assert_eq!(answer.findings[0].name, "sync-disk");
        // The last one comes before no request.
        assert_eq!(answer.findings[0].cost.affected, 19);
        assert!(answer.findings[0].mechanism[0].starts_with("Before the next request, the client"), "{answer:?}");
    }

    #[test]
    fn a_sync_beside_much_other_work_between_requests_is_left_alone() {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        let mut idle = fixture.now;
        for _ in 0..20 {
            request(&mut fixture, CLIENT, 1, 300 * US, &mut idle);
            fixture.waits(CLIENT, 8 * MS, 74, |_| {});
            fixture.now += 300 * MS;
        }
        assert_eq!(names(&fixture.end()), Vec::<String>::new());
    }

    #[test]
    fn a_pause_before_the_next_request_is_left_alone() {
        assert_eq!(names(&between_requests(230)), Vec::<String>::new());
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
