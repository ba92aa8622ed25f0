//! The small stories: one detector each and what takes its cause away, with a twin in which it must be silent.

use super::proved::expect_confirmed;
use super::telling::{Told, expect_mechanism, expect_place, tell, tell_with};
use std::time::Duration;
use testing::{alone, budget, stretched};

/// The slow variant, with time enough for what is expected of it; whatever else might be tried is of no interest here.
fn proved(story: &str) -> Option<Told> {
    tell_with(story, "slow", &["--budget", &budget(45)])
}

#[test]
fn a_read_for_each_byte_is_tiny_reads_and_a_buffer_is_not() {
    let _alone = alone();
    let Some(told) = proved("tiny-reads") else { return };
    expect_confirmed(&told, "tiny-reads", &["read-buffer"]);
    expect_place(told.finding("tiny-reads"), "tiny-reads/client.py", "a call for each byte");
    let Some(told) = tell("tiny-reads", "fixed") else { return };
    told.expect_no_accusation();
}

#[test]
fn a_disk_in_every_request_is_sync_disk_and_a_write_left_to_the_kernel_is_not() {
    let _alone = alone();
    let Some(told) = proved("fsync") else { return };
    expect_confirmed(&told, "sync-disk", &["no-fsync"]);
    let finding = told.finding("sync-disk");
    expect_place(finding, "fsync/server.py", "the disk for each request");
    assert!(finding.title.contains("fsync"), "{}", finding.title);
    let Some(told) = tell("fsync", "fixed") else { return };
    told.expect_no_accusation();
}

#[test]
fn an_unanswered_expectation_costs_a_second_and_its_absence_nothing() {
    let _alone = alone();
    let Some(told) = proved("expect") else { return };
    expect_confirmed(&told, "expect-continue", &["answer-100-continue"]);
    let finding = told.finding("expect-continue");
    // curl waits 1,000 ms; going on afterwards takes its time.
    let most = 1_000_000_000 + stretched(Duration::from_millis(100)).as_nanos() as u64;
    assert!((900_000_000..most).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
    let Some(told) = tell("expect", "fixed") else { return };
    told.expect_no_accusation();
}

#[test]
fn a_name_server_that_overlooks_a_question_is_named_and_an_awake_one_is_not() {
    let _alone = alone();
    let Some(told) = proved("name-lookup") else { return };
    expect_confirmed(&told, "name-lookup", &["hosts-entry"]);
    let finding = told.finding("name-lookup");
    expect_mechanism(finding, &["silent", "host0.casebook.test"]);
    expect_place(finding, "name-lookup/client.py", "the look-up");
    assert!(finding.cost.share_of_wall >= 0.5, "{:?}", finding.cost);
    let Some(told) = tell("name-lookup", "fixed") else { return };
    assert!(!told.names().contains(&"name-lookup"), "{:?}", told.names());
}

#[test]
fn a_forgotten_session_is_no_resumption_and_a_resumed_one_is_not() {
    let _alone = alone();
    let Some(told) = proved("no-resumption") else { return };
    expect_confirmed(&told, "no-resumption", &["resume-sessions"]);
    expect_place(told.finding("no-resumption"), "no-resumption/client.py", "full");
    // Its twin resumes, and still opens a connection for each request, as it is told.
    let Some(told) = tell("no-resumption", "fixed") else { return };
    assert_eq!(told.names(), ["connection-churn"]);
}

#[test]
fn a_used_up_quota_is_cpu_quota_throttling_and_its_absence_is_not() {
    let _alone = alone();
    let Some(told) = proved("quota") else { return };
    expect_confirmed(&told, "cpu-quota-throttling", &["cpu-quota"]);
    let finding = told.finding("cpu-quota-throttling");
    expect_mechanism(finding, &["cgroup /whyslow-story-", "periods"]);
    assert!(finding.cost.share_of_wall >= 0.3, "{:?}", finding.cost);
    assert_eq!(finding.evidence.table, "switches");
    let Some(told) = tell("quota", "fixed") else { return };
    told.expect_no_accusation();
}
