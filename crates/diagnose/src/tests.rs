//! What a diagnosis promises as a whole: it adds up, it repeats itself exactly, it is silent about healthy programs.

use crate::scene::{CLIENT, Scene, US, keep_alive};
use crate::{Options, diagnose, exchange_ledgers, explain, pages, study};
use case::{Answer, Recording, Verdict};

pub fn answer(recording: &Recording) -> Answer {
    diagnose(recording, "case", &Options::default())
}

pub fn names(recording: &Recording) -> Vec<String> {
    answer(recording).findings.into_iter().map(|finding| finding.name).collect()
}

fn add_up(ledger: &case::Ledger) {
    assert_eq!(ledger.accounts.iter().map(|account| account.ns).sum::<u64>(), ledger.total, "{ledger:?}");
}

#[test]
fn a_healthy_program_is_accused_of_nothing() {
    let answer = answer(&keep_alive(200, 300 * US).end());
    assert_eq!(answer.verdict, Verdict::None);
    assert_eq!(answer.findings, []);
    assert_eq!(answer.exchanges, 200);
    assert!(answer.summary.contains("the server working on a processor"), "{}", answer.summary);
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
fn the_same_recording_gives_the_same_bytes() {
    let recording = keep_alive(50, 300 * US).end();
    let once = serde_json::to_string(&answer(&recording)).expect("JSON");
    assert_eq!(once, serde_json::to_string(&answer(&recording.clone())).expect("JSON"));
}

#[test]
fn rows_out_of_order_are_put_in_order() {
    let recording = keep_alive(50, 300 * US).end();
    let mut shuffled = recording.clone();
    shuffled.calls.reverse();
    assert_eq!(answer(&shuffled), answer(&recording));
}

#[test]
fn every_ledger_of_a_study_adds_up() {
    let recording = keep_alive(50, 300 * US).end();
    let study = study(&recording, "case", &Options::default());
    add_up(&study.exchange_ledger);
    study.thread_ledgers.iter().for_each(|(_, ledger)| add_up(ledger));
    exchange_ledgers(&recording).iter().for_each(add_up);
    assert_eq!(study.exchanges.len(), 50);
    assert_eq!(study.thread_ledgers.len(), 2);
}

#[test]
fn a_recording_of_nothing_gives_an_answer() {
    let answer = answer(&Recording::default());
    assert_eq!((answer.exchanges, answer.wall_ns, answer.verdict), (0, 0, Verdict::None));
}

#[test]
fn a_program_without_exchanges_is_accounted_for_as_well() {
    let mut scene = Scene::new();
    scene.stack(7, &["libz.so.1!inflate", "tool!main"]);
    scene.computes(CLIENT, 50_000 * US, 7);
    let answer = answer(&scene.end());
    add_up(&answer.ledger);
    assert_eq!(answer.ledger.accounts[0].name, "CPU outside exchanges: libz.so.1");
    assert!(answer.summary.starts_with("No exchange was seen"), "{}", answer.summary);
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
