//! P74: many workers wake up for each connection, and all but one in vain.

use super::{Found, costly_call, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::code::base_name;
use crate::number;
use crate::syscall::{self, Class};
use crate::threads::{ThreadRows, call_end};
use case::Nanos;
use case::tables::reason;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

detector! {
    /// # thundering-herd
    ///
    /// ## What it is
    /// Several processes or threads wait in a poll for the same listening socket. The kernel wakes all of them that are idle for each
    /// connection; one takes it, and the others find nothing and wait again. The more workers there are, the more CPU time each
    /// connection costs, and the workers in vain stand before the one that has something to do.
    ///
    /// ## Evidence
    /// A worker was blocked in a poll, woke up, and waited again in the same call, since the connection had gone before it could look;
    /// or the poll ended, it got no connection from `accept` (EAGAIN), moved no bytes, and waited again: as often as connections were
    /// accepted, or more. The CPU time from one wait to the next is charged.
    ///
    /// ## What proves it
    /// A listening socket that wakes one worker for each connection (`exclusive-wakeups`, EPOLLEXCLUSIVE): the wake-ups in vain and
    /// their CPU time go. Where workers wait in `select` or `poll`, no such thing exists: it remains a suspicion.
    ///
    /// ## Remedy
    /// Watch the listening socket with EPOLLEXCLUSIVE, give each worker one of its own (SO_REUSEPORT), let workers take turns
    /// (uWSGI: thunder-lock), or start as many workers as there are CPUs and not many more.
    ///
    /// ## Not to be confused with
    /// A worker that accepts until nothing is left, which ends with EAGAIN after each connection; uneven-accept, where one worker gets
    /// all; busy-spin, where nobody was blocked.
    "P74" "thundering-herd",
    needs: &[Server]
}

/// Fewer wake-ups in vain are chance: two workers may be woken by two connections that one of them takes.
const HABIT: usize = 50;
/// The operation of `epoll_ctl` that adds a descriptor (`linux/eventpoll.h`).
const ADD: u64 = 1;

/// Which listening socket: the program's, and its descriptor, which children inherit.
type Listener<'r> = (&'r str, i32);

/// Wake-ups in vain of one thread, one after the other.
struct InVain {
    /// The call in which it was woken, or which found nothing: a row of the table of calls.
    row: usize,
    times: usize,
    cpu: u64,
    tid: u32,
    from: u64,
    to: u64,
}

/// What happened at one listening socket.
#[derive(Default)]
struct Door {
    in_vain: Vec<InVain>,
    accepted: usize,
    port: u16,
    /// The threads that watch it.
    workers: BTreeSet<u32>,
}

impl Door {
    fn times(&self) -> usize {
        self.in_vain.iter().map(|one| one.times).sum()
    }
}

fn detect(analysis: &Analysis) -> Option<Found> {
    // Of several images of a process the last counts.
    let programs: FxHashMap<u32, &str> =
        analysis.recording.processes.iter().map(|row| (row.pid, row.executable.as_str())).collect();
    let mut doors: BTreeMap<Listener, Door> = BTreeMap::new();
    for thread in analysis.threads.all() {
        let Some(program) = programs.get(&thread.pid) else { continue };
        turns(analysis, thread, &mut |descriptor| (*program, descriptor), &mut doors);
    }
    doors.retain(|_, door| door.accepted > 0 && door.workers.len() > 1);
    let mut seen = BTreeSet::new();
    // Who watches several is woken by the one to which most connections come, as a rule.
    let mut order: Vec<&mut Door> = doors.values_mut().collect();
    order.sort_by_key(|door| std::cmp::Reverse(door.accepted));
    for door in order {
        let fresh: Vec<u32> = door.workers.iter().copied().filter(|&tid| seen.insert(tid)).collect();
        door.in_vain.extend(fresh.into_iter().flat_map(|tid| slept_on(analysis, tid)));
    }
    let herds = doors.into_iter().filter(|(_, door)| door.times() >= HABIT.max(door.accepted));
    let ((program, _), door) = herds.max_by_key(|(_, door)| door.times())?;
    Some(found(analysis, program, &door))
}

/// What one thread did at listening sockets: whom it accepted, and its turns in vain, from the beginning of the wait that ended for
/// it to that of the next.
fn turns<'r>(
    analysis: &Analysis<'r>,
    thread: &ThreadRows,
    listener: &mut dyn FnMut(i32) -> Listener<'r>,
    doors: &mut BTreeMap<Listener<'r>, Door>,
) {
    let tid = thread.tid;
    let (mut wait, mut empty): (Option<u64>, Option<usize>) = (None, None);
    for row in thread.calls.clone() {
        let call = analysis.call(row);
        match syscall::class(call.number) {
            Class::Poll => {
                if let (Some(from), Some(row)) = (wait, empty) {
                    let (door, to) = (doors.entry(listener(analysis.call(row).fd)).or_default(), call.start.0);
                    door.in_vain.push(InVain { row, times: 1, cpu: analysis.on_cpu(tid, from, to), tid, from, to });
                    door.workers.insert(tid);
                }
                // Whoever was not blocked was not woken.
                wait = (call.result > 0 && call.blocked.0 > 0).then_some(call.start.0);
                empty = None;
            }
            Class::Accept if call.result == syscall::EAGAIN => empty = empty.or(Some(row)),
            Class::Accept if call.result >= 0 => {
                let door = doors.entry(listener(call.fd)).or_default();
                door.accepted += 1;
                door.workers.insert(tid);
                let slot = analysis.connections.slot(call.connection);
                door.port = slot.map_or(door.port, |slot| analysis.connections.row(slot).local_port);
                wait = None;
            }
            _ if call.number == syscall::EPOLL_CTL && call.argument_1 == ADD => {
                doors.entry(listener(call.argument_2 as i32)).or_default().workers.insert(tid);
            }
            // What came of the wait as well was not in vain.
            _ if call.connection != 0 && call.result > 0 => wait = None,
            _ => (),
        }
    }
}

/// The polls in which a thread was woken more often than they ended: what it was woken for had gone before it could look, and the
/// kernel had it wait on.
fn slept_on<'a>(analysis: &'a Analysis, tid: u32) -> impl Iterator<Item = InVain> + 'a {
    let thread = analysis.threads.get(tid);
    let switches = thread.map_or(&[][..], |thread| &analysis.recording.switches[thread.switches.clone()]);
    let polls = thread.map_or(0..0, |thread| thread.calls.clone());
    polls.filter(|&row| syscall::is_poll(analysis.call(row).number)).filter_map(move |row| {
        let (from, to) = (analysis.call(row).start.0, call_end(analysis.call(row)));
        let first = switches.partition_point(|switch| switch.start.0 < from);
        let within = switches[first..].iter().take_while(|switch| switch.start.0 < to);
        let times = within.filter(|switch| switch.reason == reason::BLOCKED).count().saturating_sub(1);
        let cpu = analysis.on_cpu(tid, from, to) * times as u64 / (times as u64 + 1);
        (times > 0).then_some(InVain { row, times, cpu, tid, from, to })
    })
}

fn found(analysis: &Analysis, program: &str, door: &Door) -> Found {
    let cpu: u64 = door.in_vain.iter().map(|one| one.cpu).sum();
    let (times, requests) = (door.times(), analysis.exchanges.len().max(1) as u64);
    let place = costly_call(analysis, door.in_vain.iter().map(|one| (one.row, one.cpu)));
    let what = format!("{:.1} workers wake up in vain for each connection", times as f64 / door.accepted.max(1) as f64);
    Found {
        title: format!("{what}: {} of CPU per request{}", Nanos(cpu / requests), place.in_words()),
        what,
        mechanism: vec![
            format!(
                "{} workers of {} wait for connections to port {} in a poll, and the kernel wakes all of them that are idle for each.",
                door.workers.len(),
                base_name(program),
                door.port,
            ),
            format!(
                "{} times, one woke up when another had taken the connection already; {} connections were accepted.",
                number::count(times as u64),
                number::count(door.accepted as u64),
            ),
            format!("Such a wake-up takes {} of CPU time.", Nanos(cpu / times.max(1) as u64)),
        ],
        saving: PotentialSaving { cpu, affected: (door.accepted as u64).min(requests), ..PotentialSaving::default() },
        place,
        remedy: "Watch the listening socket with EPOLLEXCLUSIVE, give each worker a socket of its own (SO_REUSEPORT), let workers \
                 take turns (uWSGI: thunder-lock), or start fewer of them."
            .to_string(),
        rows: rows("calls", door.in_vain.iter().map(|one| one.row)),
        explains: door.in_vain.iter().map(|one| (one.tid, one.from, one.to)).collect(),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, SERVER, US, request};
    use crate::syscall::{EAGAIN, EPOLL_CTL};
    use crate::tests::{answer, names};
    use case::tables::Call;
    use case::{Nanos, Recording};

    const ACCEPT: u16 = 43;
    const READ: u16 = 0;

    /// What eight workers do beside the one that takes each of sixty connections.
    #[derive(Clone, Copy)]
    struct Others {
        /// How many wake up for a connection.
        woken: u32,
        /// Whether they accept one of their own before they find nothing.
        accept_first: bool,
        reads: bool,
        /// Whether the connection has gone before the kernel lets them look.
        sleep_on: bool,
    }

    const HERD: Others = Others { woken: 7, accept_first: false, reads: false, sleep_on: false };

    fn connections(others: Others) -> Recording {
        let mut fixture = Fixture::new();
        let tids: Vec<u32> = (1..8).map(|number| SERVER + number).collect();
        for &tid in &tids {
            fixture.process(tid, "server");
        }
        let mut idle = vec![fixture.now; tids.len()];
        let mut server_idle = fixture.now;
        for id in 1..=60 {
            fixture.connects_at_once(id, CLIENT);
            let begun = fixture.now;
            request(&mut fixture, CLIENT, id, 300 * US, &mut server_idle);
            fixture.close(id);
            let done = fixture.now;
            fixture.now = begun + 30 * US;
            fixture.does(SERVER, 5 * US, ACCEPT, |call| (call.connection, call.fd, call.result) = (id + 1000, 3, 5));
            for (number, &tid) in tids.iter().enumerate().take(others.woken as usize) {
                if others.sleep_on {
                    fixture.off(tid, idle[number], begun + 10 * US);
                    idle[number] = begun + 60 * US;
                    continue;
                }
                fixture.now = idle[number];
                fixture.waits(tid, begun + 10 * US - idle[number], EPOLL_WAIT, |call| call.result = 1);
                if others.accept_first {
                    let taken = id + 5000;
                    fixture.does(tid, 5 * US, ACCEPT, |call| (call.connection, call.fd, call.result) = (taken, 3, 6));
                }
                fixture.does(tid, 5 * US, ACCEPT, |call| (call.fd, call.result) = (3, EAGAIN));
                if others.reads {
                    fixture.does(tid, 5 * US, READ, |call| (call.connection, call.result) = (999, 10));
                }
                fixture.now += 60 * US;
                idle[number] = fixture.now;
            }
            fixture.now = done + MS;
        }
        for (number, &tid) in tids.iter().enumerate() {
            let end = fixture.now;
            fixture.off(tid, idle[number], end);
            fixture.now = if others.sleep_on { MS } else { idle[number] };
            let blocked = end - fixture.now - 70 * US;
            fixture.does(tid, end - fixture.now, EPOLL_WAIT, |call| (call.blocked, call.result) = (Nanos(blocked), 0));
        }
        fixture.end()
    }

    #[test]
    fn workers_that_wake_up_in_vain_are_found_with_what_they_cost() {
        let answer = answer(&connections(HERD));
        let finding = answer.findings.iter().find(|finding| finding.name == "thundering-herd").expect("found");
        assert!(finding.title.starts_with("7.0 workers wake up in vain for each connection: "), "{}", finding.title);
        assert!((400 * US..600 * US).contains(&finding.cost.cpu_ns_per_exchange), "{:?}", finding.cost);
        assert!(finding.mechanism[1].starts_with("420 times"), "{:?}", finding.mechanism);
    }

    #[test]
    fn workers_that_the_kernel_has_sleep_on_are_found_too() {
        let mut recording = connections(Others { sleep_on: true, ..HERD });
        // That they watch the socket, only their beginning shows.
        let watching = |tid: u32| Call {
            start: Nanos(MS - 5 * US),
            duration: Nanos(US),
            tid,
            pid: tid,
            number: EPOLL_CTL,
            argument_1: 1,
            argument_2: 3,
            finished: true,
            ..Call::default()
        };
        recording.calls.extend((1..8).map(|number| watching(SERVER + number)));
        recording.sort();
        let answer = answer(&recording);
        let finding = answer.findings.iter().find(|finding| finding.name == "thundering-herd").expect("found");
        assert!(finding.mechanism[1].starts_with("420 times"), "{:?}", finding.mechanism);
    }

    #[test]
    fn workers_that_find_something_and_a_herd_of_none_are_left_alone() {
        let is_found = |others| names(&connections(others)).contains(&"thundering-herd".to_string());
        assert!(is_found(HERD));
        assert!(!is_found(Others { accept_first: true, ..HERD }), "they accept until nothing is left");
        assert!(!is_found(Others { reads: true, ..HERD }), "they had something else to do");
        assert!(!is_found(Others { woken: 0, ..HERD }));
    }
}
