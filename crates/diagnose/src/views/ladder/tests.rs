use super::super::choice::Chosen;
use crate::Analysis;
use crate::exchange::Exchange;
use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE, keep_alive};
use case::Recording;
use case::tables::TlsRecord;
use case::views::{EventKind, Ladder, LadderEvent};

const IOCTL: u16 = 16;
const EPOLL_CTL: u16 = 233;

/// The ladder of the longest exchange.
fn longest(recording: &Recording) -> Ladder {
    let analysis = Analysis::new(recording);
    let lengths = analysis.exchanges.iter().map(Exchange::length);
    let (index, _) = lengths.enumerate().max_by_key(|&(_, length)| length).expect("an exchange");
    super::ladders(&analysis, &[Chosen { why: case::views::Why::Worst, index }]).remove(0)
}

/// A head of 112 bytes and a body of 109 that waits for the head's acknowledgement.
fn held_body() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    fixture.script(7, &["/srv/client.py:31:send_body"]);
    let start = fixture.now;
    fixture.moves(CLIENT, 1, WRITE, 112);
    fixture.travels(start + 3 * US, 1, 1001, 112);
    let body = fixture.moves(CLIENT, 1, WRITE, 109);
    fixture.recording.calls[body].script_stack = 7;
    let time = fixture.recording.calls[body].start;
    let record = TlsRecord { time, connection: 1, tid: CLIENT, direction: 1, content_type: 23, ..TlsRecord::default() };
    let direction = case::tables::direction::OUT;
    fixture.recording.tls_records.push(TlsRecord { direction, length: 104, ..record });
    let (waiting, acknowledged) = (fixture.now, start + 41 * MS);
    fixture.timer_fires(acknowledged - 6 * US, 1001);
    fixture.acknowledges(acknowledged, 1001, 1);
    fixture.travels(acknowledged + 25 * US, 1, 1001, 109);
    fixture.now = acknowledged + 40 * US;
    fixture.moves(SERVER, 1001, READ, 109);
    fixture.moves(SERVER, 1001, WRITE, 300);
    fixture.travels(acknowledged + 100 * US, 1001, 1, 300);
    fixture.now = waiting;
    fixture.waits_for(CLIENT, 1, acknowledged + 110 * US - waiting, 300);
    fixture
}

fn find<'l>(ladder: &'l Ladder, kind: EventKind, label: &str) -> &'l LadderEvent {
    let found = ladder.events.iter().find(|event| event.kind == kind && event.label.starts_with(label));
    found.unwrap_or_else(|| panic!("no {label}: {:#?}", ladder.events))
}

#[test]
fn held_bytes_leave_forty_milliseconds_after_their_write() {
    let ladder = longest(&held_body().end());
    let write = find(&ladder, EventKind::Write, "write 109 bytes");
    let left = find(&ladder, EventKind::Segment, "109 bytes, held for 41.0 ms");
    assert!(left.at - write.at > 40 * MS, "{write:?} {left:?}");
    assert_eq!(write.records, ["application data, 104 bytes"]);
    let place = write.place.as_ref().expect("a place");
    assert_eq!((place.line, place.function.as_str()), (31, "send_body"));
    let timer = find(&ladder, EventKind::Tcp, "the delayed-ACK timer fires");
    assert_eq!((timer.lane, ladder.lanes[1].process.as_str()), (1, "server (200)"));
    let held = ladder
        .stretches
        .iter()
        .find(|stretch| stretch.account == case::Account::HeldByNagle { end: case::End::Client })
        .expect("a hold");
    assert!(held.to - held.from > 40 * MS, "{held:?}");
}

#[test]
fn stretches_add_up_to_the_exchange_without_gaps() {
    for recording in [held_body().end(), keep_alive(3, 300 * US).end()] {
        let ladder = longest(&recording);
        let mut at = 0;
        for stretch in &ladder.stretches {
            assert_eq!(stretch.from, at, "{:?}", ladder.stretches);
            assert!(stretch.to > stretch.from);
            at = stretch.to;
        }
        assert_eq!(at, ladder.length_ns);
        assert!(ladder.stretches.windows(2).all(|pair| pair[0].account != pair[1].account));
    }
}

#[test]
fn a_segment_arrives_at_the_other_end() {
    let ladder = longest(&held_body().end());
    let flights =
        ladder.events.iter().filter(|event| matches!(event.kind, EventKind::Segment | EventKind::Acknowledgement));
    let mut count = 0;
    for event in flights {
        let arrival = &ladder.events[event.arrives.expect("an arrival")];
        assert_eq!(arrival.kind, EventKind::Arrival);
        assert_eq!((arrival.lane, arrival.at - event.at), (1 - event.lane, 5 * US));
        count += 1;
    }
    assert_eq!(count, 4);
}

#[test]
fn repetitions_are_folded_and_the_first_and_the_last_step_stay() {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    let start = fixture.now;
    fixture.moves(CLIENT, 1, WRITE, 200);
    fixture.travels(start + 3 * US, 1, 1001, 200);
    fixture.now = start + 20 * US;
    fixture.moves(SERVER, 1001, READ, 200);
    for _ in 0..253 {
        for number in [IOCTL, IOCTL, EPOLL_CTL] {
            fixture.does(SERVER, 2 * US, number, |call| call.fd = 7);
        }
    }
    let answered = fixture.now;
    fixture.moves(SERVER, 1001, WRITE, 300);
    fixture.travels(answered + 3 * US, 1001, 1, 300);
    fixture.now = start + 10 * US;
    fixture.waits_for(CLIENT, 1, answered - start, 300);
    let ladder = longest(&fixture.end());
    assert!(ladder.events.len() < 20, "{:#?}", ladder.events);
    assert_eq!(ladder.left_out, 0);
    assert_eq!(find(&ladder, EventKind::Call, "ioctl").times, 506);
    assert_eq!(find(&ladder, EventKind::Call, "epoll_ctl").times, 253);
    let moved = |kind: EventKind, lane: usize| ladder.events.iter().any(|row| (row.kind, row.lane) == (kind, lane));
    assert!(moved(EventKind::Write, 0) && moved(EventKind::Read, 0));
    assert!(moved(EventKind::Read, 1) && moved(EventKind::Write, 1));
}

#[test]
fn many_different_calls_stay_readable_and_keep_both_borders() {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    fixture.moves(CLIENT, 1, WRITE, 200);
    for turn in 0..1100_u64 {
        let bytes = if turn % 7 == 3 { 5 } else { 0 };
        fixture.does(CLIENT, 2 * US, [IOCTL, EPOLL_CTL, 3, READ][(turn * turn % 11 % 4) as usize], |call| {
            (call.connection, call.result) = (u32::from(bytes > 0), bytes);
        });
    }
    fixture.waits_for(CLIENT, 1, 100 * US, 300);
    let ladder = longest(&fixture.end());
    assert!(ladder.events.len() <= 80, "{}", ladder.events.len());
    find(&ladder, EventKind::Write, "write 200 bytes");
    assert_eq!(ladder.events[ladder.events.len() - 1].label, "read 300 bytes");
}

#[test]
fn an_end_that_was_not_recorded_has_a_life_line_without_a_process() {
    let mut recording = held_body().end();
    recording.connections.retain(|row| row.id == 1);
    recording.connections[0].peer = 0;
    recording.segments.retain(|row| row.connection == 1);
    recording.tcp_events.clear();
    recording.calls.retain(|row| row.tid == CLIENT);
    let ladder = longest(&recording);
    assert_eq!((ladder.lanes[0].process.as_str(), ladder.lanes[1].process.as_str()), ("client (100)", ""));
    assert!(ladder.events.iter().all(|event| event.lane == 0 && event.arrives.is_none()));
    find(&ladder, EventKind::Segment, "109 bytes");
    find(&ladder, EventKind::Arrival, "300 bytes");
}
