//! P32: the first address of a name stays silent, and the next one is tried only then.

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use case::Nanos;
use case::tables::{direction, role, transport};
use std::collections::BTreeMap;
use std::net::IpAddr;

detector! {
    /// # dead-ipv6
    ///
    /// ## What it is
    /// A name has addresses of both families, and those of the first family, IPv6 as a rule, do not answer: no route, a
    /// firewall that drops, a service that listens on IPv4 only behind one. The program connects there first and tries
    /// the other family after a delay (Happy Eyeballs, 200 to 300 ms) or a time-out of seconds, for each connection.
    ///
    /// ## Evidence
    /// SYNs to an address that never sent a segment, given up for a connection of the same thread to the same port at an
    /// address of the other family, three times or more, with no look-up in between. Charged is the time from the first
    /// connect to the second.
    ///
    /// ## What proves it
    /// Connecting to the silent address fails at once: the other one is tried without delay.
    ///
    /// ## Remedy
    /// Make the address answer, or take it out of DNS; refuse (ICMP, reset) where a firewall drops now; let the program
    /// ask for the other family only; keep connections open.
    ///
    /// ## Not to be confused with
    /// name-lookup (no address is known yet); listen-backlog-overflow and loss (the address answers a later SYN).
    "P32" "dead-ipv6",
    needs: &[Tcp]
}

/// Fewer are chance: a SYN can get lost.
const REPEATED: usize = 3;

/// No program may go on to the next address sooner (RFC 8305, section 8): below that two connects are made side by side.
const SHORTEST_DELAY: u64 = 10_000_000;

/// Who gave an address up goes on at once; a pause longer than the shortest delay is the program's own.
const AT_ONCE: u64 = SHORTEST_DELAY;

/// One try that got no answer, and the one that did.
struct Silent {
    /// The `connect` without an answer: a row of the table of calls.
    connect: usize,
    tid: u32,
    address: IpAddr,
    other: IpAddr,
    from: u64,
    to: u64,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut by_address: BTreeMap<(IpAddr, IpAddr), Vec<Silent>> = BTreeMap::new();
    for one in silent(analysis) {
        by_address.entry((one.address, one.other)).or_default().push(one);
    }
    let repeated: Vec<Silent> = by_address.into_values().filter(|all| all.len() >= REPEATED).flatten().collect();
    let first = repeated.first()?;
    let mut saving = PotentialSaving { affected: repeated.len() as u64, ..PotentialSaving::default() };
    for one in &repeated {
        let (wall, outside) = analysis.split(one.tid, one.from, one.to);
        saving.wall += wall;
        saving.outside += outside;
    }
    let usual = Nanos(median(repeated.iter().map(|one| one.to - one.from).collect()));
    let place = costly_call(analysis, repeated.iter().map(|one| (one.connect, one.to - one.from)));
    let what = format!("Connections wait because {} does not answer", first.address);
    Some(Found {
        title: format!("{what}: {usual} each before another address is tried{}", place.in_words()),
        what,
        mechanism: vec![format!(
            "{} connects to {} got no answer at all; half of them took {usual} or more until {} was tried, which answered.",
            repeated.len(),
            first.address,
            first.other
        )],
        saving,
        place,
        remedy: "Make the address answer or take it out of DNS, let the firewall refuse instead of drop, or let the program \
                 ask for the other family only."
            .to_string(),
        rows: rows("calls", repeated.iter().map(|one| one.connect)),
        stalls: repeated.iter().map(|one| (one.from, one.to)).collect(),
        ..Found::default()
    })
}

/// Every try at an address that never answered anybody, with the next connection of the thread, which came about.
fn silent(analysis: &Analysis) -> Vec<Silent> {
    let connections = &analysis.connections;
    let mut by_target: BTreeMap<(u32, u16), Vec<(u64, usize)>> = BTreeMap::new();
    for (slot, rows) in connections.all().iter().enumerate() {
        let row = connections.row(slot);
        if let Some(connect) = rows.connect.filter(|_| row.transport == transport::TCP && row.role != role::SERVER) {
            // Threads that each connect for themselves do not wait for one another.
            let call = analysis.call(connect);
            by_target.entry((call.tid, row.remote_port)).or_default().push((call.start.0, slot));
        }
    }
    let mut found = Vec::new();
    for mut tries in by_target.into_values() {
        tries.sort_unstable();
        for pair in tries.windows(2) {
            found.extend(given_up(analysis, pair[0], pair[1]));
        }
    }
    let answering: Vec<IpAddr> = (0..connections.all().len())
        .filter(|&slot| !is_silent(analysis, slot))
        .filter_map(|slot| address(analysis, slot))
        .collect();
    found.retain(|one| !answering.contains(&one.address));
    found
}

fn given_up(analysis: &Analysis, (from, one): (u64, usize), (to, next): (u64, usize)) -> Option<Silent> {
    let connections = &analysis.connections;
    let (row, other) = (connections.row(one), connections.row(next));
    if !is_silent(analysis, one) || other.established.0 == 0 || to.saturating_sub(from) < SHORTEST_DELAY {
        return None;
    }
    // Given up just before the other was tried (one after another), or as soon as the other was there (side by side).
    let closed = row.closed.0;
    let in_turn = closed <= to && to - closed <= AT_ONCE;
    let side_by_side = closed > to && closed <= other.established.0.saturating_add(AT_ONCE);
    let asked = analysis.recording.lookups.iter().any(|lookup| {
        let is_own = analysis.threads.get(lookup.tid).is_none_or(|thread| thread.pid == row.pid);
        is_own && lookup.direction == direction::OUT && (from..to).contains(&lookup.time.0)
    });
    let (address, other) = (address(analysis, one)?, address(analysis, next)?);
    if !(in_turn || side_by_side) || asked || address.is_ipv6() == other.is_ipv6() {
        return None;
    }
    let connect = connections.all()[one].connect?;
    Some(Silent { connect, tid: analysis.call(connect).tid, address, other, from, to })
}

/// Whether it asked for a connection and nothing ever came back.
fn is_silent(analysis: &Analysis, slot: usize) -> bool {
    let segments = analysis.connections.segments(slot);
    let asked = segments.iter().any(|segment| segment.direction == direction::OUT);
    let answered = segments.iter().any(|segment| segment.direction == direction::IN);
    asked && !answered && analysis.connections.row(slot).established.0 == 0
}

fn address(analysis: &Analysis, slot: usize) -> Option<IpAddr> {
    analysis.connections.row(slot).remote_address.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, CONNECT, Fixture, MS, US, request};
    use crate::tests::{answer, names};
    use case::tables::{Connection, direction, role, transport};
    use case::{Nanos, Recording};

    /// Ten connections with a request each, each after a try at an address that is given up after a time.
    fn tried(address: &str, wait: u64, answers: bool) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=10 {
            let dead = id + 100;
            let opened = Nanos(fixture.now);
            fixture.does(CLIENT, 10 * US, CONNECT, |call| (call.connection, call.fd, call.result) = (dead, 4, -115));
            fixture.segment(fixture.now, dead, direction::OUT, 0);
            if answers {
                fixture.segment(fixture.now + US, dead, direction::IN, 0);
            }
            fixture.off(CLIENT, fixture.now, fixture.now + wait);
            fixture.now += wait;
            fixture.recording.connections.push(Connection {
                id: dead,
                pid: CLIENT,
                transport: transport::TCP,
                role: role::CLIENT,
                remote_address: address.to_string(),
                remote_port: 80,
                opened,
                closed: Nanos(fixture.now),
                ..Connection::default()
            });
            fixture.connect(id, CLIENT);
            request(&mut fixture, CLIENT, id, 300 * US, &mut idle);
            fixture.close(id);
            fixture.now += MS;
        }
        fixture.end()
    }

    fn is_found(recording: &Recording) -> bool {
        names(recording).contains(&"dead-ipv6".to_string())
    }

    #[test]
    fn an_address_that_stays_silent_before_the_other_family_is_tried_is_found() {
        let answer = answer(&tried("fd00::2", 200 * MS, false));
        let finding = answer.findings.iter().find(|one| one.name == "dead-ipv6").expect("it is found");
        assert_eq!(finding.cost.affected, 10);
    }

    #[test]
    fn an_address_that_refuses_at_once_is_left_alone() {
        assert!(!is_found(&tried("fd00::2", 200 * MS, true)));
    }

    #[test]
    fn two_families_tried_side_by_side_are_left_alone() {
        assert!(!is_found(&tried("fd00::2", MS, false)));
    }

    #[test]
    fn a_host_of_a_list_that_is_down_is_no_address_of_the_next() {
        assert!(!is_found(&tried("10.0.0.9", 200 * MS, false)));
    }

    #[test]
    fn a_thread_that_tries_the_silent_address_for_itself_keeps_nobody_waiting() {
        let mut recording = tried("fd00::2", 200 * MS, false);
        recording.calls.iter_mut().filter(|call| call.result == -115).for_each(|call| call.tid = CLIENT + 1);
        assert!(!is_found(&recording));
    }

    #[test]
    fn another_name_asked_for_in_between_is_another_host() {
        let mut recording = tried("fd00::2", 200 * MS, false);
        let tries: Vec<u64> =
            recording.calls.iter().filter(|call| call.result == -115).map(|call| call.start.0).collect();
        for time in tries {
            let (time, direction, name) = (Nanos(time + 100 * MS), direction::OUT, "next.test".to_string());
            recording.lookups.push(case::tables::Lookup { time, tid: CLIENT, direction, name, ..Default::default() });
        }
        recording.sort();
        assert!(!is_found(&recording));
    }
}
