//! Which exchanges are shown step by step.

use super::*;
use crate::fixture::{CLIENT, Fixture, MS, SERVER, US, keep_alive, request};
use crate::views::{exchanges, lengths};
use case::Recording;

/// Why and which, by numbers.
fn chosen(recording: &Recording) -> Vec<(Why, usize)> {
    let analysis = Analysis::new(recording);
    let breakdown = analysis.breakdown();
    let chosen = ladders(&analysis, breakdown, &exchanges::accounts(breakdown), &lengths::longest_first(&analysis));
    chosen.into_iter().map(|one| (one.why, one.index + 1)).collect()
}

/// Requests whose answers take so long to think of, over one connection.
fn thoughts(lengths: &[u64]) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    let mut server_idle = fixture.now;
    for &think in lengths {
        request(&mut fixture, CLIENT, 1, think, &mut server_idle);
        fixture.now += 20 * US;
    }
    fixture.off(SERVER, server_idle, fixture.now + MS);
    fixture
}

#[test]
fn a_typical_a_worst_and_a_best_exchange_are_chosen() {
    let picked = chosen(&thoughts(&[900 * US, 300 * US, 310 * US, 9 * MS, 320 * US, 100 * US]).end());
    assert_eq!(picked, [(Why::Typical, 3), (Why::Worst, 4), (Why::Best, 6)]);
}

#[test]
fn the_first_exchange_of_a_connection_is_not_typical_of_many() {
    // The first one has the middle length, and is set up.
    let picked = chosen(&thoughts(&[240 * US, 100 * US, 200 * US, 400 * US, 500 * US]).end());
    assert_eq!(picked[0].0, Why::Typical);
    assert_ne!(picked[0].1, 1);
}

#[test]
fn an_account_of_one_long_exchange_is_not_typical() {
    let mut fixture = thoughts(&[300 * US; 20]);
    fixture.path(7, "/var/lib/data");
    let start = fixture.now;
    fixture.moves(CLIENT, 1, crate::fixture::WRITE, 200);
    fixture.waits(CLIENT, 500 * MS, 74, |call| call.path = 7);
    fixture.waits_for(CLIENT, 1, 200 * US, 100);
    assert!(fixture.now > start + 500 * MS);
    let picked = chosen(&fixture.end());
    assert_eq!(picked[1], (Why::Worst, 21));
    assert_ne!(picked[0].1, 21);
    let mut numbers: Vec<usize> = picked.iter().map(|one| one.1).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), picked.len(), "{picked:?}");
}

#[test]
fn few_exchanges_have_fewer_ladders() {
    assert_eq!(chosen(&Recording::default()), []);
    assert_eq!(chosen(&thoughts(&[MS]).end()), [(Why::Typical, 1)]);
    assert_eq!(chosen(&thoughts(&[MS, 2 * MS]).end()), [(Why::Worst, 2), (Why::Best, 1)]);
    assert_eq!(chosen(&keep_alive(3, 300 * US).end()).len(), 3);
}
