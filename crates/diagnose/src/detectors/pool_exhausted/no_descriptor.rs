//! Connections that wait for a server which has no file descriptor left for them: `accept` fails until another one is closed.

use super::{LEAST_REQUESTS, LEAST_SHARE, RARE};
use crate::analysis::{Analysis, PotentialSaving};
use crate::detectors::{Found, costly_call, rows};
use crate::exchange::Exchange;
use crate::number;
use crate::spans;
use crate::syscall;
use crate::threads::call_end;
use case::Nanos;
use std::collections::BTreeMap;

/// The process has as many open as it may, or the whole machine.
const NONE_LEFT: [i64; 2] = [syscall::NO_DESCRIPTOR, syscall::NO_DESCRIPTOR_ANYWHERE];

/// When a process had none left, and the calls that failed for it: rows.
#[derive(Default)]
struct Without {
    spans: Vec<(u64, u64)>,
    failed: Vec<usize>,
}

pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    let without = by_process(analysis);
    if without.is_empty() {
        return None;
    }
    let mut waited: Vec<(u64, u64)> = Vec::new();
    let (mut wall, mut pid) = (0_u64, None);
    for exchange in &analysis.exchanges {
        let Some((of, length)) = waits(analysis, exchange, &without) else { continue };
        wall = wall.saturating_add(length);
        waited.push((exchange.start, exchange.end));
        pid = Some(of);
    }
    let (count, whole) = (analysis.exchanges.len(), analysis.exchange_wall());
    if waited.len() < LEAST_REQUESTS.max(count / RARE) || (wall as f64) < LEAST_SHARE * whole as f64 {
        return None;
    }
    let failed = &without.get(&pid?)?.failed;
    let place = costly_call(analysis, failed.iter().map(|&row| (row, 1)));
    let requests = count.max(1) as u64;
    let what = "Connections wait until the server has a file descriptor left for them";
    let error = if analysis.call(*failed.first()?).result == syscall::NO_DESCRIPTOR { "EMFILE" } else { "ENFILE" };
    Some(Found {
        title: format!("{what}: {} of every {} request{}", Nanos(wall / requests), Nanos(whole / requests), place.in_words()),
        what: what.to_string(),
        mechanism: vec![format!(
            "accept failed {} times with {error}; {} requests came on connections that were accepted only once another one was closed.",
            number::count(failed.len() as u64),
            number::count(waited.len() as u64),
        )],
        saving: PotentialSaving { wall, affected: waited.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: "Allow more open files (ulimit -n, LimitNOFILE= of a systemd unit, worker_rlimit_nofile of nginx), close what is no \
                 longer needed, and see whether descriptors leak."
            .to_string(),
        rows: rows("calls", failed.iter().copied()),
        stalls: waited,
        ..Found::default()
    })
}

/// Of each thread that accepts: from when that failed for want of a descriptor to when it succeeded again.
fn by_process(analysis: &Analysis) -> BTreeMap<u32, Without> {
    let mut found: BTreeMap<u32, Without> = BTreeMap::new();
    for thread in analysis.threads.all() {
        let mut since: Option<u64> = None;
        for row in thread.calls.clone().filter(|&row| syscall::is_accept(analysis.call(row).number)) {
            let call = analysis.call(row);
            if NONE_LEFT.contains(&call.result) {
                since.get_or_insert(call.start.0);
                found.entry(thread.pid).or_default().failed.push(row);
            } else if let Some(from) = since.take_if(|_| call.result >= 0) {
                found.entry(thread.pid).or_default().spans.push((from, call_end(call)));
            }
        }
    }
    for one in found.values_mut() {
        one.spans = spans::merge(std::mem::take(&mut one.spans));
    }
    found.retain(|_, one| !one.spans.is_empty());
    found
}

/// For how long an exchange waited until its connection was accepted while the server had no descriptor, and the server's process.
fn waits(analysis: &Analysis, exchange: &Exchange, without: &BTreeMap<u32, Without>) -> Option<(u32, u64)> {
    let slot = analysis.server_slot(exchange)?;
    let accept = analysis.call(analysis.connections.all()[slot].accept?);
    let spans = &without.get(&accept.pid)?.spans;
    let until = call_end(accept).min(exchange.end);
    let length = spans::length(spans::within(spans, exchange.start, until.max(exchange.start)));
    (length > 0).then_some((accept.pid, length))
}

#[cfg(test)]
mod tests {
    use super::NONE_LEFT;
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::answer;
    use case::Recording;

    const ACCEPT: u16 = 288;
    const AGAIN: i64 = -11;

    /// Ten connections with a request each. To accept each fails like this for 10 ms, and then goes well.
    fn accepting(result: i64) -> Recording {
        let mut fixture = Fixture::new();
        fixture.script(5, &["server.py:4:serve"]);
        for id in 1..=10 {
            fixture.connects_at_once(id, CLIENT);
            let start = fixture.now;
            fixture.moves(CLIENT, id, WRITE, 200);
            fixture.travels(start + 3 * US, id, id + 1000, 200);
            for _ in 0..5 {
                let row = fixture.does(SERVER, 10 * US, ACCEPT, |call| call.result = result);
                fixture.recording.calls[row].script_stack = 5;
                fixture.now += 2 * MS;
            }
            fixture.does(SERVER, 10 * US, ACCEPT, |call| (call.result, call.connection) = (9, id + 1000));
            fixture.moves(SERVER, id + 1000, READ, 200);
            fixture.moves(SERVER, id + 1000, WRITE, 300);
            let answered = fixture.now;
            fixture.travels(answered - 2 * US, id + 1000, id, 300);
            fixture.now = start + 6 * US;
            fixture.waits_for(CLIENT, id, answered + 12 * US - fixture.now, 300);
            fixture.close(id);
        }
        fixture.end()
    }

    #[test]
    fn connections_that_no_descriptor_is_left_for_are_found() {
        for error in NONE_LEFT {
            let answer = answer(&accepting(error));
            let finding = answer.findings.iter().find(|one| one.name == "pool-exhausted").expect("it is found");
            assert!(
                finding.title.starts_with("Connections wait until the server has a file descriptor"),
                "{finding:#?}"
            );
            assert!(finding.cost.share_of_wall > 0.9 && finding.place[0].line == 4, "{finding:#?}");
            assert!(finding.mechanism[0].starts_with("accept failed 50 times with E"), "{finding:#?}");
        }
    }

    #[test]
    fn an_accept_that_finds_nobody_is_left_alone() {
        let answer = answer(&accepting(AGAIN));
        assert!(answer.findings.iter().all(|one| !one.title.starts_with("Connections wait")), "{:#?}", answer.findings);
    }
}
