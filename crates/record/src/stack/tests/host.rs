//! Programs as distributions ship them: optimised, stripped, without frame pointers.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::super::row_cache::RowCache;
use super::super::{Frame, Stacks};
use crate::resolver::Resolver;

use super::subject::{Subject, describe, functions};

#[test]
fn cat_waiting_on_a_pipe_is_walked_to_its_start() {
    let subject = Subject::start(&mut Command::new("cat"));
    let mut stacks = Stacks::new(&Resolver::new());
    let walk = subject.walk(&mut stacks);
    let locations = describe(&mut stacks, &walk);
    assert!(walk.complete, "{locations:#?}");
    assert!(locations.len() >= 4);
    assert_eq!(locations[0].function, "read");
    assert!(locations[0].is_libc);
    assert!(stacks.unreadable_paths().is_empty());
}

/// The interpreters themselves, not scripts that look for one; the distribution's, and the first in the path.
fn pythons() -> Vec<String> {
    let mut found = Vec::new();
    for name in ["/usr/bin/python3", "python3"] {
        match Command::new(name).args(["-c", "import sys; print(sys.executable)"]).output() {
            Ok(output) if output.status.success() => {
                found.push(String::from_utf8(output.stdout).unwrap().trim().into());
            }
            _ => testing::skip(&format!("{name} is not installed")),
        }
    }
    found.dedup();
    found
}

#[test]
fn a_sleeping_python_is_walked_to_its_start() {
    for python in pythons() {
        let code = "import time\ndef a():\n  time.sleep(60)\ndef b():\n  a()\nb()";
        let subject = Subject::start(Command::new(python).args(["-c", code]));
        let mut stacks = Stacks::new(&Resolver::new());
        let walk = subject.walk(&mut stacks);
        let locations = describe(&mut stacks, &walk);
        assert!(walk.complete, "{locations:#?}");
        let names = functions(&locations);
        assert!(names.contains(&"Py_BytesMain"), "{names:?}");
        assert!(names.iter().any(|name| name.contains("clock_nanosleep")), "{names:?}");
    }
}

#[test]
fn a_go_program_is_walked_exactly_even_where_it_is_stripped() {
    let Some(go) = testing::go() else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = "package main\nimport \"syscall\"\n\n//go:noinline\nfunc wait(b []byte) int {\n\tn, _ := syscall.Read(0, b)\n\treturn n + 1\n}\n\
                  func main() {\n\tprintln(wait(make([]byte, 8)))\n}\n";
    let file = folder.path().join("main.go");
    std::fs::write(&file, source).unwrap();
    for (name, flags) in [("whole", ""), ("stripped", "-s -w")] {
        let program = folder.path().join(name);
        let built = Command::new(&go).args(["build", "-ldflags", flags, "-o"]).arg(&program).arg(&file).status();
        assert!(built.unwrap().success());
        assert_goroutine_is_walked(&program);
    }
}

fn assert_goroutine_is_walked(program: &Path) {
    let subject = Subject::start(&mut Command::new(program));
    let mut stacks = Stacks::new(&Resolver::new());
    stacks.learn(subject.pid());
    let mut seen = Vec::new();
    for tid in subject.threads() {
        let copied = subject.copy(tid);
        let walk = stacks.walk(subject.pid(), &copied.registers, &copied.stack);
        let locations = describe(&mut stacks, &walk);
        let place = locations.iter().position(|location| location.function == "main.wait");
        if let Some(place) = place {
            assert!(walk.complete, "{locations:#?}");
            assert_eq!(locations[place + 1].function, "main.main");
            assert!(locations[place].file.ends_with("main.go"), "{locations:#?}");
            assert_eq!((locations[place].line, locations[place + 1].line), (6, 10));
            return;
        }
        seen.push(functions(&locations).join(" < "));
    }
    panic!("no thread in main.wait: {seen:#?}");
}

#[test]
fn the_vdso_has_names_and_rows() {
    let mut stacks = Stacks::new(&Resolver::new());
    assert!(stacks.learn(std::process::id()));
    let maps = std::fs::read("/proc/self/maps").unwrap();
    let lines = super::super::maps::parse(&maps);
    let vdso = lines.iter().find(|line| line.path == "[vdso]").unwrap();
    let number = stacks.modules.of_mapping(std::process::id(), vdso).unwrap();
    let super::super::modules::Module::Image(image) = stacks.modules.get(number) else { panic!("no vdso") };
    let code = image.facts.segments.of_code().next().unwrap();
    let addresses = (code.address..code.address + code.file_bytes).step_by(16);
    let frames = addresses.map(|address| (Frame { image: number, at_instruction: true, address }, None));
    let locations = stacks.locations(&frames.collect::<Vec<_>>());
    assert!(locations.iter().all(|location| location.module == "[vdso]"));
    let clock = locations.iter().find(|location| location.function.ends_with("clock_gettime")).unwrap();
    assert!(clock.function_offset > 0 && clock.function_offset <= clock.offset, "{clock:?}");
    assert!(stacks.rows.row((number, clock.offset), Vec::new).is_some());
}

#[test]
fn an_address_in_the_kernel_is_named_where_the_host_shows_them() {
    let symbols = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    let line = symbols.lines().find(|line| line.ends_with(" T tcp_sendmsg")).unwrap_or_default();
    let address = line.split(' ').next().and_then(|word| u64::from_str_radix(word, 16).ok()).unwrap_or_default();
    if address == 0 {
        testing::skip("kernel addresses are hidden");
        return;
    }
    let location = Stacks::new(&Resolver::new()).kernel_location(address + 1);
    assert_eq!((location.function.as_str(), location.module.as_str()), ("tcp_sendmsg", "[kernel]"));
}

#[test]
fn a_warm_walk_costs_a_fraction_of_a_cold_one() {
    let Some(python) = pythons().pop() else { return };
    let subject = Subject::start(Command::new(python).args(["-c", "import time; time.sleep(60)"]));
    let resolver = Resolver::new();
    let mut stacks = Stacks::new(&resolver);
    stacks.learn(subject.pid());
    let copied = subject.copy(subject.pid());
    let frames = stacks.walk(subject.pid(), &copied.registers, &copied.stack).frames.len();
    let mut nanos = |rounds: usize, keeps_rows: bool| {
        let started = Instant::now();
        for _ in 0..rounds {
            if !keeps_rows {
                stacks.rows = RowCache::new(&resolver);
            }
            std::hint::black_box(stacks.walk(subject.pid(), &copied.registers, &copied.stack));
        }
        started.elapsed().as_nanos() as usize / rounds
    };
    // What the resolver has read it keeps, so that only the rows are asked for anew.
    let (cold, warm) = (nanos(100, false), nanos(10_000, true));
    println!("{warm} ns for a warm walk of {frames} frames, {cold} ns for one whose rows are asked for anew");
    assert!(warm * 8 < cold, "{warm} ns, {cold} ns anew, for {frames} frames");
}
