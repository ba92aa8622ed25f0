//! Each CPython that is installed, blocked in known places; the walk that the kernel side does is done here from outside.

use super::*;
use crate::resolver::Resolver;
use crate::scripts::memory;
use crate::scripts::{self, ScriptLine};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SCRIPT: &str = "\
import threading, time, socket
a, b = socket.socketpair()
class Client:
    def fetch(self):
        return self.wait(
            1)
    def wait(self, n):
        a.recv(n)
def outer():
    inner(
        lambda: time.sleep(60))
def inner(function):
    unused = 'ß'
    function()
t = threading.Thread(target=Client().fetch, daemon=True)
t.start()
print(threading.main_thread().ident, t.ident, flush=True)
outer()
";

/// A running interpreter, ended with the test.
struct Script {
    child: Child,
    identifiers: Vec<u64>,
}

impl Script {
    fn start(python: &Path, script: &Path) -> Script {
        let mut child = Command::new(python).arg(script).stdout(Stdio::piped()).spawn().expect("an interpreter");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let identifiers = line.split_whitespace().map(|number| number.parse().expect("a number")).collect();
        Script { child, identifiers }
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every python3.9 to python3.14 on the search path and in pyenv's folder, with its version.
fn installed() -> Vec<(String, PathBuf)> {
    let mut folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    let versions = PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".pyenv/versions");
    folders.extend(versions.read_dir().into_iter().flatten().flatten().map(|entry| entry.path().join("bin")));
    folders.push("/usr/bin".into());
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    for folder in folders.into_iter().filter(|folder| !folder.ends_with("shims")) {
        for minor in 9..=14 {
            let path = folder.join(format!("python3.{minor}"));
            if let Ok(path) = path.canonicalize()
                && !found.iter().any(|(_, known)| *known == path)
            {
                found.push((format!("3.{minor}"), path));
            }
        }
    }
    found
}

/// The frames of each thread, innermost first: what the kernel side hands over, and the thread's identifier.
fn walk(pid: u32, at: &Offsets) -> Vec<(u64, Vec<(u64, u64)>)> {
    let word = |address: u64| memory::word(pid, address).unwrap_or(0);
    let mut threads = Vec::new();
    let mut thread = word(word(at.runtime + u64::from(at.interpreters_head)) + u64::from(at.threads_head));
    while thread != 0 && threads.len() < 16 {
        let mut frame = word(thread + u64::from(at.thread_frame));
        if at.frame_through_cframe == 1 {
            frame = word(frame + u64::from(at.cframe_current_frame));
        }
        let mut frames = Vec::new();
        while frame != 0 && frames.len() < 64 {
            let mut instruction = word(frame + u64::from(at.frame_instruction));
            if at.instruction_is_index == 1 {
                instruction &= u64::from(u32::MAX);
            }
            frames.push((word(frame + u64::from(at.frame_code)), instruction));
            frame = word(frame + u64::from(at.frame_previous));
        }
        threads.push((word(thread + u64::from(at.thread_id)), frames));
        thread = word(thread + u64::from(at.thread_next));
    }
    threads
}

/// File name, function's last part and line of every frame of one thread.
fn lines(pid: u32, interpreter: &Interpreter, identifier: u64) -> Vec<ScriptLine> {
    let mut objects = CodeObjects::new(&Resolver::new());
    let threads = walk(pid, &interpreter.offsets);
    let frames = threads.into_iter().find(|(thread, _)| *thread == identifier).map(|(_, frames)| frames);
    let frames = frames.unwrap_or_default().into_iter();
    frames.filter_map(|(code, instruction)| objects.line(pid, interpreter, code, instruction)).collect()
}

fn brief(lines: &[ScriptLine], script: &Path) -> Vec<(String, u32)> {
    let of_script = lines.iter().filter(|line| Path::new(&line.file) == script);
    of_script.map(|line| (line.function.clone(), line.line)).collect()
}

fn check(name: &str, python: &Path) {
    let folder = tempfile::tempdir().expect("a folder");
    // Not ASCII, so that a wide string is read too.
    let script = folder.path().join("naïve_日.py");
    std::fs::File::create(&script).and_then(|mut file| file.write_all(SCRIPT.as_bytes())).expect("a script");
    let running = Script::start(python, &script);
    let pid = running.child.id();
    let interpreter = match scripts::locate(&Resolver::new(), pid) {
        Some(scripts::Interpreter::Python(interpreter)) => interpreter,
        other => panic!("{name} at {python:?}: {other:?}"),
    };
    assert_eq!(format!("{}.{}", interpreter.version.0, interpreter.version.1), name);
    let qualified = interpreter.version >= (3, 11);
    let named = |bare: &str, full: &str| if qualified { full.to_string() } else { bare.to_string() };
    let main = [
        (named("<lambda>", "outer.<locals>.<lambda>"), 11),
        (named("inner", "inner"), 14),
        (named("outer", "outer"), 10),
        (named("<module>", "<module>"), 18),
    ];
    let other = [(named("wait", "Client.wait"), 8), (named("fetch", "Client.fetch"), 5)];
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let all: Vec<Vec<ScriptLine>> =
            running.identifiers.iter().map(|thread| lines(pid, &interpreter, *thread)).collect();
        if brief(&all[0], &script) == main && brief(&all[1], &script) == other {
            assert_eq!(all[0].len(), 4, "nothing but the script's frames: {:?}", all[0]);
            assert!(all[1].len() == 5 && all[1][4].function.ends_with("_bootstrap"), "{:?}", all[1]);
            return;
        }
        assert!(Instant::now() < deadline, "python {name} at {python:?}: {all:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn every_installed_cpython_gives_file_function_and_line_of_every_frame() {
    let found = installed();
    for (name, python) in &found {
        check(name, python);
    }
    let absent = (9..=14).filter(|minor| !found.iter().any(|(name, _)| *name == format!("3.{minor}")));
    let absent: Vec<String> = absent.map(|minor| format!("3.{minor}")).collect();
    println!("{} interpreters checked; {} versions absent: {}", found.len(), absent.len(), absent.join(" "));
    assert!(!found.is_empty(), "no CPython is installed: nothing was checked");
}

#[test]
fn a_process_without_an_interpreter_has_none() {
    assert_eq!(scripts::locate(&Resolver::new(), std::process::id()), None);
}

/// What 3.14 publishes for its default build, as far as it is read.
#[test]
fn offsets_of_3_14_are_found_where_its_table_has_them() {
    let mut bytes = vec![0; PUBLISHED_LENGTH];
    let mut put = |position: usize, value: u64| bytes[position..position + 8].copy_from_slice(&value.to_le_bytes());
    let fields = [(8, 0x030e_00f0), (40, 1), (72, 2), (192, 3), (208, 4), (216, 5), (256, 6), (264, 7), (272, 8)];
    let code = [(320, 9), (336, 10), (344, 11), (352, 12), (384, 13)];
    put(0, u64::from_le_bytes(*b"xdebugpy"));
    fields.into_iter().chain(code).for_each(|(position, value)| put(position, value));
    let found = published(&bytes, 99).expect("offsets");
    let offsets = found.offsets;
    assert_eq!((found.version, offsets.runtime, offsets.interpreters_head, offsets.threads_head), ((3, 14), 99, 1, 2));
    assert_eq!((offsets.thread_next, offsets.thread_frame, offsets.thread_id), (3, 4, 5));
    assert_eq!((offsets.frame_previous, offsets.frame_code, offsets.frame_instruction), (6, 7, 8));
    let code = found.code;
    assert_eq!(
        (code.filename, code.function, code.line_table, code.first_line, code.instructions),
        (9, 10, 11, 12, 13)
    );
}

#[test]
fn a_table_without_the_cookie_or_of_a_free_threaded_build_is_not_read() {
    let mut bytes = vec![0; PUBLISHED_LENGTH];
    bytes[8..16].copy_from_slice(&0x030d_00f0_u64.to_le_bytes());
    assert_eq!(published(&bytes, 0), None);
    bytes[..8].copy_from_slice(b"xdebugpy");
    assert!(published(&bytes, 0).is_some());
    bytes[16] = 1;
    assert_eq!(published(&bytes, 0), None);
    assert_eq!(published(&bytes[..20], 0), None);
}

/// What is no code object gives nothing, whatever it points at.
#[test]
fn other_objects_give_nothing() {
    let interpreter = known((3, 11), 0).expect("a known version");
    let mut objects = CodeObjects::new(&Resolver::new());
    let object = [0_u64; 64];
    let pid = std::process::id();
    assert_eq!(objects.line(pid, &interpreter, object.as_ptr() as u64, 0), None);
    assert_eq!(objects.line(pid, &interpreter, 8, 0), None);
    assert_eq!(objects.line(pid, &interpreter, 0, 0), None);
}

/// Objects laid out in our own memory as 3.11 lays them out.
struct Forged {
    code: Vec<u64>,
    _parts: Vec<Vec<u64>>,
}

/// A buffer of words with some of them set, by byte offset.
fn words(length: usize, set: &[(usize, u64)]) -> Vec<u64> {
    let mut buffer = vec![0; length];
    for (offset, value) in set {
        buffer[offset / 8] = *value;
    }
    buffer
}

/// A string of up to eight ASCII characters.
fn forged_text(text: &str) -> Vec<u64> {
    let mut characters = [0; 8];
    characters[..text.len()].copy_from_slice(text.as_bytes());
    // One byte a character, compact, ASCII.
    words(8, &[(16, text.len() as u64), (32, 1 << 2 | 1 << 5 | 1 << 6), (48, u64::from_le_bytes(characters))])
}

fn forge(object_type: u64, function: &str, first_line: u64) -> Forged {
    // One entry: four units without columns, on the first line.
    let table = words(6, &[(16, 2), (32, u64::from_le_bytes([0x80 | 13 << 3 | 3, 0, 0, 0, 0, 0, 0, 0]))]);
    let parts = vec![forged_text("file.py"), forged_text(function), table];
    let at = |part: usize| parts[part].as_ptr() as u64;
    let code = words(32, &[(8, object_type), (16, 4), (72, first_line), (112, at(0)), (128, at(1)), (136, at(2))]);
    Forged { code, _parts: parts }
}

#[test]
fn what_took_a_code_objects_address_is_read_again() {
    let interpreter = known((3, 11), 0).expect("a known version");
    let name = u64::from_le_bytes(*b"code\0\0\0\0");
    let object_type = words(8, &[(24, (&raw const name) as u64)]);
    let type_address = object_type.as_ptr() as u64;
    let (first, second) = (forge(type_address, "first", 7), forge(type_address, "second", 40));
    let (mut objects, pid) = (CodeObjects::new(&Resolver::new()), std::process::id());
    let mut place = first.code.clone();
    let address = place.as_ptr() as u64;
    let mut line = || objects.line(pid, &interpreter, address, address + 184 + 2);
    assert_eq!(
        line(),
        Some(ScriptLine { file: "file.py".into(), function: "first".into(), line: 7, ..ScriptLine::default() })
    );
    place.copy_from_slice(&second.code);
    assert_eq!(
        line(),
        Some(ScriptLine { file: "file.py".into(), function: "second".into(), line: 40, ..ScriptLine::default() })
    );
    // Another type at the address: no code object any more.
    place[1] = 8;
    assert_eq!(line(), None);
    let beyond = objects.line(pid, &interpreter, second.code.as_ptr() as u64, address);
    assert_eq!(beyond.expect("a code object").line, 0, "an instruction of another object has no line in it");
}
