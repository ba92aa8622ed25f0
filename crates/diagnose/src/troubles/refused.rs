//! Connections that a peer refused. Whoever connects without blocking has the error later, by other means than the call that connects.

use crate::analysis::Analysis;
use crate::syscall;
use crate::threads::call_end;
use case::Trouble;
use case::tables::{event, role};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// States of a connection, as the kernel numbers them (`net/tcp_states.h`): a SYN was sent; it is over.
const SYN_SENT: u32 = 2;
const CLOSE: u32 = 7;

/// Connections that were over before they were there, since their peer's answer was a refusal; none where the calls that connect
/// have failed as well, and are told by themselves.
pub fn find(analysis: &Analysis, failed: &[Trouble]) -> Option<Trouble> {
    let over: Vec<(usize, u64)> =
        (0..analysis.connections.all().len()).filter_map(|slot| over(analysis, slot)).collect();
    if over.is_empty() || failed.iter().any(is_told) {
        return None;
    }
    let closes = closes(analysis);
    let mut by_peer: BTreeMap<Option<String>, u64> = BTreeMap::new();
    for (slot, time) in over {
        let of_owner = closes.get(&analysis.connections.row(slot).pid).map_or(&[][..], Vec::as_slice);
        let begun = &of_owner[..of_owner.partition_point(|&(start, _)| start <= time)];
        // Who gives up has it closed by a call of its own.
        if begun.last().is_none_or(|&(_, end)| end < time) {
            *by_peer.entry(analysis.connections.remote_name(slot)).or_default() += 1;
        }
    }
    let count = by_peer.values().sum();
    let (remote, _) = by_peer.into_iter().max_by_key(|(_, count)| *count)?;
    (count >= super::REPEATED).then_some(Trouble::Refused { remote, count })
}

/// Whether calls that connect have failed with the refusal.
fn is_told(trouble: &Trouble) -> bool {
    let Trouble::Failed { call, error, .. } = trouble else { return false };
    call == "connect" && error == "ECONNREFUSED"
}

/// When a connection was over whose first SYN was the only one, and had no answer that it could be made by.
fn over(analysis: &Analysis, slot: usize) -> Option<(usize, u64)> {
    let row = analysis.connections.row(slot);
    if row.role != role::CLIENT || row.established.0 != 0 {
        return None;
    }
    let events = analysis.connections.events(slot);
    let over = events.iter().find(|one| one.event == event::STATE && (one.before, one.after) == (SYN_SENT, CLOSE))?;
    events.iter().all(|one| one.event != event::RETRANSMIT).then_some((slot, over.time.0))
}

/// When each process's calls ran that close, in order of their starts.
fn closes(analysis: &Analysis) -> FxHashMap<u32, Vec<(u64, u64)>> {
    let numbers = ["close", "shutdown"].map(syscall::number);
    let mut closes: FxHashMap<u32, Vec<(u64, u64)>> = FxHashMap::default();
    for (_, call) in analysis.calls_of(|number| numbers.contains(&Some(number))) {
        closes.entry(call.pid).or_default().push((call.start.0, call_end(call)));
    }
    for spans in closes.values_mut() {
        spans.sort_unstable();
    }
    closes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{CLIENT, CONNECT, Fixture, MS, US, keep_alive};
    use crate::tests::answer;
    use case::Nanos;
    use case::tables::TcpEvent;

    const IN_PROGRESS: i64 = -115;

    /// Four connections more, over so long after they were begun; given up by a close that lasts until then, or not.
    fn over_after(fixture: &mut Fixture, length: u64, are_given_up: bool) {
        for id in 11..15 {
            let start = fixture.now;
            fixture.does(CLIENT, 10 * US, CONNECT, |call| (call.connection, call.result) = (id, IN_PROGRESS));
            fixture.rows(id, CLIENT, start);
            fixture
                .recording
                .connections
                .iter_mut()
                .filter(|row| row.id == id)
                .for_each(|row| row.established = Nanos(0));
            let time = Nanos(start + length);
            let over = TcpEvent { time, connection: id, event: event::STATE, before: SYN_SENT, after: CLOSE };
            fixture.recording.tcp_events.push(over);
            fixture.now = start + length + if are_given_up { 0 } else { 20 * US } - 2 * US;
            fixture.does(CLIENT, 5 * US, syscall::number("close").expect("a call"), |_| {});
        }
    }

    #[test]
    fn those_that_a_peer_refused_are_told_and_those_that_were_given_up_are_not() {
        let refused = |length, are_given_up| {
            let mut fixture = keep_alive(5, 100 * US);
            over_after(&mut fixture, length, are_given_up);
            answer(&fixture.end()).troubles
        };
        assert_eq!(refused(MS, false), [Trouble::Refused { remote: Some("10.0.0.2:80".into()), count: 4 }]);
        assert_eq!(refused(5 * US + 2 * US, false).len(), 1, "at once, while it connects");
        assert_eq!(refused(MS, true), []);
    }
}
