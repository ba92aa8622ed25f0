//! Requests that fail, and that a client sends again after a sleep.

use super::REPEATED;
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::detectors::{Found, costly_call, median, rows};
use crate::number;
use crate::pauses::sleep_after;
use crate::syscall;
use crate::threads::call_end;
use case::Nanos;
use case::tables::{Call, transport};
use std::collections::BTreeMap;

/// Sleeps that take less of the run are a pause, and no loss.
const SHARE_OF_RUN: f64 = 0.05;

/// "Operation now in progress": what `connect` returns where the program does not wait in it.
const IN_PROGRESS: i64 = -115;

/// A call that failed, and the sleep before its thread sent anything again.
struct Pause {
    failed: usize,
    sleep: usize,
}

pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    let mut by_server: BTreeMap<String, Vec<Pause>> = BTreeMap::new();
    let there_since = there_since(analysis);
    for (row, call) in analysis.recording.calls.iter().enumerate() {
        let Some(slot) = analysis.connections.slot(call.connection).filter(|_| call.connection != 0) else { continue };
        if let Some(failed) = failed_at(analysis, call, slot)
            && analysis.connections.all()[slot].end == Some(End::Client)
            // Who waits for a server to start sends nothing again.
            && there_since.get(&whom(analysis, slot)).is_none_or(|&since| since < failed)
            && let Some(sleep) = sleep_after(analysis, call.tid, failed)
            && asks_after(analysis, sleep)
        {
            by_server.entry(analysis.connections.remote(slot)).or_default().push(Pause { failed: row, sleep });
        }
    }
    for pauses in by_server.values_mut() {
        // A connection may fail in several calls before the sleep.
        pauses.dedup_by_key(|pause| pause.sleep);
    }
    let slept = |pauses: &Vec<Pause>| pauses.iter().map(|one| analysis.call(one.sleep).blocked.0).sum::<u64>();
    let (server, pauses) = by_server.into_iter().max_by_key(|(_, pauses)| slept(pauses))?;
    let whole = slept(&pauses);
    (pauses.len() >= REPEATED && whole as f64 >= SHARE_OF_RUN * analysis.wall() as f64)
        .then(|| found(analysis, &server, &pauses, whole))
}

/// Since when each process knows that an address accepts connections: from its first that was established.
fn there_since<'r>(analysis: &Analysis<'r>) -> BTreeMap<(u32, &'r str), u64> {
    let mut since: BTreeMap<(u32, &str), u64> = BTreeMap::new();
    for slot in 0..analysis.connections.all().len() {
        let established = analysis.connections.row(slot).established.0;
        if established > 0 && analysis.connections.all()[slot].end == Some(End::Client) {
            let first = since.entry(whom(analysis, slot)).or_insert(established);
            *first = established.min(*first);
        }
    }
    since
}

/// The process of a connection, and the address that it asks.
fn whom<'r>(analysis: &Analysis<'r>, slot: usize) -> (u32, &'r str) {
    let row = analysis.connections.row(slot);
    (row.pid, &row.remote_address)
}

/// When a call on a connection had failed; of a connect that nobody waited for in the call, when the connection was given up.
fn failed_at(analysis: &Analysis, call: &Call, slot: usize) -> Option<u64> {
    let row = analysis.connections.row(slot);
    if call.number == syscall::CONNECT && call.result == IN_PROGRESS {
        let is_over = row.transport == transport::TCP && row.closed < analysis.recording.manifest.end;
        return (row.established.0 == 0 && is_over).then(|| call_end(call).max(row.closed.0));
    }
    // Who finds no port has asked nobody: that is port-exhaustion.
    let is_error = syscall::telling_error(call.result).is_some() && call.result != syscall::NO_PORT;
    is_error.then(|| call_end(call))
}

/// Whether the thread of a sleep, or another one of its process, sends a request afterwards: else the program is done.
fn asks_after(analysis: &Analysis, sleep: usize) -> bool {
    let sleep = analysis.call(sleep);
    let from = analysis.exchanges.partition_point(|exchange| exchange.start < call_end(sleep));
    let asks = |row: &u32| analysis.call(*row as usize).pid == sleep.pid;
    analysis.exchanges[from..].iter().any(|exchange| analysis.transfers(exchange).first().is_some_and(asks))
}

fn found(analysis: &Analysis, server: &str, pauses: &[Pause], whole: u64) -> Found {
    let count = analysis.exchanges.len().max(1) as u64;
    let sleeps = || pauses.iter().map(|one| (one.sleep, analysis.call(one.sleep).blocked.0));
    let place = costly_call(analysis, sleeps());
    let mut errors: BTreeMap<i64, usize> = BTreeMap::new();
    for one in pauses {
        *errors.entry(analysis.call(one.failed).result).or_default() += 1;
    }
    let most = errors.iter().max_by_key(|(_, count)| **count).map_or(0, |(error, _)| *error);
    let failed = match syscall::telling_error(most) {
        Some(error) => format!("a call on a connection to {server} failed, mostly with {error}"),
        None => format!("{server} accepted no connection"),
    };
    let lengths: Vec<u64> = sleeps().map(|(_, length)| length).collect();
    let longest = Nanos(lengths.iter().copied().max().unwrap_or_default());
    let what = "Requests fail, and the client sleeps before it sends them again".to_string();
    Found {
        title: format!("{what}: {} per request{}", Nanos(whole / count), place.in_words()),
        what,
        mechanism: vec![format!(
            "{} times {failed}; each time the client slept (median {}, {longest} at most) and asked again.",
            number::count(pauses.len() as u64),
            Nanos(median(lengths)),
        )],
        saving: PotentialSaving { outside: whole, affected: pauses.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: match syscall::telling_error(most) {
            Some(_) => format!(
                "Find out why {server} ends connections (its log, its time-outs and limits); send what can be repeated again at once \
                 the first time, and back off only after that."
            ),
            None => format!(
                "Find out why {server} accepts no connections (is it running, and at that address?); ask another one at once where there is \
                 one, and pause only after that."
            ),
        },
        rows: rows("calls", pauses.iter().map(|one| one.sleep)),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, CONNECT, EPOLL_WAIT, Fixture, MS, READ, US, WRITE, request};
    use crate::tests::{answer, names};
    use case::tables::{Connection, role, transport};
    use case::{Nanos, Recording};

    const NANOSLEEP: u16 = 35;
    const RESET: i64 = -104;

    /// A client of which every third request ends so, and that then sleeps.
    fn every_third(result: i64, sleep: u64) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        let mut id = 0;
        for number in 0..30 {
            if number % 3 == 0 {
                id += 1;
                fixture.connect(id, CLIENT);
                idle = idle.max(fixture.now - US);
            }
            request(&mut fixture, CLIENT, id, 300 * US, &mut idle);
            if number % 3 == 2 {
                fixture.moves(CLIENT, id, WRITE, 200);
                fixture.does(CLIENT, US, READ, |call| (call.connection, call.result) = (id, result));
                fixture.close(id);
            }
            if number % 3 == 2 && sleep > 0 {
                fixture.waits(CLIENT, sleep, NANOSLEEP, |_| ());
            }
        }
        fixture.end()
    }

    fn is_found(recording: &Recording) -> bool {
        names(recording).contains(&"retry-storm".to_string())
    }

    #[test]
    fn sleeps_after_requests_that_were_reset_are_found() {
        let answer = answer(&every_third(RESET, 50 * MS));
        let finding = answer.findings.iter().find(|one| one.name == "retry-storm").expect("it is found");
        // After the last one nothing is asked any more.
        assert_eq!(finding.cost.affected, 9);
        assert!(
            finding.mechanism[0].starts_with("9 times a call on a connection to 10.0.0.2:80 failed"),
            "{finding:#?}"
        );
        assert!(finding.mechanism[0].contains("ECONNRESET"), "{finding:#?}");
    }

    /// Ten requests, each after a connect elsewhere that came to nothing: how long after it a sleep begins, or none.
    fn after_no_connection(sleep: Option<u64>) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=10 {
            let opened = Nanos(fixture.now);
            fixture.does(CLIENT, 10 * US, CONNECT, |call| (call.connection, call.result) = (id + 100, -115));
            // Whoever waits for the connection itself does not sleep.
            fixture.waits(CLIENT, 50 * MS, EPOLL_WAIT, |_| ());
            fixture.recording.connections.push(Connection {
                id: id + 100,
                pid: CLIENT,
                transport: transport::TCP,
                role: role::CLIENT,
                remote_address: "10.0.0.9".to_string(),
                remote_port: 80,
                opened,
                closed: Nanos(fixture.now),
                ..Connection::default()
            });
            fixture.now += US;
            if let Some(length) = sleep {
                fixture.waits(CLIENT, length, NANOSLEEP, |_| ());
            }
            fixture.connect(id, CLIENT);
            request(&mut fixture, CLIENT, id, 300 * US, &mut idle);
            fixture.close(id);
        }
        fixture.end()
    }

    #[test]
    fn sleeps_after_connects_that_came_to_nothing_are_found() {
        let answer = answer(&after_no_connection(Some(50 * MS)));
        let finding = answer.findings.iter().find(|one| one.name == "retry-storm").expect("it is found");
        assert_eq!(finding.cost.affected, 10);
        assert!(
            finding.mechanism[0].starts_with("10 times 10.0.0.9:80 accepted no connection; each time"),
            "{finding:#?}"
        );
    }

    #[test]
    fn a_client_that_waits_for_its_server_to_start_is_left_alone() {
        let refused_at_first = |established_before: bool| {
            let mut fixture = Fixture::new();
            let mut idle = fixture.now;
            if established_before {
                fixture.connect(1, CLIENT);
                request(&mut fixture, CLIENT, 1, 300 * US, &mut idle);
                fixture.close(1);
            }
            for id in 101..=110 {
                fixture.rows(id, CLIENT, fixture.now);
                fixture.recording.connections.pop();
                let row = fixture.recording.connections.last_mut().expect("it is there");
                (row.established, row.closed, row.peer) = (Nanos(0), Nanos(fixture.now + US), 0);
                fixture.does(CLIENT, US, CONNECT, |call| (call.connection, call.result) = (id, -111));
                fixture.waits(CLIENT, 50 * MS, NANOSLEEP, |_| ());
            }
            fixture.connect(2, CLIENT);
            request(&mut fixture, CLIENT, 2, 300 * US, &mut idle);
            fixture.end()
        };
        assert!(!is_found(&refused_at_first(false)));
        assert!(is_found(&refused_at_first(true)));
    }

    #[test]
    fn a_wait_for_a_connection_that_never_comes_is_no_sleep_after_it() {
        assert!(!is_found(&after_no_connection(None)));
    }

    #[test]
    fn sleeps_since_no_port_is_left_are_another_matter() {
        assert!(!is_found(&every_third(crate::syscall::NO_PORT, 50 * MS)));
    }

    #[test]
    fn sleeps_after_answers_and_resets_without_a_sleep_are_left_alone() {
        assert!(!is_found(&every_third(0, 50 * MS)));
        assert!(!is_found(&every_third(RESET, 0)));
    }
}
