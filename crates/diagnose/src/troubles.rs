//! What went wrong again and again while it was recorded: calls that fail, SYNs that nobody answers, resets, queues
//! that overflow, CPUs that others keep or a hypervisor takes. None of it is a cause; it is where somebody would look next.

mod answers;
mod refused;
mod run_delay;
mod stolen;

pub(crate) use run_delay::Running;

use crate::analysis::Analysis;
use crate::syscall;
use case::Trouble;
use case::tables::{direction, event, flags, role};
use std::collections::BTreeMap;

/// What happens less often than this happens anywhere.
const REPEATED: u64 = 3;

/// Counters of what a kernel dropped since a queue was full (`nstat -az`, Linux's `snmp_mib.h`).
const DROPS: [&str; 11] = [
    "TcpExt.ListenOverflows",
    "TcpExt.TCPReqQFullDrop",
    "TcpExt.TCPReqQFullDoCookies",
    "TcpExt.TCPBacklogDrop",
    "TcpExt.TCPRcvQDrop",
    "TcpExt.PruneCalled",
    "TcpExt.TCPAbortOnMemory",
    "Udp.RcvbufErrors",
    "Udp.SndbufErrors",
    "Udp6.RcvbufErrors",
    "softnet.dropped",
];

/// All of it: how the program ended, answers that are errors, then failed calls, the most frequent first.
pub fn find(analysis: &Analysis) -> Vec<Trouble> {
    let mut found = Vec::from_iter(ended_with(analysis));
    found.extend(answers::find(analysis));
    let failed = failed(analysis);
    let refused = refused::find(analysis, &failed);
    found.extend(failed.into_iter().chain(refused));
    found.extend(syn_again(analysis));
    found.extend(reset(analysis));
    found.extend(overflows(analysis));
    found.extend(run_delay::find(analysis));
    found.extend(stolen::find(analysis));
    found
}

/// What shells count for a program that SIGINT, SIGKILL or SIGTERM has ended: somebody wanted it to end.
const ENDED_BY_OTHERS: [i32; 3] = [130, 137, 143];

/// A program that says that it has failed.
fn ended_with(analysis: &Analysis) -> Option<Trouble> {
    let status = analysis.recording.manifest.subject.status()?;
    (status != 0 && !ENDED_BY_OTHERS.contains(&status)).then_some(Trouble::EndedWith { status })
}

/// Calls that failed, by their kind and their error.
fn failed(analysis: &Analysis) -> Vec<Trouble> {
    let mut by_kind: BTreeMap<(u16, &str), Vec<usize>> = BTreeMap::new();
    for (row, call) in analysis.recording.calls.iter().enumerate().filter(|(_, call)| call.result < 0) {
        // A wait for a lock that ends by its time-out is how such waits end.
        if let Some(error) =
            syscall::telling_error(call.result).filter(|_| syscall::class(call.number) != syscall::Class::Lock)
        {
            by_kind.entry((call.number, error)).or_default().push(row);
        }
    }
    let mut kinds: Vec<_> = by_kind.into_iter().filter(|(_, rows)| rows.len() as u64 >= REPEATED).collect();
    // The sort is stable: of equals the call with the lower number comes first.
    kinds.sort_by_key(|(_, rows)| std::cmp::Reverse(rows.len()));
    let trouble = |((number, error), rows): ((u16, &str), Vec<usize>)| Trouble::Failed {
        call: syscall::name(number),
        error: error.to_string(),
        count: rows.len() as u64,
        place: analysis.place_of_calls(rows.into_iter().map(|row| (row, 1))).places,
    };
    kinds.into_iter().map(trouble).collect()
}

/// SYNs that were sent again, whether or not the connection came about in the end.
fn syn_again(analysis: &Analysis) -> Option<Trouble> {
    let mut by_server: BTreeMap<Option<String>, u64> = BTreeMap::new();
    for slot in 0..analysis.connections.all().len() {
        let row = analysis.connections.row(slot);
        if row.role != role::CLIENT {
            continue;
        }
        let before = |time: case::Nanos| row.established.0 == 0 || time < row.established;
        let again = analysis.connections.events(slot).iter();
        let again = again.filter(|one| one.event == event::RETRANSMIT && before(one.time)).count() as u64;
        if again > 0 {
            *by_server.entry(analysis.connections.remote_name(slot)).or_default() += again;
        }
    }
    let count = by_server.values().sum();
    let (remote, _) = by_server.into_iter().max_by_key(|(_, count)| *count)?;
    Some(Trouble::SynAgain { remote, count })
}

/// Connections that the other end reset while they were open here.
fn reset(analysis: &Analysis) -> Option<Trouble> {
    let is_reset = |slot: &usize| {
        let closed = analysis.connections.row(*slot).closed;
        let mut segments = analysis.connections.segments(*slot).iter();
        segments.any(|one| one.direction == direction::IN && one.flags & flags::RST != 0 && one.time <= closed)
    };
    let count = (0..analysis.connections.all().len()).filter(is_reset).count() as u64;
    (count >= REPEATED).then_some(Trouble::Reset { count })
}

fn overflows(analysis: &Analysis) -> Vec<Trouble> {
    let mut moved: BTreeMap<String, u64> = BTreeMap::new();
    for row in &analysis.recording.counters {
        let name = if row.scope == "softnet" { format!("softnet.{}", row.name) } else { row.name.clone() };
        if DROPS.contains(&name.as_str()) && row.after > row.before {
            *moved.entry(name).or_default() += row.after - row.before;
        }
    }
    moved.into_iter().map(|(counter, count)| Trouble::Overflow { counter, count }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{CLIENT, CONNECT, Fixture, MS, READ, US, keep_alive};
    use crate::tests::answer;
    use case::Nanos;
    use case::tables::{Counter, TcpEvent};

    /// "Connection refused" and "connection reset by peer".
    const REFUSED: i64 = -111;
    const RESET: i64 = -104;

    fn fails(fixture: &mut Fixture, number: u16, error: i64, times: usize) {
        for _ in 0..times {
            fixture.does(CLIENT, 5 * US, number, |call| call.result = error);
        }
    }

    #[test]
    fn what_fails_again_and_again_is_told_and_what_programs_expect_is_not() {
        let mut fixture = keep_alive(5, 100 * US);
        fails(&mut fixture, CONNECT, REFUSED, 4);
        fails(&mut fixture, READ, syscall::EAGAIN, 50);
        fails(&mut fixture, READ, RESET, 2);
        fails(&mut fixture, syscall::FUTEX, syscall::TIMED_OUT, 50);
        let troubles = answer(&fixture.end()).troubles;
        let wanted =
            Trouble::Failed { call: "connect".into(), error: "ECONNREFUSED".into(), count: 4, place: Vec::new() };
        assert_eq!(troubles, [wanted]);
    }

    #[test]
    fn a_program_that_fails_is_told_and_one_that_somebody_ends_is_not() {
        let ended = |exit: Option<i32>, signal: Option<i32>| {
            let mut fixture = keep_alive(5, 100 * US);
            let subject = &mut fixture.recording.manifest.subject;
            (subject.exit, subject.signal) = (exit, signal);
            answer(&fixture.end()).troubles
        };
        assert_eq!(ended(Some(3), None), [Trouble::EndedWith { status: 3 }]);
        assert_eq!(ended(None, Some(11)), [Trouble::EndedWith { status: 139 }]);
        assert_eq!(ended(Some(0), None), []);
        assert_eq!(ended(None, Some(15)), []);
    }

    #[test]
    fn a_syn_that_is_sent_again_and_a_queue_that_overflows_are_told() {
        let mut fixture = keep_alive(5, 100 * US);
        let established = fixture.recording.connections[0].established;
        for time in [established.0 - 10 * US, established.0 + MS] {
            fixture.recording.tcp_events.push(TcpEvent {
                time: Nanos(time),
                connection: 1,
                event: event::RETRANSMIT,
                ..TcpEvent::default()
            });
        }
        let counter = |name: &str, after| Counter { scope: "netns:1".into(), name: name.into(), before: 1, after };
        fixture.recording.counters.extend([counter("TcpExt.ListenOverflows", 8), counter("Tcp.InSegs", 900)]);
        let troubles = answer(&fixture.end()).troubles;
        let remote = Some("10.0.0.2:80".to_string());
        let overflow = Trouble::Overflow { counter: "TcpExt.ListenOverflows".into(), count: 7 };
        assert_eq!(troubles, [Trouble::SynAgain { remote, count: 1 }, overflow]);
    }
}
