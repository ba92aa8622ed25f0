//! P53: one of the servers that a server asks stays silent, and another one is asked only then.

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::in_hand::{self, InHand};
use crate::spans;
use crate::syscall;
use case::Nanos;
use case::tables::{Call, direction, role, transport};
use std::collections::{BTreeMap, BTreeSet};

detector! {
    /// # silent-upstream
    ///
    /// ## What it is
    /// A server, a proxy as a rule, has several addresses of others to ask, and one of them is dead: its host is down, or a firewall
    /// drops what comes. Each request that is given to it waits until the connect is given up, and is then given to another one.
    ///
    /// ## Evidence
    /// SYNs to an address and port from which nothing ever came, given up by a server's thread while it has a request in hand,
    /// three times or more; the very next thing that this thread does is to ask another address. Where the runtime goes on
    /// in another thread (Go), any of its threads asks next, and the one request in hand began right before the connect.
    /// Charged is the time from the connect until it is given up.
    ///
    /// ## What proves it
    /// Connecting to the silent address fails at once: another one is asked without delay.
    ///
    /// ## Remedy
    /// Take the address out of the list, or make it answer. Let the server find out without a request that one is down (health
    /// checks), leave it alone for a while then, and give up sooner (a shorter time-out for connects).
    ///
    /// ## Not to be confused with
    /// dead-ipv6 (a name's first family, in a client); listen-backlog-overflow and loss-and-rto (the address answers a later SYN);
    /// an address that refuses, which costs no time; a health check, for which no request waits.
    "P53" "silent-upstream",
    needs: &[Server, Tcp]
}

/// Fewer are chance: a SYN can get lost.
const REPEATED: usize = 3;
/// What is given up sooner than this, in nanoseconds, was tried beside another one.
const SHORTEST: u64 = 10_000_000;
/// So many calls may lie between giving up one connection and asking on another: options are set, descriptors closed and watched.
const CALLS_BETWEEN: usize = 40;

/// What is done within this time, in nanoseconds, is done at once, whichever of a runtime's threads does it.
const AT_ONCE: u64 = 20_000_000;

/// An address and a port.
type Address = (String, u16);

/// A connect without an answer, and who was asked instead.
struct Silent {
    /// A row of the table of calls.
    connect: usize,
    pid: u32,
    address: Address,
    other: Address,
    from: u64,
    to: u64,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut by_address: BTreeMap<(u32, Address), Vec<Silent>> = BTreeMap::new();
    for one in silent(analysis) {
        by_address.entry((one.pid, one.address.clone())).or_default().push(one);
    }
    let repeated: Vec<Silent> = by_address.into_values().filter(|all| all.len() >= REPEATED).flatten().collect();
    let first = repeated.first()?;
    let wall = repeated.iter().map(|one| one.to - one.from).sum();
    let usual = Nanos(median(repeated.iter().map(|one| one.to - one.from).collect()));
    let place = costly_call(analysis, repeated.iter().map(|one| (one.connect, one.to - one.from)));
    let process = analysis.recording.processes.iter().rfind(|row| row.pid == first.pid);
    let program = process.map_or("a server", |row| analysis.recording.program(row));
    let addresses: BTreeSet<String> = repeated.iter().map(|one| shown(&one.address)).collect();
    let addresses: Vec<String> = addresses.into_iter().collect();
    let (verb, which) = if addresses.len() == 1 { ("does", "it") } else { ("do", "they") };
    let addresses = addresses.join(" and ");
    let what = format!("Requests wait because {addresses} {verb} not answer {program}");
    Some(Found {
        title: format!("{what}: {usual} each before another server is asked{}", place.in_words()),
        what,
        mechanism: vec![format!(
            "{} connects of {program} to {addresses} got no answer at all while it had requests in hand; half of them took {usual} \
             or more until {which} {} given up and {} was asked, which answered.",
            repeated.len(),
            if which == "it" { "was" } else { "were" },
            shown(&first.other)
        )],
        saving: PotentialSaving { wall, affected: repeated.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: "Take the address out of the list of servers, or make it answer. Let the server find out by health checks that one \
                 is down (HAProxy: check), leave it alone for longer then (nginx: fail_timeout), and give up connects sooner \
                 (HAProxy: timeout connect; nginx: proxy_connect_timeout)."
            .to_string(),
        rows: rows("calls", repeated.iter().map(|one| one.connect)),
        stalls: repeated.iter().map(|one| (one.from, one.to)).collect(),
        ..Found::default()
    })
}

fn shown((address, port): &Address) -> String {
    if address.contains(':') { format!("[{address}]:{port}") } else { format!("{address}:{port}") }
}

/// Every connect to an address that never answered anybody, with a request in hand, after which another one was asked at once.
fn silent(analysis: &Analysis) -> Vec<Silent> {
    let slots = || 0..analysis.connections.all().len();
    let answering: BTreeSet<Address> =
        slots().filter(|&slot| answers(analysis, slot)).map(|slot| address(analysis, slot)).collect();
    let dead = |slot: &usize| {
        let row = analysis.connections.row(*slot);
        let asks = row.transport == transport::TCP && row.role == role::CLIENT && row.remote_port > 0;
        asks && is_silent(analysis, *slot) && !answering.contains(&address(analysis, *slot))
    };
    let dead: Vec<usize> = slots().filter(dead).collect();
    if dead.is_empty() {
        return Vec::new();
    }
    let in_hand = in_hand::by_process(analysis);
    let merged = in_hand::merged(&in_hand);
    let given_up = |slot: usize| {
        let pid = analysis.connections.row(slot).pid;
        let one = given_up(analysis, in_hand.get(&pid)?, slot)?;
        let waits = spans::length(spans::within(merged.get(&pid)?, one.from, one.to));
        (waits == one.to - one.from).then_some(one)
    };
    dead.into_iter().filter_map(given_up).collect()
}

fn given_up(analysis: &Analysis, in_hand: &[InHand], slot: usize) -> Option<Silent> {
    let row = analysis.connections.row(slot);
    let connect = analysis.connections.all()[slot].connect?;
    let call = analysis.call(connect);
    let (from, to) = (call.start.0, row.closed.0);
    if to.saturating_sub(from) < SHORTEST || to >= analysis.recording.manifest.end.0 {
        return None;
    }
    let mut next = calls_since(analysis, call.tid, to).take(CALLS_BETWEEN).take_while(|call| !waits_or_reads(call));
    let other = next.find_map(|call| asked(analysis, call));
    let other = other.or_else(|| asked_by_another_thread(analysis, in_hand, call, to))?;
    Some(Silent { connect, pid: row.pid, address: address(analysis, slot), other, from, to })
}

/// What a thread calls from a moment on.
fn calls_since<'a>(analysis: &'a Analysis, tid: u32, from: u64) -> impl Iterator<Item = &'a Call> {
    let calls = analysis.threads.get(tid).map_or(&[][..], |thread| &analysis.recording.calls[thread.calls.clone()]);
    calls[calls.partition_point(|call| call.start.0 < from)..].iter()
}

/// Whom a call asks, if it asks one that answers.
fn asked(analysis: &Analysis, call: &Call) -> Option<Address> {
    let asks = syscall::is_write(call.number) || call.number == syscall::CONNECT;
    let other = analysis.connections.slot(call.connection).filter(|_| asks && call.connection != 0)?;
    let is_other = analysis.connections.row(other).role == role::CLIENT && answers(analysis, other);
    is_other.then(|| address(analysis, other))
}

/// Whom any thread of the process asks once a connect is given up, where that can only be for the sake of the request that the
/// connect was made for: it alone is in hand, began right before, and nobody is asked meanwhile.
fn asked_by_another_thread(analysis: &Analysis, in_hand: &[InHand], connect: &Call, given_up: u64) -> Option<Address> {
    let from = connect.start.0;
    let mut meanwhile = in_hand.iter().filter(|one| one.from < given_up && from < one.to);
    let (request, another) = (meanwhile.next()?, meanwhile.next());
    let is_for_it = request.from <= from && from - request.from <= AT_ONCE && given_up <= request.to;
    if another.is_some() || !is_for_it {
        return None;
    }
    let of_process = analysis.recording.threads.iter().filter(|thread| thread.pid == connect.pid);
    let threads = of_process.filter(|thread| thread.tid != connect.tid);
    let calls = threads.flat_map(|thread| {
        calls_since(analysis, thread.tid, from).take_while(|call| call.start.0 < given_up + AT_ONCE)
    });
    let asking = calls.filter_map(|call| Some((call.start.0, asked(analysis, call)?)));
    let (first, other) = asking.min()?;
    (first >= given_up).then_some(other)
}

/// Whether something else may have come, which what follows is for.
fn waits_or_reads(call: &Call) -> bool {
    let waits = syscall::is_poll(call.number) && (call.result != 0 || call.blocked.0 > 0);
    waits
        || syscall::is_accept(call.number)
        || (syscall::is_read(call.number) && call.connection != 0 && call.result > 0)
}

/// Whether it asked for a connection and nothing ever came back.
fn is_silent(analysis: &Analysis, slot: usize) -> bool {
    let asked = analysis.connections.segments(slot).iter().any(|segment| segment.direction == direction::OUT);
    asked && !answers(analysis, slot)
}

fn answers(analysis: &Analysis, slot: usize) -> bool {
    let came = analysis.connections.segments(slot).iter().any(|segment| segment.direction == direction::IN);
    came || analysis.connections.row(slot).established.0 > 0
}

fn address(analysis: &Analysis, slot: usize) -> Address {
    let row = analysis.connections.row(slot);
    (row.remote_address.clone(), row.remote_port)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, CONNECT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::answer;
    use case::tables::{Connection, Thread, direction, role, transport};
    use case::{Finding, Nanos};

    const CLOSE: u16 = 3;
    /// The connection to the server that answers: its end here.
    const ASKED: u32 = 50;

    /// What becomes of a server's connect to the first of two others, before it asks the second.
    #[derive(Clone, Copy, PartialEq)]
    enum First {
        /// It gets no answer for 200 ms.
        Silent,
        /// It is refused, 200 ms later.
        Refuses,
        /// It gets no answer, and then something else comes, upon which the second is asked.
        SilentBesides,
        /// It gets no answer, when the request has been answered already: a health check.
        Checked,
        /// It gets no answer from it for a thread of the server's, and another thread asks the second.
        SilentElsewhere,
        /// The same, and the second has been asked meanwhile: for this request, for all that is known.
        SilentBeside,
    }

    /// Another thread of the server's.
    const ANOTHER: u32 = SERVER + 1;

    /// Ten requests of a client, for each of which its server asks another one.
    fn asks(first: First) -> Option<Finding> {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        fixture.connect(ASKED, SERVER);
        let thread = Thread { tid: ANOTHER, pid: SERVER, ..Thread::default() };
        fixture.recording.threads.push(thread);
        for round in 0..10 {
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 200);
            fixture.travels(start + 3 * US, 1, 1001, 200);
            fixture.now = start + 12 * US;
            fixture.moves(SERVER, 1001, READ, 200);
            if first != First::Checked {
                tries(&mut fixture, round, first);
            }
            let asked = fixture.now;
            fixture.moves(SERVER, ASKED, WRITE, 200);
            fixture.travels(asked, ASKED, ASKED + 1000, 200);
            fixture.travels(asked + 300 * US, ASKED + 1000, ASKED, 1000);
            fixture.waits_for(SERVER, ASKED, 400 * US, 1000);
            fixture.travels(fixture.now, 1001, 1, 1000);
            fixture.moves(SERVER, 1001, WRITE, 1000);
            let end = fixture.now;
            fixture.now = start + 6 * US;
            fixture.waits_for(CLIENT, 1, end + 12 * US - fixture.now, 1000);
            if first == First::Checked {
                tries(&mut fixture, round, first);
                fixture.moves(SERVER, ASKED, WRITE, 200);
            }
            fixture.now += MS;
        }
        answer(&fixture.end()).findings.into_iter().find(|finding| finding.name == "silent-upstream")
    }

    fn tries(fixture: &mut Fixture, round: u32, first: First) {
        let (dead, opened) = (round + 100, Nanos(fixture.now));
        let elsewhere = matches!(first, First::SilentElsewhere | First::SilentBeside);
        let tid = if elsewhere { ANOTHER } else { SERVER };
        fixture.does(tid, 10 * US, CONNECT, |call| {
            (call.pid, call.connection, call.fd, call.result) = (SERVER, dead, 4, -115);
        });
        fixture.segment(fixture.now, dead, direction::OUT, 0);
        if first == First::SilentBeside {
            fixture.moves(SERVER, ASKED, WRITE, 200);
        }
        fixture.waits(SERVER, 200 * MS, EPOLL_WAIT, |_| {});
        if first == First::Refuses {
            fixture.segment(fixture.now - US, dead, direction::IN, 0);
        }
        fixture.recording.connections.push(Connection {
            id: dead,
            pid: SERVER,
            transport: transport::TCP,
            role: role::CLIENT,
            remote_address: "10.0.0.9".to_string(),
            remote_port: 80,
            opened,
            closed: Nanos(fixture.now),
            ..Connection::default()
        });
        fixture.does(tid, 5 * US, CLOSE, |call| call.pid = SERVER);
        if first == First::SilentBesides {
            fixture.waits(SERVER, MS, EPOLL_WAIT, |call| call.result = 1);
        }
    }

    #[test]
    fn a_server_of_a_list_that_never_answers_is_found_where_requests_wait_for_it() {
        let finding = asks(First::Silent).expect("it is found");
        assert_eq!(finding.cost.affected, 10);
        assert!(finding.cost.share_of_wall > 0.9, "{finding:#?}");
        assert!(finding.title.contains("10.0.0.9:80 does not answer server: 200 ms each"), "{}", finding.title);
        assert!(finding.mechanism[0].contains("10.0.0.2:80 was asked"), "{:?}", finding.mechanism);
    }

    #[test]
    fn it_is_found_where_another_thread_goes_on_and_nothing_else_is_done_for_the_request() {
        let finding = asks(First::SilentElsewhere).expect("it is found");
        assert_eq!(finding.cost.affected, 10);
        assert!(asks(First::SilentBeside).is_none());
    }

    #[test]
    fn one_that_refuses_and_one_that_nobody_waits_for_are_left_alone() {
        for first in [First::Refuses, First::SilentBesides, First::Checked] {
            assert!(asks(first).is_none());
        }
    }
}
