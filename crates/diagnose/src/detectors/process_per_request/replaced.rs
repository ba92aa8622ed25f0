//! Workers that are replaced after a few requests: the next one has to be forked, and often loads the application, before it
//! takes a connection.

use super::{PROCESSES, asked, asking};
use crate::analysis::{Analysis, PotentialSaving};
use crate::detectors::{Found, costly_call, median, of_every_request, rows};
use crate::images::Images;
use crate::number;
use crate::spans;
use crate::syscall;
use crate::threads::call_end;
use case::Nanos;
use case::tables::{Call, Process};
use std::collections::BTreeMap;

/// A process that took connections of a listener and ended.
struct Worker<'r> {
    row: &'r Process,
    /// When it first was there for a connection.
    ready: u64,
    /// When it had moved its last byte.
    done: u64,
    /// When each connection that it took was established, and when it had it.
    waits: Vec<(u64, u64)>,
}

/// The time between the last answer of one worker and the moment when the one in its place was there for a connection.
struct Gap {
    /// The worker in the other's place, and that one: places in the list of workers.
    next: usize,
    last: usize,
    from: u64,
    to: u64,
}

pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    let workers = workers(analysis);
    let gaps = gaps(&workers);
    let requests = spans::merge(analysis.exchanges.iter().map(|one| (one.start, one.end)).collect());
    let waited = |gap: &Gap| -> u64 {
        let waits = workers[gap.next].waits.iter().map(|&(from, to)| (from.max(gap.from), to.min(gap.to)));
        waits.filter(|(from, to)| from < to).map(|(from, to)| spans::length(spans::within(&requests, from, to))).sum()
    };
    let costs: Vec<(&Gap, u64)> = gaps.iter().map(|gap| (gap, waited(gap))).filter(|(_, ns)| *ns > 0).collect();
    if costs.len() < PROCESSES {
        return None;
    }
    let wall = costs.iter().map(|(_, ns)| ns).sum::<u64>().min(analysis.exchange_wall());
    let (start, end) = (|gap: &Gap| workers[gap.next].row.start.0, |gap: &Gap| workers[gap.last].row.end.0);
    let on_cpu = |gap: &Gap| {
        let (next, last) = (workers[gap.next].row.pid, workers[gap.last].row.pid);
        analysis.on_cpu(next, start(gap), gap.to) + analysis.on_cpu(last, gap.from, end(gap))
    };
    let calls = asking(analysis);
    let forks = costs.iter().filter_map(|(gap, ns)| {
        let row = workers[gap.next].row;
        let of_parent = calls.get(&row.parent).map_or(&[][..], Vec::as_slice);
        asked(analysis, of_parent, row.start.0, row.end.0).map(|fork| (fork, *ns))
    });
    let forks: Vec<(usize, u64)> = forks.collect();
    let place = costly_call(analysis, forks.iter().copied());
    let usual = |length: &dyn Fn(&Gap) -> u64| Nanos(median(costs.iter().map(|(gap, _)| length(gap)).collect()));
    let taken = median(costs.iter().map(|(gap, _)| workers[gap.last].waits.len() as u64).collect());
    let first = workers[costs[0].0.next].row;
    let parent = Images::new(analysis.recording).at(first.parent, first.start.0);
    let parent = parent.map_or("a process", |row| analysis.recording.program(row));
    let what = "Requests wait while a worker is replaced by a new one".to_string();
    Some(Found {
        title: of_every_request(analysis, &what, wall, &place),
        what,
        mechanism: vec![
            format!(
                "{} times, a worker of {parent} ended and another took its place while a connection waited. Half of these \
                 workers ended after {}{}.",
                number::count(costs.len() as u64),
                if taken == 1 { "one connection".to_string() } else { format!("{taken} connections or fewer") },
                how_they_ended(costs.iter().map(|(gap, _)| workers[gap.last].row))
            ),
            format!(
                "Half of them took {} or more from their last byte to their end, and the new one {} from its fork until it could \
                 take a connection.",
                usual(&|gap| end(gap).saturating_sub(gap.from)),
                usual(&|gap| gap.to.saturating_sub(start(gap)))
            ),
        ],
        saving: PotentialSaving {
            wall,
            outside: 0,
            cpu: costs.iter().map(|(gap, _)| on_cpu(gap)).sum(),
            affected: (costs.len() as u64).min(analysis.exchanges.len() as u64),
        },
        rows: rows("calls", forks.iter().map(|(row, _)| *row)),
        place,
        remedy: "Let a worker serve many requests before it is replaced (a much higher limit, or none), and load the application \
                 before the fork. If workers crash, fix the crash."
            .to_string(),
        ..Found::default()
    })
}

/// What their exit status says, where they did not just end.
fn how_they_ended<'r>(workers: impl Iterator<Item = &'r Process>) -> String {
    let mut statuses: BTreeMap<i32, usize> = BTreeMap::new();
    workers.for_each(|row| *statuses.entry(row.exit).or_default() += 1);
    // As `wait` reports it: the signal lies in the low seven bits, the status in the high byte.
    match statuses.into_iter().max_by_key(|(_, count)| *count) {
        Some((status, _)) if status & 0x7f > 0 => format!(", most by signal {}", status & 0x7f),
        Some((status, _)) if status > 0 => format!(", most with exit status {}", status >> 8),
        _ => String::new(),
    }
}

/// The processes that were forked, took connections themselves, and ended before the last request did.
fn workers<'r>(analysis: &Analysis<'r>) -> Vec<Worker<'r>> {
    let Some(last) = analysis.exchanges.iter().map(|one| one.end).max() else { return Vec::new() };
    let mut rows: BTreeMap<u32, Option<&'r Process>> = BTreeMap::new();
    for row in &analysis.recording.processes {
        // What became another program was started for its own sake.
        rows.entry(row.pid).and_modify(|known| *known = None).or_insert(Some(row));
    }
    let has_ended = |row: &&Process| row.parent != 0 && row.exit >= 0 && row.end.0 <= last;
    let mut workers: BTreeMap<u32, Worker<'r>> = BTreeMap::new();
    for (slot, connection) in analysis.connections.all().iter().enumerate() {
        let Some(accept) = connection.accept else { continue };
        let pid = analysis.call(accept).pid;
        let Some(row) = rows.get(&pid).copied().flatten().filter(has_ended) else { continue };
        let (took, begun) = (call_end(analysis.call(accept)), there_since(analysis, accept));
        let last = analysis.connections.transfers_of(slot).map(call_end).max().unwrap_or(took);
        let fresh = || Worker { row, ready: u64::MAX, done: 0, waits: Vec::new() };
        let worker = workers.entry(pid).or_insert_with(fresh);
        worker.ready = worker.ready.min(begun);
        worker.done = worker.done.max(last);
        worker.waits.push((analysis.connections.row(slot).established.0, took));
    }
    let mut workers: Vec<Worker> = workers.into_values().collect();
    workers.sort_by_key(|worker| worker.row.start);
    workers
}

/// Since when a thread was there for a connection that it took: it may have polled the listener first.
fn there_since(analysis: &Analysis, accept: usize) -> u64 {
    let call = analysis.call(accept);
    let before = accept.checked_sub(1).map(|row| analysis.call(row)).filter(|before| before.tid == call.tid);
    let polled = before.filter(|before: &&Call| syscall::is_poll(before.number) && call.blocked.0 == 0);
    polled.map_or(call.start.0, |poll| poll.start.0)
}

/// Each worker that came after another one of the same parent had ended, with the one that ended last before.
fn gaps(workers: &[Worker]) -> Vec<Gap> {
    let mut by_end: Vec<usize> = (0..workers.len()).collect();
    by_end.sort_by_key(|&index| workers[index].row.end);
    let mut ended: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let (mut gaps, mut over) = (Vec::new(), 0);
    for (next, worker) in workers.iter().enumerate() {
        while over < by_end.len() && workers[by_end[over]].row.end <= worker.row.start {
            ended.entry(workers[by_end[over]].row.parent).or_default().push(by_end[over]);
            over += 1;
        }
        if let Some(last) = ended.get_mut(&worker.row.parent).and_then(Vec::pop) {
            gaps.push(Gap { next, last, from: workers[last].done, to: worker.ready });
        }
    }
    gaps
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::{answer, names};
    use case::tables::{Process, Thread, role};
    use case::{Nanos, Recording};

    const ACCEPT: u16 = 43;
    const FORK: u16 = 57;

    /// What a manager keeps for thirty requests, each on a connection of its own.
    #[derive(Clone, Copy)]
    struct Workers {
        /// How many requests one serves before it ends.
        each: u32,
        /// How long it takes from its fork until it accepts.
        loads: u64,
        /// Whether the next is there before it is asked for.
        has_spare: bool,
        exit: i32,
    }

    const ONE_EACH: Workers = Workers { each: 1, loads: 20 * MS, has_spare: false, exit: 0 };

    fn requests(kept: Workers) -> Recording {
        let mut fixture = Fixture::new();
        fixture.script(5, &["arbiter.py:600:spawn_worker"]);
        let mut ends = Vec::new();
        let (mut pid, mut served) = (1000, 0);
        let mut ready = starts(&mut fixture, pid, kept.loads);
        fixture.now = ready + MS;
        for id in 1..=30 {
            let begun = fixture.now;
            fixture.connects_at_once(id, CLIENT);
            for row in
                fixture.recording.connections.iter_mut().filter(|row| row.role == role::SERVER && row.id == id + 1000)
            {
                row.pid = pid;
            }
            fixture.moves(CLIENT, id, WRITE, 200);
            let waiting = fixture.now;
            fixture.now = ready.max(begun - 500 * US);
            if fixture.now < waiting {
                let until = waiting - fixture.now;
                fixture.waits(pid, until, EPOLL_WAIT, |call| call.result = 1);
            }
            fixture.does(pid, 5 * US, ACCEPT, |call| (call.connection, call.result) = (id + 1000, 5));
            fixture.moves(pid, id + 1000, READ, 200);
            fixture.now += MS;
            fixture.moves(pid, id + 1000, WRITE, 1000);
            let answered = fixture.now;
            fixture.now = waiting;
            fixture.waits_for(CLIENT, id, answered + 10 * US - waiting, 1000);
            fixture.close(id);
            served += 1;
            ready = answered;
            if served == kept.each {
                ends.push((pid, answered + MS));
                (pid, served) = (pid + 1, 0);
                fixture.now = answered + 2 * MS;
                ready = starts(&mut fixture, pid, kept.loads);
            }
            let next = answered + 3 * MS;
            fixture.now = if kept.has_spare { next.max(ready) + MS } else { next };
        }
        let mut recording = fixture.end();
        for (pid, end) in ends {
            for row in recording.processes.iter_mut().filter(|row| row.pid == pid) {
                (row.end, row.exit) = (Nanos(end), kept.exit);
            }
            recording.threads.iter_mut().filter(|row| row.tid == pid).for_each(|row| row.end = Nanos(end));
        }
        recording
    }

    /// A worker that is forked and loads the application; when it is there for a connection.
    fn starts(fixture: &mut Fixture, pid: u32, loads: u64) -> u64 {
        fixture.does(SERVER, 100 * US, FORK, |call| (call.result, call.script_stack) = (i64::from(pid), 5));
        let start = Nanos(fixture.now - 50 * US);
        let row = Process { pid, parent: SERVER, start, role: "server".into(), exit: -1, ..Process::default() };
        fixture.recording.processes.push(Process { executable: "/usr/bin/server".into(), ..row });
        fixture.recording.threads.push(Thread { tid: pid, pid, start, ..Thread::default() });
        fixture.now + loads
    }

    #[test]
    fn workers_that_are_replaced_after_each_request_are_found_where_they_are_forked() {
        let answer = answer(&requests(ONE_EACH));
        let finding = answer.findings.iter().find(|one| one.name == "process-per-request").expect("found");
        // It asks 3 ms after the last answer; the worker in the place of the last is there 22 ms after it.
        assert!((17 * MS..20 * MS).contains(&finding.cost.ns_per_exchange), "{finding:#?}");
        assert_eq!((finding.place[0].line, finding.cost.affected), (600, 28), "{finding:#?}");
        assert!(finding.mechanism[0].contains("ended after one connection."), "{finding:#?}");
    }

    #[test]
    fn workers_that_crash_say_so() {
        let answer = answer(&requests(Workers { exit: 11, ..ONE_EACH }));
        let finding = answer.findings.iter().find(|one| one.name == "process-per-request").expect("found");
        assert!(finding.mechanism[0].contains("ended after one connection, most by signal 11."), "{finding:#?}");
    }

    #[test]
    fn workers_that_live_on_or_have_their_next_ready_are_left_alone() {
        let is_found = |kept| names(&requests(kept)).contains(&"process-per-request".to_string());
        assert!(is_found(ONE_EACH));
        assert!(!is_found(Workers { each: 10, ..ONE_EACH }), "two in thirty requests wait");
        assert!(!is_found(Workers { has_spare: true, ..ONE_EACH }));
    }
}
