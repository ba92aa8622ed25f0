//! Writes into a pipe or a Unix socket that is full, while whoever reads from it does something else: a log that goes through a
//! program, syslog.

use super::REPEATED;
use crate::analysis::{Analysis, PotentialSaving};
use crate::detectors::{Found, common_place, costly_call, rows};
use crate::threads::{Cursor, Moment, State, call_end};
use crate::{syscall, waits};
use case::tables::{Call, Sample, transport};
use case::{Nanos, Share};
use std::collections::BTreeMap;

/// Where less of the requests' time is spent so, something else makes them slow.
const LEAST_SHARE: f64 = 0.2;
/// A reader that was doing something else for less of the waits was at its reading.
const ELSEWHERE: f64 = 0.5;

/// What readers did while somebody waited for room in their pipes.
#[derive(Default)]
pub(super) struct Waits {
    /// For how long exchanges waited so, directly or through others.
    wall: f64,
    /// For how long a reader was at something else meanwhile.
    elsewhere: f64,
    /// The calls that it was blocked in: rows, and for how long.
    pub(super) of_calls: BTreeMap<usize, u64>,
    on_cpu: u64,
    samples: Vec<usize>,
    /// The writes: rows of calls.
    writes: Vec<usize>,
    reader: u32,
}

/// Writes into what is full that exchanges waited for; none where they hardly did, or where the readers were at their reading.
pub(super) fn find(analysis: &Analysis) -> Option<Waits> {
    let mut waits = Waits::default();
    let mut writes = analysis.calls_of(syscall::is_write);
    if analysis.exchanges.is_empty() || !writes.any(|(_, call)| waits_for_room(analysis, call)) {
        return None;
    }
    for stretch in waits::stretches(analysis) {
        analysis.threads.walk(stretch.thread, stretch.from, stretch.to, &mut Cursor::default(), &mut |moment| {
            let row = moment
                .call
                .filter(|&row| moment.state == State::Blocked && waits_for_room(analysis, analysis.call(row)));
            let Some(row) = row else { return };
            if let Some(reader) = reader(analysis, stretch.thread, &moment) {
                waits.add(analysis, row, reader, &moment, stretch.weight);
            }
        });
    }
    let whole = analysis.exchange_wall() as f64;
    let is_seldom = (waits.writes.len() as u64) < REPEATED || waits.wall < LEAST_SHARE * whole;
    (!is_seldom && waits.elsewhere >= ELSEWHERE * waits.wall).then_some(waits)
}

/// Whether a call waited for room in a pipe or a Unix socket, as far as it tells itself.
fn waits_for_room(analysis: &Analysis, call: &Call) -> bool {
    syscall::is_write(call.number) && call.blocked.0 > 0 && is_local(analysis, call)
}

/// Whether a call is about a pipe or a Unix socket, as far as it tells itself.
fn is_local(analysis: &Analysis, call: &Call) -> bool {
    let Some(slot) = analysis.connections.slot(call.connection).filter(|_| call.connection != 0) else {
        return (call.connection, call.path) == (0, 0);
    };
    analysis.connections.row(slot).transport == transport::UNIX
}

/// The thread that made room by reading, by its place in the table of threads.
fn reader(analysis: &Analysis, writer: usize, moment: &Moment) -> Option<usize> {
    let slot = waits::ended_by(analysis, writer, moment)?;
    let calls = &analysis.recording.calls[analysis.threads.all()[slot].calls.clone()];
    let begun = calls.partition_point(|call| call.start.0 <= moment.end);
    // Most wake-ups are seen a little after they were made.
    let last = calls[..begun].iter().rev().find(|call| call_end(call) >= moment.start)?;
    (syscall::is_read(last.number) && is_local(analysis, last)).then_some(slot)
}

impl Waits {
    fn add(&mut self, analysis: &Analysis, row: usize, reader: usize, wait: &Moment, weight: f64) {
        self.wall += (wait.end - wait.start) as f64 * weight;
        self.writes.push(row);
        let thread = &analysis.threads.all()[reader];
        self.reader = thread.pid;
        analysis.threads.walk(reader, wait.start, wait.end, &mut Cursor::default(), &mut |moment| {
            let length = moment.end - moment.start;
            match (moment.state, moment.call) {
                (State::OnProcessor | State::Runnable, _) => self.on_cpu = self.on_cpu.saturating_add(length),
                (State::Blocked | State::BlockedOnDisk, Some(row)) if !is_reading(analysis, analysis.call(row)) => {
                    *self.of_calls.entry(row).or_default() += length;
                }
                _ => return,
            }
            self.elsewhere += length as f64 * weight;
        });
        let samples = &analysis.recording.samples[thread.samples.clone()];
        let from = samples.partition_point(|sample| sample.time.0 < wait.start);
        let to = samples.partition_point(|sample| sample.time.0 < wait.end);
        self.samples.extend((from..to).map(|sample| thread.samples.start + sample));
    }
}

/// Whether a thread in that call may wait for what is written to it.
fn is_reading(analysis: &Analysis, call: &Call) -> bool {
    syscall::is_poll(call.number) || (syscall::is_read(call.number) && is_local(analysis, call))
}

pub(super) fn found(analysis: &Analysis, waits: &Waits) -> Found {
    let count = analysis.exchanges.len().max(1) as u64;
    let (wall, whole) = (waits.wall as u64, analysis.exchange_wall());
    let blocked = waits.of_calls.values().fold(0_u64, |sum, length| sum.saturating_add(*length));
    let dearest = waits.of_calls.iter().max_by_key(|(_, length)| **length).filter(|_| blocked > waits.on_cpu);
    let (place, evidence, doing) = if let Some((&row, _)) = dearest {
        let calls = waits.of_calls.iter().map(|(&row, &length)| (row, length));
        let doing = format!("blocked in something else, mostly in {}", syscall::name(analysis.call(row).number));
        (costly_call(analysis, calls), rows("calls", waits.of_calls.keys().copied()), doing)
    } else {
        let samples: Vec<&Sample> = waits.samples.iter().map(|&row| &analysis.recording.samples[row]).collect();
        let evidence = rows("calls", waits.writes.iter().copied());
        (common_place(analysis, &samples), evidence, "on CPU, or waited for one".to_string())
    };
    let program = |pid: u32| {
        let row = analysis.recording.processes.iter().rfind(|row| row.pid == pid);
        row.map_or("a program", |row| analysis.recording.program(row))
    };
    let reader = program(waits.reader);
    let write = analysis.call(waits.writes[0]);
    let mut writer = program(write.pid).to_string();
    if writer == reader {
        writer = format!("another {writer}");
    }
    let channel = if write.connection == 0 { "pipe" } else { "Unix socket" };
    let (part, each) = (Nanos(wall / count), Nanos(whole / count));
    let share: Share = Nanos((waits.elsewhere.min(waits.wall)) as u64).share_of(Nanos(wall));
    let what = format!("{reader} reads more slowly from a {channel} than {writer} writes");
    Found {
        title: format!("{what}: {part} of every {each} request{}", place.in_words()),
        what,
        mechanism: vec![format!(
            "The {channel} was full, and {writer} waited until {reader} had read from it. {share} of that time {reader} was {doing}."
        )],
        saving: PotentialSaving {
            wall: wall.min(whole),
            affected: (waits.writes.len() as u64).min(count),
            ..PotentialSaving::default()
        },
        place,
        remedy: format!(
            "Let {reader} read in one thread and do what takes time in another, or many pieces at a time. What is no part of \
             the answer, such as a log, need not be waited for: a buffer that may drop some does not keep requests."
        ),
        rows: evidence,
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::{answer, names};
    use case::Recording;
    use case::tables::{Connection, transport};

    const NANOSLEEP: u16 = 35;
    const LOGGER: u32 = 300;

    /// Requests for each of which the server writes a line into a pipe that is full until the logger reads one, which it does after
    /// 4 ms in a call of this number, or on CPU; or into a Unix socket of this number and the next, where it is not 0.
    fn logged(meanwhile: Option<u16>, socket: u32) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        if socket != 0 {
            let own = |id, pid| Connection { id, pid, transport: transport::UNIX, ..Connection::default() };
            fixture.recording.connections.extend([own(socket, SERVER), own(socket + 1, LOGGER)]);
        }
        fixture.process(LOGGER, "logger");
        fixture.script(6, &["logger.py:7:send"]);
        fixture.stack(9, &["logger!compress", "logger!main"]);
        let other = if socket == 0 { 0 } else { socket + 1 };
        for _ in 0..20 {
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 200);
            fixture.travels(start + 3 * US, 1, 1001, 200);
            fixture.moves(SERVER, 1001, READ, 200);
            let written = fixture.now;
            match meanwhile {
                Some(number) => _ = fixture.waits(LOGGER, 4 * MS, number, |call| call.script_stack = 6),
                None => fixture.computes(LOGGER, 4 * MS, 9),
            }
            fixture.does(LOGGER, 20 * US, READ, |call| (call.fd, call.result, call.connection) = (0, 4096, other));
            let made_room = fixture.now - 10 * US;
            fixture.now = written;
            fixture.waits(SERVER, made_room + US - written, WRITE, |call| {
                (call.fd, call.result, call.connection) = (7, 100, socket);
            });
            fixture.recording.switches.last_mut().expect("it waited").waker = LOGGER;
            let answered = fixture.now;
            fixture.moves(SERVER, 1001, WRITE, 1000);
            fixture.travels(answered + US, 1001, 1, 1000);
            fixture.now = start + 5 * US;
            fixture.waits_for(CLIENT, 1, answered + 20 * US - fixture.now, 1000);
            let end = fixture.now + 100 * US;
            fixture.off(SERVER, answered + 10 * US, end);
            fixture.now = end;
        }
        fixture.end()
    }

    #[test]
    fn a_logger_that_sleeps_or_computes_between_its_reads_is_found_and_does_not_poll() {
        for (meanwhile, function) in [(Some(NANOSLEEP), "send"), (None, "compress")] {
            let answer = answer(&logged(meanwhile, 0));
            let found: Vec<&str> = answer.findings.iter().map(|finding| finding.name.as_str()).collect();
            assert!(found[0] == "slow-reader" && !found.contains(&"sleep-polling"), "{meanwhile:?}: {found:?}");
            let finding = &answer.findings[0];
            assert!(finding.cost.share_of_wall > 0.9, "{:?}", finding.cost);
            assert!(finding.title.starts_with("logger reads more slowly from a pipe"), "{}", finding.title);
            assert_eq!(finding.place[0].function, function, "{finding:#?}");
        }
    }

    #[test]
    fn a_unix_socket_that_is_full_is_found_as_well() {
        let answer = answer(&logged(Some(NANOSLEEP), 50));
        let title = "logger reads more slowly from a Unix socket than server writes";
        assert!(answer.findings[0].title.starts_with(title), "{}", answer.findings[0].title);
    }

    #[test]
    fn a_reader_that_waits_for_more_is_left_alone() {
        assert!(!names(&logged(Some(READ), 0)).contains(&"slow-reader".to_string()));
    }
}
