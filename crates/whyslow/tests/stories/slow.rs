//! The stories with a cause and their cured twins.

use super::running::{expect_mechanism, expect_place, marked_line, run_variant, suspect};
use case::{Status, Verdict};
use std::time::Duration;
use testing::{alone, beside_others, stretched};

#[test]
fn nagle_is_named_with_both_halves_its_cost_its_line_and_its_remedy() {
    let _turn = beside_others();
    let Some(run) = suspect("nagle", "slow") else { return };
    let finding = run.finding("nagle-delayed-ack");
    assert_eq!(run.names()[0], "nagle-delayed-ack", "the top comes first: {:?}", run.names());
    assert_eq!((finding.id.as_str(), finding.status), ("P01", Status::Suspected));
    assert_eq!(run.answer.verdict, Verdict::Suspected);
    assert!(finding.cost.share_of_wall >= 0.9, "{:?}", finding.cost);
    // The delayed acknowledgement's timer is 40 ms, to within a tick of at most 10 ms; the rest of a request is short.
    let most = 50_000_000 + stretched(Duration::from_millis(10)).as_nanos() as u64;
    assert!((30_000_000..most).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
    assert!((98..=102).contains(&run.answer.exchanges), "{} exchanges", run.answer.exchanges);
    expect_mechanism(finding, &["nagle", "acknowledge"]);
    expect_place(finding, "nagle/client.py", "the second write");
    assert!(finding.remedy.contains("TCP_NODELAY"), "{}", finding.remedy);
    assert!(run.stderr.contains("100 requests, median"), "the subject's own words pass through: {}", run.stderr);
}

#[test]
fn a_single_write_that_is_not_held_is_not_accused() {
    let _turn = beside_others();
    let Some(run) = run_variant("nagle", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
fn a_fresh_curl_for_each_request_is_connection_churn() {
    let _turn = beside_others();
    let Some(run) = suspect("churn", "https") else { return };
    let finding = run.finding("connection-churn");
    assert!((95..=105).contains(&finding.cost.affected), "100 connections, not {}", finding.cost.affected);
    assert!((95..=105).contains(&run.answer.exchanges), "{} exchanges", run.answer.exchanges);
}

/// Until its request, a curl without TLS computes and waits for a processor; none of that is the connection's.
#[test]
fn a_connect_without_tls_is_charged_with_its_microseconds() {
    let _turn = beside_others();
    let Some(run) = suspect("churn", "http") else { return };
    assert!((95..=105).contains(&run.answer.exchanges), "{} exchanges", run.answer.exchanges);
    let charged = run.answer.findings.iter().filter(|finding| finding.name == "connection-churn");
    let charged = charged.map(|finding| finding.cost.ns_per_exchange).sum::<u64>();
    assert!(charged < 300_000, "{charged} ns for a connect on the loopback");
}

#[test]
fn one_kept_connection_is_not_accused_of_churn_or_anything() {
    for variant in ["fixed-https", "fixed-http"] {
        let _turn = beside_others();
        let Some(run) = run_variant("churn", variant) else { return };
        run.expect_no_accusation();
    }
}

#[test]
fn a_shared_context_is_not_accused() {
    let _turn = beside_others();
    let Some(run) = run_variant("context-per-request", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
fn a_spin_on_write_readiness_is_named_with_its_loop_and_its_line() {
    let _turn = beside_others();
    let Some(run) = suspect("four-lines", "slow") else { return };
    let finding = run.finding("busy-spin");
    // Measured without watching: 14 ms of CPU time and some 1,000 calls a document.
    assert!(finding.cost.cpu_ns_per_exchange >= 2_000_000, "{:?}", finding.cost);
    expect_mechanism(finding, &["ioctl", "epoll_ctl", "epoll_wait"]);
    // The title's last figure is that of calls per request.
    let (_, calls) = finding.title.split_once("per request, in").expect("calls per request");
    let calls = numbers(calls).first().copied().unwrap_or_default();
    assert!(finding.title.contains("calls that neither move data nor wait") && calls >= 300, "{}", finding.title);
    let lines = [
        marked_line("four-lines/server.py", "writable at once, and nothing to write"),
        marked_line("four-lines/server.py", "nothing to write, so read-ready again"),
    ];
    let first_is_nearby = |place: &case::Place| place.file.ends_with("server.py") && is_near(place.line, &lines);
    assert!(finding.place.iter().any(first_is_nearby), "{lines:?} are not near {:#?}", finding.place);
}

#[test]
fn a_server_that_just_closes_is_not_accused() {
    let _turn = beside_others();
    let Some(run) = run_variant("four-lines", "fixed") else { return };
    run.expect_no_accusation();
}

/// The loop spans the asking (just above its marker) and the arming (two methods); its place is any of these lines.
fn is_near(line: u32, marked: &[u32]) -> bool {
    marked.iter().any(|marked| line.abs_diff(*marked) <= 1)
}

/// The whole numbers in a text, thousands separators removed.
fn numbers(text: &str) -> Vec<u64> {
    let plain = text.replace(',', "");
    plain.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

#[test]
fn a_lock_that_holds_most_of_a_request_comes_before_what_was_found_about_handshakes() {
    // How much of a request is the lock's hangs on how many clients get at it at a time.
    let _alone = alone();
    let Some(run) = suspect("lock", "slow") else { return };
    let first = &run.answer.findings[0];
    assert_eq!(first.name, "lock-convoy", "{:#?}", run.answer.findings);
    assert!(first.cost.share_of_wall >= 0.6, "{first:#?}");
    expect_place(first, "lock/server.py", "everybody waits here");
    let line = marked_line("lock/server.py", "everybody waits here");
    assert!(run.answer.findings.len() > 1, "connections and handshakes are still found");
    assert!(first.title.split_whitespace().count() < 25, "{}", first.title);
    let report = super::running::whyslow().arg("report").arg(&run.case).output().expect("whyslow report");
    let text = String::from_utf8_lossy(&report.stdout);
    assert!(text.starts_with("Suspected: Requests wait for a lock that other requests hold"), "{text}");
    assert!(text.contains(&format!("server.py:{line} in Book.enter")), "{text}");
    // Whoever has the lock sleeps with it.
    let tree = run.answer.waits.as_ref().expect("waits were followed");
    let path = tree.main_branch();
    let last = path.last().expect("somebody was waited for");
    let is_asleep = matches!(last.activity, case::Activity::Blocked { wait: case::facts::Wait::Sleep, .. });
    assert!(is_asleep && last.place[0].line == line + 1, "{path:#?}");
    assert_eq!(last.mostly_ended_by(), Some(&case::Ender::Timer), "{last:#?}");
}
