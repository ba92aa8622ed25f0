//! The requests behind the clients': what a proxy asks the service behind it, and that service its database. Where they take most
//! of the clients' time, whatever slows them slows the clients, and every detector looks at them as well.

use crate::analysis::{Analysis, PotentialSaving};
use crate::detectors::{Detector, Found};
use crate::exchange::{self, Exchange};
use crate::images::Images;
use crate::waits;
use case::facts::Observation;
use case::{Queue, ServedKind};
use std::collections::BTreeMap;

/// A part of the clients' time that is worth another look.
const MOST_OF_THE_TIME: f64 = 0.5;
/// A proxy, a service, its pool and a database.
const MOST_STEPS: usize = 4;

/// Requests behind the clients', and what they are to these.
pub struct Behind<'r> {
    analysis: Analysis<'r>,
    between: Between,
    /// The part of their time that their clients wait for: less than all where several are under way for one.
    waited: f64,
}

/// Who asks whom.
struct Between {
    client: String,
    server: String,
}

/// The requests one step behind the clients', two steps, and so on, as long as they take most of the clients' time.
pub fn all<'r>(analysis: &Analysis<'r>) -> Vec<Behind<'r>> {
    let mut all = Vec::new();
    if !analysis.recording.processes.iter().any(|process| process.role == "server") {
        return all;
    }
    let whole = analysis.exchange_wall();
    for steps in 1..=MOST_STEPS {
        let found = exchange::find(analysis.recording, &analysis.connections, &analysis.windows, steps);
        let time: u64 = found.counted.iter().map(Exchange::length).sum();
        let Some(between) = between(analysis, &found.counted) else { break };
        if (time as f64) < MOST_OF_THE_TIME * whole as f64 {
            break;
        }
        let waited = (whole as f64 / time.max(1) as f64).min(1.0);
        all.push(Behind { analysis: Analysis::behind(analysis.recording, steps, found), between, waited });
    }
    all
}

impl Behind<'_> {
    /// What a detector finds in them; its saving is what the clients would save.
    pub fn found(&self, detector: &Detector) -> Option<Found> {
        if detector.looks_behind {
            return None;
        }
        let mut found = (detector.detect)(&self.analysis)?;
        let wall = (found.saving.wall as f64 * self.waited) as u64;
        // Nobody waits for what passes between two of them.
        found.saving = PotentialSaving { wall, outside: 0, ..found.saving };
        let Between { client, server } = &self.between;
        let requests = self.analysis.exchanges.len() as u64;
        found.observed.push(Observation::Behind { client: client.clone(), server: server.clone(), requests });
        Some(found)
    }

    /// The line that they wait in, as it adds to the clients' requests.
    pub fn queue(&self, clients: &Analysis) -> Option<Queue> {
        let queue = waits::queue(&self.analysis)?.clone();
        let clients_requests = clients.exchanges.len().max(1);
        let each = self.analysis.exchanges.len() as f64 / clients_requests as f64;
        let for_clients = |ns: u64| (ns as f64 * self.waited * each) as u64;
        let kinds = queue.kinds.into_iter().map(|kind| ServedKind { held_ns: for_clients(kind.held_ns), ..kind });
        Some(Queue {
            ns: for_clients(queue.ns),
            of_ns: clients.exchange_wall() / clients_requests as u64,
            behind: self.between.server.clone(),
            kinds: kinds.collect(),
            ..queue
        })
    }
}

/// The two programs between which most of some exchanges were; none where there are none.
fn between(analysis: &Analysis, exchanges: &[Exchange]) -> Option<Between> {
    let pid = |slot: usize| analysis.connections.row(slot).pid;
    let mut counts: BTreeMap<(u32, u32), (usize, u64)> = BTreeMap::new();
    for exchange in exchanges {
        let server = analysis.connections.all()[exchange.connection].peer.map_or(0, pid);
        let (count, at) = counts.entry((pid(exchange.connection), server)).or_default();
        (*count, *at) = (*count + 1, exchange.end);
    }
    let (&(client, server), &(_, at)) = counts.iter().max_by_key(|(_, (count, _))| *count)?;
    let images = Images::new(analysis.recording);
    let program = |pid: u32| images.at(pid, at).map(|process| analysis.recording.program(process).to_string());
    Some(Between { client: program(client)?, server: program(server)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::answer;
    use case::Recording;

    /// What the server asks to answer its clients.
    const SERVICE: u32 = SERVER + 50;
    /// The server's connection to it.
    const INNER: u32 = 2;
    const FSYNC: u16 = 74;

    /// Twenty requests through a proxy, which computes for a while, to a service that waits for its disk, of which the proxy has so
    /// many under way at a time.
    fn through_a_proxy(computes: u64, length: u64, at_a_time: u32) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        fixture.process(SERVICE, "service");
        fixture.recording.processes.last_mut().expect("it was there").role = "server".into();
        for id in INNER..INNER + at_a_time {
            fixture.rows(id, SERVER, fixture.now);
            fixture.recording.connections.last_mut().expect("it was there").pid = SERVICE;
        }
        for _ in 0..20 {
            fixture.served(|fixture| {
                fixture.now += computes;
                let start = fixture.now;
                let mut read = start;
                for id in INNER..INNER + at_a_time {
                    fixture.now = start;
                    fixture.moves(SERVER, id, WRITE, 100);
                    fixture.moves(SERVICE, id + 1000, READ, 100);
                    fixture.waits(SERVICE, length, FSYNC, |call| call.script_stack = 5);
                    fixture.moves(SERVICE, id + 1000, WRITE, 500);
                    read = fixture.now + 10 * US;
                }
                for id in INNER..INNER + at_a_time {
                    fixture.now = start + 6 * US;
                    fixture.waits_for(SERVER, id, read - fixture.now, 500);
                }
            });
        }
        fixture.script(5, &["service.py:12:store"]);
        fixture.end()
    }

    #[test]
    fn what_slows_a_service_behind_a_proxy_slows_its_clients() {
        let answer = answer(&through_a_proxy(US, 8 * MS, 1));
        let found = &answer.findings[0];
        assert!(found.name == "sync-disk" && found.cost.share_of_wall > 0.9, "{found:#?}");
        let between = Observation::Behind { client: "server".into(), server: "service".into(), requests: 20 };
        assert_eq!(found.observed, [between]);
        assert_eq!(found.place[0].line, 12);
    }

    #[test]
    fn where_nobody_watches_the_clients_the_requests_behind_theirs_are_no_more_than_a_part_of_them() {
        let mut recording = through_a_proxy(US, 8 * MS, 1);
        recording.processes.retain(|process| process.pid != CLIENT);
        recording.calls.retain(|call| call.pid != CLIENT);
        recording.connections.retain(|row| row.pid != CLIENT);
        recording.connections.iter_mut().filter(|row| row.peer == 1).for_each(|row| row.peer = 0);
        recording.segments.retain(|row| row.connection != 1);
        let answer = answer(&recording);
        let found = &answer.findings[0];
        // The proxy's first one begins when it connects, with nothing in hand yet.
        assert_eq!((answer.exchanges, found.name.as_str()), (21, "sync-disk"), "{:#?}", answer.findings);
        assert!(found.cost.share_of_wall > 0.9 && found.cost.affected == 19, "{found:#?}");
    }

    #[test]
    fn what_a_server_asks_others_for_its_clients_is_a_part_of_their_requests_whoever_is_watched() {
        let mut recording = through_a_proxy(US, 8 * MS, 1);
        let is_server = |pid: u32| pid == SERVER;
        recording.processes.retain(|process| is_server(process.pid));
        recording.calls.retain(|call| is_server(call.pid));
        recording.connections.retain(|row| is_server(row.pid));
        recording.connections.iter_mut().for_each(|row| row.peer = 0);
        recording.segments.retain(|row| row.connection == 1001 || row.connection == INNER);
        let answer = answer(&recording);
        // The first question begins as the server connects, with nothing in hand yet.
        assert_eq!(answer.exchanges, 21, "{:#?}", answer.findings);
        assert!(answer.wall_ns / answer.exchanges < 9 * MS);
    }

    #[test]
    fn requests_that_are_under_way_together_save_what_one_of_them_takes() {
        let answer = answer(&through_a_proxy(US, 8 * MS, 3));
        let found = &answer.findings[0];
        assert!(found.name == "sync-disk" && found.cost.share_of_wall > 0.9, "{found:#?}");
        assert!(found.cost.ns_per_exchange < 9 * MS, "{found:#?}");
    }

    #[test]
    fn a_service_that_takes_a_small_part_of_the_time_is_left_alone() {
        let answer = answer(&through_a_proxy(MS, 200 * US, 1));
        assert!(answer.findings.iter().all(|finding| finding.name != "sync-disk"), "{:#?}", answer.findings);
    }
}
