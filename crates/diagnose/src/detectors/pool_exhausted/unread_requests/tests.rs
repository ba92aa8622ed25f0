//! Several clients of a proxy, which asks a server with one worker for each request.

use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
use crate::tests::answer;
use case::tables::{Connection, role};
use case::{Finding, Nanos, Recording};

const RECVFROM: u16 = 45;
const POLL: u16 = 7;
const CLIENTS: u32 = 4;
/// The worker's process, and its connection to a service that was not recorded.
const WORKER: u32 = 300;
const SERVICE: u32 = 900;
/// The proxy's connections to the worker, at the proxy's end; the worker's come a thousand later.
const ASKED: u32 = 51;

/// Clients with a connection each to the proxy, which has as many to the worker.
fn connected() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.process(WORKER, "server");
    fixture.script(6, &["page.php:5:stock"]);
    for client in 0..CLIENTS {
        if client > 0 {
            fixture.process(CLIENT + client, "client");
        }
        fixture.connect(client + 1, CLIENT + client);
        fixture.connect(ASKED + client, SERVER);
        let rows = fixture.recording.connections.iter_mut();
        for row in rows.filter(|row| [ASKED + client, ASKED + client + 1000].contains(&row.id)) {
            match row.role {
                role::CLIENT => (row.remote_address, row.remote_port) = ("10.0.0.3".into(), 9000),
                _ => row.pid = WORKER,
            }
        }
    }
    fixture.recording.connections.push(Connection {
        id: SERVICE,
        pid: WORKER,
        role: role::CLIENT,
        peer: 0,
        ..fixture.recording.connections[0].clone()
    });
    fixture
}

/// Rounds in which four clients ask at once, and the proxy asks the worker at once for all of them; the worker waits 5 ms for a
/// service for each, in a poll of so many descriptors, whose first is the service's or a client's.
fn rounds(descriptors: u64, polled: u32) -> Recording {
    let mut fixture = connected();
    let mut idle = [fixture.now; 2];
    for _ in 0..10 {
        let start = fixture.now;
        for client in 0..CLIENTS {
            fixture.now = start;
            fixture.moves(CLIENT + client, client + 1, WRITE, 200);
            fixture.travels(start + 3 * US, client + 1, client + 1001, 200);
        }
        fixture.now = idle[0];
        fixture.waits(SERVER, start + 12 * US - idle[0], EPOLL_WAIT, |call| call.result = CLIENTS.into());
        for client in 0..CLIENTS {
            fixture.moves(SERVER, client + 1001, READ, 200);
            fixture.travels(fixture.now, ASKED + client, ASKED + client + 1000, 100);
            fixture.moves(SERVER, ASKED + client, WRITE, 100);
        }
        let asked = fixture.now;
        fixture.now = idle[1];
        fixture.waits(WORKER, asked - idle[1], 43, |call| call.result = 5);
        let mut answered = Vec::new();
        for client in 0..CLIENTS {
            fixture.moves(WORKER, ASKED + client + 1000, READ, 100);
            fixture.waits(WORKER, 5 * MS, POLL, |call| {
                (call.argument_1, call.result, call.script_stack) = (descriptors, 1, 6);
            });
            fixture.moves(WORKER, polled, RECVFROM, 3);
            fixture.travels(fixture.now, ASKED + client + 1000, ASKED + client, 80);
            fixture.moves(WORKER, ASKED + client + 1000, WRITE, 80);
            answered.push(fixture.now + 20 * US);
        }
        idle[1] = fixture.now;
        fixture.now = asked;
        for client in 0..CLIENTS {
            let answered = answered[client as usize];
            fixture.waits(SERVER, answered - fixture.now, EPOLL_WAIT, |call| call.result = 1);
            fixture.moves(SERVER, ASKED + client, READ, 80);
            fixture.travels(fixture.now, client + 1001, client + 1, 1000);
            fixture.moves(SERVER, client + 1001, WRITE, 1000);
        }
        idle[0] = fixture.now;
        for client in 0..CLIENTS {
            fixture.now = start + 5 * US;
            let end = answered[client as usize] + 40 * US;
            fixture.waits_for(CLIENT + client, client + 1, end - fixture.now, 1000);
        }
        fixture.now = idle[0] + 200 * US;
    }
    fixture.off(SERVER, idle[0], fixture.now + MS);
    fixture.off(WORKER, idle[1], fixture.now + MS);
    let mut recording = fixture.end();
    recording.threads.iter_mut().for_each(|thread| thread.end = thread.end.max(Nanos(1)));
    recording
}

fn found(recording: &Recording) -> Option<Finding> {
    answer(recording).findings.into_iter().find(|finding| finding.name == "pool-exhausted")
}

#[test]
fn what_a_proxy_asks_lies_unread_while_the_only_worker_polls_the_service_that_it_asks() {
    let finding = found(&rounds(1, SERVICE)).expect("it is found");
    // Of 5 + 10 + 15 + 20 ms, 5 each are a request's own.
    assert!((0.5..0.65).contains(&finding.cost.share_of_wall), "{finding:#?}");
    assert!(finding.title.starts_with("Requests wait in line for 10.0.0.3:9000's only worker"), "{}", finding.title);
    assert!(
        finding.mechanism[0].starts_with("30 of 40 requests that 10.0.0.3:9000 was asked"),
        "{:?}",
        finding.mechanism
    );
    assert_eq!(finding.place[0].function, "stock");
}

#[test]
fn one_that_polls_several_descriptors_or_the_proxy_is_an_event_loop_or_waits_for_more() {
    assert_eq!(found(&rounds(2, SERVICE)), None);
    assert_eq!(found(&rounds(1, ASKED + 1000)), None);
}
