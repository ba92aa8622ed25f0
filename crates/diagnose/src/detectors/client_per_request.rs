//! P17: a pool of connections for each request, of which none is used again.

use super::{Found, costly_call, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::exchange::{Exchange, SetUp};
use case::Nanos;
use case::tables::{Segment, direction, flags};
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
    /// exchanges each. The time of connect and handshake is charged.
    ///
    /// ## What proves it
    /// A proxy on the same host that keeps connections to the server; how much time that saves is predicted, as the
    /// set-up of all connections but the first. The number of open connections shows which end forgets: nobody closed
    /// them.
    ///
    /// ## Remedy
    /// Make one client object for the whole program and share it (Node.js: one Agent; Go: one http.Client or Transport;
    /// Java: one HttpClient; Python: one Session), or close it after use if it has to be new.
    ///
    /// ## Not to be confused with
    /// connection-churn (connections are closed after each request: keep-alive is off, or a response is not read);
    /// connections for requests at the same time; context-per-request (what making the object itself costs).
    "P17" "client-per-request",
    on_the_wire: true
}

/// Fewer connections than this are no habit.
const HABIT: usize = 5;

/// Nearly all: one or two may have been used again by chance.
const MOSTLY: f64 = 0.8;

/// Idle connections are kept for a while, not for ever: as in connection-churn.
const KEPT: u64 = 5_000_000_000;

/// A connect alone, of less than this each, is not felt: as in connection-churn.
const FELT: u64 = 30_000;

/// One connection of a process and its use.
struct Use<'e> {
    slot: usize,
    first: &'e Exchange,
    set_up: SetUp,
    last_end: u64,
    exchanges: usize,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut groups: BTreeMap<(u32, String), BTreeMap<usize, Use>> = BTreeMap::new();
    for exchange in analysis.exchanges.iter().filter(|exchange| exchange.end_seen == End::Client) {
        let slot = exchange.connection;
        let group = groups.entry((analysis.connections.row(slot).pid, analysis.connections.remote(slot))).or_default();
        if let Some(set_up) = exchange.set_up {
            group.insert(slot, Use { slot, first: exchange, set_up, last_end: exchange.end, exchanges: 1 });
        } else if let Some(known) = group.get_mut(&slot) {
            known.last_end = known.last_end.max(exchange.end);
            known.exchanges += 1;
        }
    }
    let forgotten = groups.into_iter().filter_map(|((_, remote), uses)| {
        let all: Vec<Use> = uses.into_values().collect();
        let exchanges: usize = all.iter().map(|one| one.exchanges).sum();
        let total = all.len();
        let kept = avoidable(analysis, all);
        let is_habit = kept.len() >= HABIT && kept.len() as f64 >= MOSTLY * (total - 1) as f64 && exchanges < 2 * total;
        is_habit.then_some((remote, kept))
    });
    let (remote, kept) = forgotten.max_by_key(|(remote, kept)| (kept.len(), std::cmp::Reverse(remote.clone())))?;
    let found = found(analysis, &remote, &kept);
    (found.saving.wall >= FELT * kept.len() as u64).then_some(found)
}

/// Whether the server's end has gone: what is left of the connection carries no other request.
fn ends(row: &Segment) -> bool {
    row.direction == direction::IN && row.flags & (flags::FIN | flags::RST) != 0
}

/// The connections that were opened while an earlier one stood open, had answered, and was not used any more.
fn avoidable<'e>(analysis: &Analysis, mut uses: Vec<Use<'e>>) -> Vec<Use<'e>> {
    uses.sort_by_key(|one| one.set_up.start);
    let is_open = |one: &Use, time: u64| {
        let segments = analysis.connections.segments(one.slot);
        let ended = segments.iter().take_while(|row| row.time.0 <= time).any(ends);
        !ended && analysis.connections.closing(one.slot) > time
    };
    let stands_idle = |earlier: &Use, time: u64| {
        earlier.last_end <= time && time - earlier.last_end <= KEPT && is_open(earlier, time)
    };
    let flags: Vec<bool> = (0..uses.len())
        .map(|at| {
            at > 0 && uses[..at].iter().rev().take(HABIT).any(|earlier| stands_idle(earlier, uses[at].set_up.start))
        })
        .collect();
    uses.into_iter().zip(flags).filter_map(|(one, is_avoidable)| is_avoidable.then_some(one)).collect()
}

fn found(analysis: &Analysis, remote: &str, kept: &[Use]) -> Found {
    let stretches =
        |one: &Use| one.set_up.stretches().map(|(start, end)| end.saturating_sub(start)).iter().sum::<u64>();
    let wall: u64 = kept.iter().map(stretches).sum();
    let cpu = kept.iter().map(|one| cpu(analysis, one)).sum();
    let connect = |one: &Use| analysis.connections.all()[one.slot].connect;
    let place = costly_call(analysis, kept.iter().filter_map(|one| Some((connect(one)?, stretches(one)))));
    let count = analysis.exchanges.len().max(1) as u64;
    let open = most_open(analysis, kept);
    let what = "A new client for each request: its connection stays open and is not used again".to_string();
    Found {
        title: format!(
            "{what}; setting up takes {} of every {} request{}",
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words(),
        ),
        what,
        mechanism: vec![
            format!("{} connections to {remote} were opened while an earlier one stood open and idle.", kept.len()),
            format!("Up to {open} of them were open at a time; nobody had closed them."),
        ],
        saving: PotentialSaving { wall, outside: 0, cpu, affected: kept.len() as u64 },
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
    let Some(&row) = analysis.transfers(one.first).first() else { return 0 };
    let tid = analysis.call(row as usize).tid;
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
    use crate::fixture::{CLIENT, Fixture, MS, READ, US, WRITE, request};
    use crate::tests::{answer, names};
    use case::Recording;

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

    #[test]
    fn a_pool_that_fills_and_is_used_is_left_alone() {
        assert_eq!(names(&connecting(10, Then::StaysOpen)), Vec::<String>::new());
    }
}
