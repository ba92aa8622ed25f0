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
    /// what is too much, and the client sends its SYN again after 1 s, then after 2 s more, then 4. Or it drops only the last segment
    /// of the handshake: then the client takes the connection for established, and its first request is sent again and again,
    /// after 200 ms, 400 ms and so on, until there is room.
    ///
    /// ## Evidence
    /// SYNs that were sent again before their connection came about, or first requests before it was there at the server's end, and
    /// the kernel's counters of overflowing listen queues (ListenOverflows, TCPReqQFullDrop, TCPReqQFullDoCookies), which moved
    /// meanwhile.
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
    "P20" "listen-backlog-overflow",
    needs: &[Tcp]
}

/// Fewer connections that had to ask again are chance: a SYN can get lost.
const REPEATED: usize = 3;

/// Counters of the kernel that move when a listen queue overflows (Linux's `snmp_mib.h`).
const OVERFLOWS: [&str; 3] = ["TcpExt.ListenOverflows", "TcpExt.TCPReqQFullDrop", "TcpExt.TCPReqQFullDoCookies"];

/// One connection that had to ask again.
struct Again {
    /// The `connect`: a row of the table of calls.
    connect: usize,
    /// When it first asked again, and when the connection was there.
    from: u64,
    to: u64,
    /// How long its exchange waited for it.
    waited: u64,
    /// How many SYNs were sent again, and whether the first request was.
    syns: usize,
    is_left_out: bool,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let dropped = overflows(analysis);
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
    Some(Found {
        title: format!(
            "Connections wait because the server's listen queue is full: {part} of every {whole} request{}",
            place.in_words()
        ),
        what: "Connections wait because the server's listen queue is full".to_string(),
        mechanism: vec![
            in_words(&again),
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

/// How often the kernel says that a listen queue was full.
fn overflows(analysis: &Analysis) -> u64 {
    let moved = analysis.recording.counters.iter().filter(|row| OVERFLOWS.contains(&row.name.as_str()));
    moved.map(|row| row.after.saturating_sub(row.before)).fold(0, u64::saturating_add)
}

fn in_words(again: &[Again]) -> String {
    let usual = Nanos(median(again.iter().map(|one| one.waited).collect()));
    let syns: usize = again.iter().map(|one| one.syns).sum();
    let asked = again.iter().filter(|one| one.syns > 0).count();
    let left_out = again.iter().filter(|one| one.is_left_out).count();
    let half = format!("half of them waited {usual} or more");
    match (asked, left_out) {
        (0, _) => format!(
            "The clients of {left_out} connections took them for established and sent their first request again until the server's \
             end was there, too; {half}."
        ),
        (_, 0) => format!(
            "{asked} connections got no answer to their SYN and sent it again, {syns} times in total; half of them took {usual} or \
             more to connect."
        ),
        (_, _) => format!(
            "{asked} connections got no answer to their SYN and sent it again, {syns} times in total; the clients of {left_out} took \
             them for established and sent their first request again until the server's end was there, too; {half}."
        ),
    }
}

/// The connections whose SYN or first request was sent again, and whose exchange waited for that.
fn again(analysis: &Analysis) -> Vec<Again> {
    let mut found = Vec::new();
    for exchange in analysis.exchanges.iter().filter(|exchange| exchange.end_seen == End::Client) {
        let (slot, Some(set_up)) = (exchange.connection, exchange.set_up.as_deref()) else { continue };
        let Some(connect) = analysis.connections.all()[slot].connect else { continue };
        let events = analysis.connections.events(slot).iter();
        let again = events.filter(|one| one.event == event::RETRANSMIT && one.time.0 < set_up.connected);
        let times: Vec<u64> = again.map(|one| one.time.0).collect();
        let left_out = left_out(analysis, slot).map(|(from, to)| (from, to.min(exchange.end)));
        let connecting = if times.is_empty() { 0 } else { set_up.connected.saturating_sub(set_up.connect) };
        let waited = connecting + left_out.map_or(0, |(from, to)| to.saturating_sub(from));
        if waited > 0 {
            let from = times.first().copied().or(left_out.map(|(from, _)| from)).unwrap_or(set_up.connected);
            let to = left_out.map_or(set_up.connected, |(_, to)| to);
            found.push(Again { connect, from, to, waited, syns: times.len(), is_left_out: left_out.is_some() });
        }
    }
    found
}

/// From when a client took a connection for established until the server's end of it was there, too, where a queue was full and the
/// client sent again what it had to say meanwhile: that was not lost on the way. Where the server's end never came, to its end.
pub(super) fn left_out(analysis: &Analysis, slot: usize) -> Option<(u64, u64)> {
    let row = analysis.connections.row(slot);
    if analysis.end(slot) != End::Client || row.established.0 == 0 || overflows(analysis) == 0 {
        return None;
    }
    let to = match analysis.connections.all()[slot].peer {
        Some(peer) => analysis.connections.row(peer).established.0,
        None => is_seen_at_both_ends(analysis, slot).then_some(row.closed.0)?,
    };
    let meanwhile = row.established.0..to;
    let mut events = analysis.connections.events(slot).iter();
    let is_sent_again = events.any(|one| one.event == event::RETRANSMIT && meanwhile.contains(&one.time.0));
    is_sent_again.then_some((row.established.0, to))
}

/// Whether other connections to the same address have a server's end that was recorded.
fn is_seen_at_both_ends(analysis: &Analysis, slot: usize) -> bool {
    let connections = &analysis.connections;
    let to = |slot: usize| (connections.row(slot).remote_address.as_str(), connections.row(slot).remote_port);
    (0..connections.all().len()).any(|other| connections.all()[other].peer.is_some() && to(other) == to(slot))
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

    /// Twenty connections that their clients take for established; at every other one the server's end comes a second later, and
    /// the request is sent again until then.
    fn left_out(overflows: u64) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=20 {
            fixture.connect(id, CLIENT);
            let start = fixture.now;
            let late = if id % 2 == 0 { 1_000 * MS } else { 0 };
            request(&mut fixture, CLIENT, id, late + 300 * US, &mut idle);
            if late > 0 {
                let request = fixture.recording.segments.iter().find(|row| row.connection == id && row.payload > 0);
                let request = request.expect("a request").clone();
                for after in [200, 600, 1_000] {
                    let (time, connection, event) = (Nanos(start + after * MS), id, event::RETRANSMIT);
                    fixture.recording.segments.push(case::tables::Segment { time, ..request.clone() });
                    fixture.recording.tcp_events.push(TcpEvent { time, connection, event, ..TcpEvent::default() });
                }
                let arrives =
                    |row: &&mut case::tables::Segment| row.connection == id + 1000 && row.payload == request.payload;
                if let Some(row) = fixture.recording.segments.iter_mut().find(arrives) {
                    row.time = Nanos(start + late + 5 * US);
                }
                let server = fixture.recording.connections.iter_mut().find(|row| row.id == id + 1000).expect("its end");
                server.established = Nanos(start + late + 6 * US);
            }
            fixture.close(id);
            fixture.now += MS;
        }
        let name = "TcpExt.ListenOverflows".to_string();
        fixture.recording.counters.push(Counter { scope: "netns:1".into(), name, before: 5, after: 5 + overflows });
        fixture.end()
    }

    #[test]
    fn requests_that_are_sent_again_until_the_servers_end_is_there_are_found_and_not_called_lost() {
        let answer = answer(&left_out(12));
        let finding = answer.findings.iter().find(|one| one.name == "listen-backlog-overflow").expect("it is found");
        assert_eq!(finding.cost.affected, 10);
        assert!(finding.cost.share_of_wall > 0.9, "{finding:#?}");
        assert!(finding.mechanism[0].starts_with("The clients of 10 connections"), "{:?}", finding.mechanism);
        assert!(answer.findings.iter().all(|one| one.name != "loss-and-rto"), "{:?}", answer.findings);
    }

    #[test]
    fn requests_that_are_sent_again_while_no_queue_overflows_are_lost() {
        let found = names(&left_out(0));
        assert!(!found.contains(&"listen-backlog-overflow".to_string()), "{found:?}");
        assert!(found.contains(&"loss-and-rto".to_string()), "{found:?}");
    }

    #[test]
    fn syns_that_get_lost_while_no_queue_overflows_are_not_the_servers() {
        assert!(!names(&connecting(0)).contains(&"listen-backlog-overflow".to_string()));
    }
}
