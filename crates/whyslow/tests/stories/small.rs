//! The small stories: one detector each and what takes its cause away, with a twin in which it must be silent.

use super::proved::expect_confirmed;
use super::running::{StoryRun, expect_mechanism, expect_place, run_variant, run_with, suspect};
use case::facts::{Input, Observation};
use std::time::Duration;
use testing::{beside_others, budget, stretched};

/// The slow variant, with time enough for what is expected of it; whatever else might be tried is of no interest here.
pub fn proved(story: &str) -> Option<StoryRun> {
    run_with(story, "slow", &["--budget", &budget(45)])
}

#[test]
#[ignore = "long: make stories"]
fn a_read_for_each_byte_is_tiny_reads_and_a_buffer_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("tiny-reads") else { return };
    expect_confirmed(&run, "tiny-reads", &["read-buffer"]);
    expect_place(run.finding("tiny-reads"), "tiny-reads/client.py", "a call for each byte");
    let Some(run) = run_variant("tiny-reads", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn a_worker_that_looks_every_now_and_then_is_sleep_polling_and_one_that_is_woken_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("polling") else { return };
    expect_confirmed(&run, "sleep-polling", &["short-sleeps"]);
    expect_place(run.finding("sleep-polling"), "polling/server.py", "looks every now and then");
    let Some(run) = run_variant("polling", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn the_highest_level_for_each_request_is_compression_level_and_a_file_compressed_before_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("compression") else { return };
    expect_confirmed(&run, "compression-level", &["fast-compression"]);
    let Some(run) = run_variant("compression", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn a_timeout_shorter_than_the_answer_takes_is_retry_storm_and_a_longer_one_is_not() {
    let _turn = beside_others();
    let Some(run) = suspect("retries", "slow") else { return };
    let finding = run.finding("retry-storm");
    expect_place(finding, "retries/client.py", "a short timeout");
    // Two or three of three or four are given up.
    assert!((0.6..0.99).contains(&finding.cost.share_of_wall), "{:?}", finding.cost);
    let Some(run) = run_variant("retries", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn a_limit_on_requests_is_server_rate_limit_whether_it_delays_or_refuses_and_no_limit_is_not() {
    let _turn = beside_others();
    let Some(run) = suspect("rate-limit", "delayed") else { return };
    assert!(run.finding("server-rate-limit").cost.share_of_wall > 0.7);
    let Some(run) = suspect("rate-limit", "refused") else { return };
    expect_place(run.finding("server-rate-limit"), "rate-limit/client.py", "turned away");
    let Some(run) = run_variant("rate-limit", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn a_heap_hardly_larger_than_what_is_kept_is_allocator_pressure_and_a_roomy_one_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("small-heap") else { return };
    expect_confirmed(&run, "allocator-pressure", &["large-heap"]);
    let share = run.finding("allocator-pressure").cost.share_of_cpu;
    assert!((0.25..1.0).contains(&share), "{share}");
    let Some(run) = run_variant("small-heap", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn collections_that_a_program_asks_for_are_allocator_pressure_and_those_it_needs_are_not() {
    let _turn = beside_others();
    let Some(run) = proved("collections") else { return };
    expect_confirmed(&run, "allocator-pressure", &["no-explicit-gc"]);
    expect_place(run.finding("allocator-pressure"), "collections/Server.java", "leaves the heap tidy");
    let Some(run) = run_variant("collections", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn a_line_before_the_only_thread_is_pool_exhausted_and_a_thread_for_each_has_none() {
    let _turn = beside_others();
    let Some(run) = suspect("line", "slow") else { return };
    let finding = run.finding("pool-exhausted");
    expect_place(finding, "line/server.py", "a slow service");
    // Six ask at a time, so that five of six parts of a request are others'.
    assert!((0.7..0.9).contains(&finding.cost.share_of_wall), "{:?}", finding.cost);
    let Some(run) = run_variant("line", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn connections_that_no_descriptor_is_left_for_wait_and_with_enough_of_them_none_does() {
    let _turn = beside_others();
    for variant in ["slow", "nginx"] {
        let Some(run) = run_variant("descriptors", variant) else { return };
        expect_confirmed(&run, "pool-exhausted", &["more-descriptors"]);
    }
    for variant in ["fixed", "fixed-nginx"] {
        let Some(run) = run_variant("descriptors", variant) else { return };
        assert!(
            run.answer.findings.iter().all(|finding| finding.name != "pool-exhausted"),
            "{:#?}",
            run.answer.findings
        );
    }
}

#[test]
#[ignore = "long: make stories"]
fn an_interpreter_for_each_page_is_process_per_request_and_one_that_stays_is_not() {
    let _turn = beside_others();
    let Some(run) = suspect("cgi", "slow") else { return };
    let finding = run.finding("process-per-request");
    expect_place(finding, "cgi/server.py", "one for each");
    assert!(finding.cost.share_of_wall >= 0.3 && finding.cost.affected == 40, "{:?}", finding.cost);
    let Some(run) = run_variant("cgi", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn a_disk_in_every_request_is_sync_disk_and_a_write_left_to_the_kernel_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("fsync") else { return };
    expect_confirmed(&run, "sync-disk", &["no-fsync"]);
    let finding = run.finding("sync-disk");
    expect_place(finding, "fsync/server.py", "the disk for each request");
    assert!(finding.title.contains("fsync"), "{}", finding.title);
    let Some(run) = run_variant("fsync", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn an_unanswered_expectation_costs_a_second_and_its_absence_nothing() {
    let _turn = beside_others();
    let Some(run) = proved("expect") else { return };
    expect_confirmed(&run, "expect-continue", &["answer-100-continue"]);
    let finding = run.finding("expect-continue");
    // curl waits 1,000 ms; going on afterwards takes its time.
    let most = 1_000_000_000 + stretched(Duration::from_millis(100)).as_nanos() as u64;
    assert!((900_000_000..most).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
    let Some(run) = run_variant("expect", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn a_name_server_that_overlooks_a_question_is_named_and_an_awake_one_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("name-lookup") else { return };
    expect_confirmed(&run, "name-lookup", &["hosts-entry"]);
    let finding = run.finding("name-lookup");
    expect_mechanism(finding, &["silent", "host0.casebook.test"]);
    expect_place(finding, "name-lookup/client.py", "the look-up");
    assert!(finding.cost.share_of_wall >= 0.5, "{:?}", finding.cost);
    let Some(run) = run_variant("name-lookup", "fixed") else { return };
    assert!(!run.names().contains(&"name-lookup"), "{:?}", run.names());
}

#[test]
fn work_with_the_square_of_a_response_is_superlinear_work_and_in_proportion_to_it_is_not() {
    let _turn = beside_others();
    let Some(run) = suspect("duplicates", "slow") else { return };
    let finding = run.finding("superlinear-work");
    expect_place(finding, "duplicates/server.py", "all that was seen");
    let Some(Observation::Growth { input, low, high, exchanges, .. }) = finding.observed.first() else {
        panic!("no power: {finding:#?}");
    };
    assert_eq!((*input, *exchanges), (Input::ResponseBytes, 150));
    assert!(*low > 1.5 && *high < 2.5, "{low} to {high}");
    let Some(run) = run_variant("duplicates", "fixed") else { return };
    assert!(!run.names().contains(&"superlinear-work"), "{:?}", run.names());
}

#[test]
#[ignore = "long: make stories"]
fn a_used_up_quota_is_cpu_quota_throttling_and_its_absence_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("quota") else { return };
    expect_confirmed(&run, "cpu-quota-throttling", &["cpu-quota"]);
    let finding = run.finding("cpu-quota-throttling");
    expect_mechanism(finding, &["cgroup /whyslow-story-", "periods"]);
    assert!(finding.cost.share_of_wall >= 0.3, "{:?}", finding.cost);
    assert_eq!(finding.evidence.table, "switches");
    let Some(run) = run_variant("quota", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn a_search_list_is_name_lookup_with_the_names_that_do_not_exist() {
    let _turn = beside_others();
    let Some(run) = run_with("name-lookup", "search", &["--budget", &budget(45)]) else { return };
    expect_confirmed(&run, "name-lookup", &["hosts-entry"]);
    expect_mechanism(run.finding("name-lookup"), &["no such name", "search list"]);
}

#[test]
#[ignore = "long: make stories"]
fn a_server_that_looks_up_its_visitors_is_name_lookup_and_one_that_logs_addresses_is_not() {
    let _turn = beside_others();
    // Starting and stopping both servers takes longer than what is measured.
    let Some(run) = run_with("reverse-lookup", "slow", &["--budget", &budget(110)]) else { return };
    expect_confirmed(&run, "name-lookup", &["hosts-entry"]);
    expect_mechanism(run.finding("name-lookup"), &["reverse look-up", "in-addr.arpa"]);
    let Some(run) = run_variant("reverse-lookup", "fixed") else { return };
    assert!(!run.names().contains(&"name-lookup"), "{:?}", run.names());
}

#[test]
#[ignore = "long: make stories"]
fn debug_output_for_each_request_is_debug_build_and_an_access_log_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("debug-log") else { return };
    expect_confirmed(&run, "debug-build", &["drop-log-lines"]);
    let Some(run) = run_variant("debug-log", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn a_query_for_each_row_is_serial_requests_and_a_join_is_not() {
    let _turn = beside_others();
    let Some(run) = suspect("queries", "slow") else { return };
    let finding = run.finding("serial-requests");
    expect_place(finding, "queries/server.py", "a query for each row");
    assert!(finding.title.contains("61 questions of one shape"), "{}", finding.title);
    let Some(run) = run_variant("queries", "fixed") else { return };
    assert!(!run.names().contains(&"serial-requests"), "{:?}", run.names());
}

#[test]
#[ignore = "long: make stories"]
fn a_transaction_for_each_row_is_sync_disk_and_one_for_all_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("rows") else { return };
    expect_confirmed(&run, "sync-disk", &["no-fsync"]);
    expect_mechanism(run.finding("sync-disk"), &["a transaction for each row"]);
    let Some(run) = run_variant("rows", "fixed") else { return };
    assert!(!run.names().contains(&"sync-disk"), "{:?}", run.names());
}

#[test]
#[ignore = "long: make stories"]
fn an_agent_for_each_request_is_client_per_request_and_one_for_all_is_not() {
    let _turn = beside_others();
    let Some(run) = suspect("agents", "slow") else { return };
    assert_eq!(run.names().first(), Some(&"client-per-request"), "{:?}", run.names());
    let Some(run) = run_variant("agents", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn answers_that_are_dropped_after_their_status_are_body_not_drained_and_answers_that_are_read_are_not() {
    let _turn = beside_others();
    let Some(run) = suspect("unread", "slow") else { return };
    let finding = run.finding("body-not-drained");
    assert!(finding.cost.affected > 100, "{:?}", finding.cost);
    assert!(!run.names().contains(&"connection-churn"), "{:?}", run.names());
    let Some(run) = run_variant("unread", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn connections_that_go_to_one_of_two_workers_are_uneven_accept_and_connections_that_both_get_are_not() {
    let _turn = beside_others();
    let Some(run) = suspect("workers", "slow") else { return };
    let finding = run.finding("uneven-accept");
    assert!(finding.cost.share_of_wall >= 0.2, "{:?}", finding.cost);
    let Some(run) = run_variant("workers", "fixed") else { return };
    assert!(!run.names().contains(&"uneven-accept"), "{:?}", run.names());
}

#[test]
#[ignore = "long: make stories"]
fn many_files_of_one_name_are_ca_path_layout_and_one_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("ca-path") else { return };
    expect_confirmed(&run, "ca-path-layout", &["short-ca-path"]);
    let Some(run) = run_variant("ca-path", "fixed") else { return };
    assert!(!run.names().contains(&"ca-path-layout"), "{:?}", run.names());
}

#[test]
#[ignore = "long: make stories"]
fn a_system_call_for_each_random_letter_is_slow_clock_or_entropy_and_a_generator_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("entropy") else { return };
    expect_confirmed(&run, "slow-clock-or-entropy", &["buffered-entropy"]);
    expect_place(run.finding("slow-clock-or-entropy"), "entropy/server.py", "a question for each letter");
    let Some(run) = run_variant("entropy", "fixed") else { return };
    run.expect_no_accusation();
}
