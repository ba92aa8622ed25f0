//! P08: full TLS handshakes where a resumed one would do.

use super::{Found, detector, rows};
use crate::connections::End;
use crate::evidence::{Evidence, Toll};
use crate::place;
use case::Nanos;
use case::tables::Handshake;
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
    /// tickets or the client offered nothing to resume.
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
    let needless: Vec<Needless> = groups.into_values().filter(|group| group.len() >= HABIT).flatten().collect();
    let first = needless.first()?;
    Some(found(evidence, first, &needless))
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

    /// Ten connections with a handshake of 5 ms each.
    fn handshakes(resumed: bool, requests: u32) -> Vec<String> {
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
        }
        names(&scene.end())
    }

    #[test]
    fn full_handshakes_with_a_known_server_are_found() {
        assert_eq!(handshakes(false, 10), ["no-resumption"]);
    }

    #[test]
    fn resumed_handshakes_are_left_alone() {
        assert_eq!(handshakes(true, 10), Vec::<String>::new());
    }

    #[test]
    fn a_fresh_connection_each_time_is_named_as_well() {
        let mut names = handshakes(false, 1);
        names.sort();
        assert_eq!(names, ["connection-churn", "no-resumption"]);
    }
}
