//! P07: a fresh connection for about every exchange.

use super::{Found, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::exchange::Exchange;
use crate::exchange::SetUp;
use crate::place;
use case::Nanos;
use std::collections::BTreeMap;

detector! {
    /// # connection-churn
    ///
    /// ## What it is
    /// A program opens a new connection for (nearly) every request and closes it again, so every request pays for the
    /// TCP and TLS handshakes: their round trips, and their CPU time at both ends.
    ///
    /// ## Evidence
    /// Five connections or more to the same address and port, with fewer than two exchanges each on average, over all
    /// processes watched; and the time from the connect to the first byte of the first request. A connection counts
    /// only if an earlier one was already idle: concurrent requests need connections of their own.
    ///
    /// ## What proves it
    /// A keep-alive proxy in front, or keep-alive switched on: the wall and CPU time of the handshakes goes away.
    ///
    /// ## Remedy
    /// Keep the connection open and send the next request on it: one client object, session or pool for the whole
    /// program, one process for many requests, keep-alive enabled on the server, each response read to its end before
    /// the next request.
    ///
    /// ## Not to be confused with
    /// no-resumption (the connections may be necessary; a full handshake for each is not); a program that talks to many
    /// hosts once each.
    "P07" "connection-churn"
}

/// Fewer connections than this are no habit.
const HABIT: usize = 5;

/// A plain connect's processor time is a fraction of what a program does for any request: only its wall time counts,
/// from this share of the exchanges',
const WAITING: f64 = 0.05;

/// and from this length: one call on a machine of its own takes 10 us, and nobody feels that.
const FELT: u64 = 30_000;

/// The fresh connections to one address.
#[derive(Default)]
struct Churn<'e> {
    firsts: Vec<(&'e Exchange, SetUp)>,
    /// Those for which an earlier connection stood free.
    avoidable: Vec<(&'e Exchange, SetUp)>,
    exchanges: usize,
    /// For each connection, when it was used for the last time.
    last_uses: BTreeMap<usize, u64>,
}

impl Churn<'_> {
    /// Finds the connections that take the place of one that was used for the last time before. Connections for
    /// requests at the same time are needed, however short they live.
    fn find_avoidable(&mut self) {
        let mut free: Vec<u64> = self.last_uses.values().copied().collect();
        free.sort_unstable();
        self.firsts.sort_by_key(|(_, set_up)| set_up.start);
        for &(exchange, set_up) in &self.firsts {
            if free.partition_point(|&end| end <= set_up.start) > self.avoidable.len() {
                self.avoidable.push((exchange, set_up));
            }
        }
    }
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut groups: BTreeMap<String, Churn> = BTreeMap::new();
    for exchange in &analysis.exchanges {
        let group = groups.entry(peer_name(analysis, exchange)).or_default();
        group.exchanges += 1;
        group.firsts.extend(exchange.set_up.map(|set_up| (exchange, set_up)));
        let last_use = group.last_uses.entry(exchange.connection).or_default();
        *last_use = exchange.end.max(*last_use);
    }
    groups.values_mut().for_each(Churn::find_avoidable);
    let habit = |churn: &&Churn| churn.avoidable.len() >= HABIT && churn.exchanges < 2 * churn.avoidable.len();
    let mut saving = PotentialSaving::default();
    let mut costs = Vec::new();
    let mut explains = Vec::new();
    let mut top: Option<(&String, &Churn)> = None;
    for (name, churn) in groups.iter().filter(|(_, churn)| habit(churn)) {
        saving.wall += wall(churn);
        saving.affected += churn.avoidable.len() as u64;
        for (exchange, set_up) in &churn.avoidable {
            costs.extend(busy_spans(analysis, exchange, set_up));
            explains.extend(spans(analysis, exchange, set_up));
        }
        if top.is_none_or(|(_, known)| known.avoidable.len() < churn.avoidable.len()) {
            top = Some((name, churn));
        }
    }
    let (name, churn) = top?;
    saving.cpu = cpu(analysis, &costs);
    let encrypted = churn.firsts.iter().any(|(_, set_up)| set_up.handshake < set_up.application);
    let felt = analysis.cost(&saving).share_of_wall >= WAITING && saving.wall >= FELT * saving.affected;
    let counts = encrypted || felt;
    counts.then(|| found(analysis, name, churn, saving, explains))
}

/// What setting up took, without what any connect waited longer than the quickest: that is queueing, which a request on
/// a kept connection would have met as well.
fn wall(churn: &Churn) -> u64 {
    let connect = |set_up: &SetUp| set_up.connected.saturating_sub(set_up.connect);
    let quickest = churn.avoidable.iter().map(|(_, set_up)| connect(set_up)).min().unwrap_or_default();
    let whole = |set_up: &SetUp| set_up.application.saturating_sub(set_up.connect);
    churn.avoidable.iter().map(|(_, set_up)| whole(set_up).saturating_sub(connect(set_up) - quickest)).sum()
}

/// Whom the exchange was with: address and port; for an exchange seen from the server's end, the address that asked.
fn peer_name(analysis: &Analysis, exchange: &Exchange) -> String {
    match exchange.end_seen {
        End::Client => analysis.connections.remote(exchange.connection),
        End::Server => analysis.connections.row(exchange.connection).remote_address.clone(),
    }
}

/// The stretches whose processor time is the set-up's: the client's from connect to request, the server's handshake.
/// What else a server did meanwhile was for others.
fn busy_spans(analysis: &Analysis, exchange: &Exchange, set_up: &SetUp) -> Vec<(u32, u64, u64)> {
    let peer = analysis.connections.all()[exchange.connection].peer;
    let shaken = peer.and_then(|peer| analysis.connections.handshake(peer));
    let shaken = shaken.map(|row| (row.tid, row.start.0, row.end.0));
    spans(analysis, exchange, set_up).into_iter().take(1).chain(shaken).collect()
}

/// The set-up as stretches of the threads that made it, at both ends.
fn spans(analysis: &Analysis, exchange: &Exchange, set_up: &SetUp) -> Vec<(u32, u64, u64)> {
    let first = |slot: usize| {
        let mut transfers = analysis.connections.transfers_of(slot);
        transfers.next().map(|call| (call.tid, set_up.connect, set_up.application))
    };
    let peer = analysis.connections.all()[exchange.connection].peer;
    first(exchange.connection).into_iter().chain(peer.and_then(first)).collect()
}

fn cpu(analysis: &Analysis, spans: &[(u32, u64, u64)]) -> u64 {
    let mut by_thread: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    for &(tid, start, end) in spans {
        by_thread.entry(tid).or_default().push((start, end));
    }
    let mut total = 0;
    for (tid, spans) in by_thread {
        // Connections set up at the same time share one thread's processor time.
        for (start, end) in crate::analysis::merge(spans) {
            let (outside, within) = analysis.threads.on_processor(tid, start, end);
            total += outside + within;
        }
    }
    total
}

fn found(
    analysis: &Analysis,
    name: &str,
    churn: &Churn,
    saving: PotentialSaving,
    explains: Vec<(u32, u64, u64)>,
) -> Found {
    let connections = churn.firsts.len();
    let with_tls = churn.firsts.iter().filter(|(_, set_up)| set_up.handshake < set_up.application).count();
    let processes: std::collections::BTreeSet<u32> =
        churn.firsts.iter().map(|(exchange, _)| analysis.connections.row(exchange.connection).pid).collect();
    let connect_of = |exchange: &Exchange| analysis.connections.all()[exchange.connection].connect;
    let connects: Vec<usize> = churn.firsts.iter().filter_map(|(exchange, _)| connect_of(exchange)).collect();
    let place = place::of_any(analysis, connects.iter().copied());
    let count = analysis.exchanges.len().max(1) as u64;
    let mean = saving.wall / saving.affected.max(1);
    let title = format!(
        "A new connection for nearly every request: setup takes {} of every {} request{}",
        Nanos(saving.wall / count),
        Nanos(analysis.exchange_wall() / count),
        place::in_words(&place),
    );
    let mut mechanism = vec![
        format!(
            "{connections} connections to {name} carried {} exchanges, opened by {}.",
            churn.exchanges,
            if processes.len() == 1 { "one process".to_string() } else { format!("{} processes", processes.len()) }
        ),
        format!("For {} of them, an earlier connection was already idle for good.", churn.avoidable.len()),
        format!("From connect to the first byte of the request, setup takes {} on average.", Nanos(mean)),
    ];
    if with_tls > 0 {
        let tls: u64 = churn.firsts.iter().map(|(_, set_up)| set_up.application.saturating_sub(set_up.handshake)).sum();
        let tls = Nanos(tls / with_tls as u64);
        mechanism.push(format!("{tls} of that is the TLS handshake; there were {with_tls} of them."));
    }
    mechanism.push(format!(
        "Setup costs {} of CPU per connection, over all recorded ends.",
        Nanos(saving.cpu / saving.affected.max(1))
    ));
    let remedy = if processes.len() > 1 && processes.len() * 2 > connections {
        "Make many requests from one process over one connection (here, each process opens its own), with keep-alive \
         enabled at both ends."
    } else {
        "Keep the connection open and reuse it: one client, session or pool for all requests, with keep-alive enabled \
         at both ends."
    };
    let rows = if connects.is_empty() {
        rows("connections", churn.firsts.iter().map(|(exchange, _)| exchange.connection))
    } else {
        rows("calls", connects)
    };
    Found { title, mechanism, saving, place, remedy: remedy.to_string(), rows, explains }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, US, request};
    use crate::tests::{answer, names};
    use case::Recording;

    /// Connections that carry this many requests each, all from one process or each from its own.
    fn connections(count: u32, requests: u32, processes: u32) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=count {
            let pid = CLIENT + id % processes;
            if pid != CLIENT && id <= processes {
                fixture.process(pid, "client");
            }
            fixture.connect(id, pid);
            for _ in 0..requests {
                request(&mut fixture, pid, id, 200 * US, &mut idle);
            }
        }
        fixture.end()
    }

    #[test]
    fn a_connection_for_each_request_is_found() {
        let answer = answer(&connections(20, 1, 1));
        assert_eq!(answer.findings[0].name, "connection-churn");
        assert_eq!(answer.findings[0].cost.affected, 19);
        assert!(
            answer.findings[0].mechanism[0].contains("10.0.0.2:80 carried 20 exchanges"),
            "{:?}",
            answer.findings[0]
        );
    }

    #[test]
    fn a_process_for_each_request_is_found() {
        let answer = answer(&connections(20, 1, 20));
        assert_eq!(answer.findings[0].name, "connection-churn");
        assert!(answer.findings[0].remedy.contains("from one process"), "{}", answer.findings[0].remedy);
    }

    #[test]
    fn connections_for_requests_at_the_same_time_are_left_alone() {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        (1..=20).for_each(|id| fixture.connect(id, CLIENT));
        (1..=20).for_each(|id| request(&mut fixture, CLIENT, id, 200 * US, &mut idle));
        assert_eq!(names(&fixture.end()), Vec::<String>::new());
    }

    #[test]
    fn kept_connections_are_left_alone() {
        assert_eq!(names(&connections(20, 10, 1)), Vec::<String>::new());
    }

    #[test]
    fn a_few_connections_are_left_alone() {
        assert_eq!(names(&connections(4, 1, 1)), Vec::<String>::new());
    }
}
