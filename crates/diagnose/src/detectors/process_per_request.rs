//! P52: a program is started for each request.

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::code::base_name;
use crate::spans;
use crate::threads::{Cursor, State};
use case::Nanos;
use case::syscall::Class;
use case::tables::Process;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

detector! {
    /// # process-per-request
    ///
    /// ## What it is
    /// A server starts a program for each request: a CGI script, a shell, an interpreter, a tool. The kernel has to make a process
    /// and load the program, its libraries are linked and its runtime sets itself up, all before it does anything for the request.
    ///
    /// ## Evidence
    /// Processes that the server starts within exchanges, that execute a program, and for whose end or output the thread waits that
    /// answers; and the CPU time of their short lives.
    ///
    /// ## What proves it
    /// A worker that stays. Nothing outside can turn a program into one, so it stays a suspicion; the CPU time of the processes is
    /// the most that could be saved.
    ///
    /// ## Remedy
    /// Do the work in the server, or keep workers running that are handed requests (FastCGI, a process pool, a socket).
    ///
    /// ## Not to be confused with
    /// A process that is started for each connection or job and works for long; one that mainly waits for something else; a fork
    /// without a new program.
    "P52" "process-per-request"
}

/// Where less of all requests' time is spent on starting programs, something else is to be mended first.
const LEAST_SHARE: f64 = 0.2;
/// Fewer requests than this may be the exception.
const LEAST_REQUESTS: usize = 5;
/// So many of all requests have to start one.
const MOSTLY: f64 = 0.5;
/// A process that computes for longer does work of its own: starting an interpreter with all its libraries takes less.
const MOST_CPU: u64 = 500_000_000;

/// A process that was started by another and executed a program.
struct Started<'r> {
    parent: u32,
    start: u64,
    end: u64,
    on_cpu: u64,
    image: &'r Process,
    /// The thread that collected it, where one was seen to.
    collected_by: Option<u32>,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    if analysis.exchanges.len() < LEAST_REQUESTS {
        return None;
    }
    let started = started(analysis);
    let mut calls: BTreeMap<usize, u64> = BTreeMap::new();
    let (mut wall, mut cpu, mut affected, mut used) = (0, 0, 0, BTreeSet::new());
    let mut stalls = Vec::new();
    for exchange in &analysis.exchanges {
        let mut own = 0;
        let moves = analysis.server_transfers(exchange).iter().map(|&row| analysis.call(row as usize).tid);
        for thread in moves.collect::<BTreeSet<_>>() {
            let Some(rows) = analysis.threads.get(thread) else { continue };
            let of_thread = |one: &&Started| one.parent == rows.pid && one.collected_by.is_none_or(|tid| tid == thread);
            let first = started.partition_point(|one| one.start < exchange.start);
            let within = started[first..].iter().take_while(|one| one.start < exchange.end).filter(of_thread);
            let within = within.collect::<Vec<_>>();
            if within.is_empty() {
                continue;
            }
            used.extend(within.iter().map(|one| (one.start, one.image.pid)));
            let lives = spans::merge(within.iter().map(|one| (one.start, one.end.min(exchange.end))).collect());
            let waited: u64 = lives.iter().map(|&life| waited(analysis, thread, life, &mut calls)).sum();
            let spent: u64 = within.iter().map(|one| one.on_cpu).sum();
            own += waited.min(spent);
            cpu += spent;
            stalls.extend(lives);
        }
        affected += u64::from(own > 0);
        wall += own;
    }
    let (count, whole) = (analysis.exchanges.len() as u64, analysis.exchange_wall());
    let is_habit = affected as usize >= LEAST_REQUESTS && affected as f64 >= MOSTLY * count as f64;
    if !is_habit || (wall as f64) < LEAST_SHARE * whole as f64 {
        return None;
    }
    let used = started.iter().filter(|one| used.contains(&(one.start, one.image.pid))).collect::<Vec<_>>();
    let mut programs: BTreeMap<&str, usize> = BTreeMap::new();
    for one in &used {
        *programs.entry(base_name(&one.image.executable)).or_default() += 1;
    }
    let (program, times) = programs.into_iter().max_by_key(|(_, times)| *times)?;
    let place = costly_call(analysis, calls.iter().map(|(&row, &length)| (row, length)));
    let (part, each) = (Nanos(wall / count), Nanos(whole / count));
    let usual = Nanos(median(used.iter().map(|one| one.on_cpu).collect()));
    let life = Nanos(median(used.iter().map(|one| one.end - one.start).collect()));
    Some(Found {
        title: format!(
            "A program is started for each request, {program}: up to {part} of every {each} request{}",
            place.in_words()
        ),
        what: format!("A program is started for each request, {program}"),
        mechanism: vec![
            format!(
                "{affected} of {count} requests waited for {} processes that the server started for them, {times} of them {program}.",
                used.len()
            ),
            format!("Half of these lived for {life} or less, and took {usual} of CPU time or less, start-up included."),
        ],
        saving: PotentialSaving { wall, cpu, affected, ..PotentialSaving::default() },
        place,
        remedy: "Do the work in the server, or hand it to workers that stay (FastCGI, a process pool, a socket)."
            .to_string(),
        rows: rows("calls", calls.keys().copied()),
        stalls,
        ..Found::default()
    })
}

/// Short-lived processes that executed a program of their own, in order of their starts.
fn started<'r>(analysis: &Analysis<'r>) -> Vec<Started<'r>> {
    let recording = analysis.recording;
    let mut on_cpu: FxHashMap<u32, u64> = FxHashMap::default();
    for thread in &recording.threads {
        *on_cpu.entry(thread.pid).or_default() += thread.on_cpu.0;
    }
    let mut collected: FxHashMap<u32, u32> = FxHashMap::default();
    for call in recording.calls.iter().filter(|call| case::syscall::class(call.number) == Class::WaitForChild) {
        if let Ok(pid) = u32::try_from(call.result)
            && pid > 0
        {
            collected.insert(pid, call.tid);
        }
    }
    let mut images: BTreeMap<u32, Vec<&Process>> = BTreeMap::new();
    for row in &recording.processes {
        images.entry(row.pid).or_default().push(row);
    }
    let parents: BTreeMap<u32, u32> = recording.processes.iter().map(|row| (row.pid, row.parent)).collect();
    // What a shell starts in its turn is part of what the server started.
    let mut below: BTreeMap<u32, u64> = BTreeMap::new();
    for (&pid, &parent) in &parents {
        if images.contains_key(&parent) {
            *below.entry(parent).or_default() += on_cpu.get(&pid).copied().unwrap_or_default();
        }
    }
    let mut found = Vec::new();
    for (&pid, rows) in &images {
        let (first, last) = (rows.iter().min_by_key(|row| row.start), rows.iter().max_by_key(|row| row.start));
        let (Some(first), Some(last)) = (first, last) else { continue };
        let executed = rows.len() > 1;
        let cpu = on_cpu.get(&pid).copied().unwrap_or_default() + below.get(&pid).copied().unwrap_or_default();
        if executed && images.contains_key(&first.parent) && last.exit >= 0 && cpu <= MOST_CPU {
            found.push(Started {
                parent: first.parent,
                start: first.start.0,
                end: last.end.0,
                on_cpu: cpu,
                image: last,
                collected_by: collected.get(&pid).copied(),
            });
        }
    }
    found.sort_by_key(|one| (one.start, one.image.pid));
    found
}

/// For how long a thread was blocked in the life of a process, and in which calls.
fn waited(analysis: &Analysis, tid: u32, life: (u64, u64), calls: &mut BTreeMap<usize, u64>) -> u64 {
    let Some(slot) = analysis.threads.slot(tid) else { return 0 };
    let mut waited = 0;
    analysis.threads.walk(slot, life.0, life.1, &mut Cursor::default(), &mut |moment| {
        if matches!(moment.state, State::Blocked | State::BlockedOnDisk) {
            waited += moment.end - moment.start;
            if let Some(row) = moment.call {
                *calls.entry(row).or_default() += moment.end - moment.start;
            }
        }
    });
    waited
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, SERVER, US, request};
    use crate::tests::{answer, names};
    use case::tables::{Process, Thread};
    use case::{Nanos, Recording};

    const WAIT4: u16 = 61;

    /// Requests for each of which the server starts a process that lives for 8 ms, and computes for so long of it.
    fn starting(computes: u64, executes: bool) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        fixture.script(6, &["server.py:7:handle"]);
        let mut idle = fixture.now;
        for pid in 1_000..1_020 {
            let start = fixture.now;
            request(&mut fixture, CLIENT, 1, 10 * MS, &mut idle);
            let after = fixture.now;
            let (born, gone) = (Nanos(start + MS), Nanos(start + 9 * MS));
            let image = |start: Nanos, name: &str| Process {
                pid,
                parent: SERVER,
                start,
                end: gone,
                exit: 0,
                executable: format!("/usr/bin/{name}"),
                role: "server".into(),
                ..Process::default()
            };
            let rows = &mut fixture.recording;
            rows.processes.push(image(born, "server"));
            if executes {
                rows.processes.push(image(born + Nanos(100 * US), "tool"));
            }
            let on_cpu = Nanos(computes);
            rows.threads.push(Thread { tid: pid, pid, start: born, end: gone, on_cpu, ..Thread::default() });
            fixture.now = start + MS;
            fixture.waits(SERVER, 8 * MS, WAIT4, |call| (call.result, call.script_stack) = (pid.into(), 6));
            fixture.now = after;
        }
        let mut recording = fixture.end();
        // What is over has its own end.
        for row in recording.processes.iter_mut().filter(|row| row.pid >= 1_000) {
            row.end = Nanos(row.end.0.min(row.start.0 + 8 * MS));
        }
        for row in recording.threads.iter_mut().filter(|row| row.tid >= 1_000) {
            row.on_cpu = Nanos(computes);
        }
        recording
    }

    #[test]
    fn a_tool_that_is_started_for_each_request_is_found_with_where_it_is_waited_for() {
        let answer = answer(&starting(7 * MS, true));
        let finding = answer.findings.iter().find(|one| one.name == "process-per-request").expect("it is found");
        assert!((0.6..0.75).contains(&finding.cost.share_of_wall), "{finding:#?}");
        assert_eq!(finding.place[0].line, 7);
        assert!(finding.title.contains("for each request, tool"), "{}", finding.title);
    }

    #[test]
    fn a_fork_without_a_program_and_one_that_mostly_waits_are_left_alone() {
        assert!(!names(&starting(7 * MS, false)).contains(&"process-per-request".to_string()));
        assert!(!names(&starting(MS, true)).contains(&"process-per-request".to_string()));
    }
}
