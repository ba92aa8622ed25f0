//! What /proc tells of a process that runs already: whether it may be recorded, its threads, its open files.

use crate::error::RecordError;
use crate::listening;
use crate::peer;
use broker::Place;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;

/// What is known of a process that runs already.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its id.
    pub pid: u32,
    /// The files it holds open.
    pub files: Vec<(i32, String)>,
    /// Its network namespace.
    pub namespace: u64,
    /// The TCP ports that are listened on there.
    pub ports: Vec<u16>,
}

/// PROC_PID_INIT_INO of the kernel's `proc_ns.h`: the inode of the first PID namespace is always the same.
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

/// A thread of the kernel has this flag (`PF_KTHREAD` in linux/sched.h).
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Whether a process is there and has not ended.
pub fn is_running(pid: u32) -> bool {
    listening::process(pid).is_some_and(|process| !has_ended(process.state))
}

/// Whether a signal or a debugger holds a process, so that it does nothing until it is let go.
pub fn is_stopped(pid: u32) -> bool {
    listening::process(pid).is_some_and(|process| matches!(process.state, 'T' | 't'))
}

/// The process to follow where `pid` was asked for: the one that it is a thread of, as a rule itself.
///
/// # Errors
/// Where it is not there, has no program, is whyslow or holds it, or may not be looked into.
pub fn attachable(pid: u32) -> Result<u32, RecordError> {
    let process = process_of(pid).filter(|process| is_running(*process)).ok_or(RecordError::NoProcess(pid))?;
    if is_of_kernel(process) {
        return Err(RecordError::KernelThread(pid));
    }
    if ancestry(std::process::id()).contains(&process) || broker::broker_pid() == Some(process) {
        return Err(RecordError::Ourselves(pid));
    }
    if !is_within_reach(process) {
        let reason = "it runs as another user, or with rights that this one lacks; only root may follow it".to_string();
        return Err(RecordError::NotPermitted { pid, reason });
    }
    match peer::link(process, Place::Executable) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            Err(RecordError::NotPermitted { pid, reason: error.to_string() })
        }
        Err(_) if !is_running(process) => Err(RecordError::NoProcess(pid)),
        _ => Ok(process),
    }
}

/// Whether a process may be followed by who runs whyslow: by root all, by anybody else their own. A whyslow whose file carries
/// capabilities could look into everybody's; as without them, it takes what ptrace(2) would take: the same user and group
/// throughout, and a process whose memory is not withheld, as that of setuid programs is.
pub(crate) fn is_within_reach(pid: u32) -> bool {
    let own = (nix::unistd::getuid().as_raw(), nix::unistd::getgid().as_raw());
    if broker::acts_as_root() || own.0 == 0 {
        return true;
    }
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let owner = fs::metadata(format!("/proc/{pid}")).map(|found| found.uid());
    are_all(&status, "Uid:", own.0) && are_all(&status, "Gid:", own.1) && owner.is_ok_and(|owner| owner == own.0)
}

/// Whether all ids in a line of /proc/PID/status (real, effective, saved, that for files) are this one.
fn are_all(status: &str, name: &str, wanted: u32) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    let mut ids = line.split_whitespace().map(str::parse::<u32>);
    ids.clone().count() == 4 && ids.all(|id| id == Ok(wanted))
}

/// The kernel reports events by the ids of its first PID namespace.
///
/// # Errors
/// Where we are in another.
pub(crate) fn in_the_first_pid_namespace() -> Result<(), RecordError> {
    let here = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let is_other = here.to_str().is_some_and(|name| name.starts_with("pid:[") && name != FIRST_PID_NAMESPACE);
    if is_other { Err(RecordError::OtherPidNamespace) } else { Ok(()) }
}

/// A process and those that started it, up to the first.
pub fn ancestry(pid: u32) -> Vec<u32> {
    let mut found = vec![pid];
    while let Some(process) = found.last().and_then(|last| listening::process(*last)) {
        if process.parent == 0 || found.contains(&process.parent) {
            break;
        }
        found.push(process.parent);
    }
    found
}

/// The ids of a process's threads; none where it is gone.
pub fn threads(pid: u32) -> Vec<u32> {
    numbers(&format!("/proc/{pid}/task"))
}

/// The descriptors by which a process holds files that have a path, and the paths.
pub fn open_files(pid: u32) -> Vec<(i32, String)> {
    let named = |(fd, target): (i32, OsString)| {
        let target = target.to_string_lossy();
        // What has no path reads `pipe:[1]`, `anon_inode:[eventpoll]`.
        target.starts_with('/').then(|| (fd, target.trim_end_matches(" (deleted)").to_string()))
    };
    let mut found: Vec<_> = peer::descriptors(pid).into_iter().filter_map(named).collect();
    found.sort_unstable();
    found
}

fn numbers(folder: &str) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<u32> = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    found.sort_unstable();
    found
}

/// One letter of /proc/PID/stat: Z waits to be collected, X is being removed.
fn has_ended(state: char) -> bool {
    matches!(state, 'Z' | 'X' | 'x')
}

/// The process that a thread belongs to.
fn process_of(tid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}

fn is_of_kernel(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // proc(5): the flags are field 9, the name in parentheses field 2.
    let rest = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
    let flags = rest.split_whitespace().nth(9 - 3).and_then(|field| field.parse::<u64>().ok());
    flags.is_some_and(|flags| flags & KERNEL_THREAD != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn only_what_runs_and_does_not_hold_us_can_be_attached_to() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("cat");
        assert_eq!(attachable(child.id()).expect("a process"), child.id());
        child.kill().expect("killed");
        while is_running(child.id()) {
            std::thread::yield_now();
        }
        // It has ended and was not collected.
        assert!(matches!(attachable(child.id()), Err(RecordError::NoProcess(_))));
        child.wait().expect("collected");
        assert!(matches!(attachable(child.id()), Err(RecordError::NoProcess(_))));
        for ours in [std::process::id(), nix::unistd::getppid().as_raw() as u32] {
            assert!(matches!(attachable(ours), Err(RecordError::Ourselves(pid)) if pid == ours));
        }
    }

    #[test]
    fn a_program_that_runs_as_somebody_else_for_a_part_is_not_ones_own() {
        let status = |uid: &str| format!("Name:\tcat\nUid:\t{uid}\nGid:\t7\t7\t7\t7\n");
        assert!(are_all(&status("7\t7\t7\t7"), "Uid:", 7) && are_all(&status("0\t0\t0\t0"), "Gid:", 7));
        for other in ["7\t0\t0\t0", "7\t7\t0\t7", "0\t7\t7\t7", "7\t7\t7", ""] {
            assert!(!are_all(&status(other), "Uid:", 7), "{other}");
        }
        assert!(!are_all("", "Uid:", 7), "a process that is gone");
    }

    #[test]
    fn a_stopped_process_is_distinguished_from_one_that_waits() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("sleep");
        assert!(!is_stopped(child.id()));
        let pid = nix::unistd::Pid::from_raw(child.id() as i32);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGSTOP).expect("stopped");
        while !is_stopped(child.id()) {
            std::thread::yield_now();
        }
        assert!(is_running(child.id()));
        child.kill().expect("killed");
        child.wait().expect("collected");
        assert!(!is_stopped(child.id()));
    }

    #[test]
    fn a_thread_of_the_kernel_is_distinguished_from_a_program() {
        let kernel = listening::processes().into_iter().map(|process| process.pid).find(|pid| is_of_kernel(*pid));
        match kernel {
            Some(pid) => assert!(matches!(attachable(pid), Err(RecordError::KernelThread(_)))),
            None => println!("not checked: no thread of the kernel can be seen here"),
        }
        assert!(!is_of_kernel(std::process::id()));
    }

    #[test]
    fn open_files_have_their_paths_and_pipes_none() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut command = Command::new("cat");
        command.stdin(Stdio::piped()).stdout(file.reopen().expect("the file")).stderr(Stdio::piped());
        let mut child = command.spawn().expect("cat");
        let mut found = open_files(child.id());
        // What we were started with may hold more.
        found.retain(|(fd, _)| (0..3).contains(fd));
        assert_eq!(found, [(1, file.path().to_string_lossy().into_owned())]);
        drop(child.stdin.take());
        child.wait().expect("an end");
    }

    #[test]
    fn every_thread_is_listed() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let (hold, held) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            sender.send(nix::unistd::gettid().as_raw() as u32).expect("a listener");
            let _ = held.recv();
        });
        let tid = receiver.recv().expect("an id");
        let listed = threads(std::process::id());
        assert!(listed.contains(&tid) && listed.contains(&std::process::id()));
        drop(hold);
        thread.join().expect("an end");
    }
}
