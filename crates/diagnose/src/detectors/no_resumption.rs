//! P08: full TLS handshakes where a resumed one would do.

use super::{Found, detector, rows};
use crate::connections::End;
use crate::evidence::{Evidence, Toll};
use crate::place;
use crate::syscall;
use case::Nanos;
use case::tables::{Call, Handshake};
use std::collections::BTreeMap;

detector! {
    /// # no-resumption
    ///
    /// ## What it is
    /// A process shakes hands in full with a server that it knows already: certificates are sent and checked and keys
    /// are signed again, though a session could have been resumed.
    ///
    /// ## Evidence
    /// Three full handshakes or more after the first, by one process with one server, where the server had handed out
    /// tickets or the client offered nothing to resume, each for a connection that takes the place of one that was used
    /// and closed: a pool that fills shakes hands once for each.
    ///
    /// ## What proves it
    /// Offering the session from outside, or switching tickets off at the server as the negative control: the cost
    /// moves as predicted.
    ///
    /// ## Remedy
    /// Keep the session and set it on the next connection (most libraries: one context with a session cache), and
    /// share it between threads; at a farm of servers share the ticket keys.
    ///
    /// ## Not to be confused with
    /// connection-churn (fewer connections would be better still), context-per-request (sessions die with their
    /// context: then that is the cause), the first handshake of each process.
    "P08" "no-resumption"
}

/// One more can be chance or a lost ticket.
const HABIT: usize = 3;

/// What is written besides the handshake is a request if it is longer than a farewell.
const LONGEST_ALERT: i64 = 64;

/// A full handshake that need not have been.
struct Needless<'r> {
    row: usize,
    slot: usize,
    handshake: &'r Handshake,
    ticket_seen: bool,
}

fn detect(evidence: &Evidence) -> Option<Found> {
    let mut groups: BTreeMap<(u32, String, &str), Vec<Needless>> = BTreeMap::new();
    let mut known: BTreeMap<(u32, String, &str), bool> = BTreeMap::new();
    for (row, handshake) in evidence.recording.handshakes.iter().enumerate() {
        let Some(slot) = evidence.connections.slot(handshake.connection) else { continue };
        let rows = &evidence.connections.all()[slot];
        if rows.end != Some(End::Client) || handshake.end.0 == 0 {
            continue;
        }
        let key =
            (evidence.connections.row(slot).pid, evidence.connections.remote(slot), handshake.server_name.as_str());
        let ticket = handshake.ticket || gives_ticket(evidence, rows.peer);
        if let Some(ticket_seen) = known.get(&key).copied()
            && !handshake.resumed
            && (ticket_seen || !handshake.offered)
        {
            groups.entry(key.clone()).or_default().push(Needless { row, slot, handshake, ticket_seen });
        }
        *known.entry(key).or_default() |= ticket;
    }
    let closed = closed_after_use(evidence);
    let needless = groups.into_values().map(|group| replacing(evidence, group, &closed));
    let needless: Vec<Needless> = needless.filter(|group| group.len() >= HABIT).flatten().collect();
    let first = needless.first()?;
    Some(found(evidence, first, &needless))
}

/// When each process closed connections over which it had asked something, in order, for each server.
fn closed_after_use(evidence: &Evidence) -> BTreeMap<(u32, String), Vec<u64>> {
    let mut closed: BTreeMap<(u32, String), Vec<u64>> = BTreeMap::new();
    for (slot, rows) in evidence.connections.all().iter().enumerate() {
        let Some(handshake) = evidence.connections.handshake(slot) else { continue };
        let asks = |call: &&Call| syscall::is_write(call.number) && call.start >= handshake.end;
        let asked: i64 = evidence.connections.transfers_of(slot).filter(asks).map(|call| call.result).sum();
        if rows.end == Some(End::Client) && handshake.end.0 > 0 && asked > LONGEST_ALERT {
            let row = evidence.connections.row(slot);
            closed.entry((row.pid, evidence.connections.remote(slot))).or_default().push(row.closed.0);
        }
    }
    for times in closed.values_mut() {
        times.sort_unstable();
    }
    closed
}

/// Of handshakes with one server those for a connection that takes the place of a closed one. A pool that fills shakes
/// hands once for each connection it keeps.
fn replacing<'r>(
    evidence: &Evidence,
    mut group: Vec<Needless<'r>>,
    closed: &BTreeMap<(u32, String), Vec<u64>>,
) -> Vec<Needless<'r>> {
    group.sort_by_key(|one| one.handshake.start);
    let mut replaced = 0;
    group.retain(|one| {
        let key = (evidence.connections.row(one.slot).pid, evidence.connections.remote(one.slot));
        let closed = closed.get(&key).map_or(0, |times| times.partition_point(|&time| time <= one.handshake.end.0));
        let replaces = closed > replaced;
        replaced += usize::from(replaces);
        replaces
    });
    group
}

fn gives_ticket(evidence: &Evidence, peer: Option<usize>) -> bool {
    peer.and_then(|peer| evidence.connections.handshake(peer)).is_some_and(|row| row.ticket)
}

fn found(evidence: &Evidence, first: &Needless, needless: &[Needless]) -> Found {
    let mut toll = Toll { affected: needless.len() as u64, ..Toll::default() };
    let mut explains = Vec::new();
    for one in needless {
        let (start, end) = (one.handshake.start.0, one.handshake.end.0);
        // A resumed handshake takes a round trip as well.
        let saved =
            end.saturating_sub(start).saturating_sub(evidence.connections.round_trip(one.slot).unwrap_or_default());
        toll.wall += saved;
        let peer = evidence.connections.all()[one.slot].peer;
        let peer_tid = peer.and_then(|peer| evidence.connections.handshake(peer)).map(|row| row.tid);
        for tid in std::iter::once(one.handshake.tid).chain(peer_tid) {
            let (user, kernel) = evidence.threads.on_processor(tid, start, end);
            toll.cpu += user + kernel;
            explains.push((tid, start, end));
        }
    }
    let mut calls = evidence.connections.transfers_of(first.slot);
    let hello = calls.find(|call| call.start == first.handshake.start);
    let place = hello.map_or_else(Vec::new, |call| place::of_call(&evidence.code, call));
    let count = evidence.exchanges.len().max(1) as u64;
    let title = format!(
        "{} TLS handshakes are full where a resumed one would do: up to {} a request{}",
        needless.len(),
        Nanos(toll.wall / count),
        place::in_words(&place),
    );
    let tickets = needless.iter().filter(|one| one.ticket_seen).count();
    let offered = needless.iter().filter(|one| one.handshake.offered).count();
    let mechanism = vec![
        format!(
            "One process shakes hands in full with {} again and again, {} each.",
            evidence.connections.remote(first.slot),
            Nanos(needless.iter().map(|one| (one.handshake.end - one.handshake.start).0).sum::<u64>() / toll.affected)
        ),
        format!("Before {tickets} of the {} the server had handed out a ticket.", needless.len()),
        format!("The client offered to resume in {offered} of them."),
    ];
    let remedy =
        "Keep the TLS session of the last connection and offer it on the next: one context with a session cache for \
                  the whole program."
            .to_string();
    Found {
        title,
        mechanism,
        toll,
        place,
        remedy,
        rows: rows("handshakes", needless.iter().map(|one| one.row)),
        explains,
    }
}

#[cfg(test)]
mod tests {
    use crate::scene::{CLIENT, MS, READ, Scene, US, WRITE, request};
    use crate::tests::names;

    #[derive(Clone, Copy, PartialEq)]
    enum Closed {
        AfterUse,
        AtTheEnd,
    }

    /// Ten connections with a handshake of 5 ms each.
    fn handshakes(resumed: bool, requests: u32, closed: Closed) -> Vec<String> {
        let mut scene = Scene::new();
        let mut idle = scene.now;
        for id in 1..=10 {
            scene.connect(id, CLIENT);
            let start = scene.now;
            scene.moves(CLIENT, id, WRITE, 300);
            scene.now += 5 * MS;
            scene.moves(CLIENT, id, READ, 3000);
            scene.handshake(id, CLIENT, start, |row| row.resumed = resumed && id > 1);
            for _ in 0..requests {
                request(&mut scene, CLIENT, id, 200 * US, &mut idle);
            }
            if closed == Closed::AfterUse {
                scene.close(id);
            }
        }
        names(&scene.end())
    }

    #[test]
    fn full_handshakes_with_a_known_server_are_found() {
        assert_eq!(handshakes(false, 10, Closed::AfterUse), ["no-resumption"]);
    }

    #[test]
    fn resumed_handshakes_are_left_alone() {
        assert_eq!(handshakes(true, 10, Closed::AfterUse), Vec::<String>::new());
    }

    #[test]
    fn a_pool_that_fills_is_left_alone() {
        assert_eq!(handshakes(false, 10, Closed::AtTheEnd), Vec::<String>::new());
    }

    #[test]
    fn connections_opened_at_the_same_time_are_left_alone() {
        let mut scene = Scene::new();
        let mut idle = scene.now;
        let start = scene.now;
        (1..=10).for_each(|id| scene.connect(id, CLIENT));
        for id in 1..=10 {
            scene.moves(CLIENT, id, WRITE, 300);
            scene.now += 5 * MS;
            scene.moves(CLIENT, id, READ, 3000);
            scene.handshake(id, CLIENT, start + u64::from(id) * 60 * US, |_| {});
        }
        for number in 0..100 {
            request(&mut scene, CLIENT, 1 + number % 10, 200 * US, &mut idle);
        }
        assert_eq!(names(&scene.end()), Vec::<String>::new());
    }

    #[test]
    fn a_fresh_connection_each_time_is_named_as_well() {
        let mut names = handshakes(false, 1, Closed::AfterUse);
        names.sort();
        assert_eq!(names, ["connection-churn", "no-resumption"]);
    }
}
