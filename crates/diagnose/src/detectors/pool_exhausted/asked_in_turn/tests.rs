//! Several clients of one server, which asks a database for each request.

use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
use crate::tests::{answer, names};
use case::Recording;
use case::tables::{Connection, role, transport};

const CLIENTS: u32 = 4;
const ROUNDS: u32 = 10;
const DATABASE: u32 = 7;

/// Clients with a connection each to one server, which has several to a database that was not recorded.
fn connected() -> Fixture {
    let mut fixture = Fixture::new();
    for client in 0..CLIENTS {
        if client > 0 {
            fixture.process(CLIENT + client, "client");
        }
        fixture.connect(client + 1, CLIENT + client);
        fixture.recording.connections.push(Connection {
            id: DATABASE + client,
            pid: SERVER,
            transport: transport::TCP,
            role: role::CLIENT,
            remote_address: "10.0.0.3".into(),
            remote_port: 5432,
            closed: case::Nanos(u64::MAX),
            ..Connection::default()
        });
    }
    fixture
}

/// Rounds in which four clients ask at the same time. The server reads all of it, and asks the database for so many at a time,
/// which takes 5 ms; `meanwhile` is what the server does while it waits.
fn rounds(at_a_time: u32, mut meanwhile: impl FnMut(&mut Fixture, u32)) -> Recording {
    let mut fixture = connected();
    fixture.script(6, &["server.py:7:query"]);
    let mut idle = fixture.now;
    for _ in 0..ROUNDS {
        let start = fixture.now;
        for client in 0..CLIENTS {
            fixture.now = start;
            fixture.moves(CLIENT + client, client + 1, WRITE, 200);
            fixture.travels(start + 3 * US, client + 1, client + 1001, 200);
        }
        fixture.now = idle;
        fixture.waits(SERVER, start + 12 * US - idle, EPOLL_WAIT, |call| call.result = CLIENTS.into());
        for client in 0..CLIENTS {
            fixture.moves(SERVER, client + 1001, READ, 200);
        }
        let mut answered = Vec::new();
        for first in (0..CLIENTS).step_by(at_a_time as usize) {
            let asked = first..(first + at_a_time).min(CLIENTS);
            for client in asked.clone() {
                let row = fixture.moves(SERVER, DATABASE + client - first, WRITE, 60);
                fixture.recording.calls[row].script_stack = 6;
            }
            meanwhile(&mut fixture, first);
            for client in asked {
                fixture.moves(SERVER, DATABASE + client - first, READ, 300);
                answered.push(fixture.now);
                fixture.moves(SERVER, client + 1001, WRITE, 1000);
                fixture.travels(fixture.now - 2 * US, client + 1001, client + 1, 1000);
            }
        }
        idle = fixture.now;
        for client in 0..CLIENTS {
            fixture.now = start + 5 * US;
            let end = answered[client as usize] + 12 * US;
            fixture.waits_for(CLIENT + client, client + 1, end - fixture.now, 1000);
        }
        fixture.now = idle + 100 * US;
    }
    fixture.off(SERVER, idle, fixture.now + MS);
    fixture.end()
}

fn waits(fixture: &mut Fixture, _: u32) {
    fixture.waits(SERVER, 5 * MS, EPOLL_WAIT, |call| call.result = 1);
}

fn is_found(recording: &Recording) -> bool {
    names(recording).contains(&"pool-exhausted".to_string())
}

#[test]
fn requests_that_are_asked_for_one_at_a_time_wait_in_line() {
    let answer = answer(&rounds(1, waits));
    let finding = answer.findings.iter().find(|one| one.name == "pool-exhausted").expect("it is found");
    // Of 5 + 10 + 15 + 20 ms, 5 each are a request's own.
    assert!((0.55..0.65).contains(&finding.cost.share_of_wall), "{finding:#?}");
    assert!(
        finding.title.starts_with("Requests wait in line: the server asks 10.0.0.3:5432 for one of them at a time"),
        "{}",
        finding.title
    );
    assert_eq!(finding.place[0].line, 7);
    assert!(finding.mechanism[0].ends_with("up to 3 waited at a time."), "{:?}", finding.mechanism);
}

#[test]
fn a_pool_of_two_connections_is_counted() {
    let answer = answer(&rounds(2, waits));
    let finding = answer.findings.iter().find(|one| one.name == "pool-exhausted").expect("it is found");
    assert!(finding.title.contains("for only 2 of them at a time"), "{}", finding.title);
    // Of 5 + 5 + 10 + 10 ms.
    assert!((0.28..0.36).contains(&finding.cost.share_of_wall), "{finding:#?}");
}

#[test]
fn requests_that_are_all_asked_for_at_once_wait_in_no_line() {
    assert!(!is_found(&rounds(CLIENTS, waits)));
}

#[test]
fn a_server_that_computes_meanwhile_is_no_pool() {
    assert!(!is_found(&rounds(1, |fixture, _| fixture.now += 5 * MS)));
}

/// Four clients that ask again once they are answered; the server asks for one of them at a time, over the one connection or one for
/// each, and reads what comes before it asks the next.
fn asking_again(one_for_each: bool) -> Recording {
    let mut fixture = connected();
    let ask = |fixture: &mut Fixture, client: u32, at: u64| {
        fixture.now = at;
        fixture.moves(CLIENT + client, client + 1, WRITE, 200);
        fixture.travels(at + 3 * US, client + 1, client + 1001, 200);
    };
    let start = fixture.now;
    let mut asked = [start; CLIENTS as usize];
    (0..CLIENTS).for_each(|client| ask(&mut fixture, client, start));
    fixture.now = start + 20 * US;
    (0..CLIENTS).for_each(|client| _ = fixture.moves(SERVER, client + 1001, READ, 200));
    for turn in 0..40_u32 {
        let client = turn % CLIENTS;
        let connection = if one_for_each { 100 + turn } else { DATABASE };
        if one_for_each {
            let database = fixture.recording.connections.iter().find(|row| row.id == DATABASE).cloned();
            let database = database.expect("the connection to the database");
            fixture.recording.connections.push(Connection { id: connection, ..database });
        }
        fixture.moves(SERVER, connection, WRITE, 60);
        waits(&mut fixture, turn);
        fixture.moves(SERVER, connection, READ, 300);
        fixture.moves(SERVER, client + 1001, WRITE, 1000);
        let answered = fixture.now;
        fixture.travels(answered - 2 * US, client + 1001, client + 1, 1000);
        fixture.now = asked[client as usize] + 5 * US;
        fixture.waits_for(CLIENT + client, client + 1, answered + 12 * US - fixture.now, 1000);
        let again = fixture.now;
        asked[client as usize] = again;
        ask(&mut fixture, client, again);
        fixture.now = again + 30 * US;
        fixture.moves(SERVER, client + 1001, READ, 200);
    }
    fixture.end()
}

#[test]
fn a_connection_for_each_question_shows_the_line_whatever_comes_in_between() {
    assert!(is_found(&asking_again(true)));
    assert!(!is_found(&asking_again(false)), "what has come may be passed on at once over a shared connection");
}

#[test]
fn questions_that_share_a_connection_and_wait_for_no_answer_are_no_line() {
    // Two clients: what each asks is passed on at once, over one connection, and takes 10 ms.
    let mut fixture = connected();
    let start = fixture.now;
    let ask = |fixture: &mut Fixture, client: u32, at: u64| {
        fixture.now = at;
        fixture.moves(CLIENT + client, client + 1, WRITE, 200);
        fixture.travels(at + 3 * US, client + 1, client + 1001, 200);
    };
    ask(&mut fixture, 0, start);
    ask(&mut fixture, 1, start + 5 * MS);
    let mut idle = start;
    for turn in 0..40_u32 {
        let (client, asked) = (turn % 2, start + u64::from(turn) * 5 * MS);
        fixture.now = idle;
        if turn >= 2 {
            fixture.waits(SERVER, asked - 60 * US - idle, EPOLL_WAIT, |call| call.result = 1);
            fixture.moves(SERVER, DATABASE, READ, 300);
            fixture.moves(SERVER, client + 1001, WRITE, 1000);
            let answered = fixture.now;
            fixture.travels(answered - 2 * US, client + 1001, client + 1, 1000);
            fixture.now = asked - 10 * MS + 5 * US;
            fixture.waits_for(CLIENT + client, client + 1, answered + 12 * US - fixture.now, 1000);
            ask(&mut fixture, client, asked);
            fixture.now = answered;
        }
        fixture.waits(SERVER, asked + 12 * US - fixture.now, EPOLL_WAIT, |call| call.result = 1);
        fixture.moves(SERVER, client + 1001, READ, 200);
        fixture.moves(SERVER, DATABASE, WRITE, 60);
        idle = fixture.now;
    }
    let recording = fixture.end();
    assert!(!is_found(&recording));
}
