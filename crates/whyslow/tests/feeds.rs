//! `whyslow feeds` against a farm of some hundred feeds.

use crate::stage::{Background, Ran, Stage, wait_until};
use farm::{Farm, Kind, Layout};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;

const FEEDS: usize = 400;
const NAMES: usize = 90;
/// Of every sound feed: on a fast machine hundreds would be answered between two looks at how far a round has come.
const LATENCY: Duration = Duration::from_millis(4);
/// What is under way over the one connection, or was answered at that very moment, is asked for again after a kill.
const MOST_TWICE: u64 = 5;

/// A farm, with what `refresh` needs of it in the folder of a stage.
fn farm(stage: &Stage) -> Farm {
    let mut layout = Layout::seeded(FEEDS, NAMES, 11);
    for kind in layout.kinds.iter_mut().filter(|kind| **kind == Kind::Sound) {
        *kind = Kind::Slow;
    }
    let farm = Farm::start(layout, 1, LATENCY, 11).expect("a farm");
    std::fs::write(stage.path("feeds.txt"), farm.list()).expect("written");
    std::fs::write(stage.path("hosts"), farm.layout().hosts()).expect("written");
    std::fs::write(stage.path("ca.pem"), &farm.pem).expect("written");
    farm
}

const REFRESH: [&str; 9] =
    ["feeds", "refresh", "feeds.txt", "--hosts", "hosts", "--cacert", "ca.pem", "--database", "feeds.redb"];

fn refresh(stage: &Stage, more: &[&str]) -> Ran {
    stage.run(&[&REFRESH, more].concat())
}

fn number(round: &Value, path: &str) -> u64 {
    round.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path}: {round}"))
}

fn settled(round: &Value) -> u64 {
    round["outcomes"].as_object().expect("outcomes").values().filter_map(Value::as_u64).sum()
}

fn asked(farm: &Farm) -> u64 {
    farm.counted().of_feeds.iter().map(|one| u64::from(*one)).sum()
}

#[test]
fn rounds_get_cheaper_and_one_that_was_killed_is_gone_on_with() {
    let stage = Stage::new();
    let farm = farm(&stage);
    let first = refresh(&stage, &["--json"]);
    assert_eq!(first.code, 1, "some are broken: {first:?}");
    let first = first.json()["rounds"][0].clone();
    assert_eq!((settled(&first), number(&first, "/feeds")), (FEEDS as u64, FEEDS as u64));
    assert!(number(&first, "/origins") >= NAMES as u64 && number(&first, "/new_entries") > 1000, "{first}");
    assert!(farm.counted().of_feeds.iter().all(|asked| *asked <= 1));
    let costs = first["costs"].as_array().expect("costs").iter().filter_map(|one| one["cpu_ns"].as_u64()).sum::<u64>();
    assert!(costs <= number(&first, "/cpu_ns"), "{first}");

    let second = refresh(&stage, &["--json", "-o", "round.html"]).json()["rounds"][0].clone();
    assert!(number(&second, "/outcomes/unchanged") > number(&second, "/outcomes/with_news") * 5, "{second}");
    assert!(number(&second, "/received_bytes") * 5 < number(&first, "/received_bytes"), "{second}");
    assert!(std::fs::read_to_string(stage.path("round.html")).expect("a page").contains("What took CPU time"));

    farm.forget();
    let slowly = [&REFRESH[..], &["--connections", "1", "--threads", "1"]].concat();
    let killed = stage.whyslow(&slowly).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("whyslow");
    let mut killed = Background(killed);
    wait_until("a fifth of the feeds", || asked(&farm) > FEEDS as u64 / 5);
    killed.signal(Signal::SIGKILL);
    killed.0.wait().expect("killed");
    let before = asked(&farm);
    assert!(before < FEEDS as u64 * 9 / 10, "{before}");
    let third = refresh(&stage, &["--json"]).json()["rounds"][0].clone();
    assert_eq!((number(&third, "/number"), &third["finished"]), (3, &true.into()));
    assert_eq!(number(&third, "/done_before") + settled(&third), FEEDS as u64);
    assert!(number(&third, "/done_before") > 0, "{third}");
    let counted = farm.counted();
    let twice = counted.of_feeds.iter().zip(&farm.layout().kinds);
    let twice = twice.filter(|(asked, kind)| **asked > 1 && **kind != Kind::Truncated).count() as u64;
    assert!(twice <= MOST_TWICE, "{twice} feeds were asked for twice");

    let history = stage.run(&["feeds", "history", "--database", "feeds.redb", "--json", "-o", "history.html"]);
    assert_eq!(history.code, 0, "{history:?}");
    let history = history.json();
    let rounds = history["rounds"].as_array().expect("rounds");
    assert_eq!(rounds.iter().map(|round| round["interrupted"] == true).collect::<Vec<_>>(), [false, false, true]);
    assert!(std::fs::read_to_string(stage.path("history.html")).expect("a page").contains("class=\"dot\""));
}

#[test]
fn a_round_is_told_in_words_and_ended_by_a_signal() {
    let stage = Stage::new();
    let farm = farm(&stage);
    let slowly = [&REFRESH[..], &["--connections", "1", "--threads", "1"]].concat();
    let child = stage.whyslow(&slowly).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("whyslow");
    let mut child = Background(child);
    wait_until("some feeds", || asked(&farm) > 20);
    child.signal(Signal::SIGINT);
    let out = std::io::read_to_string(child.0.stdout.take().expect("a pipe")).expect("text");
    assert_eq!(child.0.wait().expect("ended").code(), Some(1), "{out}");
    let text = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("It was interrupted; the next `feeds refresh` resumes it."), "{out}");
    let whole = refresh(&stage, &[]);
    assert!(whole.stdout.contains("Outcomes:") && whole.stdout.contains("What went wrong:"), "{whole:?}");
    assert!(whole.stdout.lines().all(|line| line.chars().count() <= 80), "{whole:?}");
}

#[test]
fn what_cannot_be_refreshed_is_an_error_of_three_lines() {
    let stage = Stage::new();
    std::fs::write(stage.path("empty.txt"), "# nothing\n").expect("written");
    std::fs::write(stage.path("feeds.txt"), "http://127.0.0.1:1/\n").expect("written");
    std::fs::write(stage.path("hosts"), "a.test b.test\n").expect("written");
    std::fs::write(stage.path("broken.opml"), "<opml><outline xmlUrl='http://a/'></body>").expect("written");
    std::fs::write(stage.path("no.redb"), vec![b'x'; 9000]).expect("written");
    let errors = [
        vec!["feeds", "refresh", "missing.opml"],
        vec!["feeds", "refresh", "empty.txt"],
        vec!["feeds", "refresh", "broken.opml"],
        vec!["feeds", "refresh", "feeds.txt", "--hosts", "hosts"],
        vec!["feeds", "refresh", "feeds.txt", "--database", "no.redb"],
        vec!["feeds", "refresh", "feeds.txt", "--cacert", "missing.pem"],
        vec!["feeds", "refresh", "feeds.txt", "--user-agent", "a\nb"],
        vec!["feeds", "refresh", "feeds.txt", "-o", "round.pdf"],
        vec!["feeds", "history"],
        vec!["feeds", "history", "other.opml"],
    ];
    for arguments in errors {
        let ran = stage.run(&arguments);
        assert!(ran.error()[0].len() > "whyslow: ".len(), "{arguments:?}");
    }
}
