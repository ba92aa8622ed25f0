//! Stories of connections, links and TLS, each slow and cured.

use super::proved::expect_confirmed;
use super::running::{expect_mechanism, expect_place, run_variant, run_with, suspect};
use super::small::proved;
use testing::{beside_others, budget};

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
fn an_algorithm_looked_up_for_each_line_is_openssl3_fetch_locks_and_a_copy_is_not() {
    let _turn = beside_others();
    let Some(run) = proved("fetches") else { return };
    expect_confirmed(&run, "openssl3-fetch-locks", &["kept-algorithms"]);
    expect_place(run.finding("openssl3-fetch-locks"), "fetches/server.py", "an algorithm by its name");
    let Some(run) = run_variant("fetches", "fixed") else { return };
    assert!(!run.names().contains(&"openssl3-fetch-locks"), "{:?}", run.names());
}
