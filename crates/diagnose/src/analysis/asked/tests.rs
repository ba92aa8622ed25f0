use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
use crate::{Analysis, Exchange};
use case::tables::role;
use case::{Activity, Recording, WaitTree};

const SLOW: u32 = 1001;
const BEHIND: u32 = 50;

/// An event loop, watched alone, that asks a database for each of twenty requests of one client, and answers ten of another client,
/// of 4 ms of CPU time each, before it reads what the database said. Where it is told to, it then reads something else before
/// it goes on.
fn event_loop(reads_another_first: bool) -> Recording {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    fixture.connect(2, CLIENT);
    fixture.asks_elsewhere(BEHIND, 5432);
    fixture.asks_elsewhere(BEHIND + 1, 5433);
    for _ in 0..20 {
        fixture.waits(SERVER, MS, EPOLL_WAIT, |_| {});
        fixture.moves(SERVER, SLOW, READ, 100);
        fixture.moves(SERVER, BEHIND, WRITE, 100);
        for _ in 0..10 {
            fixture.waits(SERVER, MS, EPOLL_WAIT, |_| {});
            fixture.moves(SERVER, 1002, READ, 100);
            fixture.now += 4 * MS;
            fixture.moves(SERVER, 1002, WRITE, 200);
        }
        fixture.waits(SERVER, MS, EPOLL_WAIT, |_| {});
        fixture.moves(SERVER, BEHIND, READ, 200);
        if reads_another_first {
            fixture.moves(SERVER, 1002, READ, 100);
        }
        fixture.now += 50 * US;
        fixture.moves(SERVER, SLOW, WRITE, 200);
    }
    let mut recording = fixture.end();
    recording.connections.retain(|row| row.role == role::SERVER || row.id == BEHIND || row.id == BEHIND + 1);
    recording.connections.iter_mut().for_each(|row| row.peer = 0);
    recording.calls.retain(|call| call.tid == SERVER);
    recording.segments.clear();
    recording
}

/// What the slow client's requests wait for.
fn of_the_slow(recording: &Recording) -> WaitTree {
    let analysis = Analysis::new(recording);
    let is_slow = |one: &Exchange| analysis.connections.row(one.connection).id == SLOW;
    let slow: Vec<usize> = (0..analysis.exchanges.len()).filter(|&index| is_slow(&analysis.exchanges[index])).collect();
    assert_eq!(slow.len(), 20);
    crate::waits::tree_of(&analysis, &slow).expect("they wait")
}

#[test]
fn a_request_waits_for_whom_it_was_asked_for_and_not_for_what_is_done_for_others_meanwhile() {
    let tree = of_the_slow(&event_loop(false));
    let first = &tree.branches[0];
    let remote = match &first.activity {
        Activity::Blocked { object: Some(case::facts::Object::Connection { remote }), .. } => remote.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(remote.as_deref(), Some("10.0.0.3:5432"), "{tree:#?}");
    assert!(first.ns * 100 > tree.of_ns * 98 && first.count == 20, "{tree:#?}");
}

#[test]
fn nothing_is_known_where_order_does_not_tell_whom_an_answer_is_for() {
    let tree = of_the_slow(&event_loop(true));
    assert_eq!(tree.branches[0].activity, Activity::OnCpu, "{tree:#?}");
}
