//! Setting up a connection is booked on whoever answered.

use crate::Analysis;
use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
use case::facts::{Awaited, Doing, Object, Wait};
use case::tables::{TcpEvent, Thread, direction, event, flags};
use case::{Account, AccountTime, End, Nanos};

const ACCEPT: u16 = 43;
const NANOSLEEP: u16 = 35;
/// A thread that the server starts for each connection.
const WORKER: u32 = SERVER + 1;

/// The time of all exchanges in the accounts that the test accepts.
fn booked(fixture: Fixture, accepts: impl Fn(&Account) -> bool) -> u64 {
    let recording = fixture.end();
    let ledger = Analysis::new(&recording).exchange_ledger();
    assert_eq!(ledger.accounts.iter().map(|one| one.ns).sum::<u64>(), ledger.total, "{ledger:#?}");
    let accepted = |one: &&AccountTime| accepts(&one.account);
    ledger.accounts.iter().filter(accepted).map(|one| one.ns).sum()
}

/// A part of a handshake, by the test.
fn in_handshake(is_it: impl Fn(&Account) -> bool) -> impl Fn(&Account) -> bool {
    move |account| matches!(account, Account::FullHandshake { part: Some(part) } if is_it(part))
}

/// A connection whose handshake takes 10 ms, then a request. `meanwhile` is what the server does from the hello's arrival on;
/// it ends when it answers.
fn handshake(mut meanwhile: impl FnMut(&mut Fixture)) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.stack(7, &["libcrypto.so.3!BN_mod_exp", "server!main"]);
    let served = fixture.now;
    fixture.connect(1, CLIENT);
    let hello = fixture.now;
    fixture.moves(CLIENT, 1, WRITE, 300);
    fixture.travels(hello + 3 * US, 1, 1001, 300);
    let waiting = fixture.now;
    fixture.now = served;
    fixture.waits(SERVER, hello + 10 * US - served, EPOLL_WAIT, |call| call.result = 1);
    meanwhile(&mut fixture);
    let answered = fixture.now;
    fixture.travels(answered - 2 * US, 1001, 1, 2000);
    fixture.now = waiting;
    fixture.waits_for(CLIENT, 1, answered + 10 * US - waiting, 2000);
    fixture.handshake(1, CLIENT, hello, |_| {});
    fixture.now += 5 * US;
    let start = fixture.now;
    fixture.moves(CLIENT, 1, WRITE, 200);
    fixture.travels(start + 3 * US, 1, 1001, 200);
    fixture.waits_for(CLIENT, 1, 100 * US, 1000);
    fixture
}

#[test]
fn a_handshake_is_continued_into_the_servers_thread() {
    let computes = |fixture: &mut Fixture| {
        fixture.moves(SERVER, 1001, READ, 300);
        fixture.computes(SERVER, 10 * MS, 7);
        fixture.moves(SERVER, 1001, WRITE, 2000);
    };
    let of_server = |account: &Account| match account {
        Account::UserCpu { end: End::Server, module: Some(module) } => module == "libcrypto.so.3",
        _ => false,
    };
    assert!(booked(handshake(computes), in_handshake(of_server)) > 9 * MS);
    let fixture = handshake(computes);
    assert!(booked(fixture, |account| matches!(account, Account::FullHandshake { .. })) > 10 * MS);
}

#[test]
fn a_handshake_with_a_server_that_was_not_recorded_is_one_account() {
    let mut fixture = handshake(|fixture| fixture.now += 10 * MS);
    let recording = &mut fixture.recording;
    recording.connections.retain(|row| row.id == 1);
    recording.connections[0].peer = 0;
    recording.segments.retain(|row| row.connection == 1);
    assert!(booked(fixture, |account| *account == Account::FullHandshake { part: None }) > 10 * MS);
}

/// The server's thread sleeps before it accepts, and starts a thread for the connection, which answers.
fn accepts_late(fixture: &mut Fixture) {
    fixture.waits(SERVER, 9 * MS, NANOSLEEP, |_| {});
    fixture.does(SERVER, 5 * US, ACCEPT, |call| (call.connection, call.fd, call.result) = (1001, 3, 3));
    fixture.computes(SERVER, MS, 7);
    let start = Nanos(fixture.now);
    fixture.recording.threads.push(Thread { tid: WORKER, pid: SERVER, start, ..Thread::default() });
    for (number, bytes) in [(READ, 300), (WRITE, 2000)] {
        fixture.moves(WORKER, 1001, number, bytes);
        fixture.recording.calls.last_mut().expect("a call").pid = SERVER;
    }
}

#[test]
fn until_a_connection_is_accepted_it_is_the_acceptor_that_is_waited_for() {
    let asleep = |account: &Account| matches!(account, Account::Blocked { end: End::Server, wait: Wait::Sleep, .. });
    assert!(booked(handshake(accepts_late), in_handshake(asleep)) > 8 * MS);
    let on_cpu = |account: &Account| matches!(account, Account::UserCpu { end: End::Server, .. });
    let starting = booked(handshake(accepts_late), in_handshake(on_cpu));
    assert!((MS * 9 / 10..MS * 3 / 2).contains(&starting), "{starting}");
    assert_eq!(booked(handshake(accepts_late), |account| *account == Account::FullHandshake { part: None }), 0);
    // The tree says the same.
    let answer = crate::tests::answer(&handshake(accepts_late).end());
    let tree = answer.waits.expect("somebody was waited for");
    let sleep = tree.nodes().find(|node| matches!(&node.activity, case::Activity::Blocked { wait: Wait::Sleep, .. }));
    assert!(sleep.is_some_and(|node| node.ns > 8 * MS && node.end == Some(End::Server)), "{tree:#?}");
}

/// A connect whose first SYN is dropped: it is sent again after 1 s, while the acceptor does something.
fn connects_late(meanwhile: impl Fn(&mut Fixture)) -> Fixture {
    let mut fixture = Fixture::new();
    let start = fixture.now;
    let again = start + 1_000 * MS;
    for time in [start + 2 * US, again] {
        fixture.segment(time, 1, direction::OUT, 0);
        fixture.recording.segments.last_mut().expect("a SYN").flags = flags::SYN;
    }
    // The kernel says so once it has left.
    let event = TcpEvent { time: Nanos(again + US), connection: 1, event: event::RETRANSMIT, before: 0, after: 0 };
    fixture.recording.tcp_events.push(event);
    fixture.now = again - 60 * US + 20 * US;
    fixture.connect(1, CLIENT);
    // The call began with the first SYN.
    let call = fixture.recording.calls.last_mut().expect("the connect");
    let end = call.start.0 + call.duration.0;
    (call.start, call.duration, call.blocked) = (Nanos(start), Nanos(end - start), Nanos(end - start - 2 * US));
    let switch = fixture.recording.switches.last_mut().expect("it waited");
    switch.start = Nanos(start + US);
    fixture.recording.connections.iter_mut().for_each(|row| row.opened = Nanos(start));
    let connected = fixture.now;
    fixture.now = start;
    meanwhile(&mut fixture);
    fixture.now = fixture.now.max(connected);
    fixture.does(SERVER, 5 * US, ACCEPT, |call| (call.connection, call.fd, call.result) = (1001, 3, 3));
    fixture.now = connected + 10 * US;
    let request = fixture.now;
    fixture.moves(CLIENT, 1, WRITE, 200);
    fixture.travels(request + 3 * US, 1, 1001, 200);
    fixture.waits_for(CLIENT, 1, 100 * US, 1000);
    fixture
}

fn awaited(account: &Account) -> Option<&Awaited> {
    match account {
        Account::Connect { part: Some(part) } => match &**part {
            Account::Blocked { object: Some(Object::Awaited { by }), .. } => Some(by),
            _ => None,
        },
        _ => None,
    }
}

#[test]
fn a_connect_that_is_asked_for_again_waits_for_an_acceptor_that_is_busy() {
    let sleeps = |fixture: &mut Fixture| _ = fixture.waits(SERVER, 995 * MS, NANOSLEEP, |_| {});
    let for_sleep = |account: &Account| {
        awaited(account).is_some_and(|by| matches!(by.doing, Doing::Blocked { wait: Wait::Sleep, .. }))
    };
    assert!(booked(connects_late(sleeps), for_sleep) > 990 * MS);
}

#[test]
fn a_connect_whose_first_segment_was_lost_on_the_way_waits_for_nobody() {
    let idles = |fixture: &mut Fixture| _ = fixture.waits(SERVER, 995 * MS, EPOLL_WAIT, |_| {});
    assert_eq!(booked(connects_late(idles), |account| awaited(account).is_some()), 0);
    let again = Account::Connect { part: Some(Box::new(Account::Retransmission)) };
    assert!(booked(connects_late(idles), |account| *account == again) > 990 * MS);
}

/// The thread of a server that answers questions for addresses.
const RESOLVER: u32 = SERVER + 2;

/// A look-up of 20 ms, and a request to whom it told. `woken_by` is who ended the wait for the answer.
fn looks_up(woken_by: u32) -> Fixture {
    let mut fixture = Fixture::new();
    let thread = Thread { tid: RESOLVER, pid: SERVER, start: Nanos(fixture.now), ..Thread::default() };
    fixture.recording.threads.push(thread);
    fixture.script(6, &["resolver.py:6:resolve"]);
    let asked = fixture.now;
    fixture.lookup(CLIENT, asked, direction::OUT, "host", 0);
    fixture.waits(RESOLVER, 20 * MS, NANOSLEEP, |call| (call.pid, call.script_stack) = (SERVER, 6));
    fixture.does(RESOLVER, 20 * US, WRITE, |call| call.pid = SERVER);
    let answered = fixture.now - 10 * US;
    fixture.now = asked + 5 * US;
    let read = fixture.now;
    fixture.waits(CLIENT, answered + US - read, READ, |call| call.fd = 9);
    fixture.recording.switches.last_mut().expect("it waited").waker = woken_by;
    fixture.lookup(CLIENT, read, direction::IN, "host", 0);
    fixture.connect(1, CLIENT);
    let mut idle = fixture.now;
    crate::fixture::request(&mut fixture, CLIENT, 1, 100 * US, &mut idle);
    fixture
}

#[test]
fn a_look_up_is_continued_into_a_resolver_that_was_recorded() {
    let for_sleep = |account: &Account| match account {
        Account::Lookup { part: Some(part) } => matches!(
            &**part,
            Account::Blocked { object: Some(Object::Awaited { by }), .. }
                if matches!(by.doing, Doing::Blocked { wait: Wait::Sleep, .. }) && by.code.is_some()
        ),
        _ => false,
    };
    assert!(booked(looks_up(RESOLVER), for_sleep) > 19 * MS);
    let whole = |account: &Account| *account == Account::Lookup { part: None };
    assert!(booked(looks_up(0), whole) > 19 * MS);
}

#[test]
fn what_is_lost_is_waited_for_until_it_is_sent_again() {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    let start = fixture.now;
    fixture.moves(CLIENT, 1, WRITE, 200);
    fixture.segment(start + 3 * US, 1, direction::OUT, 200);
    let again = start + 200 * MS;
    fixture.travels(again, 1, 1001, 200);
    let lost = fixture.recording.segments[0].clone();
    for segment in fixture.recording.segments.iter_mut().filter(|one| one.time.0 >= again) {
        segment.sequence = lost.sequence;
    }
    let event = TcpEvent { time: Nanos(again + US), connection: 1, event: event::RETRANSMIT, before: 0, after: 0 };
    fixture.recording.tcp_events.push(event);
    fixture.now = again + 12 * US;
    fixture.moves(SERVER, 1001, READ, 200);
    fixture.moves(SERVER, 1001, WRITE, 1000);
    let answered = fixture.now;
    fixture.travels(answered, 1001, 1, 1000);
    fixture.now = start + 5 * US;
    fixture.waits_for(CLIENT, 1, answered + 12 * US - fixture.now, 1000);
    assert!(booked(fixture, |account| *account == Account::Retransmission) > 199 * MS);
}

#[test]
fn a_request_that_is_read_in_pieces_is_the_servers_from_when_it_arrived() {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    let start = fixture.now;
    fixture.moves(CLIENT, 1, WRITE, 200);
    fixture.travels(start + 3 * US, 1, 1001, 200);
    let waiting = fixture.now;
    fixture.now = start + 12 * US;
    for _ in 0..200 {
        fixture.now += 5 * US;
        fixture.moves(SERVER, 1001, READ, 1);
    }
    fixture.moves(SERVER, 1001, WRITE, 1000);
    let answered = fixture.now;
    fixture.travels(answered, 1001, 1, 1000);
    fixture.now = waiting;
    fixture.waits_for(CLIENT, 1, answered + 12 * US - waiting, 1000);
    let of_server = |account: &Account| {
        matches!(account, Account::UserCpu { end: End::Server, .. } | Account::KernelCpu { end: End::Server })
    };
    assert!(booked(fixture, of_server) > 1990 * US);
}

/// Requests to a server that reads on for the next one while its answer is under way for 10 ms.
#[test]
fn a_server_that_reads_for_the_next_request_already_is_not_waited_for_while_its_answer_is_under_way() {
    const REQUESTS: u64 = 4;
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    let mut idle = fixture.now;
    for _ in 0..REQUESTS {
        let start = fixture.now;
        fixture.moves(CLIENT, 1, WRITE, 200);
        fixture.travels(start + 3 * US, 1, 1001, 200);
        let waiting = fixture.now;
        fixture.now = idle;
        fixture.waits_for(SERVER, 1001, start + 12 * US - idle, 200);
        let answered = fixture.now;
        fixture.moves(SERVER, 1001, WRITE, 1000);
        idle = fixture.now;
        fixture.segment(answered + 3 * US, 1001, direction::OUT, 1000);
        fixture.segment(answered + 10 * MS, 1, direction::IN, 1000);
        fixture.now = waiting;
        fixture.waits_for(CLIENT, 1, answered + 10 * MS + 10 * US - waiting, 1000);
        fixture.now += 50 * US;
    }
    let network = booked(fixture, |account| *account == Account::Network);
    assert!(network > REQUESTS * 9 * MS, "{network}");
}

/// `EPOLLIN` and `EPOLLOUT`.
const READABLE: u64 = 1;
const WRITABLE: u64 = 4;

/// An answer in two writes: between them the server polls for 50 ms, until something is found to be so. What it wrote first leaves
/// near the end of that.
fn writes_in_two(found: u64) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    let start = fixture.now;
    fixture.moves(CLIENT, 1, WRITE, 200);
    fixture.travels(start + 3 * US, 1, 1001, 200);
    let waiting = fixture.now;
    fixture.now = start + 12 * US;
    fixture.moves(SERVER, 1001, READ, 200);
    fixture.moves(SERVER, 1001, WRITE, 1000);
    fixture.waits(SERVER, 50 * MS, EPOLL_WAIT, |call| (call.result, call.argument_3) = (1, found));
    fixture.travels(fixture.now - MS, 1001, 1, 1000);
    fixture.moves(SERVER, 1001, WRITE, 500);
    let answered = fixture.now;
    fixture.travels(answered, 1001, 1, 500);
    fixture.now = waiting;
    fixture.waits_for(CLIENT, 1, answered + 12 * US - waiting, 1500);
    fixture
}

#[test]
fn a_server_that_polls_for_room_to_write_is_held_up_by_what_it_wrote() {
    let held = |account: &Account| *account == Account::HeldInKernel { end: End::Server };
    let polls = |account: &Account| matches!(account, Account::Blocked { wait: Wait::Events, .. });
    assert!(booked(writes_in_two(WRITABLE), held) > 48 * MS);
    assert_eq!(booked(writes_in_two(WRITABLE), polls), 0);
    // It waited for something else, and then had more to say.
    assert!(booked(writes_in_two(READABLE), polls) > 48 * MS);
}

const POLL: u16 = 7;

/// A request that has arrived while the server is in a poll, which returns so many descriptors 50 ms later; then the request is read.
fn read_after_a_poll(result: i64, of_one: Option<u32>) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    fixture.connect(2, CLIENT);
    let start = fixture.now;
    fixture.moves(CLIENT, 1, WRITE, 200);
    fixture.travels(start + 3 * US, 1, 1001, 200);
    let waiting = fixture.now;
    fixture.now = start + 2 * US;
    let number = if of_one.is_some() { POLL } else { EPOLL_WAIT };
    fixture.waits(SERVER, 50 * MS, number, |call| {
        call.result = result;
        if let Some(connection) = of_one {
            (call.connection, call.argument_1) = (connection, 1);
        }
    });
    fixture.moves(SERVER, 1001, READ, 200);
    fixture.moves(SERVER, 1001, WRITE, 1000);
    let answered = fixture.now;
    fixture.travels(answered, 1001, 1, 1000);
    fixture.now = waiting;
    fixture.waits_for(CLIENT, 1, answered + 12 * US - waiting, 1000);
    fixture
}

#[test]
fn a_poll_that_times_out_was_not_for_the_request_that_lay_there() {
    let wakes_up = |account: &Account| *account == Account::WakeUp { end: End::Server };
    let polls = |account: &Account| matches!(account, Account::Blocked { end: End::Server, .. });
    assert!(booked(read_after_a_poll(1, None), wakes_up) > 48 * MS);
    assert_eq!(booked(read_after_a_poll(0, None), wakes_up), 0);
    assert!(booked(read_after_a_poll(0, None), polls) > 48 * MS);
}

#[test]
fn a_worker_that_polls_the_connection_of_another_client_is_not_about_to_wake_up() {
    let wakes_up = |account: &Account| *account == Account::WakeUp { end: End::Server };
    assert!(booked(read_after_a_poll(1, Some(1001)), wakes_up) > 48 * MS);
    assert_eq!(booked(read_after_a_poll(1, Some(1002)), wakes_up), 0);
}

/// A request of one thread of a client whose answer is there after 1 ms; another thread reads it, after a pause of 50 ms.
fn read_after_a_pause(number: u16, result: i64) -> Fixture {
    const READER: u32 = CLIENT + 1;
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    let start = fixture.now;
    fixture.recording.threads.push(Thread { tid: READER, pid: CLIENT, start: Nanos(start), ..Thread::default() });
    fixture.moves(CLIENT, 1, WRITE, 200);
    fixture.travels(start + 3 * US, 1, 1001, 200);
    fixture.now = start + 12 * US;
    fixture.moves(SERVER, 1001, READ, 200);
    fixture.moves(SERVER, 1001, WRITE, 1000);
    fixture.travels(start + MS, 1001, 1, 1000);
    fixture.now = start + 5 * US;
    fixture.waits(READER, 50 * MS, number, |call| call.result = result);
    fixture.moves(READER, 1, READ, 1000);
    fixture.recording.calls.iter_mut().filter(|call| call.tid == READER).for_each(|call| call.pid = CLIENT);
    fixture
}

#[test]
fn a_thread_that_sleeps_before_it_reads_what_another_asked_for_keeps_the_answer_waiting() {
    let asleep = |account: &Account| matches!(account, Account::Blocked { end: End::Client, wait: Wait::Sleep, .. });
    let wakes_up = |account: &Account| *account == Account::WakeUp { end: End::Client };
    assert!(booked(read_after_a_pause(NANOSLEEP, 0), asleep) > 48 * MS);
    // It would wait for the answer if it had to be told of it.
    assert_eq!(booked(read_after_a_pause(EPOLL_WAIT, 1), asleep), 0);
    assert!(booked(read_after_a_pause(EPOLL_WAIT, 1), wakes_up) > 48 * MS);
    // It was told of nothing, and its time was over.
    assert_eq!(booked(read_after_a_pause(EPOLL_WAIT, 0), wakes_up), 0);
    let times_out =
        |account: &Account| matches!(account, Account::Blocked { end: End::Client, wait: Wait::Events, .. });
    assert!(booked(read_after_a_pause(EPOLL_WAIT, 0), times_out) > 48 * MS);
}
