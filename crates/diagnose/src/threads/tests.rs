use super::*;
use crate::fixture::{CLIENT, Fixture, READ, US};

fn states(recording: &Recording, from: u64, to: u64) -> Vec<(u64, State, bool)> {
    let threads = Threads::new(recording, &Windows::default());
    let mut states = Vec::new();
    let slot = threads.slot(CLIENT).expect("a thread");
    threads.walk(slot, from, to, &mut Cursor::default(), &mut |moment| {
        states.push(((moment.end - moment.start) / US, moment.state, moment.call.is_some()));
    });
    states
}

#[test]
fn a_blocked_call_is_split_into_its_three_parts() {
    let mut fixture = Fixture::new();
    let start = fixture.now;
    fixture.waits(CLIENT, 50 * US, READ, |_| {});
    fixture.now += 10 * US;
    let end = fixture.now;
    let moments = states(&fixture.end(), start, end);
    let on = State::OnProcessor;
    assert_eq!(moments, [(1, on, true), (48, State::Blocked, true), (1, on, true), (10, on, false)]);
}

#[test]
fn between_being_woken_and_running_a_thread_is_runnable() {
    let mut fixture = Fixture::new();
    let start = fixture.now;
    fixture.off(CLIENT, start, start + 30 * US);
    fixture.recording.switches[0].runnable = case::Nanos(start + 20 * US);
    fixture.now += 40 * US;
    let moments = states(&fixture.end(), start, start + 40 * US);
    let expected = [(20, State::Blocked, false), (10, State::Runnable, false), (10, State::OnProcessor, false)];
    assert_eq!(moments, expected);
}

#[test]
fn without_switches_a_call_is_believed_about_having_blocked() {
    let mut fixture = Fixture::new();
    let start = fixture.now;
    fixture.does(CLIENT, 50 * US, READ, |call| call.blocked = case::Nanos(40 * US));
    let moments = states(&fixture.end(), start, start + 50 * US);
    assert_eq!(moments, [(40, State::Blocked, true), (10, State::OnProcessor, true)]);
}
