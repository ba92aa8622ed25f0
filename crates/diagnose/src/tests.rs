//! What a diagnosis promises as a whole: it adds up, it repeats itself exactly, it is silent about healthy programs.

use crate::fixture::{CLIENT, Fixture, US, keep_alive};
use crate::{Analysis, Options, explain, pages};
use case::{Answer, Recording, Verdict};
use std::time::{Duration, Instant};

pub fn answer(recording: &Recording) -> Answer {
    Analysis::new(recording).answer("case", Options::default())
}

pub fn names(recording: &Recording) -> Vec<String> {
    answer(recording).findings.into_iter().map(|finding| finding.name).collect()
}

fn add_up(ledger: &case::Ledger) {
    assert_eq!(ledger.accounts.iter().map(|account| account.ns).sum::<u64>(), ledger.total, "{ledger:?}");
    assert_eq!(ledger.overbooked, 0, "{ledger:?}");
}

fn every_ledger_adds_up(analysis: &Analysis) {
    add_up(&analysis.exchange_ledger());
    analysis.thread_ledgers().iter().for_each(|(_, ledger)| add_up(ledger));
    analysis.exchange_ledgers().iter().for_each(add_up);
}

#[test]
fn a_healthy_program_is_accused_of_nothing() {
    let answer = answer(&keep_alive(200, 300 * US).end());
    assert_eq!(answer.verdict, Verdict::None);
    assert_eq!(answer.findings, []);
    assert_eq!(answer.exchanges, 200);
    assert!(answer.summary.contains("CPU time of the server"), "{}", answer.summary);
}

#[test]
fn a_healthy_programs_time_is_explained() {
    let answer = answer(&keep_alive(200, 300 * US).end());
    add_up(&answer.ledger);
    assert_eq!(answer.ledger.total, answer.wall_ns);
    assert!(answer.ledger.unexplained * 100 < answer.wall_ns, "{:?}", answer.ledger);
    let of = |name: &str| {
        answer.ledger.accounts.iter().filter(|row| row.name.starts_with(name)).map(|row| row.ns).sum::<u64>()
    };
    let thinking = of("server CPU: user");
    assert!((200 * 300 * US..200 * 310 * US).contains(&thinking), "{:?}", answer.ledger);
}

#[test]
fn six_times_as_many_requests_do_not_take_much_more_than_six_times_as_long() {
    let recordings = [4_000, 24_000].map(|requests| keep_alive(requests, 300 * US).end());
    let mut least = [Duration::MAX; 2];
    // In turns, so that a busy machine slows both; the least of each is what it takes.
    for _ in 0..4 {
        for (least, recording) in least.iter_mut().zip(&recordings) {
            let start = Instant::now();
            assert!(answer(recording).exchanges >= 4_000);
            *least = start.elapsed().min(*least);
        }
    }
    let [few, many] = least;
    // Five times as long as a rule. One look at all of a connection's segments for each of its requests made it 14 times.
    assert!(many < few * 9, "{few:?} and {many:?}");
}

#[test]
fn the_same_recording_gives_the_same_bytes() {
    let recording = keep_alive(50, 300 * US).end();
    let once = serde_json::to_string(&answer(&recording)).expect("JSON");
    assert_eq!(once, serde_json::to_string(&answer(&recording.clone())).expect("JSON"));
}

#[test]
fn rows_that_were_put_in_order_give_the_same_answer() {
    let recording = keep_alive(50, 300 * US).end();
    let mut shuffled = recording.clone();
    shuffled.calls.reverse();
    shuffled.sort();
    assert_eq!(answer(&shuffled), answer(&recording));
}

#[test]
fn every_ledger_of_an_analysis_adds_up() {
    let recording = keep_alive(50, 300 * US).end();
    let analysis = Analysis::new(&recording);
    assert_eq!(analysis.exchanges().len(), 50);
    assert_eq!(analysis.thread_ledgers().len(), 2);
    every_ledger_adds_up(&analysis);
}

#[test]
fn a_recording_of_nothing_gives_an_answer() {
    let answer = answer(&Recording::default());
    assert_eq!((answer.exchanges, answer.wall_ns, answer.verdict), (0, 0, Verdict::None));
}

#[test]
fn a_program_without_exchanges_is_accounted_for_as_well() {
    let mut fixture = Fixture::new();
    fixture.stack(7, &["libz.so.1!inflate", "tool!main"]);
    fixture.computes(CLIENT, 50_000 * US, 7);
    let answer = answer(&fixture.end());
    add_up(&answer.ledger);
    assert_eq!(answer.ledger.accounts[0].name, "CPU between requests: libz.so.1");
    assert_eq!(answer.summary, "No requests were seen. The largest part of the 51.0 ms, 100 %, is 'CPU: libz.so.1'.");
}

#[test]
fn every_page_has_its_headings() {
    for page in pages() {
        for heading in ["What it is", "Evidence", "What proves it", "Remedy", "Not to be confused with"] {
            assert!(page.text.contains(&format!("## {heading}\n")), "{} lacks '{heading}'", page.name);
        }
        assert!(page.text.starts_with(&format!("# {}\n", page.name)), "{}", page.text);
        assert_eq!(explain(page.id), explain(page.name));
    }
    assert_eq!(explain("no-such-thing"), None);
}
