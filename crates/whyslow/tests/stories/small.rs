//! The small stories: one detector each and what takes its cause away, with a twin in which it must be silent.

use super::proved::expect_confirmed;
use super::running::{StoryRun, expect_mechanism, expect_place, run_variant, run_with, suspect};
use case::facts::{Input, Observation};
use std::time::Duration;
use testing::{beside_others, budget, stretched};

/// The slow variant, with time enough for what is expected of it; whatever else might be tried is of no interest here.
fn proved(story: &str) -> Option<StoryRun> {
    run_with(story, "slow", &["--budget", &budget(45)])
}

#[test]
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
fn an_address_that_stays_silent_is_dead_ipv6_and_one_that_answers_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("dead-ipv6") else { return };
    expect_confirmed(&run, "dead-ipv6", &["refuse-silent"]);
    let Some(run) = run_variant("dead-ipv6", "fixed") else { return };
    assert!(!run.names().contains(&"dead-ipv6"), "{:?}", run.names());
}

#[test]
#[ignore = "long: make stories"]
fn a_small_buffer_of_either_end_is_fixed_socket_buffers_and_the_kernels_own_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("buffers") else { return };
    expect_confirmed(&run, "fixed-socket-buffers", &["default-buffers"]);
    let Some(run) = suspect("buffers", "reader") else { return };
    expect_place(run.finding("fixed-socket-buffers"), "buffers/client.py", "a buffer of its own");
    let Some(run) = run_variant("buffers", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn segments_that_get_lost_are_loss_and_rto_and_a_link_without_loss_is_not() {
    let _turn = beside_others();
    for variant in ["pages", "file"] {
        let Some(run) = run_with("loss", variant, &["--budget", &budget(60)]) else { return };
        expect_confirmed(&run, "loss-and-rto", &["lossless-link"]);
    }
    let Some(run) = run_variant("loss", "fixed") else { return };
    assert!(!run.names().contains(&"loss-and-rto"), "{:?}", run.names());
}

#[test]
#[ignore = "long: make stories"]
fn a_connection_that_begins_small_after_each_pause_is_slow_start_after_idle_and_one_that_keeps_its_window_is_not() {
    let _turn = beside_others();
    let Some(run) = run_with("idle", "slow", &["--budget", &budget(70)]) else { return };
    expect_confirmed(&run, "slow-start-after-idle", &["window-kept-when-idle"]);
    expect_place(run.finding("slow-start-after-idle"), "idle/client.py", "after a pause");
    let Some(run) = run_variant("idle", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn large_packets_that_vanish_are_mtu_blackhole_and_an_mtu_that_fits_the_way_is_not() {
    let _turn = beside_others();
    let Some(run) = run_with("blackhole", "slow", &["--budget", &budget(90)]) else { return };
    expect_confirmed(&run, "mtu-blackhole", &["small-segments-route"]);
    let Some(run) = run_variant("blackhole", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn certificates_of_two_flights_are_chain_over_initial_window_and_a_short_one_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("chain") else { return };
    expect_confirmed(&run, "chain-over-initial-window", &["large-first-flight"]);
    let Some(run) = run_variant("chain", "fixed") else { return };
    assert!(!run.names().contains(&"chain-over-initial-window"), "{:?}", run.names());
}

#[test]
#[ignore = "long: make stories"]
fn a_tls_record_for_each_line_is_tiny_tls_records_and_a_buffered_answer_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("records") else { return };
    expect_confirmed(&run, "tiny-tls-records", &["coalesce-tls-writes"]);
    expect_place(run.finding("tiny-tls-records"), "records/server.py", "a record for each line");
    let Some(run) = run_variant("records", "fixed") else { return };
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
fn a_client_that_sleeps_between_its_reads_is_slow_reader_and_one_that_does_not_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("slow-reader") else { return };
    expect_confirmed(&run, "slow-reader", &["short-sleeps"]);
    expect_place(run.finding("slow-reader"), "slow-reader/client.py", "be polite");
    let Some(run) = run_variant("slow-reader", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn an_answer_without_an_end_is_close_wait_framing_and_one_with_its_length_is_not() {
    let _turn = beside_others();
    let Some(run) = suspect("framing", "slow") else { return };
    let finding = run.finding("close-wait-framing");
    expect_place(finding, "framing/client.py", "all of it");
    assert!((0.9..1.0).contains(&finding.cost.share_of_wall), "{:?}", finding.cost);
    let Some(run) = run_variant("framing", "fixed") else { return };
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
fn a_client_without_free_ports_is_port_exhaustion_and_a_kept_connection_is_not() {
    let _turn = beside_others();
    let Some(run) = suspect("ports", "slow") else { return };
    expect_place(run.finding("port-exhaustion"), "ports/client.py", "a port of its own");
    let Some(run) = run_variant("ports", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn a_listen_queue_that_is_too_short_is_listen_backlog_overflow_and_a_longer_one_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("backlog") else { return };
    expect_confirmed(&run, "listen-backlog-overflow", &["listen-queue"]);
    expect_place(run.finding("listen-backlog-overflow"), "backlog/client.py", "waits to be let in");
    let Some(run) = run_variant("backlog", "fixed") else { return };
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
fn a_forgotten_session_is_no_resumption_and_a_resumed_one_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("no-resumption") else { return };
    expect_confirmed(&run, "no-resumption", &["resume-sessions"]);
    expect_place(run.finding("no-resumption"), "no-resumption/client.py", "full");
    // Its twin resumes, and still opens a connection for each request, as it is meant to.
    let Some(run) = run_variant("no-resumption", "fixed") else { return };
    assert_eq!(run.names(), ["connection-churn"]);
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
fn a_long_rsa_key_is_slow_key_type_and_an_elliptic_curve_is_not() {
    let _turn = beside_others();
    let Some(run) = suspect("key-type", "slow") else { return };
    let finding = run.finding("slow-key-type");
    assert_eq!(finding.cost.affected, 60);
    assert!(finding.title.contains("an RSA key: the server takes"), "{}", finding.title);
    let Some(run) = run_with("key-type", "group", &["--budget", &budget(45)]) else { return };
    expect_confirmed(&run, "slow-key-type", &["default-groups"]);
    assert!(run.finding("slow-key-type").title.contains("a finite-field group"), "{:?}", run.finding("slow-key-type"));
    let Some(run) = run_variant("key-type", "fixed") else { return };
    run.expect_no_accusation();
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
fn a_list_fetched_in_each_handshake_is_inline_revocation_check_and_none_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("revocation") else { return };
    expect_confirmed(&run, "inline-revocation-check", &["answer-not-found"]);
    expect_mechanism(run.finding("inline-revocation-check"), &["GET /authority.crl"]);
    let Some(run) = run_variant("revocation", "fixed") else { return };
    assert!(!run.names().contains(&"inline-revocation-check"), "{:?}", run.names());
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
fn a_page_behind_a_download_is_bufferbloat_and_a_short_queue_is_not() {
    let _turn = beside_others();
    let Some(run) = run_with("bloat", "slow", &["--budget", &budget(150)]) else { return };
    expect_confirmed(&run, "bufferbloat", &["bbr-route"]);
    expect_place(run.finding("bufferbloat"), "bloat/client.py", "waits for the answer");
    let Some(run) = run_variant("bloat", "fixed") else { return };
    assert!(!run.names().contains(&"bufferbloat"), "{:?}", run.names());
}

#[test]
#[ignore = "long: make stories"]
fn a_bucket_that_runs_out_is_token_bucket_with_its_size_and_rate_and_one_that_holds_the_file_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("burst") else { return };
    expect_confirmed(&run, "token-bucket", &["large-bucket"]);
    let finding = run.finding("token-bucket");
    assert!(finding.cost.share_of_wall >= 0.5, "{:?}", finding.cost);
    let Some(run) = run_variant("burst", "fixed") else { return };
    run.expect_no_accusation();
}

#[test]
#[ignore = "long: make stories"]
fn a_configuration_of_many_names_is_startup_self_tests_and_none_is_not() {
    let _turn = beside_others();
    let Some(run) = suspect("object-names", "slow") else { return };
    assert!(run.finding("startup-self-tests").cost.share_of_wall >= 0.2, "{:?}", run.names());
    let Some(run) = run_variant("object-names", "fixed") else { return };
    assert!(!run.names().contains(&"startup-self-tests"), "{:?}", run.names());
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

#[test]
#[ignore = "long: make stories"]
fn an_algorithm_looked_up_for_each_line_is_openssl3_fetch_locks_and_a_copy_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("fetches") else { return };
    expect_confirmed(&run, "openssl3-fetch-locks", &["kept-algorithms"]);
    expect_place(run.finding("openssl3-fetch-locks"), "fetches/server.py", "an algorithm by its name");
    let Some(run) = run_variant("fetches", "fixed") else { return };
    assert!(!run.names().contains(&"openssl3-fetch-locks"), "{:?}", run.names());
}
