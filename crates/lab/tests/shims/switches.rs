//! The shim that stands before the environment.

use crate::preload::{Preloaded, text_of};
use std::process::Command;

/// What a program and its child see of three variables, where they are set as a script sets them.
fn seen(parameter: &str) -> (String, u64) {
    let preloaded = Preloaded::new(&[("without-switches", parameter)]);
    let script =
        "export TRACED=25 OPTIONS='-Xint -Da=b -Xint' KEPT=1; exec sh -c 'echo \"${TRACED-no} ${OPTIONS-no} $KEPT\"'";
    let shown = text_of(preloaded.command("sh").args(["-c", script]));
    (shown.trim().to_string(), preloaded.counts("without-switches").changed)
}

#[test]
fn switches_are_taken_out_before_a_program_begins_and_nothing_else_is() {
    assert_eq!(seen("TRACED OPTIONS=-Xint"), ("no -Da=b 1".to_string(), 2));
    assert_eq!(seen("OPTIONS=-X"), ("25 -Xint -Da=b -Xint 1".to_string(), 2), "not a part of a word");
    assert_eq!(seen("ABSENT"), ("25 -Xint -Da=b -Xint 1".to_string(), 2));
}

#[test]
fn the_only_word_of_a_variable_takes_the_variable_along() {
    let preloaded = Preloaded::new(&[("without-switches", "CHECKS=debug")]);
    let mut command: Command = preloaded.command("sh");
    command.env("CHECKS", "debug").args(["-c", "echo ${CHECKS-no}"]);
    assert_eq!(text_of(&mut command).trim(), "no");
}

#[test]
fn put_back_and_inert_they_are_as_they_were() {
    assert_eq!(seen("again TRACED OPTIONS=-Xint"), ("25 -Xint -Da=b -Xint 1".to_string(), 2));
    assert_eq!(seen("inert"), ("25 -Xint -Da=b -Xint 1".to_string(), 0));
}

/// The arguments that a program begins with, and how many programs began as they were to.
fn arguments(parameter: &str, given: &[&str]) -> (String, u64) {
    let preloaded = Preloaded::new(&[("without-switches", parameter)]);
    let shown = text_of(preloaded.command("echo").args(given));
    (shown.trim().to_string(), preloaded.counts("without-switches").changed)
}

#[test]
fn another_option_takes_the_place_of_a_switch_on_the_command_line() {
    let given = ["-Xmx1g", "-Xint", "Shop", "-X", "dev"];
    assert_eq!(arguments("-Xint>-Xmixed", &given), ("-Xmx1g -Xmixed Shop -X dev".to_string(), 1));
    assert_eq!(arguments("-Xdev>-Xnodev", &given), ("-Xmx1g -Xint Shop -X nodev".to_string(), 1));
    assert_eq!(arguments("again -Xint>-Xint", &given), ("-Xmx1g -Xint Shop -X dev".to_string(), 1));
    assert_eq!(arguments("-Xcomp>-Xmixed", &given), ("-Xmx1g -Xint Shop -X dev".to_string(), 0), "it is not there");
    assert_eq!(arguments("inert", &given), ("-Xmx1g -Xint Shop -X dev".to_string(), 0));
}
