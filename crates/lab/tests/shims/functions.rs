//! The shim that switches functions of a program off.

use crate::preload::{Preloaded, compile, text_of};
use case::Recording;
use case::tables::Process;
use lab::interventions::{Request, find};
use lab::{Treatment, World};
use std::path::Path;

/// A program with functions of its own, static ones among them, one of which has a real number for its result.
const WORK: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static volatile int sink;
__attribute__((noinline)) static int work(int times) { for (int i = 0; i < times; i++) sink += i; return times; }
__attribute__((noinline)) static double third(double of) { for (int i = 0; i < 9; i++) sink += i; return of / 3 + sink * 0; }
__attribute__((noinline)) int never(int times) { for (int i = 0; i < times; i++) sink -= i; return sink; }
int main(int count, char **arguments)
{
	int sum = 0;
	for (int i = 0; i < 5; i++)
		sum += work(atoi(arguments[1]));
	printf("%d %.1f\n", sum, third(6));
	return count > 2 ? never(3) : 0;
}"#;

/// The shim's parameter that switches a function of a program off.
fn parameter_of(program: &Path, function: &str) -> Result<String, String> {
    let executable = program.display().to_string();
    let recording = Recording { processes: vec![Process { executable, ..Process::default() }], ..Recording::default() };
    let world = World::default();
    let (recording, about) = (Some(&recording), Some(function));
    let request = Request { recording, finding: None, world: &world, has_server: false, dose: None, about };
    let mut treatment = Treatment::default();
    let switch_off = find("switch-off").expect("it is there");
    (switch_off.treat)(&request, &mut treatment).map_err(|why| why.0)?;
    Ok(treatment.preloads[0].parameter.clone())
}

/// Runs the program with functions switched off: what it printed, and how many were found and called.
fn run(functions: &[&str]) -> (String, u64, u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let program = compile(folder.path(), WORK);
    let words =
        functions.iter().map(|function| parameter_of(&program, function).expect("it is found")).collect::<Vec<_>>();
    let parameter = if words.is_empty() { "inert".to_string() } else { words.join(" ") };
    let preloaded = Preloaded::new(&[("switch-off", &parameter)]);
    let printed = text_of(preloaded.command(&program).arg("7"));
    let counts = preloaded.counts("switch-off");
    assert_eq!(counts.loaded, 1);
    (printed, counts.seen, counts.changed)
}

#[test]
fn a_static_function_returns_nothing_at_once_and_its_calls_are_counted() {
    assert_eq!(run(&["work"]), ("0 2.0\n".to_string(), 1, 5));
}

#[test]
fn two_functions_are_switched_off_at_once_and_a_real_result_is_nothing_as_well() {
    assert_eq!(run(&["work", "third"]), ("0 0.0\n".to_string(), 2, 6));
}

#[test]
fn a_function_that_is_never_called_is_found_and_counts_nothing() {
    assert_eq!(run(&["never"]), ("35 2.0\n".to_string(), 1, 0));
}

#[test]
fn an_inert_shim_changes_nothing() {
    assert_eq!(run(&[]), ("35 2.0\n".to_string(), 0, 0));
}

#[test]
fn a_program_that_only_has_the_same_address_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = compile(folder.path(), WORK);
    let parameter = parameter_of(&program, "work").expect("it is found");
    let (address, _) = parameter.split_once(':').expect("an address and bytes");
    for parameter in [format!("{address}:{}", "90".repeat(16)), format!("{address}:"), "ffffffffffff:00".to_string()] {
        let preloaded = Preloaded::new(&[("switch-off", &parameter)]);
        assert_eq!(text_of(preloaded.command(&program).arg("7")), "35 2.0\n");
        assert_eq!(preloaded.counts("switch-off").seen, 0);
    }
}

#[test]
fn a_function_that_is_not_there_and_a_program_without_names_say_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = compile(folder.path(), WORK);
    assert!(parameter_of(&program, "wrok").expect_err("refused").contains("no function `wrok`"));
    text_of(std::process::Command::new("strip").arg(&program));
    assert!(parameter_of(&program, "work").expect_err("refused").contains("stripped"));
}
