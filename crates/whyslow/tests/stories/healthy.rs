//! Programs with nothing wrong: a ledger that adds up, and no accusation.

use super::running::run_variant;
use testing::beside_others;

/// Tells one of the healthy stories; `exchanges` is the least number of requests it is known to make.
fn expect_healthy(program: &str, exchanges: u64) {
    let _turn = beside_others();
    let Some(run) = run_variant("healthy", program) else { return };
    run.expect_no_accusation();
    // What the recorder lost it counted: exchanges seen and events lost together account for all requests. Most were seen:
    // losses account for anything.
    let (seen, lost) = (run.answer.exchanges, run.answer.losses.events);
    assert!(seen + lost >= exchanges, "{seen} exchanges of {exchanges}, and {lost} events were lost");
    assert!(seen * 20 >= exchanges * 19, "{seen} exchanges of {exchanges}");
}

#[test]
fn a_go_client_of_nginx_is_not_accused() {
    expect_healthy("go-client", 9_990);
}

#[test]
fn a_node_client_of_nginx_is_not_accused() {
    expect_healthy("node", 9_990);
}

#[test]
fn a_node_client_of_nginx_over_tls_is_not_accused() {
    expect_healthy("node-https", 9_990);
}

#[test]
fn a_java_client_of_nginx_is_not_accused() {
    expect_healthy("java", 9_990);
}

#[test]
fn nginx_under_load_from_wrk_is_not_accused() {
    expect_healthy("wrk", 10_000);
}

#[test]
#[ignore = "long: make stories"]
fn nginx_under_load_from_ab_is_not_accused() {
    expect_healthy("ab", 45_000);
}

#[test]
fn a_large_download_with_curl_is_not_accused() {
    expect_healthy("curl", 1);
}

#[test]
fn redis_under_its_own_benchmark_is_not_accused() {
    expect_healthy("redis", 50_000);
}

#[test]
fn an_asyncio_server_is_not_accused() {
    expect_healthy("asyncio", 15_900);
}

#[test]
fn a_go_server_is_not_accused() {
    expect_healthy("go-server", 10_000);
}

#[test]
#[ignore = "long: make stories"]
fn linear_work_and_sorting_are_not_accused() {
    for variant in ["linear", "sorting", "fixed"] {
        let _turn = beside_others();
        let Some(run) = run_variant("gta", variant) else { return };
        run.expect_no_accusation();
    }
}
