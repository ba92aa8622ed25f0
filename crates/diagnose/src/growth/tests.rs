use super::*;
use crate::fixture::{CLIENT, Fixture, MS};

/// A run that scans for some milliseconds and draws for some others.
fn run(scanning: u64, drawing: u64) -> [Recording; 1] {
    let mut fixture = Fixture::new();
    fixture.stack(1, &["libc.so.6!__rawmemchr_evex", "libc.so.6!__isoc99_sscanf", "tool!parse", "tool!main"]);
    fixture.computes(CLIENT, scanning * MS, 1);
    fixture.stack(2, &["tool!draw", "tool!main"]);
    fixture.computes(CLIENT, drawing * MS, 2);
    [fixture.end()]
}

#[test]
fn the_chain_that_grows_is_followed_to_its_end() {
    let chain = growth((1000.0, &run(100, 50)), (4000.0, &run(1600, 200)));
    let functions: Vec<&str> = chain.iter().map(|row| row.function.as_str()).collect();
    assert_eq!(functions, ["main", "parse", "__isoc99_sscanf", "__rawmemchr_evex"]);
    let last = &chain[3];
    assert!((last.exponent - 2.0).abs() < 0.01 && (last.share - 1600.0 / 1800.0).abs() < 0.01, "{last:?}");
    assert!(chain[0].exponent < last.exponent);
}

#[test]
fn what_is_called_from_two_places_grows_in_both() {
    let run = |each: u64| {
        let mut fixture = Fixture::new();
        for (stack, caller) in [(1, "tool!names"), (2, "tool!prices")] {
            fixture.stack(stack, &["libc.so.6!__rawmemchr_evex", "libc.so.6!__isoc99_sscanf", caller, "tool!main"]);
            fixture.computes(CLIENT, each * MS, stack);
        }
        [fixture.end()]
    };
    let chain = growth((1000.0, &run(50)), (4000.0, &run(800)));
    let functions: Vec<&str> = chain.iter().map(|row| row.function.as_str()).collect();
    assert_eq!(functions[0], "main");
    assert_eq!(functions[functions.len() - 2..], ["__isoc99_sscanf", "__rawmemchr_evex"]);
}

#[test]
fn what_was_too_short_to_be_seen_counts_as_half_a_sample() {
    let chain = growth((1000.0, &run(0, 50)), (4000.0, &run(1600, 50)));
    let expected = (1600.0f64 / 0.5).ln() / 4.0f64.ln();
    assert!((chain[1].exponent - expected).abs() < 0.01, "{chain:?}");
}

#[test]
fn what_does_not_grow_has_no_chain() {
    assert_eq!(growth((1000.0, &run(100, 50)), (4000.0, &run(110, 50))), []);
    assert_eq!(growth((1000.0, &run(1, 0)), (4000.0, &run(10, 0))), []);
    assert_eq!(growth((4000.0, &run(100, 50)), (1000.0, &run(1600, 50))), []);
    assert_eq!(growth((0.0, &run(100, 50)), (1000.0, &run(1600, 50))), []);
    assert_eq!(growth((1.0, &[]), (2.0, &[])), []);
}

#[test]
fn a_gain_that_spreads_out_ends_the_chain() {
    let chain = growth((1000.0, &run(100, 100)), (4000.0, &run(1000, 1050)));
    assert_eq!(chain.len(), 2, "{chain:?}");
    let chain = growth((1000.0, &run(100, 100)), (4000.0, &run(400, 400)));
    assert!(chain.iter().all(|row| (row.exponent - 1.0).abs() < 0.01), "{chain:?}");
}
