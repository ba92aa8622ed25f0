//! A client that asks the same again after a sleep until the answer suits it, and then goes on at once.
//!
//! Who pauses between requests as a matter of course, to keep a pace or to watch something, sleeps before other requests as well,
//! or asks one thing for ever.

use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::detectors::{Found, costly_call, median, rows};
use crate::exchange::Exchange;
use crate::number;
use crate::pauses::{is_pause, may_be_pause};
use crate::syscall;
use crate::threads::call_end;
use case::Nanos;
use case::tables::direction;
use std::collections::BTreeSet;

/// Fewer sleeps before the same again are chance.
const REPEATED: usize = 3;
/// So often at least it went on with something else at once.
const WENT_ON: usize = 2;
/// One in so many of its pauses may lie before something else.
const RARE: usize = 5;
/// A pause is one where a sleep takes this part of the time between two requests, or more.
const MOSTLY: f64 = 0.5;
/// Less of the run is not what makes it slow.
const SHARE_OF_RUN: f64 = 0.2;
/// A shorter sleep, in nanoseconds, is none that anybody waits for.
const SHORTEST: u64 = 1_000_000;

/// What is asked: of whom, for what where that is in plain text, in how many bytes.
type Request<'a> = (String, &'a str, u64);

pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    let sleeps = sleeps(analysis);
    if sleeps.len() < REPEATED {
        return None;
    }
    let asked: Vec<&Exchange> = analysis.exchanges.iter().filter(|one| one.end_seen == End::Client).collect();
    let (mut again, mut others, mut went_on, mut is_series) = (Vec::new(), 0, 0, false);
    // Whatever it waits for was not there yet when it went to sleep again: it can have come in the last sleep of a series only.
    let mut last = Vec::new();
    for pair in asked.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        if after.start < before.end {
            is_series = false;
            continue;
        }
        let pause = pause(analysis, &sleeps, before.end, after.start);
        let is_same = request(analysis, before) == request(analysis, after);
        match (pause, is_same) {
            (Some(row), true) => {
                last.truncate(last.len() - usize::from(is_series));
                last.push(row);
                again.push(row);
            }
            (Some(_), false) => others += 1,
            (None, false) if is_series => went_on += 1,
            (None, _) => (),
        }
        is_series = is_same && pause.is_some();
    }
    let slept: u64 = last.iter().map(|&row| analysis.call(row).blocked.0).sum();
    let is_polling = again.len() >= REPEATED && went_on >= WENT_ON && others * RARE <= again.len();
    (is_polling && slept as f64 >= SHARE_OF_RUN * analysis.wall() as f64)
        .then(|| found(analysis, &asked, &again, slept))
}

/// The sleeps of clients' processes, in order: rows of the table of calls.
fn sleeps(analysis: &Analysis) -> Vec<usize> {
    let processes = analysis.recording.processes.iter().filter(|row| row.role == "client");
    let clients: BTreeSet<u32> = processes.map(|row| row.pid).collect();
    let is_sleep = |row: &usize| {
        let call = analysis.call(*row);
        may_be_pause(call) && call.blocked.0 >= SHORTEST && clients.contains(&call.pid)
    };
    let mut rows: Vec<usize> = (0..analysis.recording.calls.len()).filter(is_sleep).collect();
    rows.sort_by_key(|&row| analysis.call(row).start);
    rows
}

/// The sleep that takes most of the time between two requests.
fn pause(analysis: &Analysis, sleeps: &[usize], from: u64, to: u64) -> Option<usize> {
    let first = sleeps.partition_point(|&row| analysis.call(row).start.0 < from);
    let mut within = sleeps[first..].iter().copied().take_while(|&row| analysis.call(row).start.0 < to);
    within.find(|&row| {
        let call = analysis.call(row);
        call_end(call) <= to && call.blocked.0 as f64 >= MOSTLY * (to - from) as f64 && is_pause(analysis, row)
    })
}

fn request<'a>(analysis: &Analysis<'a>, exchange: &Exchange) -> Request<'a> {
    let calls = analysis.transfers(exchange).iter().map(|&row| analysis.call(row as usize));
    let written = calls.take_while(|call| syscall::is_write(call.number)).map(|call| call.result.max(0) as u64).sum();
    let id = analysis.connections.row(exchange.connection).id;
    let messages = &analysis.recording.http_messages;
    let first = messages.partition_point(|row| (row.connection, row.time.0) < (id, exchange.start));
    let mut within = messages[first..].iter().take_while(|row| row.connection == id && row.time.0 <= exchange.end);
    let target = within.find(|row| row.direction == direction::OUT).map_or("", |row| row.target.as_str());
    (analysis.connections.remote(exchange.connection), target, written)
}

fn found(analysis: &Analysis, asked: &[&Exchange], again: &[usize], slept: u64) -> Found {
    let count = analysis.exchanges.len().max(1) as u64;
    let lengths = || again.iter().map(|&row| (row, analysis.call(row).blocked.0));
    let place = costly_call(analysis, lengths());
    let remote = asked.first().map(|one| analysis.connections.remote(one.connection)).unwrap_or_default();
    let usual = Nanos(median(lengths().map(|(_, length)| length).collect()));
    let what = format!("The client asks {remote} the same again after a sleep, until the answer lets it go on");
    Found {
        title: format!("{what}: up to {} per request too late{}", Nanos(slept / count), place.in_words()),
        what,
        mechanism: vec![format!(
            "{} times the client asked what it had just asked, each time after a sleep (median {usual}); before anything else it \
             does not sleep. Before the last sleep of each series, what it waits for was not there: only that one can be too long.",
            number::count(again.len() as u64)
        )],
        saving: PotentialSaving { outside: slept, affected: again.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: "Let the server answer when it is done (a request that waits, a callback, server-sent events), or sleep for a short \
                 time at first and longer later."
            .to_string(),
        rows: rows("calls", again.iter().copied()),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, US, WRITE, request};
    use crate::syscall::{FUTEX, TIMED_OUT};
    use crate::tests::{answer, names};
    use case::Recording;

    const NANOSLEEP: u16 = 35;

    /// Six jobs: each is begun, then asked for until it is done, four times; `sleep` says for how long the client sleeps before the
    /// request of a number, of which 0 begins the job.
    fn jobs(sleep: impl Fn(u32) -> u64) -> Recording {
        jobs_by(NANOSLEEP, 0, sleep)
    }

    /// The same with sleeps in any call, and what it returns.
    fn jobs_by(call: u16, result: i64, sleep: impl Fn(u32) -> u64) -> Recording {
        jobs_of(5, call, result, sleep)
    }

    /// The same with so many requests for each job.
    fn jobs_of(requests: u32, call: u16, result: i64, sleep: impl Fn(u32) -> u64) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        let mut idle = fixture.now;
        for _ in 0..6 {
            for number in 0..requests {
                if sleep(number) > 0 {
                    fixture.waits(CLIENT, sleep(number), call, |row| row.result = result);
                }
                let from = fixture.recording.calls.len();
                request(&mut fixture, CLIENT, 1, 300 * US, &mut idle);
                if number == 0 {
                    let own = fixture.recording.calls[from..].iter_mut();
                    let asks = own.filter(|call| call.tid == CLIENT && call.number == WRITE);
                    asks.for_each(|call| call.result += 60);
                }
            }
        }
        fixture.end()
    }

    fn is_found(recording: &Recording) -> bool {
        names(recording).contains(&"sleep-polling".to_string())
    }

    #[test]
    fn a_client_that_sleeps_before_it_asks_the_same_again_and_else_does_not_is_found() {
        let answer = answer(&jobs(|number| if number > 1 { 20 * MS } else { 0 }));
        let finding = answer.findings.iter().find(|one| one.name == "sleep-polling").expect("it is found");
        assert_eq!(finding.cost.affected, 18);
        // The last of three sleeps, over five requests.
        assert!((3 * MS..5 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
    }

    #[test]
    fn a_runtime_that_sleeps_by_waiting_for_nothing_is_found_and_one_to_which_something_came_is_not() {
        let sleep = |number| if number > 1 { 20 * MS } else { 0 };
        assert!(is_found(&jobs_by(EPOLL_WAIT, 0, sleep)));
        assert!(is_found(&jobs_by(FUTEX, TIMED_OUT, sleep)));
        assert!(!is_found(&jobs_by(EPOLL_WAIT, 1, sleep)));
        assert!(!is_found(&jobs_by(FUTEX, 0, sleep)));
    }

    #[test]
    fn a_client_that_looks_often_enough_is_left_alone() {
        // Each of six jobs takes 25 looks: at most one sleep in 25 is too long.
        assert!(!is_found(&jobs_of(26, NANOSLEEP, 0, |number| if number > 1 { 20 * MS } else { 0 })));
    }

    #[test]
    fn a_client_that_sleeps_before_each_request_keeps_a_pace() {
        assert!(!is_found(&jobs(|_| 20 * MS)));
    }

    #[test]
    fn a_client_that_asks_again_at_once_does_not_sleep() {
        assert!(!is_found(&jobs(|_| 0)));
    }
}
