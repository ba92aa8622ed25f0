//! P07: a fresh connection for about every exchange.

mod between_servers;

use super::fresh_connections::{Charge, Churn, KEPT, charge, churns};
use super::{Found, body_not_drained, client_per_request, costly_call, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::exchange::{Exchange, SetUp};
use case::Nanos;
use std::collections::{BTreeMap, BTreeSet};

detector! {
    /// # connection-churn
    ///
    /// ## What it is
    /// A program opens a new connection for (nearly) every request and closes it again, so every request pays for the
    /// TCP and TLS handshakes: their round trips, and their CPU time at both ends. To a database it logs in each time as well, and
    /// many databases start a process for each connection.
    ///
    /// ## Evidence
    /// Five connections or more to the same address and port, with fewer than two requests each on average, over all
    /// processes watched; and the time of connect and handshake, without what the program does between them or before
    /// its request. A connection counts only if an earlier one had become idle in the 5 s before: concurrent requests
    /// need connections of their own, and a server does not keep an idle one for long. Or more requests than that on
    /// average, where for a fifth of them the client had closed a connection that it could have kept: its pool is small.
    /// The same holds for connections that a server opens to ask another one, while it has a request to answer. Where statements or
    /// commands could be read (SQL, RESP), what passes before the first of them is logging in, and fewer than five of them on each
    /// connection are one transaction.
    ///
    /// ## What proves it
    /// Connections that stay open behind the program's back (`kept-connections`), where the protocol takes a next request on them;
    /// for a process for each request, and for programs that do not use libc, those of a proxy in between (`pooling-proxy`). With TLS or
    /// a login only the program can keep them, and the time of setting up is a prediction.
    ///
    /// ## Remedy
    /// Keep the connection open and send the next request on it: one client object, session or pool for the whole
    /// program, one process for many requests, keep-alive enabled on the server, each response read to its end before
    /// the next request.
    ///
    /// ## Not to be confused with
    /// client-per-request (connections are left open, and not used again); body-not-drained (they are closed in the
    /// middle of an answer); no-resumption (the connections may be necessary; a full handshake for each is not); a
    /// program that talks to many hosts once each.
    "P07" "connection-churn",
    // Connections that a lost pool keeps open are opened anew for that reason, as are those that unread bytes made unfit.
    on_the_wire: true,
    follows_from: &[client_per_request::DETECTOR.page.id, body_not_drained::DETECTOR.page.id],
    needs: &[Tcp, Requests]
}

/// From this share of the requests on, it is nearly every one that gets a connection of its own.
const NEARLY_ALL: f64 = 0.8;

fn detect(analysis: &Analysis) -> Option<Found> {
    let is_habit = |analysis: &Analysis, churn: &Churn| churn.is_habit() || churn.is_small_pool(analysis);
    let of = |groups: BTreeMap<String, Churn>, whose: Whose| {
        charge(analysis, &groups, is_habit).map(|charge| found(analysis, charge, whose))
    };
    // A server that passes connections on opens one for each that its clients open.
    of(churns(analysis), Whose::Clients).or_else(|| of(between_servers::churns(analysis), Whose::Servers))
}

/// Who opens the connections.
#[derive(Clone, Copy, PartialEq)]
enum Whose {
    Clients,
    /// A server, to ask another one.
    Servers,
}

fn found(analysis: &Analysis, charge: Charge, whose: Whose) -> Found {
    let Charge { saving, explains, name, churn } = charge;
    let connections = churn.firsts.len();
    let processes: BTreeSet<u32> =
        churn.firsts.iter().map(|(exchange, _)| analysis.connections.row(exchange.connection).pid).collect();
    let connect_of = |exchange: &Exchange| analysis.connections.all()[exchange.connection].connect;
    let connects: Vec<usize> = churn.firsts.iter().filter_map(|(exchange, _)| connect_of(exchange)).collect();
    let took = |(exchange, set_up): &(&Exchange, SetUp)| {
        Some((connect_of(exchange)?, set_up.application.saturating_sub(set_up.connect)))
    };
    let place = costly_call(analysis, churn.firsts.iter().filter_map(took));
    let count = analysis.exchanges.len().max(1) as u64;
    let of = if churn.avoidable.len() as f64 >= NEARLY_ALL * churn.exchanges as f64 {
        "nearly every request".to_string()
    } else {
        format!("{connections} of {} requests", churn.exchanges)
    };
    let between = match whose {
        Whose::Clients => String::new(),
        Whose::Servers => format!(" from the server to {name}"),
    };
    let title = format!(
        "A new connection{between} for {of}: setup takes {} of every {} request{}",
        Nanos(saving.wall / count),
        Nanos(analysis.exchange_wall() / count),
        place.in_words(),
    );
    let mechanism = mechanism(analysis, &saving, name, churn, processes.len());
    let remedy = match whose {
        Whose::Clients => remedy(analysis, churn, processes.len()),
        Whose::Servers => between_servers::REMEDY,
    };
    let rows = if connects.is_empty() {
        rows("connections", churn.firsts.iter().map(|(exchange, _)| exchange.connection))
    } else {
        rows("calls", connects)
    };
    let what = format!("A new connection{between} is set up for {of}");
    let observed = churn.logins_seen().into_iter().collect();
    let remedy = remedy.to_string();
    Found { title, what, mechanism, observed, saving, place, remedy, rows, explains, ..Found::default() }
}

fn mechanism(
    analysis: &Analysis,
    saving: &PotentialSaving,
    name: &str,
    churn: &Churn,
    processes: usize,
) -> Vec<String> {
    let connections = churn.firsts.len();
    let with_tls = churn.firsts.iter().filter(|(_, set_up)| set_up.handshake < set_up.application).count();
    let mean = saving.wall / saving.affected.max(1);
    let mut mechanism = vec![
        format!(
            "{connections} connections to {name} carried {} requests, opened by {}.",
            churn.exchanges,
            match (analysis.is_capture(), processes) {
                (true, 1) => "one host".to_string(),
                (true, hosts) => format!("{hosts} hosts"),
                (false, 1) => "one process".to_string(),
                (false, processes) => format!("{processes} processes"),
            }
        ),
        format!(
            "For {} of them, an earlier connection had gone idle less than {} before and was not used again.",
            churn.avoidable.len(),
            Nanos(KEPT)
        ),
        format!(
            "{} take {} on average; what the program does between them and before its request is not counted.",
            if churn.logins.is_empty() { "Connect and handshake" } else { "Connect, handshake and login" },
            Nanos(mean)
        ),
    ];
    if with_tls > 0 {
        let tls: u64 = churn.firsts.iter().map(|(_, set_up)| set_up.ready.saturating_sub(set_up.handshake)).sum();
        let tls = Nanos(tls / with_tls as u64);
        mechanism.push(format!("{tls} of that is the TLS handshake; there were {with_tls} of them."));
    }
    if !analysis.is_capture() {
        mechanism.push(format!(
            "Setup costs {} of CPU per connection, over all recorded ends.",
            Nanos(saving.cpu / saving.affected.max(1))
        ));
    }
    if !churn.is_habit() {
        mechanism.push(format!(
            "{} of the earlier ones the client had closed itself, though the server had not: it keeps fewer connections than it \
             uses at a time.",
            churn.discarded(analysis)
        ));
    }
    mechanism
}

fn remedy(analysis: &Analysis, churn: &Churn, processes: usize) -> &'static str {
    if churn.is_habit() && !churn.logins.is_empty() {
        "Keep the connection open and reuse it: one for all statements, a pool in the program, or one before the database (PgBouncer, \
         ProxySQL)."
    } else if !churn.is_habit() {
        "Let the client's pool keep as many idle connections as requests run at a time (Go: MaxIdleConnsPerHost, which is 2 \
         unless it is set; Python's requests: pool_maxsize, which is 10)."
    } else if !analysis.is_capture() && processes > 1 && processes * 2 > churn.firsts.len() {
        "Make many requests from one process over one connection (here, each process opens its own), with keep-alive \
         enabled at both ends."
    } else {
        "Keep the connection open and reuse it: one client, session or pool for all requests, with keep-alive enabled \
         at both ends."
    }
}

#[cfg(test)]
mod tests {
    use crate::connections::End;
    use crate::fixture::{CLIENT, Fixture, MS, US, WRITE, request};
    use crate::tests::{answer, names};
    use case::facts::Observation;
    use case::tables::{Command, direction, flags};
    use case::{Nanos, Recording};

    /// Connections that carry this many requests each, all from one process or each from its own.
    fn connections(count: u32, requests: u32, processes: u32) -> Recording {
        with_gaps(count, requests, processes, Gaps::default())
    }

    /// What the program does with the time of a connection that is not a request.
    #[derive(Clone, Copy, Default)]
    struct Gaps {
        /// Between connect and handshake, or request.
        before_handshake: u64,
        /// How long a handshake takes; none where 0.
        handshake: u64,
        /// Between handshake and request.
        before_request: u64,
        /// Between the last request of a connection and the next connection.
        between: u64,
    }

    fn with_gaps(count: u32, requests: u32, processes: u32, gaps: Gaps) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=count {
            let pid = CLIENT + id % processes;
            if pid != CLIENT && id <= processes {
                fixture.process(pid, "client");
            }
            fixture.connect(id, pid);
            fixture.now += gaps.before_handshake;
            if gaps.handshake > 0 {
                let start = fixture.now;
                fixture.moves(pid, id, WRITE, 300);
                fixture.waits_for(pid, id, gaps.handshake, 3_000);
                fixture.handshake(id, pid, start, |row| row.resumed = true);
            }
            fixture.now += gaps.before_request;
            for _ in 0..requests {
                request(&mut fixture, pid, id, 200 * US, &mut idle);
            }
            fixture.close(id);
            fixture.now += gaps.between;
        }
        fixture.end()
    }

    /// Connections to a database, on each of which a client logs in, which takes 2 ms, and has so many statements answered.
    fn sessions(count: u32, statements: u32) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=count {
            fixture.connect(id, CLIENT);
            request(&mut fixture, CLIENT, id, 2 * MS, &mut idle);
            for _ in 0..statements {
                fixture.now += US;
                let row = Command { time: Nanos(fixture.now), connection: id, tid: CLIENT, ..Command::default() };
                fixture.recording.commands.push(Command { direction: direction::OUT, name: "SELECT".into(), ..row });
                request(&mut fixture, CLIENT, id, 200 * US, &mut idle);
            }
            fixture.close(id);
        }
        fixture.end()
    }

    #[test]
    fn logging_in_for_each_transaction_is_a_part_of_setting_up() {
        for statements in [1, 3] {
            let answer = answer(&sessions(20, statements));
            let finding = answer.findings.iter().find(|one| one.name == "connection-churn").expect("it is found");
            assert!(finding.cost.share_of_wall > 0.7, "{finding:#?}");
            let [Observation::Logins { connections: 19, ns }] = finding.observed[..] else { panic!("{finding:#?}") };
            assert!(ns > 2 * MS && ns < 3 * MS, "{finding:#?}");
            assert!(finding.remedy.contains("a pool in the program"), "{finding:#?}");
        }
        for kept in [sessions(20, 10), sessions(1, 200)] {
            assert!(!names(&kept).contains(&"connection-churn".to_string()));
        }
    }

    /// What is charged for each of 20 connections, all processes together.
    fn charged(gaps: Gaps) -> Option<u64> {
        let answer = answer(&with_gaps(20, 1, 1, gaps));
        let finding = answer.findings.iter().find(|finding| finding.name == "connection-churn")?;
        Some(finding.cost.ns_per_exchange * answer.exchanges / finding.cost.affected)
    }

    #[test]
    fn connect_and_handshake_are_charged_and_not_what_the_program_does_between() {
        let handshake = Gaps { handshake: 5 * MS, ..Gaps::default() };
        let alone = charged(handshake).expect("churn");
        assert!((5 * MS..5 * MS + 100 * US).contains(&alone), "{alone}");
        assert_eq!(charged(Gaps { before_handshake: 3 * MS, before_request: 4 * MS, ..handshake }), Some(alone));
    }

    #[test]
    fn a_connect_beside_work_of_a_hundred_times_its_length_is_left_alone() {
        assert!(charged(Gaps::default()).is_some());
        assert_eq!(charged(Gaps { before_request: 20 * MS, ..Gaps::default() }), None);
    }

    #[test]
    fn a_connection_that_a_server_would_have_closed_meanwhile_is_not_missed() {
        assert!(charged(Gaps { between: 2_000 * MS, ..Gaps::default() }).is_some());
        assert_eq!(charged(Gaps { between: 8_000 * MS, ..Gaps::default() }), None);
    }

    #[test]
    fn where_some_connections_carry_two_requests_the_title_counts_them() {
        let title = |requests: &[u32]| {
            let mut fixture = Fixture::new();
            let mut idle = fixture.now;
            for (id, requests) in (1..).zip(requests) {
                fixture.connect(id, CLIENT);
                (0..*requests).for_each(|_| request(&mut fixture, CLIENT, id, 200 * US, &mut idle));
                fixture.close(id);
            }
            answer(&fixture.end()).findings.first().map(|finding| finding.title.clone()).unwrap_or_default()
        };
        assert!(title(&[1; 20]).contains("for nearly every request"), "{}", title(&[1; 20]));
        let mixed = [1, 1, 1, 2].repeat(5);
        assert!(title(&mixed).contains("for 20 of 25 requests"), "{}", title(&mixed));
    }

    /// Ten rounds of four requests at a time, after each of which so many of the four connections are closed; whoever closes them.
    fn in_rounds(discards: u32, closes: End) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        let mut open: Vec<u32> = Vec::new();
        let mut next = 1;
        for _ in 0..10 {
            while open.len() < 4 {
                fixture.connect(next, CLIENT);
                open.push(next);
                next += 1;
            }
            open.iter().rev().for_each(|&id| request(&mut fixture, CLIENT, id, 50 * US, &mut idle));
            for id in open.split_off(4 - discards as usize) {
                if closes == End::Server {
                    fixture.segment(fixture.now, id, direction::IN, 0);
                    fixture.recording.segments.last_mut().expect("a segment").flags |= flags::FIN;
                    fixture.now += US;
                }
                fixture.close(id);
            }
        }
        fixture.end()
    }

    #[test]
    fn a_pool_that_keeps_fewer_connections_than_it_opens_is_found() {
        let answer = answer(&in_rounds(2, End::Client));
        let finding = answer.findings.iter().find(|one| one.name == "connection-churn").expect("it is found");
        assert!(finding.title.starts_with("A new connection for 22 of 40 requests"), "{}", finding.title);
        assert!(
            finding.mechanism.iter().any(|one| one.starts_with("18 of the earlier ones the client")),
            "{finding:?}"
        );
        assert!(finding.remedy.contains("pool"), "{}", finding.remedy);
    }

    #[test]
    fn connections_that_the_server_closes_and_few_are_no_small_pool() {
        assert_eq!(names(&in_rounds(2, End::Server)), Vec::<String>::new());
        assert_eq!(names(&in_rounds(0, End::Client)), Vec::<String>::new());
    }

    #[test]
    fn a_connection_for_each_request_is_found() {
        let answer = answer(&connections(20, 1, 1));
        assert_eq!(answer.findings[0].name, "connection-churn");
        assert_eq!(answer.findings[0].cost.affected, 19);
        assert!(
            answer.findings[0].mechanism[0].contains("10.0.0.2:80 carried 20 requests"),
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
