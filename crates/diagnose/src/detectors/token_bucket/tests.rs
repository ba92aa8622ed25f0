use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
use crate::tests::{answer, names};
use case::tables::{TcpEvent, event};
use case::{Nanos, Recording};

const NANOSLEEP: u16 = 35;
const TICKS: u64 = 2_000;

/// How an answer of two seconds comes.
#[derive(Clone, Copy)]
struct Answer {
    /// What arrives in each millisecond.
    rate: fn(u64) -> u32,
    /// Whether the receiver sleeps between its reads, and the sender writes only what leaves at once.
    receiver_is_slow: bool,
    sender_is_slow: bool,
    /// Whether every tenth segment is sent again.
    is_lossy: bool,
}

const SHAPED: Answer = Answer {
    rate: |tick| if tick < 500 { 50_000 } else { 10_000 },
    receiver_is_slow: false,
    sender_is_slow: false,
    is_lossy: false,
};

fn one_answer(how: Answer) -> Recording {
    let mut fixture = Fixture::new();
    fixture.script(6, &["client.py:4:download"]);
    fixture.connect(1, CLIENT);
    fixture.moves(CLIENT, 1, WRITE, 200);
    fixture.travels(fixture.now, 1, 1001, 200);
    let start = fixture.now + 50 * US;
    fixture.now = start;
    fixture.moves(SERVER, 1001, READ, 200);
    let whole: i64 = (0..TICKS).map(|tick| i64::from((how.rate)(tick))).sum();
    if !how.sender_is_slow {
        fixture.moves(SERVER, 1001, WRITE, whole);
    }
    for tick in 0..TICKS {
        let (at, bytes) = (start + 20 * US + tick * MS, (how.rate)(tick));
        if how.sender_is_slow {
            fixture.now = at - 5 * US;
            fixture.moves(SERVER, 1001, WRITE, i64::from(bytes));
        }
        fixture.travels(at, 1001, 1, bytes);
        fixture.acknowledges(at + 6 * US, 1, 1001);
        if how.is_lossy && tick % 10 == 0 {
            let (event, time) = (event::RETRANSMIT, Nanos(at + US));
            fixture.recording.tcp_events.push(TcpEvent { time, connection: 1001, event, before: 0, after: 0 });
        }
        fixture.now = at - 990 * US;
        if how.receiver_is_slow {
            fixture.waits(CLIENT, 985 * US, NANOSLEEP, |_| {});
            fixture.now = at + 6 * US;
            fixture.moves(CLIENT, 1, READ, i64::from(bytes));
        } else {
            fixture.waits_for(CLIENT, 1, 996 * US, i64::from(bytes));
            fixture.recording.calls.last_mut().expect("a call").script_stack = 6;
        }
    }
    fixture.off(SERVER, start + 100 * US, fixture.now + MS);
    fixture.end()
}

fn is_found(how: Answer) -> bool {
    names(&one_answer(how)).contains(&"token-bucket".to_string())
}

#[test]
fn a_rate_that_drops_in_one_step_and_stays_is_found_with_the_bucket_and_both_rates() {
    let answer = answer(&one_answer(SHAPED));
    let finding = answer.findings.iter().find(|one| one.name == "token-bucket").expect("it is found");
    assert!(finding.title.contains("After 25 MB"), "{}", finding.title);
    assert!(finding.title.contains("from 40") && finding.title.contains("to 80.1 Mbit/s"), "{}", finding.title);
    // Of 25 MB in 500 ms, tokens for 5 MB came in meanwhile; 20 MB at 10 MB/s take two seconds.
    assert!(finding.mechanism[2].contains("A bucket of 20 MB"), "{:?}", finding.mechanism);
    assert!(finding.mechanism[2].contains("1.98 s without traffic"), "{:?}", finding.mechanism);
    // Of two seconds, one and a half are slow, and take five times as long as at the first rate.
    assert!((0.55..0.65).contains(&finding.cost.share_of_wall), "{:?}", finding.cost);
    assert_eq!(finding.place[0].line, 4);
}

#[test]
fn one_rate_throughout_and_a_slow_beginning_are_left_alone() {
    assert!(!is_found(Answer { rate: |_| 10_000, ..SHAPED }));
    assert!(!is_found(Answer { rate: |tick| if tick < 500 { 10_000 } else { 50_000 }, ..SHAPED }));
    assert!(!is_found(Answer { rate: |tick| if tick < 20 { 50_000 } else { 10_000 }, ..SHAPED }));
}

#[test]
fn a_slow_receiver_a_slow_sender_and_loss_explain_it_themselves() {
    assert!(!is_found(Answer { receiver_is_slow: true, ..SHAPED }));
    assert!(!is_found(Answer { sender_is_slow: true, ..SHAPED }));
    assert!(!is_found(Answer { is_lossy: true, ..SHAPED }));
}
