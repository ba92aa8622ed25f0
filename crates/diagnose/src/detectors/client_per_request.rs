//! P17: a pool of connections for each request, of which none is used again.

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::exchange::{Exchange, SetUp};
use crate::syscall;
use crate::threads::call_end;
use case::Nanos;
use case::tables::{Segment, direction, flags};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

detector! {
    /// # client-per-request
    ///
    /// ## What it is
    /// A program makes a client object (an agent, a transport, a session, a channel) for each request. Each has a pool
    /// of its own: it keeps its connection open for the next request, which never comes to it, and the next request
    /// opens another one. Requests pay for connecting and shaking hands, and both ends keep connections that nobody
    /// uses.
    ///
    /// ## Evidence
    /// Five connections or more of one process to one address and port that stand open and idle when the next is
    /// opened, and are not used again by the end; nearly all of the process's connections there; fewer than two
    /// requests each. The time of connect, socket options and handshake is charged. Where the process starts threads for each of them after
    /// the request before (an event loop of its own, workers), so is the time from the first of these to the request.
    ///
    /// ## What proves it
    /// A proxy on the same host that keeps its connections to the server (`pooling-proxy`): HTTP/1 without TLS. Otherwise the set-up
    /// of all connections but the first is what would go. The number of open connections shows which end forgets: nobody closed
    /// them.
    ///
    /// ## Remedy
    /// Make one client object for the whole program and share it (Node.js: one Agent; Go: one http.Client or Transport;
    /// Java: one HttpClient; Python: one Session), or close it after use if it has to be new.
    ///
    /// ## Not to be confused with
    /// connection-churn (connections are closed after each request: keep-alive is off, or a response is not read);
    /// connections for requests at the same time; context-per-request (what making the object itself costs).
    "P17" "client-per-request", looks_behind: true,
    on_the_wire: true,
    needs: &[Tcp, Requests]
}

/// Fewer connections than this are no habit.
const HABIT: usize = 5;

/// Nearly all: one or two may have been used again by chance.
const MOSTLY: f64 = 0.8;

/// Idle connections are kept for a while, not for ever: as in connection-churn.
const KEPT: u64 = 5_000_000_000;

/// Setting up in less than this each is not felt: as in connection-churn.
const FELT: u64 = 30_000;

/// A set-up goes from one call on its socket to the next: who takes longer, of some microseconds with a recorder attached, does
/// something else.
const NEXT_CALL: u64 = 50_000;

/// One connection of a process and its use.
struct Use<'e> {
    slot: usize,
    first: &'e Exchange,
    set_up: SetUp,
    last_end: u64,
    exchanges: usize,
    /// When the last option of its socket was set, of those that were set at once; when it was connected, where none was.
    configured: u64,
    /// When the first thread was started that it has for itself: after the request before, and before its own.
    made: Option<u64>,
}

impl Use<'_> {
    /// How long it took to set up, within exchanges and before them.
    fn set_up_time(&self, analysis: &Analysis) -> (u64, u64) {
        let SetUp { start, application, .. } = self.set_up;
        let stretches: u64 = self.set_up.stretches().map(|(from, to)| to.saturating_sub(from)).iter().sum();
        let stretches = stretches + self.configured - self.set_up.connected;
        let Some(made) = self.made else { return (stretches, 0) };
        let (inside, outside) = self.tid(analysis).map_or((0, 0), |tid| analysis.split(tid, made.min(start), start));
        (inside + application.saturating_sub(start.max(made)), outside)
    }

    /// The thread that asked.
    fn tid(&self, analysis: &Analysis) -> Option<u32> {
        analysis.transfers(self.first).first().map(|&row| analysis.call(row as usize).tid)
    }
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let options = options(analysis);
    let mut connections: FxHashMap<usize, Use> = FxHashMap::default();
    // A server is a client as well, where it asks others.
    let all = analysis.exchanges.iter().chain(&analysis.inner);
    for exchange in all.filter(|exchange| exchange.end_seen == End::Client) {
        let slot = exchange.connection;
        if let Some(set_up) = exchange.set_up.as_deref().copied() {
            let set = options.get(&analysis.connections.row(slot).id).map_or(&[][..], Vec::as_slice);
            let configured = configured(set, &set_up);
            let (first, last_end) = (exchange, exchange.end);
            connections.insert(slot, Use { slot, first, set_up, last_end, exchanges: 1, configured, made: None });
        } else if let Some(known) = connections.get_mut(&slot) {
            known.last_end = known.last_end.max(exchange.end);
            known.exchanges += 1;
        }
    }
    let mut groups: BTreeMap<(u32, String), BTreeMap<usize, Use>> = BTreeMap::new();
    for (slot, one) in connections {
        let key = (analysis.connections.row(slot).pid, analysis.connections.remote(slot));
        groups.entry(key).or_default().insert(slot, one);
    }
    let forgotten = groups.into_iter().filter_map(|((pid, remote), uses)| {
        let all: Vec<Use> = uses.into_values().collect();
        let exchanges: usize = all.iter().map(|one| one.exchanges).sum();
        let total = all.len();
        let kept = avoidable(analysis, all, &thread_starts(analysis, pid));
        let is_habit = kept.len() >= HABIT && kept.len() as f64 >= MOSTLY * (total - 1) as f64 && exchanges < 2 * total;
        is_habit.then_some((remote, kept))
    });
    let (remote, kept) = forgotten.max_by_key(|(remote, kept)| (kept.len(), std::cmp::Reverse(remote.clone())))?;
    let found = found(analysis, &remote, &kept);
    (found.saving.wall + found.saving.outside >= FELT * kept.len() as u64).then_some(found)
}

/// The stretches in which options of each connection's socket were set, in order of time.
fn options(analysis: &Analysis) -> FxHashMap<u32, Vec<(u64, u64)>> {
    let mut options: FxHashMap<u32, Vec<(u64, u64)>> = FxHashMap::default();
    let set = analysis.calls_of(|number| number == syscall::SETSOCKOPT).filter(|(_, call)| call.connection != 0);
    for (_, call) in set {
        options.entry(call.connection).or_default().push((call.start.0, call_end(call)));
    }
    options
}

/// Until when the options of a connection's socket were set, one right after the other, before its first bytes.
fn configured(options: &[(u64, u64)], set_up: &SetUp) -> u64 {
    let since = options.iter().filter(|(start, _)| *start >= set_up.connected);
    let before_bytes = since.take_while(|(_, end)| *end <= set_up.handshake);
    let at_once =
        |at: u64, &(start, end): &(u64, u64)| if start.saturating_sub(at) <= NEXT_CALL { Ok(end) } else { Err(at) };
    before_bytes.copied().try_fold(set_up.connected, |at, one| at_once(at, &one)).unwrap_or_else(|at| at)
}

/// When the threads of a process were started, in order of time.
fn thread_starts(analysis: &Analysis, pid: u32) -> Vec<u64> {
    let own = analysis.threads.all().iter().filter(|thread| thread.pid == pid);
    let mut starts: Vec<u64> = own.map(|thread| thread.start).collect();
    starts.sort_unstable();
    starts
}

/// Whether the server's end has gone: what is left of the connection carries no other request.
fn ends(row: &Segment) -> bool {
    row.direction == direction::IN && row.flags & (flags::FIN | flags::RST) != 0
}

/// The connections that were opened while an earlier one stood open, had answered, and was not used any more.
fn avoidable<'e>(analysis: &Analysis, mut uses: Vec<Use<'e>>, thread_starts: &[u64]) -> Vec<Use<'e>> {
    uses.sort_by_key(|one| one.set_up.start);
    let is_open = |one: &Use, time: u64| {
        let segments = analysis.connections.segments(one.slot);
        let ended = segments.iter().take_while(|row| row.time.0 <= time).any(ends);
        !ended && analysis.connections.closing(one.slot) > time
    };
    let stands_idle = |earlier: &Use, time: u64| {
        earlier.last_end <= time && time - earlier.last_end <= KEPT && is_open(earlier, time)
    };
    // When the last of those that stand idle had answered.
    let answered: Vec<Option<u64>> = (0..uses.len())
        .map(|at| {
            let idle = uses[..at].iter().rev().take(HABIT).filter(|one| stands_idle(one, uses[at].set_up.start));
            idle.map(|one| one.last_end).max()
        })
        .collect();
    let made = |one: Use<'e>, answered: u64| {
        let next = thread_starts.get(thread_starts.partition_point(|&start| start <= answered)).copied();
        Use { made: next.filter(|&start| start < one.set_up.application), ..one }
    };
    uses.into_iter().zip(answered).filter_map(|(one, answered)| Some(made(one, answered?))).collect()
}

fn found(analysis: &Analysis, remote: &str, kept: &[Use]) -> Found {
    let within = |one: &Use| one.set_up_time(analysis).0;
    let wall: u64 = kept.iter().map(within).sum();
    let outside: u64 = kept.iter().map(|one| one.set_up_time(analysis).1).sum();
    let cpu = kept.iter().map(|one| cpu(analysis, one)).sum();
    let connect = |one: &Use| analysis.connections.all()[one.slot].connect;
    let place = costly_call(analysis, kept.iter().filter_map(|one| Some((connect(one)?, within(one)))));
    let count = analysis.exchanges.len().max(1) as u64;
    let open = most_open(analysis, kept);
    let mut mechanism = vec![
        format!("{} connections to {remote} were opened while an earlier one stood open and idle.", kept.len()),
        format!("Up to {open} of them were open at a time; nobody had closed them."),
    ];
    let made: Vec<u64> =
        kept.iter().filter_map(|one| one.made.map(|made| one.set_up.application.saturating_sub(made))).collect();
    if !made.is_empty() {
        mechanism.push(format!(
            "For {} of them the program started threads first: half of the times it took {} or more from the first of \
             these to the request.",
            made.len(),
            Nanos(median(made))
        ));
    }
    let what = "A new client for each request: its connection stays open and is not used again".to_string();
    Found {
        title: format!(
            "{what}; setting up takes {} of every {} request{}",
            Nanos((wall + outside) / count),
            Nanos((analysis.exchange_wall() + outside) / count),
            place.in_words(),
        ),
        what,
        mechanism,
        saving: PotentialSaving { wall, outside, cpu, affected: kept.len() as u64 },
        place,
        remedy: "Make one client object for the whole program and share it among all requests.".to_string(),
        rows: if analysis.is_capture() {
            rows("connections", kept.iter().map(|one| one.slot))
        } else {
            rows("calls", kept.iter().filter_map(connect))
        },
        ..Found::default()
    }
}

/// The CPU time of the thread that set a connection up, while it did.
fn cpu(analysis: &Analysis, one: &Use) -> u64 {
    let Some(tid) = one.tid(analysis) else { return 0 };
    let busy = |(start, end): (u64, u64)| {
        let (outside, within) = analysis.threads.on_processor(tid, start, end);
        outside + within
    };
    one.set_up.stretches().map(busy).iter().sum()
}

/// How many were open at a time.
fn most_open(analysis: &Analysis, kept: &[Use]) -> usize {
    let at = |time: u64| {
        let is_open = |one: &&Use| one.set_up.start <= time && analysis.connections.closing(one.slot) > time;
        kept.iter().filter(is_open).count()
    };
    kept.iter().map(|one| at(one.set_up.application)).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE, request};
    use crate::syscall::SETSOCKOPT;
    use crate::tests::{answer, names};
    use case::tables::Thread;
    use case::{Nanos, Recording};

    #[derive(Clone, Copy, PartialEq)]
    enum Then {
        StaysOpen,
        IsClosed,
    }

    /// Ten connections with a handshake, of so many requests each.
    fn connecting(requests: u32, then: Then) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=10 {
            fixture.connect(id, CLIENT);
            let start = fixture.now;
            fixture.moves(CLIENT, id, WRITE, 300);
            fixture.now += 2 * MS;
            fixture.moves(CLIENT, id, READ, 3000);
            fixture.handshake(id, CLIENT, start, |row| row.resumed = id > 1);
            for _ in 0..requests {
                request(&mut fixture, CLIENT, id, 200 * US, &mut idle);
            }
            if then == Then::IsClosed {
                fixture.close(id);
            }
            fixture.now += 50 * US;
        }
        fixture.end()
    }

    #[test]
    fn connections_that_stay_open_and_unused_are_a_client_for_each_request() {
        let answer = answer(&connecting(1, Then::StaysOpen));
        let names: Vec<&str> = answer.findings.iter().map(|finding| finding.name.as_str()).collect();
        assert_eq!(names, ["client-per-request"]);
        assert_eq!(answer.findings[0].cost.affected, 9);
        assert!(answer.findings[0].mechanism[1].contains("Up to 9 of them"), "{:?}", answer.findings[0].mechanism);
    }

    #[test]
    fn connections_that_are_closed_are_churn_and_not_this() {
        assert_eq!(names(&connecting(1, Then::IsClosed)), ["connection-churn"]);
    }

    /// Ten requests to a server that asks another one for each, over a connection of its own or over one for all.
    fn relayed(is_shared: bool) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        for number in 11..=20 {
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 200);
            fixture.travels(start + 3 * US, 1, 1001, 200);
            let waiting = fixture.now;
            fixture.now = start + 12 * US;
            fixture.moves(SERVER, 1001, READ, 200);
            let id = if is_shared { 11 } else { number };
            if id == number {
                fixture.connect(id, SERVER);
                // Nobody watches the other server.
                fixture.recording.connections.retain(|row| row.id != id + 1000);
                fixture.recording.connections.last_mut().expect("a connection").peer = 0;
            }
            fixture.moves(SERVER, id, WRITE, 200);
            fixture.waits_for(SERVER, id, 50 * US, 500);
            let answered = fixture.now;
            fixture.moves(SERVER, 1001, WRITE, 1000);
            fixture.travels(answered + 3 * US, 1001, 1, 1000);
            fixture.now = waiting;
            fixture.waits_for(CLIENT, 1, answered + 12 * US - waiting, 1000);
            fixture.now += 100 * US;
        }
        fixture.end()
    }

    #[test]
    fn a_server_that_makes_a_client_for_each_request_is_found_as_well() {
        let answer = answer(&relayed(false));
        let finding = answer.findings.iter().find(|one| one.name == "client-per-request").expect("it is found");
        assert_eq!((finding.cost.affected, answer.exchanges), (9, 10));
        assert!((0.2..0.5).contains(&finding.cost.share_of_wall), "{:?}", finding.cost);
        assert!(!names(&relayed(true)).contains(&"client-per-request".to_string()));
    }

    #[test]
    fn threads_that_are_started_for_each_client_are_part_of_what_it_costs() {
        let mut recording = connecting(1, Then::StaysOpen);
        let before = answer(&recording).findings[0].cost;
        let opened: Vec<u64> =
            recording.connections.iter().filter(|row| row.id < 1000).map(|row| row.opened.0).collect();
        // Each 10 us before its connection is opened.
        recording.threads.extend((1..).zip(opened).map(|(number, opened)| Thread {
            tid: CLIENT + 10 + number,
            pid: CLIENT,
            start: Nanos(opened - 10 * US),
            end: Nanos(opened + 20 * US),
            ..Thread::default()
        }));
        let after = answer(&recording).findings[0].clone();
        assert_eq!(after.name, "client-per-request");
        assert_eq!(after.cost.between_ns_per_exchange, 9 * 10 * US / 10, "{:?}", after.cost);
        assert!(after.cost.ns_per_exchange > before.ns_per_exchange + 8 * US, "{before:?} {:?}", after.cost);
        assert!(after.mechanism[2].starts_with("For 9 of them"), "{:?}", after.mechanism);
    }

    /// Twenty connections that are made at once and have options set so long afterwards.
    fn plain(pause: u64) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=20 {
            fixture.connects_at_once(id, CLIENT);
            for _ in 0..5 {
                fixture.now += pause;
                fixture.does(CLIENT, 2 * US, SETSOCKOPT, |call| (call.connection, call.fd) = (id, 3));
            }
            request(&mut fixture, CLIENT, id, 20 * US, &mut idle);
        }
        fixture.end()
    }

    #[test]
    fn options_of_a_new_socket_are_part_of_what_it_costs_and_what_lies_between_is_not() {
        let found = answer(&plain(6 * US));
        let finding = found.findings.iter().find(|one| one.name == "client-per-request").expect("it is found");
        assert_eq!(finding.cost.ns_per_exchange, 19 * (10 + 5 * 8) * US / 20, "{:?}", finding.cost);
        assert_eq!(names(&plain(60 * US)), Vec::<String>::new());
    }

    #[test]
    fn a_pool_that_fills_and_is_used_is_left_alone() {
        assert_eq!(names(&connecting(10, Then::StaysOpen)), Vec::<String>::new());
    }
}
