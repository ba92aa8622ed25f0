//! The resolver as a process of its own. A program without the usual harness: it becomes one by its first argument, as whyslow
//! does, with limits that are soon reached.

mod stack {
    pub use record::stack::*;
}
#[path = "../src/stack/tests/subject.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "other tests use the rest, and a failing unwrap is a failing test")]
mod subject;

use case::tables::Location;
use record::resolver::{ARGUMENT, Limits, Resolver, serve, start_apart};
use record::stack::{Stacks, Walk};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use subject::{Subject, compile, compile_generating, functions};

/// As much as an ordinary program's names take, and a bit. Of processor time four times as much as they do (60 ms), and a third of
/// what the largest map does (800 ms), on whatever machine; all of it takes several times as long where nothing is optimised.
const LIMITS: Limits = Limits {
    address_bytes: 2 << 30,
    memory_bytes: 200 << 20,
    question_ms: if cfg!(debug_assertions) { 1_000 } else { 250 },
    total_seconds: 60,
};

fn main() {
    if std::env::args().nth(1).is_some_and(|word| word == ARGUMENT) {
        serve(&LIMITS);
    }
    if std::env::args().any(|word| word == "--list") || !testing::is_root() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let within = Resolver::new();
    start_apart();
    it_has_no_user_no_rights_and_no_files();
    names_are_the_same_as_without_it(&within, folder.path());
    its_end_costs_the_names_that_it_was_asked_for(folder.path());
    it_is_started_a_few_times_and_no_more(folder.path());
    who_takes_too_long_is_ended(folder.path());
    who_takes_too_much_memory_is_ended(folder.path());
    println!("what resolvers may and what their end costs was as it should be");
}

/// Those that run and are ours, and what the kernel says of each.
fn resolvers() -> Vec<(u32, String)> {
    let own = format!("PPid:\t{}\n", std::process::id());
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let statuses = processes.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        Some((pid, fs::read_to_string(entry.path().join("status")).ok()?))
    });
    let is_it = |status: &str| status.starts_with("Name:\twhyslow-resolve\n") && status.contains(&own);
    statuses.filter(|(_, status)| is_it(status) && !status.contains("State:\tZ")).collect()
}

fn end_all() {
    for (pid, _) in resolvers() {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid as i32), nix::sys::signal::SIGKILL).expect("ours");
    }
    while !resolvers().is_empty() {
        std::thread::yield_now();
    }
}

fn it_has_no_user_no_rights_and_no_files() {
    let resolver = Resolver::new();
    let mut stacks = Stacks::new(&resolver);
    // Once it has answered, it is shut in.
    assert!(stacks.learn(std::process::id()));
    let [(pid, status)] = &resolvers()[..] else { panic!("one resolver") };
    for line in ["Uid:\t65534\t65534\t65534\t65534\n", "Gid:\t65534\t65534\t65534\t65534\n", "Groups:\t \n"] {
        assert!(status.contains(line), "{status}");
    }
    for line in ["NoNewPrivs:\t1\n", "Seccomp:\t2\n", "CapEff:\t0000000000000000\n", "Threads:\t1\n"] {
        assert!(status.contains(line), "{status}");
    }
    let files = fs::read_dir(format!("/proc/{pid}/fd")).expect("root's to see").flatten();
    let mut files =
        files.map(|file| fs::read_link(file.path()).expect("there").display().to_string()).collect::<Vec<_>>();
    files.retain(|file| !fs::read_to_string("/proc/self/maps").expect("ours").contains(file.as_str()));
    // Of what has no place in the file system, that by which it is asked, and the vdso.
    files.sort();
    assert!(
        matches!(&files[..], [vdso, socket] if vdso.starts_with("/memfd:vdso") && socket.starts_with("socket:")),
        "{files:?}"
    );
    assert_eq!(fs::read(format!("/proc/{pid}/environ")).expect("root's to see"), b"");
    assert!(
        fs::metadata(format!("/proc/{pid}/mem")).is_ok_and(|found| std::os::unix::fs::MetadataExt::uid(&found) == 0)
    );
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).expect("root's to see");
    assert!(
        limits.lines().any(|line| line.starts_with("Max address space") && line.contains("2147483648")),
        "{limits}"
    );
    drop((stacks, resolver));
    while !resolvers().is_empty() {
        std::thread::yield_now();
    }
}

const PROGRAM: &str = r"
#include <unistd.h>
volatile int never;
__attribute__((noinline)) int inner(int a) { char b[200]; int got = read(0, b, sizeof b); return got + a + b[0]; }
__attribute__((noinline)) int outer(int a) { return inner(a + 1) * 3; }
int main(int argc, char **argv) { return outer(argc) + never; }
";
const GO: &str = "package main\nimport \"syscall\"\n\n//go:noinline\nfunc wait(b []byte) int {\n\tn, _ := syscall.Read(0, b)\n\treturn n + 1\n}\n\
                  func main() {\n\tprintln(wait(make([]byte, 8)))\n}\n";
const SCRIPT: &str =
    "import hashlib, ssl, json, time\ndef a():\n  json.loads('[1]')\n  time.sleep(60)\ndef b():\n  a()\nb()";

/// All stacks of a program's threads.
fn walked(subject: &Subject, stacks: &mut Stacks) -> Vec<Walk> {
    assert!(stacks.learn(subject.pid()));
    let copies = subject.threads().into_iter().map(|tid| subject.copy(tid));
    copies.map(|copied| stacks.walk(subject.pid(), &copied.registers, &copied.stack)).collect()
}

fn described(stacks: &mut Stacks, walks: &[Walk]) -> Vec<Location> {
    walks.iter().flat_map(|walk| subject::describe(stacks, walk)).collect()
}

fn names_are_the_same_as_without_it(within: &Resolver, folder: &Path) {
    let mut programs = vec![Command::new(compile(folder, "program", PROGRAM, &["-O2", "-g"]))];
    let mut python = Command::new(testing::python());
    python.args(["-c", SCRIPT]);
    programs.push(python);
    if let Some(go) = testing::go() {
        fs::write(folder.join("main.go"), GO).expect("written");
        let program = folder.join("go-program");
        let built = Command::new(go).args(["build", "-o"]).arg(&program).arg(folder.join("main.go")).status();
        assert!(built.expect("go").success());
        programs.push(Command::new(program));
    }
    for mut program in programs {
        let subject = Subject::start(&mut program);
        let apart = Resolver::new();
        let (mut here, mut there) = (Stacks::new(within), Stacks::new(&apart));
        let (ours, theirs) = (walked(&subject, &mut here), walked(&subject, &mut there));
        assert_eq!(ours, theirs, "{program:?}");
        let (ours, theirs) = (described(&mut here, &ours), described(&mut there, &theirs));
        assert_eq!(ours, theirs, "{program:?}");
        let named = theirs.iter().filter(|location| !location.function.is_empty()).count();
        assert!(named >= 4 && apart.lost() == (0, 0), "{theirs:#?}");
        println!("{named} of {} frames have a name, both ways", theirs.len());
    }
}

fn its_end_costs_the_names_that_it_was_asked_for(folder: &Path) {
    let subject = Subject::start(&mut Command::new(folder.join("program")));
    let resolver = Resolver::new();
    let mut stacks = Stacks::new(&resolver);
    let walks = walked(&subject, &mut stacks);
    end_all();
    let locations = described(&mut stacks, &walks);
    let names = functions(&locations);
    let (ended, unnamed) = resolver.lost();
    assert_eq!((ended, unnamed as usize), (1, names.iter().filter(|name| name.is_empty()).count()), "{names:?}");
    assert!(unnamed > 0 && names.iter().any(|name| !name.is_empty()), "the others are asked of the next: {names:?}");
    assert!(locations.iter().all(|location| !location.module.is_empty()), "where it is, is known all the same");
    assert_eq!(resolvers().len(), 1);
}

fn it_is_started_a_few_times_and_no_more(folder: &Path) {
    let resolver = Resolver::new();
    for _ in 0..8 {
        let subject = Subject::start(&mut Command::new(folder.join("program")));
        let mut stacks = Stacks::new(&resolver);
        end_all();
        assert!(stacks.learn(subject.pid()), "the process is there, whatever is known of its files");
    }
    assert_eq!((resolver.lost().0, resolvers().len()), (4, 0));
}

/// As much as is read of a map.
const MAP_BYTES: usize = 64 << 20;

/// Code that a process has made itself, in a program that says where; and who asks for its name by a map of such lines.
fn named_by(folder: &Path, line: &[u8]) -> ((u32, u64), Vec<String>) {
    let program = compile_generating(folder);
    let subject = Subject::start(&mut Command::new(program));
    let map = format!("/tmp/perf-{}.map", subject.pid());
    let mut file = BufWriter::new(File::create(&map).expect("made"));
    for _ in 0..MAP_BYTES / line.len() {
        file.write_all(line).expect("written");
    }
    drop(file);
    let resolver = Resolver::new();
    let mut stacks = Stacks::new(&resolver);
    let walks = walked(&subject, &mut stacks);
    let locations = described(&mut stacks, &walks);
    fs::remove_file(map).expect("there");
    (resolver.lost(), functions(&locations).into_iter().map(String::from).collect())
}

fn who_takes_too_long_is_ended(folder: &Path) {
    // Nothing of it is kept, but it has to be looked at.
    let (lost, names) = named_by(folder, b"\xff\n");
    assert_eq!(lost, (1, 1), "{names:?}");
    assert!(names.iter().any(|name| name == "main"), "{names:?}");
}

fn who_takes_too_much_memory_is_ended(folder: &Path) {
    let (lost, names) = named_by(folder, b"1 1 a-name-that-takes-some-memory\n");
    assert_eq!(lost, (1, 1), "{names:?}");
    assert!(names.iter().any(|name| name == "main"), "{names:?}");
}
