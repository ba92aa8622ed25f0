//! P20: connections wait since the server's listen queue is full.

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use case::Nanos;
use case::tables::event;

detector! {
    /// # listen-backlog-overflow
    ///
    /// ## What it is
    /// More connections come at once than the queue of a listening socket holds until the server accepts them. The kernel drops
    /// what is too much, and the client sends its SYN again after 1 s, then after 2 s more, then 4.
    ///
    /// ## Evidence
    /// SYNs that were sent again before their connection came about, and the kernel's counters of overflowing listen queues
    /// (ListenOverflows, TCPReqQFullDrop, TCPReqQFullDoCookies), which moved meanwhile.
    ///
    /// ## What proves it
    /// A longer listen queue: the SYNs get through, and connecting takes a round trip.
    ///
    /// ## Remedy
    /// Ask for a longer queue (the argument of listen, `backlog` in a server's configuration; the kernel caps it at
    /// net.core.somaxconn), accept in a thread that does nothing else, or keep connections open.
    ///
    /// ## Not to be confused with
    /// A lossy link, on which later segments are sent again as well and no counter of a queue moves; a firewall that drops SYNs.
    "P20" "listen-backlog-overflow"
}

/// Fewer connections that had to ask again are chance: a SYN can get lost.
const REPEATED: usize = 3;

/// Counters of the kernel that move when a listen queue overflows (Linux's `snmp_mib.h`).
const OVERFLOWS: [&str; 3] = ["TcpExt.ListenOverflows", "TcpExt.TCPReqQFullDrop", "TcpExt.TCPReqQFullDoCookies"];

/// One connection that had to ask again.
struct Again {
    /// The `connect`: a row of the table of calls.
    connect: usize,
    /// When the first SYN was sent again, and when the connection was there.
    from: u64,
    to: u64,
    /// How long its exchange waited for the connect.
    waited: u64,
    syns: usize,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let moved = analysis.recording.counters.iter().filter(|row| OVERFLOWS.contains(&row.name.as_str()));
    let dropped: u64 = moved.map(|row| row.after.saturating_sub(row.before)).sum();
    if dropped == 0 {
        return None;
    }
    let again: Vec<Again> = again(analysis);
    if again.len() < REPEATED {
        return None;
    }
    let wall: u64 = again.iter().map(|one| one.waited).sum();
    let count = analysis.exchanges.len().max(1) as u64;
    let (part, whole) = (Nanos(wall / count), Nanos(analysis.exchange_wall() / count));
    let place = costly_call(analysis, again.iter().map(|one| (one.connect, one.waited)));
    let syns: usize = again.iter().map(|one| one.syns).sum();
    let usual = Nanos(median(again.iter().map(|one| one.waited).collect()));
    Some(Found {
        title: format!(
            "Connections wait since the server's listen queue is full: {part} of every {whole} request{}",
            place.in_words()
        ),
        what: "Connections wait since the server's listen queue is full".to_string(),
        mechanism: vec![
            format!(
                "{} connections got no answer to their SYN and sent it again, {syns} times in all; half of them took {usual} or \
                 more to connect.",
                again.len()
            ),
            format!("Meanwhile the kernel counted {dropped} overflows of listen queues."),
        ],
        saving: PotentialSaving { wall, affected: again.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: "Ask for a longer queue (the argument of listen; the kernel caps it at net.core.somaxconn), accept in a thread that \
                 does nothing else, or keep connections open."
            .to_string(),
        rows: rows("calls", again.iter().map(|one| one.connect)),
        stalls: again.iter().map(|one| (one.from, one.to)).collect(),
        ..Found::default()
    })
}

/// The connections whose SYN was sent again, and whose first request waited for that.
fn again(analysis: &Analysis) -> Vec<Again> {
    let mut found = Vec::new();
    for exchange in analysis.exchanges.iter().filter(|exchange| exchange.end_seen == End::Client) {
        let (slot, Some(set_up)) = (exchange.connection, exchange.set_up) else { continue };
        let Some(connect) = analysis.connections.all()[slot].connect else { continue };
        let events = analysis.connections.events(slot).iter();
        let again = events.filter(|one| one.event == event::RETRANSMIT && one.time.0 < set_up.connected);
        let times: Vec<u64> = again.map(|one| one.time.0).collect();
        if let Some(&from) = times.first() {
            let waited = set_up.connected.saturating_sub(set_up.connect);
            found.push(Again { connect, from, to: set_up.connected, waited, syns: times.len() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, CONNECT, Fixture, MS, US, request};
    use crate::tests::{answer, names};
    use case::tables::{Counter, TcpEvent, event};
    use case::{Nanos, Recording};

    /// Twenty connections with a request each; every other one has to send its SYN again after a second.
    fn connecting(overflows: u64) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=20 {
            let start = fixture.now;
            fixture.connect(id, CLIENT);
            if id % 2 == 0 {
                let time = Nanos(start + 1_000 * MS);
                let (connection, event) = (id, event::RETRANSMIT);
                fixture.recording.tcp_events.push(TcpEvent { time, connection, event, ..TcpEvent::default() });
                let connect =
                    fixture.recording.calls.iter_mut().rfind(|call| call.number == CONNECT).expect("a connect");
                (connect.duration, connect.blocked) = (Nanos(1_001 * MS), Nanos(1_001 * MS));
                let end = Nanos(start + 1_001 * MS);
                let switch = fixture.recording.switches.last_mut().expect("it waited");
                (switch.runnable, switch.end) = (end, end);
                fixture.now = end.0;
                for row in fixture.recording.connections.iter_mut().rev().take(2) {
                    row.established = end;
                }
            }
            request(&mut fixture, CLIENT, id, 300 * US, &mut idle);
            fixture.close(id);
            fixture.now += MS;
        }
        let name = "TcpExt.ListenOverflows".to_string();
        fixture.recording.counters.push(Counter { scope: "netns:1".into(), name, before: 5, after: 5 + overflows });
        fixture.end()
    }

    #[test]
    fn syns_that_are_sent_again_while_a_listen_queue_overflows_are_found() {
        let answer = answer(&connecting(12));
        let finding = answer.findings.iter().find(|one| one.name == "listen-backlog-overflow").expect("it is found");
        assert_eq!(finding.cost.affected, 10);
        assert!(finding.cost.share_of_wall > 0.9, "{finding:#?}");
    }

    #[test]
    fn syns_that_get_lost_while_no_queue_overflows_are_not_the_servers() {
        assert!(!names(&connecting(0)).contains(&"listen-backlog-overflow".to_string()));
    }
}
