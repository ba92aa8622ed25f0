//! Sweeps: cliffs are found where they are and explained, linear growth and growth out of hand are distinguished.

use super::running::{Asked, ask, expect_readme, three_lines, whyslow};
use case::{Growth, Regime, Sweep};
use testing::{beside_others, budget, is_root};

/// Bytes of a packet that are not a segment's content: the headers of IP and TCP, and TCP's timestamps.
const HEADERS: u32 = 52;
/// Bytes that TLS 1.3 adds to a record's content: a head of 5, the kind of content, a tag of 16.
const RECORD: u32 = 22;
/// A cliff this many bytes from where the segment ends is in its place.
const NEAR: f64 = 8.0;

fn sweep(story: &str, words: &[&str], variables: &[(&str, &str)]) -> Option<Asked<Sweep>> {
    ask(story, words, variables, |text| serde_json::from_slice(text))
}

fn is_held(regime: &Regime) -> bool {
    regime.findings.iter().any(|finding| finding.name == "nagle-delayed-ack")
}

/// Sweeps nagle's client over TLS through the sizes of its body, on a link of that MTU.
fn expect_cliff_at_a_segment(mtu: u32) {
    let _turn = beside_others();
    let variables = [("MTU", &mtu.to_string()[..]), ("SIZES", "128..4K:log")];
    let Some(asked) = sweep("sizes", &["slow", "--budget", &budget(70)], &variables) else { return };
    let swept = &asked.document;
    let (mss, fits) = (mtu - HEADERS, f64::from(mtu - HEADERS - RECORD));
    let [cliff, others @ ..] = swept.cliffs.as_slice() else { panic!("no cliff: {swept:#?}\n{}", asked.stderr) };
    // A further segment costs some microseconds more, and on a quiet machine that is seen, too: nothing else is.
    for other in others {
        let past = (other.above + f64::from(RECORD)) % f64::from(mss);
        assert!(past <= NEAR || past >= f64::from(mss) - NEAR, "not where a segment is full: {other:#?}");
        assert!(other.level_above < 2.0 * other.level_below, "{other:#?}");
    }
    assert!(cliff.below >= fits - NEAR && cliff.above <= fits + NEAR, "not at {fits}: {cliff:#?}");
    // 40 ms held, or well under one.
    assert!(cliff.level_below > 20.0 * cliff.level_above, "{cliff:#?}");
    let tie = cliff.segment.as_ref().unwrap_or_else(|| panic!("not tied to the segment: {cliff:#?}"));
    assert_eq!(tie.mss, mss, "{cliff:#?}");
    assert!((tie.predicted - fits).abs() <= NEAR, "not at {fits}: {cliff:#?}");
    assert!(cliff.reason.contains("segment") && cliff.reason.contains(&mss.to_string()), "{}", cliff.reason);
    assert!(swept.points.len() <= 30 + 12 * others.len(), "{} points", swept.points.len());
    let [below, above @ ..] = swept.regimes.as_slice() else { panic!("no regimes: {:#?}", swept.regimes) };
    assert_eq!(above.len(), 1 + others.len(), "{above:#?}");
    assert!(is_held(below) && !above.iter().any(is_held), "{below:#?}\n{above:#?}");
    assert_eq!(asked.exit, Some(1), "a cliff was found\n{}", asked.stderr);
    expect_readme("sweep", &asked.case);
}

#[test]
#[ignore = "long: make stories"]
fn a_request_is_fast_once_it_fills_a_segment() {
    expect_cliff_at_a_segment(1500);
}

#[test]
#[ignore = "long: make stories"]
fn with_shorter_packets_the_cliff_is_at_the_shorter_segment() {
    expect_cliff_at_a_segment(1000);
}

#[test]
fn a_client_that_holds_nothing_back_has_no_cliff() {
    let _turn = beside_others();
    let words = ["fixed", "--budget", &budget(20)];
    let Some(asked) = sweep("sizes", &words, &[("SIZES", "256..4K:log")]) else { return };
    let swept = &asked.document;
    assert!(swept.cliffs.is_empty(), "{:#?}", swept.cliffs);
    assert_eq!(swept.points.iter().filter(|point| point.trials > 0).count(), 5, "{:#?}", swept.points);
    assert!(!swept.regimes.iter().any(is_held), "{:#?}", swept.regimes);
}

fn growth(asked: &Asked<Sweep>) -> &Growth {
    let said = || panic!("no growth: {:#?}\n{}", asked.document, asked.stderr);
    asked.document.growth.as_ref().unwrap_or_else(said)
}

#[test]
#[ignore = "long: make stories"]
fn a_list_read_with_sscanf_grows_out_of_hand_in_sscanf() {
    let _turn = beside_others();
    let Some(asked) = sweep("gta", &["slow", "sweep", "--budget", &budget(24)], &[]) else { return };
    let growth = growth(&asked);
    assert!(growth.out_of_hand && growth.low > 1.5 && growth.exponent > 1.8, "{growth:#?}");
    assert!(growth.exponent < 3.0 && growth.low <= growth.exponent && growth.exponent <= growth.high, "{growth:#?}");
    let place = growth.chain.iter().position(|one| one.function.contains("sscanf"));
    let place = place.unwrap_or_else(|| panic!("sscanf is not in the chain: {:#?}", growth.chain));
    // Where glibc's own functions have names, the one that looks for the end of the text is behind it.
    let is_named = |name: &str| !name.is_empty() && !name.contains("+0x");
    let behind = &growth.chain[place + 1..];
    let is_the_end = |name: &str| name.contains("rawmemchr") || name.contains("strlen");
    let innermost = behind.last().map_or("", |last| last.function.as_str());
    assert!(!is_named(innermost) || behind.iter().any(|one| is_the_end(&one.function)), "{:#?}", growth.chain);
    assert!(growth.chain[place].exponent > 1.5 && growth.chain[place].share > 0.5, "{:#?}", growth.chain);
    assert_eq!(asked.exit, Some(1), "{}", asked.stderr);
}

#[test]
#[ignore = "long: make stories"]
fn linear_work_and_sorting_are_not_out_of_hand() {
    for variant in ["linear", "sorting"] {
        let _turn = beside_others();
        let Some(asked) = sweep("gta", &[variant, "sweep", "--budget", &budget(15)], &[]) else { return };
        let growth = growth(&asked);
        assert!(!growth.out_of_hand, "{variant}: {growth:#?}");
        assert!(growth.low < 1.25 && growth.high > 0.9, "{variant}: {growth:#?}");
        assert!(asked.document.cliffs.is_empty(), "{variant}: {:#?}", asked.document.cliffs);
        assert_eq!(asked.exit, Some(0), "{variant}: {}", asked.stderr);
    }
}

#[test]
fn what_cannot_be_swept_is_said_in_three_lines() {
    if !is_root() {
        return;
    }
    let refused = |vary: &str, word: &str| {
        let output = whyslow().args(["sweep", "--vary", vary, "--", "echo", word]).output().expect("whyslow");
        three_lines(&output)
    };
    let mistyped = refused("size=1,2,4", "{sise}").concat();
    assert!(mistyped.contains("size"), "{mistyped}");
    for (vary, word) in [("size=5..2", "empty"), ("size=", "empty"), ("size=1..many", "many"), ("size", "NAME=")] {
        let said = refused(vary, "{size}").concat();
        assert!(said.contains(word), "{vary}: {said}");
    }
}
