//! Connections that a server opens to ask another one, in order to answer: its client waits for them, however well that one keeps
//! its own.

use crate::analysis::Analysis;
use crate::connections::End;
use crate::detectors::fresh_connections::{Churn, churns_of};
use crate::exchange::{Exchange, SetUp};
use crate::in_hand;
use crate::spans;
use std::collections::BTreeMap;

/// What helps.
pub(super) const REMEDY: &str = "Let the server keep its connections to the one that it asks: a pool of them, with keep-alive \
                                 enabled at both ends (nginx: keepalive in the upstream block, with proxy_http_version 1.1 and \
                                 an empty Connection header; HAProxy: http-reuse).";

/// The fresh connections of servers by whom they are to: those that were set up while their process had a request in hand.
pub(super) fn churns<'a>(analysis: &'a Analysis) -> BTreeMap<String, Churn<'a>> {
    if analysis.inner.is_empty() {
        return BTreeMap::new();
    }
    let in_hand = in_hand::spans_by_process(analysis);
    let is_waited_for = |exchange: &Exchange, set_up: &SetUp| {
        let spans = in_hand.get(&analysis.connections.row(exchange.connection).pid).map_or(&[][..], Vec::as_slice);
        let (from, to) = (set_up.connect, set_up.ready.max(set_up.connect + 1));
        spans::length(spans::within(spans, from, to)) == to - from
    };
    let asked = analysis.inner.iter().filter(|exchange| exchange.end_seen == End::Client);
    churns_of(analysis, asked, is_waited_for)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::answer;
    use case::tables::Thread;
    use case::{Finding, Nanos, Recording};

    const BACKEND: u32 = 300;

    /// Where the server asks its backend.
    #[derive(Clone, Copy, PartialEq)]
    enum Asks {
        /// On a new connection with TLS for each request, before it answers.
        OnNewOnes,
        /// On one that it keeps.
        OnOne,
        /// On a new one for each request, once it has answered: nobody waits for that.
        Afterwards,
    }

    /// Twenty requests on one connection of a client, for each of which the server asks a backend.
    fn asks(how: Asks) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        fixture.process(BACKEND, "server");
        let start = Nanos(fixture.now);
        fixture.recording.threads.push(Thread { tid: BACKEND, pid: BACKEND, start, ..Thread::default() });
        for round in 0..20 {
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 200);
            fixture.travels(start + 3 * US, 1, 1001, 200);
            let waiting = fixture.now;
            fixture.now = start + 12 * US;
            fixture.moves(SERVER, 1001, READ, 200);
            if how != Asks::Afterwards {
                ask(&mut fixture, how, round);
            }
            fixture.travels(fixture.now, 1001, 1, 1000);
            fixture.moves(SERVER, 1001, WRITE, 1000);
            let answered = fixture.now;
            if how == Asks::Afterwards {
                ask(&mut fixture, how, round);
            }
            let end = fixture.now;
            fixture.now = waiting;
            fixture.waits_for(CLIENT, 1, answered + 12 * US - waiting, 1000);
            fixture.now = end.max(fixture.now) + 100 * US;
        }
        let mut recording = fixture.end();
        let of_backend = |id: u32| (1010..2000).contains(&id);
        recording.connections.iter_mut().filter(|row| of_backend(row.id)).for_each(|row| row.pid = BACKEND);
        recording
    }

    fn ask(fixture: &mut Fixture, how: Asks, round: u32) {
        let id = if how == Asks::OnOne { 10 } else { 10 + round };
        if how != Asks::OnOne || round == 0 {
            fixture.connect(id, SERVER);
            let start = fixture.now;
            fixture.moves(SERVER, id, WRITE, 300);
            fixture.waits_for(SERVER, id, 2 * MS, 3_000);
            fixture.handshake(id, SERVER, start, |row| row.resumed = true);
        }
        let asked = fixture.now;
        fixture.moves(SERVER, id, WRITE, 200);
        fixture.travels(asked + 3 * US, id, id + 1000, 200);
        fixture.now = asked + 10 * US;
        fixture.moves(BACKEND, id + 1000, READ, 200);
        fixture.now += 500 * US;
        fixture.travels(fixture.now, id + 1000, id, 1000);
        fixture.moves(BACKEND, id + 1000, WRITE, 1000);
        let end = fixture.now + 10 * US;
        fixture.now = asked + 6 * US;
        fixture.waits_for(SERVER, id, end - fixture.now, 1000);
        if how != Asks::OnOne {
            fixture.close(id);
        }
    }

    fn found(how: Asks) -> Option<Finding> {
        answer(&asks(how)).findings.into_iter().find(|finding| finding.name == "connection-churn")
    }

    #[test]
    fn a_server_that_opens_a_connection_for_each_question_is_found_though_its_client_keeps_one() {
        let finding = found(Asks::OnNewOnes).expect("it is found");
        assert!(
            finding.title.starts_with("A new connection from the server to 10.0.0.2:80 for nearly every request"),
            "{}",
            finding.title
        );
        assert!((0.6..0.9).contains(&finding.cost.share_of_wall), "{finding:#?}");
        assert!(finding.remedy.contains("the one that it asks"), "{}", finding.remedy);
    }

    #[test]
    fn a_server_that_keeps_its_connection_and_one_that_opens_some_for_itself_are_left_alone() {
        assert!(found(Asks::OnOne).is_none());
        assert!(found(Asks::Afterwards).is_none());
    }
}
