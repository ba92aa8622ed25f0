//! What a running process is, from `/proc`.

use crate::counters;
use crate::peer;
use broker::Place;
use case::{redact_arguments, switches};
use std::fs::{self, File};
use std::io::Read;

/// No more of a command line is kept: it can have megabytes, and each process has its own.
const LONGEST_COMMAND_BYTES: u64 = 16 << 10;

/// The same of an environment; nearly all have a page or two.
const LONGEST_ENVIRONMENT_BYTES: u64 = 64 << 10;

/// A process as it was when it was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Path of its executable, as the process itself sees it; empty for a kernel thread.
    pub executable: String,
    /// Its command line, secrets redacted.
    pub command: Vec<String>,
    /// Switches in its environment, which we may not be allowed to read, and on its command line that make a runtime slow
    /// (`case::switches`).
    pub switches: String,
    /// On how many CPUs it may run (its first thread); 0 where that is not told.
    pub allowed_processors: u32,
    /// The process that started it, or took it over.
    pub parent: u32,
    /// The user it runs as (real user id).
    pub uid: u32,
    /// Inode of its network namespace; 0 where that cannot be read.
    pub network_namespace: u64,
    /// The cgroup that limits its CPU.
    pub cgroup: String,
}

/// Describes a process; `None` where it is gone.
pub fn describe(pid: u32) -> Option<Description> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let executable = peer::link(pid, Place::Executable).unwrap_or_default();
    let command = arguments(&beginning_of(pid, "cmdline", LONGEST_COMMAND_BYTES));
    let set = switches::in_environment(&beginning_of(pid, "environ", LONGEST_ENVIRONMENT_BYTES));
    Some(Description {
        executable: executable.to_string_lossy().into_owned(),
        switches: [set, switches::in_arguments(&command)].join(" ").trim().to_string(),
        command: redact_arguments(&command),
        allowed_processors: allowed_processors(&status),
        parent: field(&status, "PPid:")?,
        uid: field(&status, "Uid:")?,
        network_namespace: counters::network_namespace(pid).unwrap_or(0),
        cgroup: counters::cgroup_of(pid),
    })
}

/// The name of a thread, as the kernel keeps it; `None` where the thread is gone.
pub fn thread_name(pid: u32, tid: u32) -> Option<String> {
    let name = fs::read(format!("/proc/{pid}/task/{tid}/comm")).ok()?;
    Some(String::from_utf8_lossy(name.trim_ascii_end()).into_owned())
}

/// The beginning of a file of `/proc/PID`.
fn beginning_of(pid: u32, file: &str, bytes_at_most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let opened = File::open(format!("/proc/{pid}/{file}"));
    // What cannot be read of a process that ends, or that is not ours to look into, is not there.
    let _ = opened.and_then(|file| file.take(bytes_at_most).read_to_end(&mut bytes));
    bytes
}

/// The arguments of `/proc/PID/cmdline`: each ends with a zero byte.
fn arguments(cmdline: &[u8]) -> Vec<String> {
    let whole = cmdline.strip_suffix(b"\0").unwrap_or(cmdline);
    if whole.is_empty() {
        return Vec::new();
    }
    whole.split(|&byte| byte == 0).map(|argument| String::from_utf8_lossy(argument).into_owned()).collect()
}

/// The first number of a line of `/proc/PID/status`.
fn field(status: &str, name: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// How many CPUs a list names in `/proc/PID/status`: three in `0,2-3`.
fn allowed_processors(status: &str) -> u32 {
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default().trim();
    let count = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    list.split(',').filter_map(count).fold(0, u32::saturating_add)
}

/// A door for fuzzers: any bytes, and the same as text.
pub fn fuzz(bytes: &[u8], text: &str) {
    redact_arguments(&arguments(bytes));
    field(text, "PPid:");
    field(text, "Uid:");
    allowed_processors(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::process::{Command, Stdio};

    #[test]
    fn a_child_is_described_with_its_secrets_hidden() {
        let arguments = ["-c", "echo; read line; exit", "--token=abc", "plain"];
        let mut shell = Command::new("sh");
        shell.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = shell.spawn().expect("a shell");
        // The kernel sets the arguments last: only what the shell itself does says that they are there.
        child.stdout.take().expect("a pipe").read_exact(&mut [0]).expect("a line");
        let described = describe(child.id()).expect("a process");
        drop(child.stdin.take());
        child.wait().expect("an end");
        assert_eq!(described.command, ["sh", "-c", "echo; read line; exit", "--token=*", "plain"]);
        assert_eq!(described.parent, std::process::id());
        assert_eq!(Some(described.network_namespace), counters::network_namespace(std::process::id()));
        assert!(described.executable.starts_with('/'));
        assert!(described.cgroup.starts_with('/'));
        assert_eq!(described.uid, nix::unistd::getuid().as_raw());
        assert_eq!(describe(child.id()), None);
    }

    #[test]
    fn the_cpus_of_a_list_are_counted() {
        let of = |list: &str| allowed_processors(&format!("Name:\tsh\nCpus_allowed_list:\t{list}\n"));
        assert_eq!([of("0"), of("0-3"), of("0,2-3,7"), of("3-1"), of("x")], [1, 4, 4, 0, 0]);
        assert_eq!(allowed_processors("Name:\tsh\n"), 0);
    }

    #[test]
    fn an_empty_argument_counts() {
        assert_eq!(arguments(b"a\0\0b\0"), ["a", "", "b"]);
        assert!(arguments(b"").is_empty());
    }

    #[test]
    fn a_thread_has_the_name_it_was_given() {
        let name = |tid: i32| thread_name(std::process::id(), tid as u32);
        let thread = std::thread::Builder::new().name("counting".into());
        let given =
            thread.spawn(move || name(nix::unistd::gettid().as_raw())).expect("a thread").join().expect("a name");
        assert_eq!(given.as_deref(), Some("counting"));
        assert_eq!(name(0), None);
    }
}
