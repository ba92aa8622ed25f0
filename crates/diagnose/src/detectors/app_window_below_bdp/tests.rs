use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
use crate::tests::{answer, names};
use case::Recording;
use case::tables::{content, direction};

const ROUND_TRIP: u64 = 20 * MS;
const WINDOW: u32 = 64_000;
/// Two WINDOW_UPDATEs, plain.
const UPDATES: u32 = 26;

/// A download in bursts.
#[derive(Clone, Copy)]
struct Download {
    /// What the client sends in the middle of each burst, and at its end.
    sends: [u32; 2],
    /// How much longer than a round trip it takes to send them.
    late: u64,
    /// How long the server computes before it sends the next burst, and how long it waits for a processor.
    computes: u64,
    preempted: u64,
    /// How long the client waits for a processor before it sends any.
    client_preempted: u64,
    /// Which of them lets the next burst begin.
    begins_at: usize,
    /// The bytes of a burst, by its number.
    burst: fn(u32) -> u32,
    round_trip: u64,
    is_http2: bool,
    has_server: bool,
}

const HELD: Download = Download {
    sends: [UPDATES; 2],
    late: 0,
    computes: 0,
    preempted: 0,
    client_preempted: 0,
    begins_at: 1,
    burst: |_| WINDOW,
    round_trip: ROUND_TRIP,
    is_http2: true,
    has_server: true,
};

impl Download {
    fn recording(self) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        let asked = fixture.now;
        fixture.moves(CLIENT, 1, WRITE, 100);
        if self.is_http2 {
            fixture.recording.calls.last_mut().expect("a write").content = content::HTTP2_PREFACE;
        }
        fixture.segment(asked, 1, direction::OUT, 100);
        let half = self.round_trip / 2;
        let mut released = asked + half;
        fixture.segment(released, 1001, direction::IN, 100);
        for number in 0..20 {
            let burst = (self.burst)(number);
            fixture.now = released;
            fixture.moves(SERVER, 1001, READ, 100);
            fixture.now += self.computes;
            fixture.preempted(SERVER, self.preempted);
            fixture.moves(SERVER, 1001, WRITE, i64::from(burst));
            let left = fixture.now - 4 * US;
            let arrives = |part: u64| left + part * 30 * US + half;
            for part in 0..2 {
                fixture.segment(arrives(part) - half, 1001, direction::OUT, burst / 2);
                fixture.segment(arrives(part), 1, direction::IN, burst / 2);
                fixture.segment(arrives(part) + 6 * US, 1, direction::OUT, 0);
                fixture.segment(arrives(part) + half + 6 * US, 1001, direction::IN, 0);
                fixture.now = arrives(part) + US;
                fixture.moves(CLIENT, 1, READ, i64::from(burst / 2));
            }
            fixture.now = arrives(1) + 8 * US;
            fixture.preempted(CLIENT, self.client_preempted);
            for (part, sends) in (0..2).zip(self.sends).filter(|(_, sends)| *sends > 0) {
                fixture.now = arrives(part) + self.late + self.client_preempted + 10 * US;
                fixture.segment(fixture.now, 1, direction::OUT, sends);
                let arrives = fixture.now + half;
                fixture.segment(arrives, 1001, direction::IN, sends);
                released = if part as usize <= self.begins_at { arrives } else { released };
                fixture.moves(CLIENT, 1, WRITE, i64::from(sends));
            }
        }
        fixture.now = released;
        if !self.has_server {
            fixture.recording.connections.truncate(1);
            fixture.recording.connections[0].peer = 0;
            fixture.recording.segments.retain(|row| row.connection == 1);
        }
        fixture.end()
    }

    fn is_found(self) -> bool {
        names(&self.recording()).contains(&"app-window-below-bdp".to_string())
    }
}

#[test]
fn bursts_of_a_window_that_updates_let_go_are_found_with_the_throughput_they_allow() {
    let answer = answer(&HELD.recording());
    let finding = answer.findings.iter().find(|one| one.name == "app-window-below-bdp").expect("it is found");
    assert!(finding.title.starts_with("The client's HTTP/2 window lets 64 kB leave the server"), "{}", finding.title);
    assert!(finding.cost.share_of_wall > 0.9, "{:?}", finding.cost);
    assert!(finding.mechanism[1].contains("25.6 Mbit/s"), "{:?}", finding.mechanism);
    let others: Vec<_> = answer.findings.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(others, ["app-window-below-bdp"], "the turns are no requests of the program's");
}

#[test]
fn it_is_found_from_the_clients_end_alone() {
    assert!(Download { has_server: false, ..HELD }.is_found());
}

#[test]
fn updates_that_come_in_pairs_are_no_questions_though_pairs_are_further_apart_than_a_round_trip() {
    assert!(Download { late: MS, begins_at: 0, ..HELD }.is_found());
    // One at a time may be a question.
    assert!(!Download { sends: [UPDATES, 0], late: MS, begins_at: 0, ..HELD }.is_found());
}

#[test]
fn a_sender_that_waits_for_a_processor_goes_on_late_and_one_that_computes_does_not_wait_for_a_window() {
    assert!(Download { preempted: 4 * MS, ..HELD }.is_found());
    assert!(!Download { computes: 4 * MS, ..HELD }.is_found());
    assert!(Download { client_preempted: 40 * MS, ..HELD }.is_found());
    assert!(!Download { late: 40 * MS, ..HELD }.is_found());
}

#[test]
fn what_lacks_one_sign_of_a_window_is_left_alone() {
    // Bursts that grow are a slow start; those of all sizes are answers.
    assert!(!Download { burst: |number| WINDOW + number * 20_000, ..HELD }.is_found());
    // A question of its own for each, also one of an update's length.
    assert!(!Download { sends: [0, 80], ..HELD }.is_found());
    assert!(!Download { sends: [0, UPDATES], ..HELD }.is_found());
    // A receiver that takes its time; a path that is short; another protocol.
    assert!(!Download { late: 100 * MS, ..HELD }.is_found());
    assert!(!Download { round_trip: 100 * US, ..HELD }.is_found());
    assert!(!Download { is_http2: false, ..HELD }.is_found());
}
