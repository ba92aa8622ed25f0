//! Requests that wait in their client, since it makes only so many at a time: threads of it wait at one place, and let each other go
//! in turn, while as many requests are under way as ever.

use super::{LEAST_REQUESTS, LEAST_SHARE};
use crate::analysis::Analysis;
use crate::detectors::lock_convoy::clients::{Turns, by_process, turns_of};
use crate::detectors::{Found, costly_call, rows};
use crate::number;
use case::{Nanos, Share};
use std::collections::BTreeMap;

/// Of one at a time that is a lock.
const LEAST: usize = 2;
/// So much of the time there may be more under way: one that is answered while the next is sent.
const MOMENTS: f64 = 0.02;
/// With more turns than this for each thread that takes them, hardly any waits: it may be anything else that they wait for.
const TURNS: f64 = 0.75;
/// A client that computes for more of one CPU's time meanwhile is busy itself, or its threads wait for their interpreter.
const BUSY: f64 = 0.5;

pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    let lines = by_process(analysis).into_iter().filter_map(|(pid, requests)| {
        let at_a_time = at_a_time(&requests).filter(|count| *count >= LEAST)?;
        let turns = turns_of(analysis, pid, &requests, at_a_time)?;
        let is_limit = at_a_time as f64 <= TURNS * turns.threads as f64 && turns.cpu <= BUSY;
        is_limit.then_some((at_a_time, turns))
    });
    let (at_a_time, turns) = lines.max_by_key(|(_, turns)| turns.waited())?;
    let with_them = analysis.exchange_wall().saturating_add(turns.waited());
    let is_much = turns.waited() as f64 >= LEAST_SHARE * with_them as f64 && turns.waits.len() >= LEAST_REQUESTS;
    is_much.then(|| found(analysis, at_a_time, &turns))
}

/// The most requests under way at a time, but for moments.
fn at_a_time(requests: &[(u64, u64)]) -> Option<usize> {
    let mut steps: Vec<(u64, isize)> = requests.iter().flat_map(|&(from, to)| [(from, 1), (to, -1)]).collect();
    // Of what happens at one time the ends come first.
    steps.sort_unstable();
    let mut by_count: BTreeMap<usize, u64> = BTreeMap::new();
    let (mut count, mut at) = (0_isize, 0);
    for (time, step) in steps {
        if count > 0 {
            *by_count.entry(count.unsigned_abs()).or_default() += time - at;
        }
        (count, at) = (count + step, time);
    }
    let whole: u64 = by_count.values().sum();
    let mut above = 0;
    by_count.into_iter().rev().find_map(|(count, length)| {
        above += length;
        (above as f64 >= MOMENTS * whole as f64).then_some(count)
    })
}

fn found(analysis: &Analysis, at_a_time: usize, turns: &Turns) -> Found {
    let count = analysis.exchanges.len().max(1) as u64;
    let waited = turns.waited();
    let place = costly_call(analysis, turns.waits.iter().copied());
    let (part, whole) = (Nanos(waited / count), Nanos((analysis.exchange_wall() + waited) / count));
    let what = format!("Requests wait in line in the client, which makes only {at_a_time} at a time");
    Found {
        title: format!("{what}: {part} of every {whole} request{}", place.in_words()),
        what,
        mechanism: vec![
            format!(
                "{} threads of {} wait at one place, {} times, until another of them is done. Meanwhile {at_a_time} of its {} \
                 requests are under way, and never more.",
                turns.threads,
                turns.program,
                number::count(turns.waits.len() as u64),
                number::count(turns.requests as u64),
            ),
            format!("While they wait, the client takes {} of one CPU.", Share(turns.cpu)),
        ],
        saving: turns.saving(),
        place,
        remedy: "Raise the limit (the size of the connection pool, the semaphore's count) step by step, for as long as the server \
                 keeps up."
            .to_string(),
        rows: rows("calls", turns.waits.iter().map(|(row, _)| *row)),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, SERVER, US, WRITE};
    use crate::syscall::FUTEX;
    use crate::tests::{answer, names};
    use case::tables::Thread;
    use case::{Nanos, Recording};

    const THREADS: u32 = 4;

    /// Eighty rounds of 5 ms in which two threads of four ask at the same time and the two others wait; who has asked wakes one of them.
    /// Each request has its thread compute for so long.
    fn in_turns(computes: u64, wakes: bool) -> Recording {
        let mut fixture = Fixture::new();
        fixture.script(6, &["client.py:7:fetch"]);
        let start = Nanos(fixture.now);
        for number in 0..THREADS {
            if number > 0 {
                let tid = CLIENT + number;
                fixture.recording.threads.push(Thread { tid, pid: CLIENT, start, ..Thread::default() });
            }
            fixture.connects_at_once(number + 1, CLIENT);
        }
        for round in 0..80 {
            let start = fixture.now;
            let asking = [round % 2 * 2, round % 2 * 2 + 1];
            for number in 0..THREADS {
                fixture.now = start;
                let tid = CLIENT + number;
                if asking.contains(&number) {
                    asks(&mut fixture, tid, number + 1, computes);
                    fixture.does(tid, 20 * US, FUTEX, |call| (call.pid, call.result) = (CLIENT, 1));
                } else {
                    fixture.now += 5 * US;
                    fixture.waits(tid, 5 * MS, FUTEX, |call| (call.pid, call.script_stack) = (CLIENT, 6));
                    let waker = if wakes { CLIENT + (number + 2) % THREADS } else { SERVER };
                    fixture.recording.switches.last_mut().expect("it waited").waker = waker;
                }
            }
            fixture.now = start + 5 * MS + 100 * US;
        }
        fixture.end()
    }

    /// A request of 5 ms, of which the thread that makes it computes for so long.
    fn asks(fixture: &mut Fixture, tid: u32, connection: u32, computes: u64) {
        let start = fixture.now;
        fixture.moves(tid, connection, WRITE, 200);
        fixture.travels(start + 3 * US, connection, connection + 1000, 200);
        fixture.travels(start + 5 * MS - 20 * US, connection + 1000, connection, 300);
        let calls = fixture.recording.calls.len();
        fixture.now += computes;
        fixture.waits_for(tid, connection, start + 5 * MS - fixture.now, 300);
        fixture.recording.calls[calls - 1..].iter_mut().for_each(|call| call.pid = CLIENT);
    }

    fn is_found(recording: &Recording) -> bool {
        names(recording).contains(&"pool-exhausted".to_string())
    }

    #[test]
    fn threads_that_wait_until_one_of_two_has_its_answer_are_in_line() {
        let answer = answer(&in_turns(0, true));
        let finding = answer.findings.iter().find(|one| one.name == "pool-exhausted").expect("it is found");
        assert!(finding.title.contains("in the client, which makes only 2 at a time"), "{}", finding.title);
        assert!((4 * MS..6 * MS).contains(&finding.cost.between_ns_per_exchange), "{:?}", finding.cost);
        assert!(finding.place[0].line == 7 && finding.mechanism[0].starts_with("4 threads of client"), "{finding:#?}");
    }

    #[test]
    fn threads_that_somebody_else_wakes_are_in_no_line() {
        assert!(!is_found(&in_turns(0, false)));
    }

    #[test]
    fn a_client_that_computes_meanwhile_is_busy_itself() {
        assert!(!is_found(&in_turns(3 * MS, true)));
    }
}
