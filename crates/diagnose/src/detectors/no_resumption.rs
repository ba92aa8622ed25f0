//! P08: full TLS handshakes where a resumed one would do.

mod passed_on;

use super::fresh_connections::cpu;
use super::{Found, ca_bundle_per_context, context_per_request, costly_call, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::syscall;
use crate::threads::call_end;
use case::Nanos;
use case::facts::{Observation, WhyFull};
use case::tables::{Call, Handshake};
use passed_on::PassedOn;
use std::collections::BTreeMap;

detector! {
    /// # no-resumption
    ///
    /// ## What it is
    /// A process makes full TLS handshakes with a server it has already talked to: certificates are sent and verified
    /// and keys are signed again, although a session could have been resumed.
    ///
    /// ## Evidence
    /// Three full handshakes or more after the first, between one process and one server, each for a connection that
    /// replaces one that was used and closed. (A pool that fills up makes one full handshake per connection; that is not
    /// counted.) Which end is to blame follows from what was seen: whether the server had given something to resume (in
    /// TLS 1.2 in the clear; in TLS 1.3 only where the server is recorded), whether the client offered it, whether its
    /// hello asks for tickets at all. Where it was not seen, the finding says so.
    ///
    /// ## What proves it
    /// Offering the session from outside; where the server gives none or takes none, tickets with keys that all of its processes and
    /// hosts have. The cost moves as predicted.
    ///
    /// ## Remedy
    /// At the client: keep the session and set it on the next connection (in most libraries: one context with a session
    /// cache), and share it between threads. At the server: give tickets, or keep a session cache; in a server farm,
    /// share the ticket keys.
    ///
    /// ## Not to be confused with
    /// connection-churn (fewer connections would be better still); context-per-request (sessions die with their
    /// context, and that is then the cause); the first handshake of each process.
    "P08" "no-resumption",
    // Sessions die with the context that is made anew for each request.
    on_the_wire: true,
    follows_from: &[ca_bundle_per_context::DETECTOR.page.id, context_per_request::DETECTOR.page.id],
    needs: &[Tcp, TlsRecords]
}

/// One more can be chance or a lost ticket.
const HABIT: usize = 3;

/// What is written besides the handshake is a request if it is longer than a farewell.
const LONGEST_ALERT: i64 = 64;

/// From this version on sessions are given after the handshake (RFC 8446, 4.6.1).
const TLS_1_3: u16 = 0x0304;

/// A full handshake that need not have been.
struct Needless<'r> {
    row: usize,
    slot: usize,
    handshake: &'r Handshake,
    given: bool,
    why: WhyFull,
}

/// What a process is known to have been given by a server.
#[derive(Clone, Copy, Default)]
struct Given {
    /// Something to resume.
    session: bool,
    /// Nothing, at least once; in TLS 1.3 that is seen only at the server.
    nothing: bool,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut groups: BTreeMap<(u32, String, &str), Vec<Needless>> = BTreeMap::new();
    let mut known: BTreeMap<(u32, String, &str), Given> = BTreeMap::new();
    let passed_on = PassedOn::new(analysis);
    for (row, handshake) in analysis.recording.handshakes.iter().enumerate() {
        let Some(slot) = analysis.connections.slot(handshake.connection) else { continue };
        let rows = &analysis.connections.all()[slot];
        if rows.end != Some(End::Client) || handshake.end.0 == 0 || passed_on.contains(slot, handshake) {
            continue;
        }
        let key =
            (analysis.connections.row(slot).pid, analysis.connections.remote(slot), handshake.server_name.as_str());
        if let Some(given) = known.get(&key).copied().filter(|_| !handshake.resumed) {
            let why = why(handshake, given);
            groups.entry(key.clone()).or_default().push(Needless { row, slot, handshake, given: given.session, why });
        }
        let given = known.entry(key).or_default();
        given.session |= handshake.ticket || handshake.resumed || gives_ticket(analysis, rows.peer);
        given.nothing |= handshake.gives_none || gives_no_ticket(analysis, rows.peer);
    }
    let closed = closed_after_use(analysis);
    let needless = groups.into_values().map(|group| replacing(analysis, group, &closed));
    let needless: Vec<Needless> = needless.filter(|group| group.len() >= HABIT).flatten().collect();
    let first = needless.first()?;
    Some(found(analysis, first, &needless))
}

/// Why a handshake was full, by what the server had given before.
fn why(handshake: &Handshake, given: Given) -> WhyFull {
    match (handshake.offered, given.session, given.nothing) {
        (true, _, _) => WhyFull::NotAccepted,
        (false, true, _) => WhyFull::NotOffered,
        (false, false, _) if handshake.takes_no_ticket => WhyFull::NotWanted,
        (false, false, true) => WhyFull::NotGiven,
        (false, false, false) => WhyFull::Unseen,
    }
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

/// Who makes a handshake. The client of a server may be a server itself.
fn who(analysis: &Analysis, one: &Needless) -> String {
    let pid = analysis.connections.row(one.slot).pid;
    let process = analysis.recording.processes.iter().rfind(|row| row.pid == pid && row.role == "server");
    match process.map(|row| analysis.recording.program(row)) {
        _ if analysis.is_capture() => "One host".to_string(),
        Some(program) if !analysis.inner.is_empty() => {
            format!("The server {program}, here the client of another,")
        }
        _ => "One process".to_string(),
    }
}

fn gives_ticket(analysis: &Analysis, peer: Option<usize>) -> bool {
    peer.and_then(|peer| analysis.connections.handshake(peer)).is_some_and(|row| row.ticket)
}

/// Whether a server that was recorded gave nothing to resume, where it would have after the handshake.
fn gives_no_ticket(analysis: &Analysis, peer: Option<usize>) -> bool {
    let served = peer.and_then(|peer| analysis.connections.handshake(peer));
    served.is_some_and(|row| row.version == TLS_1_3 && row.end.0 > 0 && !row.ticket)
}

fn found(analysis: &Analysis, first: &Needless, needless: &[Needless]) -> Found {
    let mut saving = PotentialSaving { affected: needless.len() as u64, ..PotentialSaving::default() };
    let mut explains = Vec::new();
    for one in needless {
        let (start, end) = (one.handshake.start.0, one.handshake.end.0);
        let peer = analysis.connections.all()[one.slot].peer;
        // A resumed handshake waits for the server to accept the connection as well, and takes a round trip.
        let accept = peer.and_then(|peer| analysis.connections.all()[peer].accept);
        let begins = accept.map_or(start, |row| call_end(analysis.call(row)).max(start));
        let round_trip = analysis.connections.round_trip(one.slot).unwrap_or_default();
        saving.wall += end.saturating_sub(begins).saturating_sub(round_trip);
        let peer_tid = peer.and_then(|peer| analysis.connections.handshake(peer)).map(|row| row.tid);
        for tid in std::iter::once(one.handshake.tid).chain(peer_tid) {
            explains.push((tid, start, end));
        }
    }
    saving.cpu = cpu(analysis, &explains);
    let observed = observed(needless);
    // Where the server is to blame, no line of the client's is.
    let at_the_client = observed.1.blame() != Some(End::Server);
    let hello = |one: &Needless| {
        let mut rows = analysis.connections.transfer_numbers(one.slot).iter().map(|&row| row as usize);
        let row = rows.find(|&row| analysis.call(row).start == one.handshake.start)?;
        Some((row, (one.handshake.end - one.handshake.start).0))
    };
    let place = costly_call(analysis, needless.iter().filter(|_| at_the_client).filter_map(hello));
    let count = analysis.exchanges.len().max(1) as u64;
    let title = format!(
        "{} full TLS handshakes where resumption would do: up to {} per request{}",
        needless.len(),
        Nanos(saving.wall / count),
        place.in_words(),
    );
    let mechanism = vec![format!(
        "{} makes full handshakes with {} again and again, {} each.",
        who(analysis, first),
        analysis.connections.remote(first.slot),
        Nanos(needless.iter().map(|one| (one.handshake.end - one.handshake.start).0).sum::<u64>() / saving.affected)
    )];
    let remedy = remedy(observed.1).to_string();
    let observed = vec![observed.0];
    let what = format!("{} full TLS handshakes where resumption would do", needless.len());
    Found {
        title,
        what,
        stalls: Vec::new(),
        mechanism,
        observed,
        saving,
        place,
        remedy,
        rows: rows("handshakes", needless.iter().map(|one| one.row)),
        explains,
    }
}

/// What was seen, and why most of the handshakes were full.
fn observed(needless: &[Needless]) -> (Observation, WhyFull) {
    let mut reasons: BTreeMap<WhyFull, u64> = BTreeMap::new();
    for one in needless {
        *reasons.entry(one.why).or_default() += 1;
    }
    let most = reasons.iter().max_by_key(|(why, count)| (**count, std::cmp::Reverse(**why)));
    let (why, of_them) = most.map_or((WhyFull::Unseen, 0), |(why, count)| (*why, *count));
    let count = |is: fn(&Needless) -> bool| needless.iter().filter(|one| is(one)).count() as u64;
    let observation = Observation::FullHandshakes {
        handshakes: needless.len() as u64,
        given: count(|one| one.given),
        offered: count(|one| one.handshake.offered),
        why,
        of_them,
        blame: why.blame(),
    };
    (observation, why)
}

fn remedy(why: WhyFull) -> &'static str {
    match why {
        WhyFull::NotOffered => {
            "Keep the TLS session of the last connection and offer it on the next: one context with a session cache for \
             the whole program."
        }
        WhyFull::NotWanted => "Let the client take tickets, keep them, and offer them on the next connection.",
        WhyFull::NotAccepted => {
            "Let the server take the sessions that it gave: share its ticket keys, or its session cache, among all \
             processes and hosts behind this name, and keep them for longer than clients stay away."
        }
        WhyFull::NotGiven => "Let the server give sessions: switch tickets on, or a session cache.",
        WhyFull::Unseen => {
            "Find out which end forgets: record the server as well. A client has to keep the session of the last \
             connection and offer it on the next; a server has to give one."
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE, request};
    use crate::tests::{answer, names};
    use case::facts::{End, Observation, WhyFull};
    use case::tables::Handshake;
    use case::{Answer, Nanos};

    const ACCEPT: u16 = 288;

    #[derive(Clone, Copy, PartialEq)]
    enum Closed {
        AfterUse,
        AtTheEnd,
    }

    /// Ten connections with a handshake of 5 ms each.
    fn handshakes(resumed: bool, requests: u32, closed: Closed) -> Vec<String> {
        let answer = shaken(requests, closed, |row, id| row.resumed = resumed && id > 1);
        answer.findings.into_iter().map(|finding| finding.name).collect()
    }

    /// The same, each handshake as `edit` says.
    fn shaken(requests: u32, closed: Closed, edit: impl Fn(&mut Handshake, u32)) -> Answer {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=10 {
            fixture.connect(id, CLIENT);
            let start = fixture.now;
            fixture.moves(CLIENT, id, WRITE, 300);
            fixture.now += 5 * MS;
            fixture.moves(CLIENT, id, READ, 3000);
            fixture.handshake(id, CLIENT, start, |row| edit(row, id));
            for _ in 0..requests {
                request(&mut fixture, CLIENT, id, 200 * US, &mut idle);
            }
            if closed == Closed::AfterUse {
                fixture.close(id);
            }
        }
        answer(&fixture.end())
    }

    /// Why the handshakes were full, and whom that makes to blame; none where nothing is found.
    fn blamed(edit: impl Fn(&mut Handshake, u32)) -> Option<(WhyFull, Option<End>)> {
        let answer = shaken(10, Closed::AfterUse, edit);
        let finding = answer.findings.first()?;
        assert_eq!((finding.name.as_str(), answer.findings.len()), ("no-resumption", 1));
        match finding.observed[0] {
            Observation::FullHandshakes { handshakes: 9, why, of_them: 9, blame, .. } => Some((why, blame)),
            ref other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_client_that_was_given_a_ticket_and_offers_none_is_to_blame() {
        assert_eq!(blamed(|_, _| {}), Some((WhyFull::NotOffered, Some(End::Client))));
    }

    #[test]
    fn handshakes_at_the_same_time_share_the_cpu_time_of_their_thread() {
        let answer = shaken(1, Closed::AfterUse, |row, _| row.start = Nanos(0));
        let finding = &answer.findings[0];
        assert_eq!(finding.name, "no-resumption");
        assert!(finding.cost.cpu_ns_per_exchange * answer.exchanges <= answer.wall_ns, "{:?}", finding.cost);
    }

    #[test]
    fn a_server_that_does_not_take_what_is_offered_is_to_blame() {
        let offers = |row: &mut Handshake, id| row.offered = id > 1;
        assert_eq!(blamed(offers), Some((WhyFull::NotAccepted, Some(End::Server))));
        assert_eq!(blamed(|row, id| (row.offered, row.resumed) = (id > 1, id > 1)), None);
    }

    #[test]
    fn a_server_that_gives_nothing_is_to_blame_and_a_client_that_takes_nothing_is() {
        let gives_none = |row: &mut Handshake| (row.version, row.ticket, row.gives_none) = (0x0303, false, true);
        assert_eq!(blamed(|row, _| gives_none(row)), Some((WhyFull::NotGiven, Some(End::Server))));
        let takes_none = |row: &mut Handshake, _| {
            gives_none(row);
            row.takes_no_ticket = true;
        };
        assert_eq!(blamed(takes_none), Some((WhyFull::NotWanted, Some(End::Client))));
    }

    #[test]
    fn where_the_ticket_would_be_encrypted_nobody_is_blamed() {
        assert_eq!(blamed(|row, _| row.ticket = false), Some((WhyFull::Unseen, None)));
    }

    /// Ten connections with a request each. The server accepts each 8 ms after the hello, and then the handshake takes 1 ms.
    #[test]
    fn the_wait_until_a_server_accepts_is_not_the_handshakes() {
        let mut fixture = Fixture::new();
        for id in 1..=10 {
            fixture.connects_at_once(id, CLIENT);
            let start = fixture.now;
            fixture.moves(CLIENT, id, WRITE, 300);
            fixture.travels(start + 3 * US, id, id + 1000, 300);
            fixture.now += 8 * MS;
            fixture.does(SERVER, 10 * US, ACCEPT, |call| (call.result, call.connection) = (9, id + 1000));
            fixture.moves(SERVER, id + 1000, READ, 300);
            fixture.now += MS;
            fixture.moves(SERVER, id + 1000, WRITE, 3000);
            let answered = fixture.now;
            fixture.travels(answered - 2 * US, id + 1000, id, 3000);
            fixture.now = start + 6 * US;
            fixture.waits_for(CLIENT, id, answered + 12 * US - fixture.now, 3000);
            fixture.handshake(id, CLIENT, start, |_| ());
            let mut idle = fixture.now;
            request(&mut fixture, CLIENT, id, 200 * US, &mut idle);
            fixture.close(id);
        }
        let answer = answer(&fixture.end());
        let finding = answer.findings.iter().find(|finding| finding.name == "no-resumption").expect("it is found");
        let saving = finding.cost.ns_per_exchange;
        assert!((500 * US..1500 * US).contains(&saving), "{}", Nanos(saving));
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
