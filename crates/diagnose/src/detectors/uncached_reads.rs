//! P65: requests wait for files to be read from a disk.

use super::{Found, costly_call, detector, path_name, rows};
use crate::analysis::ledger::{Account, Object};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::number;
use crate::syscall;
use crate::threads::{Cursor, State};
use case::Nanos;
use case::facts::{self, Doing};
use case::tables::Call;
use std::collections::BTreeMap;

detector! {
    /// # uncached-reads
    ///
    /// ## What it is
    /// While handling requests, threads wait for data to come from a disk which the kernel would have in memory had it been allowed
    /// to keep it. The program goes around the page cache (O_DIRECT; nginx's `directio`), throws out of it what it has read
    /// (POSIX_FADV_DONTNEED), or there is less memory than the files need: a control group's limit counts the cache as well.
    ///
    /// ## Evidence
    /// Threads with a request in hand, or threads that those wait for, which are blocked uninterruptibly in reads of files, or outside
    /// of any call, where a page of a mapped file is missing (or one that was swapped out); no other thread of the program ends these
    /// waits. A tenth of the requests' time or more, and all through the run: the first request for a file always has to wait.
    ///
    /// ## What proves it
    /// The same program with the page cache: files opened without O_DIRECT, and nothing thrown out. The wait goes away. Where memory
    /// is too small this cannot be tried, and it remains a suspicion.
    ///
    /// ## Remedy
    /// Let the page cache keep what is asked for again, or keep it in a cache of the program's own; give the control group more
    /// memory; read ahead, or less, or from a faster disk.
    ///
    /// ## Not to be confused with
    /// sync-disk, in which data goes to the disk; tiny-reads and files-per-request (files that are in memory, read again and again);
    /// a program that has just started.
    "P65" "uncached-reads",
    needs: &[Server, Calls]
}

/// Below a tenth of the requests' time nobody would notice that it is gone.
const LEAST: f64 = 0.1;

/// Of the time so much is in the later half of the run, at least: half would be if nothing ever got into the cache.
const LATER: f64 = 0.25;

/// Fewer waits than this are an accident.
const HABIT: usize = 5;

/// What threads with a request in hand waited for a disk.
#[derive(Default)]
struct Waits {
    /// By call, a row of the table: how long within requests.
    reads: BTreeMap<usize, u64>,
    /// How often a page was missing, and how long that took.
    faults: (usize, u64),
    /// The part of all that in the later half of the run.
    later: u64,
}

impl Waits {
    fn count(&self) -> usize {
        self.reads.len() + self.faults.0
    }

    fn wall(&self) -> u64 {
        self.reads.values().sum::<u64>() + self.faults.1
    }
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let waits = waits(analysis);
    // One wait can hold up several requests, and some are of threads that requests wait for: their breakdown knows.
    let booked = analysis.accounts.of_exchanges(|account| is_for_a_disk(analysis, account));
    let (count, whole) = (analysis.exchanges.len().max(1) as u64, analysis.exchange_wall());
    let wall = waits.wall().max(booked);
    let goes_on = waits.later as f64 >= LATER * waits.wall() as f64;
    if waits.count() < HABIT || !goes_on || (wall as f64) < LEAST * whole as f64 {
        return None;
    }
    let place = costly_call(analysis, waits.reads.iter().map(|(&row, &length)| (row, length)));
    let at_server =
        analysis.accounts.of_exchanges(|account| is_for_a_disk(analysis, account) && is_at(account, End::Server));
    let who = if at_server * 2 >= booked { "the server" } else { "the client" };
    let top = waits.reads.iter().max_by_key(|(_, length)| **length).map(|(&row, _)| analysis.call(row));
    let how = match top.filter(|_| waits.faults.1 * 2 <= waits.wall()) {
        Some(call) if call.path != 0 && syscall::is_read(call.number) => {
            format!("reading {}", path_name(analysis, call.path))
        }
        Some(call) => format!("in {}", syscall::name(call.number)),
        None => "on major page faults".to_string(),
    };
    let what = format!("Requests wait for a disk: {who} is blocked {how}");
    let mut mechanism = vec![format!(
        "With a request in hand {who} waited {} times for data from a disk, most of the time {}.",
        number::count(waits.count() as u64),
        if waits.faults.1 * 2 > waits.wall() {
            "for pages of mapped files, or for what was swapped out"
        } else {
            "in reads of files"
        },
    )];
    if let Some(file) = top.filter(|call| call.path != 0).map(|call| path_name(analysis, call.path))
        && is_opened_directly(analysis, file)
    {
        mechanism.push(format!("{file} is opened with O_DIRECT: none of it is kept in memory."));
    }
    let saving = PotentialSaving { wall, affected: waits.count() as u64, ..PotentialSaving::default() };
    Some(Found {
        title: format!("{what} for {} of every {} request{}", Nanos(wall / count), Nanos(whole / count), place.in_words()),
        what,
        mechanism,
        saving,
        place,
        remedy: "Let the page cache keep what is asked for again (no O_DIRECT, no POSIX_FADV_DONTNEED, enough memory in the \
                 control group), or read less of it for each request."
            .to_string(),
        rows: rows("calls", waits.reads.keys().copied()),
        ..Found::default()
    })
}

fn is_at(account: Account, end: End) -> bool {
    matches!(account, Account::Blocked(of, ..) | Account::PageFault(of) if of == end)
}

/// Whether an account is a wait for data from a disk.
fn is_for_a_disk(analysis: &Analysis, account: Account) -> bool {
    match account {
        Account::PageFault(_) => true,
        Account::Blocked(_, number, Object::Path(path)) => {
            syscall::is_read(number) && is_file(path_name(analysis, path))
        }
        Account::Blocked(_, _, Object::Awaited(number)) => match analysis.awaited.fact(number).doing {
            Doing::PageFault => true,
            Doing::Blocked { call, object: Some(object), .. } => match *object {
                facts::Object::File { path: Some(path) } => {
                    syscall::number(&call).is_some_and(syscall::is_read) && is_file(&path)
                }
                _ => false,
            },
            _ => false,
        },
        _ => false,
    }
}

/// Whether what a call names is a file, not a pipe (`pipe:[7]`) or a device.
fn is_file(path: &str) -> bool {
    path.starts_with('/') && !["/dev/", "/proc/", "/sys/"].iter().any(|top| path.starts_with(top))
}

/// Whether a call moves data out of a file, as far as it shows that.
fn reads(analysis: &Analysis, call: &Call) -> bool {
    let from_file = syscall::is_read(call.number) && call.connection == 0 && call.path != 0;
    (from_file && is_file(path_name(analysis, call.path))) || syscall::is_handover(call.number)
}

fn waits(analysis: &Analysis) -> Waits {
    let (start, end) = (analysis.recording.manifest.start.0, analysis.recording.manifest.end.0);
    let half = start + end.saturating_sub(start) / 2;
    let mut waits = Waits::default();
    for (slot, thread) in analysis.threads.all().iter().enumerate() {
        let Some(spans) = analysis.taking_part.get(&thread.tid) else { continue };
        let mut cursor = Cursor::default();
        for &(from, to) in spans {
            analysis.threads.walk(slot, from, to, &mut cursor, &mut |moment| {
                if moment.state != State::BlockedOnDisk || is_ended_by_another(analysis, thread.tid, moment.start) {
                    return;
                }
                let length = moment.end - moment.start;
                match moment.call {
                    None => waits.faults = (waits.faults.0 + 1, waits.faults.1 + length),
                    Some(row) if reads(analysis, analysis.call(row)) => *waits.reads.entry(row).or_default() += length,
                    Some(_) => return,
                }
                waits.later += if moment.start >= half { length } else { 0 };
            });
        }
    }
    waits
}

/// Whether another thread of its process ended the wait that a thread was in at a time: then it was for a lock of the kernel's on the
/// process's memory or a file, and not for a disk. A disk interrupts whoever runs, as a rule somebody else.
fn is_ended_by_another(analysis: &Analysis, tid: u32, time: u64) -> bool {
    let Some(thread) = analysis.threads.get(tid) else { return false };
    let switches = &analysis.recording.switches[thread.switches.clone()];
    let next = switches.partition_point(|row| row.start.0 <= time);
    let wait = next.checked_sub(1).map(|at| &switches[at]);
    wait.is_some_and(|row| {
        row.waker != 0 && analysis.threads.get(row.waker).is_some_and(|waker| waker.pid == thread.pid)
    })
}

/// Whether a file was opened past the page cache, as far as the call that did it was seen.
fn is_opened_directly(analysis: &Analysis, file: &str) -> bool {
    let past = analysis.recording.calls.iter().filter(|call| call.path != 0 && syscall::goes_past_the_cache(call));
    past.into_iter().any(|call| path_name(analysis, call.path) == file)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, request_with};
    use crate::tests::{answer, names};
    use case::Recording;
    use case::tables::{Call, reason};

    const OPENAT: u16 = 257;
    const O_DIRECT: u64 = 0o40000;

    /// Twenty requests for which the server reads a file, which takes as long as is said for each, uninterruptibly, and ended by the
    /// thread that is said; in a call, or outside.
    fn reading(path: &str, waker: u32, in_call: bool, length: impl Fn(u32) -> u64) -> Recording {
        let mut fixture = Fixture::new();
        fixture.path(1, path);
        fixture.connect(1, CLIENT);
        fixture.does(SERVER, 5 * US, OPENAT, |call| (call.path, call.argument_2, call.result) = (1, O_DIRECT, 7));
        let mut idle = fixture.now;
        for number in 0..20 {
            request_with(&mut fixture, CLIENT, 1, &mut idle, |fixture| {
                let of_file = |call: &mut Call| (call.path, call.fd, call.result) = (1, 7, 4096);
                if in_call {
                    fixture.waits(SERVER, length(number), READ, of_file);
                } else {
                    fixture.off(SERVER, fixture.now, fixture.now + length(number));
                    fixture.now += length(number);
                }
                let wait = fixture.recording.switches.last_mut().expect("it waited");
                (wait.reason, wait.waker) = (reason::UNINTERRUPTIBLE, waker);
            });
            fixture.now += 9 * MS;
        }
        fixture.end()
    }

    #[test]
    fn a_file_that_each_request_reads_from_the_disk_is_found() {
        let answer = answer(&reading("/srv/page", 0, true, |_| 8 * MS));
        let finding = &answer.findings[0];
        assert_eq!(finding.name, "uncached-reads");
        assert!(finding.title.contains("the server is blocked reading /srv/page for 8.00 ms"), "{}", finding.title);
        assert!(finding.cost.share_of_wall > 0.9 && finding.cost.affected == 20, "{:?}", finding.cost);
        assert!(finding.mechanism[1].contains("O_DIRECT"), "{:?}", finding.mechanism);
    }

    #[test]
    fn pages_that_are_missing_are_found() {
        let answer = answer(&reading("/srv/page", 0, false, |_| 8 * MS));
        assert_eq!(answer.findings[0].name, "uncached-reads");
        assert!(answer.findings[0].title.contains("on major page faults for 8.00 ms"), "{}", answer.findings[0].title);
    }

    #[test]
    fn a_file_that_only_the_first_requests_read_from_the_disk_is_left_alone() {
        let first = |number| if number < 6 { 8 * MS } else { 10 * US };
        assert_eq!(names(&reading("/srv/page", 0, true, first)), Vec::<String>::new());
    }

    #[test]
    fn what_is_no_file_or_a_lock_of_the_kernels_is_left_alone() {
        assert_eq!(names(&reading("pipe:[7]", 0, true, |_| 8 * MS)), Vec::<String>::new());
        assert_eq!(names(&reading("/srv/page", SERVER, false, |_| 8 * MS)), Vec::<String>::new());
    }
}
