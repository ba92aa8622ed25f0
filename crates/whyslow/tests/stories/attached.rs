//! Programs that run already: looked at, helped for a moment, left as they were.

use super::running::{Asked, ask, expect_readme, three_lines, whyslow};
use case::{Answer, Status, Switched};
use testing::{alone, is_root, slowness};

fn attach(variant: &str, options: &[&str]) -> Option<Asked<Answer>> {
    ask("live", &[&[variant], options].concat(), &[], |text| serde_json::from_slice(text))
}

/// Exchanges a second while it was on, or off.
fn rate(switched: &Switched, on: bool) -> f64 {
    let windows = || switched.windows.iter().filter(|window| window.on == on);
    let wall: u64 = windows().map(|window| window.wall_ns).sum();
    assert!(wall > 0, "it was never {}: {switched:#?}", if on { "on" } else { "off" });
    windows().map(|window| window.exchanges).sum::<u64>() as f64 * 1e9 / wall as f64
}

/// What the client itself counted in each second, from its start to after whyslow had left. The story says this only
/// where it is still the same process.
fn counted(asked: &Asked<Answer>) -> Vec<f64> {
    let figures =
        asked.stderr.split("still runs; requests in each second: ").nth(1).and_then(|rest| rest.lines().next());
    let figures = figures.unwrap_or_else(|| panic!("the client is gone: {}", asked.stderr));
    figures.split(' ').map(|figure| figure.parse().expect("a number")).collect()
}

/// A client that holds its requests back is set free for a moment, and then held back as before.
fn expect_set_free_and_left_as_it_was(variant: &str) {
    let _alone = alone();
    let Some(asked) = attach(variant, &["--duration", "2s"]) else { return };
    let answer = &asked.document;
    let finding = answer.findings.first().unwrap_or_else(|| panic!("nothing found: {}", answer.summary));
    assert_eq!((finding.name.as_str(), finding.status), ("nagle-delayed-ack", Status::Confirmed), "{answer:#?}");
    let switched = answer.live.iter().find(|one| one.intervention == "tcp-nodelay").expect("tcp-nodelay");
    assert!(switched.reverted && switched.problem.is_empty() && switched.reached >= 1, "{switched:#?}");
    let (on, off) = (rate(switched, true), rate(switched, false));
    assert!(on > 20.0 / slowness() * off && off > 10.0, "{on} a second against {off}");
    // Its own figures agree: 22 a second at first and in the end, thousands between.
    let counted = counted(&asked);
    let last = *counted.last().expect("the second after whyslow had left");
    assert!(counted[1] < 40.0 && last < 40.0, "{counted:?}");
    assert!(counted.iter().any(|count| *count > 10.0 / slowness() * last), "{counted:?}");
    assert_eq!((asked.exit, answer.subject_exit), (Some(1), None), "{}", asked.stderr);
    expect_readme("attach", &asked.case);
}

#[test]
fn a_running_python_client_is_set_free_and_left_as_it_was() {
    expect_set_free_and_left_as_it_was("slow");
}

#[test]
#[ignore = "long: make stories"]
fn a_running_go_client_is_set_free_and_left_as_it_was() {
    expect_set_free_and_left_as_it_was("go");
}

#[test]
fn a_running_client_with_nothing_wrong_is_not_accused_and_not_touched() {
    let _alone = alone();
    let Some(asked) = attach("fixed", &["--duration", "2s"]) else { return };
    let answer = &asked.document;
    assert!(answer.findings.is_empty() && answer.live.is_empty(), "{answer:#?}");
    assert!(answer.exchanges as f64 > 1000.0 / slowness(), "{} exchanges seen", answer.exchanges);
    assert!(counted(&asked).iter().all(|count| *count > 500.0 / slowness()), "{}", asked.stderr);
    assert_eq!(asked.exit, Some(0), "{}", asked.stderr);
}

#[test]
fn a_busy_nginx_loses_no_request() {
    let _alone = alone();
    let Some(asked) = attach("nginx", &["--duration", "2s"]) else { return };
    let count = |name: &str| {
        let rest = asked.stderr.split(&format!("live: {name} requests:")).nth(1);
        let figure = rest.and_then(|rest| rest.split_whitespace().next());
        figure.and_then(|figure| figure.parse::<u64>().ok()).unwrap_or_else(|| panic!("no {name}: {}", asked.stderr))
    };
    assert_eq!(count("Failed"), 0);
    assert!(count("Complete") as f64 > 10_000.0 / slowness(), "{}", asked.stderr);
    assert!(!asked.stderr.contains("Non-2xx"), "{}", asked.stderr);
    assert!(asked.document.exchanges as f64 > 10_000.0 / slowness(), "{} exchanges seen", asked.document.exchanges);
    assert!(asked.document.findings.is_empty(), "nginx under ab has nothing wrong: {:#?}", asked.document.findings);
}

#[test]
fn what_does_not_run_cannot_be_attached_to() {
    if !is_root() {
        return;
    }
    // More than a process's number can be.
    let nobody = whyslow().args(["attach", "4194305"]).output().expect("whyslow");
    assert!(three_lines(&nobody).concat().contains("4194305"));
    // Neither a process nor a port.
    three_lines(&whyslow().arg("attach").output().expect("whyslow"));
}
