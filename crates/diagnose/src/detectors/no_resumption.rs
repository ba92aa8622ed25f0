//! P08: full TLS handshakes where a resumed one would do.

use super::{Found, ca_bundle_per_context, context_per_request, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::place;
use crate::syscall;
use case::Nanos;
use case::tables::{Call, Handshake};
use std::collections::BTreeMap;

detector! {
    /// # no-resumption
    ///
    /// ## What it is
    /// A process makes full TLS handshakes with a server it has already talked to: certificates are sent and verified
    /// and keys are signed again, although a session could have been resumed.
    ///
    /// ## Evidence
    /// Three full handshakes or more after the first, between one process and one server, where the server had issued
    /// tickets or the client offered nothing to resume, each for a connection that replaces one that was used and
    /// closed. (A pool that fills up makes one full handshake per connection; that is not counted.)
    ///
    /// ## What proves it
    /// Offering the session from outside; as the negative control, switching tickets off at the server. The cost moves
    /// as predicted.
    ///
    /// ## Remedy
    /// Keep the session and set it on the next connection (in most libraries: one context with a session cache), and
    /// share it between threads; in a server farm, share the ticket keys.
    ///
    /// ## Not to be confused with
    /// connection-churn (fewer connections would be better still); context-per-request (sessions die with their
    /// context, and that is then the cause); the first handshake of each process.
    "P08" "no-resumption",
    // Sessions die with the context that is made anew for each request.
    follows_from: &[ca_bundle_per_context::DETECTOR.page.id, context_per_request::DETECTOR.page.id]
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

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut groups: BTreeMap<(u32, String, &str), Vec<Needless>> = BTreeMap::new();
    let mut known: BTreeMap<(u32, String, &str), bool> = BTreeMap::new();
    for (row, handshake) in analysis.recording.handshakes.iter().enumerate() {
        let Some(slot) = analysis.connections.slot(handshake.connection) else { continue };
        let rows = &analysis.connections.all()[slot];
        if rows.end != Some(End::Client) || handshake.end.0 == 0 {
            continue;
        }
        let key =
            (analysis.connections.row(slot).pid, analysis.connections.remote(slot), handshake.server_name.as_str());
        let ticket = handshake.ticket || gives_ticket(analysis, rows.peer);
        if let Some(ticket_seen) = known.get(&key).copied()
            && !handshake.resumed
            && (ticket_seen || !handshake.offered)
        {
            groups.entry(key.clone()).or_default().push(Needless { row, slot, handshake, ticket_seen });
        }
        *known.entry(key).or_default() |= ticket;
    }
    let closed = closed_after_use(analysis);
    let needless = groups.into_values().map(|group| replacing(analysis, group, &closed));
    let needless: Vec<Needless> = needless.filter(|group| group.len() >= HABIT).flatten().collect();
    let first = needless.first()?;
    Some(found(analysis, first, &needless))
}

/// When each process closed connections over which it had asked something, in order, for each server.
fn closed_after_use(analysis: &Analysis) -> BTreeMap<(u32, String), Vec<u64>> {
    let mut closed: BTreeMap<(u32, String), Vec<u64>> = BTreeMap::new();
    for (slot, rows) in analysis.connections.all().iter().enumerate() {
        let Some(handshake) = analysis.connections.handshake(slot) else { continue };
        let asks = |call: &&Call| syscall::is_write(call.number) && call.start >= handshake.end;
        let asked: i64 = analysis.connections.transfers_of(slot).filter(asks).map(|call| call.result).sum();
        if rows.end == Some(End::Client) && handshake.end.0 > 0 && asked > LONGEST_ALERT {
            let row = analysis.connections.row(slot);
            closed.entry((row.pid, analysis.connections.remote(slot))).or_default().push(row.closed.0);
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
    analysis: &Analysis,
    mut group: Vec<Needless<'r>>,
    closed: &BTreeMap<(u32, String), Vec<u64>>,
) -> Vec<Needless<'r>> {
    group.sort_by_key(|one| one.handshake.start);
    let mut replaced = 0;
    group.retain(|one| {
        let key = (analysis.connections.row(one.slot).pid, analysis.connections.remote(one.slot));
        let closed = closed.get(&key).map_or(0, |times| times.partition_point(|&time| time <= one.handshake.end.0));
        let replaces = closed > replaced;
        replaced += usize::from(replaces);
        replaces
    });
    group
}

fn gives_ticket(analysis: &Analysis, peer: Option<usize>) -> bool {
    peer.and_then(|peer| analysis.connections.handshake(peer)).is_some_and(|row| row.ticket)
}

fn found(analysis: &Analysis, first: &Needless, needless: &[Needless]) -> Found {
    let mut saving = PotentialSaving { affected: needless.len() as u64, ..PotentialSaving::default() };
    let mut explains = Vec::new();
    for one in needless {
        let (start, end) = (one.handshake.start.0, one.handshake.end.0);
        // A resumed handshake takes a round trip as well.
        let saved =
            end.saturating_sub(start).saturating_sub(analysis.connections.round_trip(one.slot).unwrap_or_default());
        saving.wall += saved;
        let peer = analysis.connections.all()[one.slot].peer;
        let peer_tid = peer.and_then(|peer| analysis.connections.handshake(peer)).map(|row| row.tid);
        for tid in std::iter::once(one.handshake.tid).chain(peer_tid) {
            let (user, kernel) = analysis.threads.on_processor(tid, start, end);
            saving.cpu += user + kernel;
            explains.push((tid, start, end));
        }
    }
    let mut calls = analysis.connections.transfers_of(first.slot);
    let hello = calls.find(|call| call.start == first.handshake.start);
    let place = hello.map_or_else(Vec::new, |call| place::of_call(&analysis.code, call));
    let count = analysis.exchanges.len().max(1) as u64;
    let title = format!(
        "{} full TLS handshakes where resumption would do: up to {} per request{}",
        needless.len(),
        Nanos(saving.wall / count),
        place::in_words(&place),
    );
    let tickets = needless.iter().filter(|one| one.ticket_seen).count();
    let offered = needless.iter().filter(|one| one.handshake.offered).count();
    let mechanism = vec![
        format!(
            "One process makes full handshakes with {} again and again, {} each.",
            analysis.connections.remote(first.slot),
            Nanos(
                needless.iter().map(|one| (one.handshake.end - one.handshake.start).0).sum::<u64>() / saving.affected
            )
        ),
        format!("Before {tickets} of the {}, the server had issued a ticket.", needless.len()),
        format!("The client offered to resume in {offered} of them."),
    ];
    let remedy =
        "Keep the TLS session of the last connection and offer it on the next: one context with a session cache for \
                  the whole program."
            .to_string();
    Found {
        title,
        mechanism,
        saving,
        place,
        remedy,
        rows: rows("handshakes", needless.iter().map(|one| one.row)),
        explains,
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, US, WRITE, request};
    use crate::tests::names;

    #[derive(Clone, Copy, PartialEq)]
    enum Closed {
        AfterUse,
        AtTheEnd,
    }

    /// Ten connections with a handshake of 5 ms each.
    fn handshakes(resumed: bool, requests: u32, closed: Closed) -> Vec<String> {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=10 {
            fixture.connect(id, CLIENT);
            let start = fixture.now;
            fixture.moves(CLIENT, id, WRITE, 300);
            fixture.now += 5 * MS;
            fixture.moves(CLIENT, id, READ, 3000);
            fixture.handshake(id, CLIENT, start, |row| row.resumed = resumed && id > 1);
            for _ in 0..requests {
                request(&mut fixture, CLIENT, id, 200 * US, &mut idle);
            }
            if closed == Closed::AfterUse {
                fixture.close(id);
            }
        }
        names(&fixture.end())
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
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        let start = fixture.now;
        (1..=10).for_each(|id| fixture.connect(id, CLIENT));
        for id in 1..=10 {
            fixture.moves(CLIENT, id, WRITE, 300);
            fixture.now += 5 * MS;
            fixture.moves(CLIENT, id, READ, 3000);
            fixture.handshake(id, CLIENT, start + u64::from(id) * 60 * US, |_| {});
        }
        for number in 0..100 {
            request(&mut fixture, CLIENT, 1 + number % 10, 200 * US, &mut idle);
        }
        assert_eq!(names(&fixture.end()), Vec::<String>::new());
    }

    #[test]
    fn a_fresh_connection_each_time_is_named_as_well() {
        let mut names = handshakes(false, 1, Closed::AfterUse);
        names.sort();
        assert_eq!(names, ["connection-churn", "no-resumption"]);
    }
}
