//! The small stories: one detector each (one of them two), with a twin in which it must be silent.

use crate::speed::stretched;
use crate::telling::{expect_mechanism, expect_place, stage, suspect, tell};
use std::time::Duration;

#[test]
fn a_read_for_each_byte_is_tiny_reads_and_a_buffer_is_not() {
    let _stage = stage();
    let Some(told) = suspect("tiny-reads", "slow") else { return };
    expect_place(told.finding("tiny-reads"), "tiny-reads/client.py", "a call for each byte");
    let Some(told) = tell("tiny-reads", "fixed") else { return };
    told.expect_no_accusation();
}

#[test]
fn a_disk_in_every_request_is_sync_disk_and_a_write_left_to_the_kernel_is_not() {
    let _stage = stage();
    let Some(told) = suspect("fsync", "slow") else { return };
    let finding = told.finding("sync-disk");
    expect_place(finding, "fsync/server.py", "the disk for each request");
    assert!(finding.title.contains("fsync"), "{}", finding.title);
    let Some(told) = tell("fsync", "fixed") else { return };
    told.expect_no_accusation();
}

#[test]
fn an_unanswered_expectation_costs_a_second_and_its_absence_nothing() {
    let _stage = stage();
    let Some(told) = suspect("expect", "slow") else { return };
    let finding = told.finding("expect-continue");
    // curl waits 1,000 ms; going on afterwards takes its time.
    let most = 1_000_000_000 + stretched(Duration::from_millis(100)).as_nanos() as u64;
    assert!((900_000_000..most).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
    let Some(told) = tell("expect", "fixed") else { return };
    told.expect_no_accusation();
}

#[test]
fn a_name_server_that_overlooks_a_question_is_named_and_an_awake_one_is_not() {
    let _stage = stage();
    let Some(told) = suspect("name-lookup", "slow") else { return };
    let finding = told.finding("name-lookup");
    expect_mechanism(finding, &["silent", "host0.casebook.test"]);
    expect_place(finding, "name-lookup/client.py", "the look-up");
    assert!(finding.cost.share_of_wall >= 0.5, "{:?}", finding.cost);
    let Some(told) = tell("name-lookup", "fixed") else { return };
    assert!(!told.names().contains(&"name-lookup"), "{:?}", told.names());
}

#[test]
fn a_forgotten_session_is_no_resumption_and_a_resumed_one_is_not() {
    let _stage = stage();
    let Some(told) = suspect("no-resumption", "slow") else { return };
    expect_place(told.finding("no-resumption"), "no-resumption/client.py", "full");
    // Its twin resumes, and still opens a connection for each request, as it is told.
    let Some(told) = tell("no-resumption", "fixed") else { return };
    assert_eq!(told.names(), ["connection-churn"]);
}

#[test]
fn a_used_up_quota_is_cpu_quota_throttling_and_its_absence_is_not() {
    let _stage = stage();
    let Some(told) = suspect("quota", "slow") else { return };
    let finding = told.finding("cpu-quota-throttling");
    expect_mechanism(finding, &["control group /whyslow-story-", "periods"]);
    assert!(finding.cost.share_of_wall >= 0.3, "{:?}", finding.cost);
    assert_eq!(finding.evidence.table, "switches");
    let Some(told) = tell("quota", "fixed") else { return };
    told.expect_no_accusation();
}

#[test]
fn two_causes_are_both_named_and_neither_hides_the_other() {
    let _stage = stage();
    let Some(told) = suspect("two-causes", "slow") else { return };
    // Which is dearer is told by wall time for one and by processor time for the other.
    let mut names = told.names();
    names.sort_unstable();
    assert_eq!(names, ["nagle-delayed-ack", "tiny-reads"]);
    expect_place(told.finding("nagle-delayed-ack"), "two-causes/client.py", "the second write");
    expect_place(told.finding("tiny-reads"), "two-causes/server.py", "a call for each byte");
    // One request in eleven is an order, and each order is held once.
    let (held, all) = (told.finding("nagle-delayed-ack").cost.affected, told.answer.exchanges);
    assert!(held * 11 <= all && held * 12 >= all, "{held} of {all}");
    let Some(told) = tell("two-causes", "fixed") else { return };
    told.expect_no_accusation();
}
