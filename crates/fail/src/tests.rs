use super::*;
use ::case::CaseError;
use ::lab::{LabError, LinkError};
use ::record::{Ended, RecordError};
use std::time::Duration;

fn lines(failure: impl Into<Failure>) -> Vec<String> {
    let text = failure.into().to_string();
    let lines = text.lines().map(str::to_string).collect::<Vec<_>>();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[0].starts_with("whyslow: ") && lines[1].starts_with("  why: ") && lines[2].starts_with("  try: "));
    lines
}

fn case_io(kind: io::ErrorKind) -> CaseError {
    CaseError::Io { path: "/no/such/case/tables".into(), source: kind.into() }
}

#[test]
fn a_missing_privilege_names_sudo_and_setcap() {
    let missing = "CAP_BPF, CAP_PERFMON".to_string();
    let lines = lines(RecordError::NotPrivileged { missing, uid: 1000 });
    assert!(lines[1].contains("user 1000 lacks cap_bpf, cap_perfmon"), "{}", lines[1]);
    assert!(lines[2].contains("sudo /") && lines[2].contains("sudo setcap cap_bpf,cap_perfmon+ep /"), "{}", lines[2]);
    // For one group alone, and the capabilities last, since the other two take them away.
    let once = lines[2].split("once: ").nth(1).unwrap_or_default().split(" && ").collect::<Vec<_>>();
    assert!(
        once.len() == 3 && once[0].starts_with("sudo chgrp ") && once[1].starts_with("sudo chmod 0750 /"),
        "{once:?}"
    );
}

#[test]
fn a_kernel_without_types_gets_the_option_it_lacks() {
    let lines = lines(RecordError::NoBtf { release: "4.1".into() });
    assert!(lines[1].contains("4.1") && lines[2].contains("CONFIG_DEBUG_INFO_BTF"));
}

#[test]
fn a_full_disk_and_an_unwritable_folder_are_distinguished() {
    assert!(lines(case_io(io::ErrorKind::StorageFull))[0].contains("disk is full"));
    assert!(lines(case_io(io::ErrorKind::StorageFull))[2].contains("df -h /"));
    assert!(lines(case_io(io::ErrorKind::PermissionDenied))[0].contains("not readable or writable"));
    assert!(lines(case_io(io::ErrorKind::ReadOnlyFilesystem))[1].contains("/no/such/case"));
}

#[test]
fn a_case_that_is_none_or_damaged_is_named() {
    assert!(lines(CaseError::NotACase("/tmp/x".into()))[1].contains("/tmp/x"));
    let damaged = CaseError::Damaged { path: "/c/tables/calls.parquet".into(), reason: "torn".into() };
    assert!(lines(damaged)[1].contains("torn"));
    assert!(lines(CaseError::Exists("/tmp/a b".into()))[2].contains("'/tmp/a b'"));
    assert!(lines(CaseError::Schema { path: "/c".into(), found: 9, expected: 1 })[1].contains("schema 9"));
}

#[test]
fn a_link_that_fails_names_the_command() {
    let error = LinkError::Command { command: "ip link add".into(), reason: "denied".into() };
    assert!(lines(error)[1].contains("`ip link add` failed: denied"));
}

#[test]
fn an_unknown_name_offers_the_nearest() {
    let unknown = |name: &str| {
        let names = ["busy-spin", "tiny-reads"].into_iter();
        lines(Failure::unknown("cause", name, names, ("whyslow explain", "whyslow explain")))
    };
    assert_eq!(unknown("spin")[2], "  try: whyslow explain busy-spin");
    assert_eq!(unknown("xyzzy")[2], "  try: whyslow explain");
}

#[test]
fn an_error_stays_three_lines_whatever_it_quotes() {
    lines(RecordError::NotFound("a\nb\u{1b}[2J".into()));
    lines(Failure::internal("one\ntwo"));
    let ended = Ended { exit: Some(1), signal: None };
    lines(LabError::ServerEnded { command: "x".into(), ended });
    lines(LabError::ServerSilent { command: "x".into(), waited: Duration::from_secs(10) });
}
