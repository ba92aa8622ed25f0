//! Whose processes the broker looks into, signals or joins: those that it has started, what these have started, and those
//! that the user named, by themselves or by their control group.

use crate::role::{ALLOWED, command_pid, is_broker};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

/// Those that the user named when whyslow was started, and their own start: ids come again.
static NAMED: OnceLock<Vec<(u32, u64)>> = OnceLock::new();

/// What is read of a process: its parent, and when it was started, in clock ticks since boot.
struct Stat {
    parent: u32,
    started: u64,
}

/// From the division on these processes are a subject's too.
pub(crate) fn name(pids: &[u32]) {
    let _ = NAMED.set(pids.iter().filter_map(|pid| Some((*pid, stat(*pid)?.started))).collect());
}

/// Whether a process is a subject's. Outside of a broker everything is left to the kernel.
///
/// # Errors
/// Where it is another's.
pub fn check_subject(pid: u32) -> io::Result<()> {
    if !is_broker() || is_subjects(pid) { Ok(()) } else { Err(refused()) }
}

fn is_subjects(pid: u32) -> bool {
    let (command, own) = (command_pid(), std::process::id());
    if pid == command || pid == own {
        return false;
    }
    let is_one = |pid: u32, one: &(u32, u64)| one.0 == pid && stat(pid).is_some_and(|it| it.started == one.1);
    let is_named = |pid: u32| NAMED.get().is_some_and(|named| named.iter().any(|one| is_one(pid, one)));
    let above = ancestry(pid);
    // What the broker itself runs (ip, tc) is below the command as well.
    let is_below = above.iter().skip(1).any(|one| *one == command) && !above.contains(&own);
    is_below || above.into_iter().any(is_named) || is_in_group(pid, command) || is_in_named_group(pid)
}

/// Whether it is in a control group that the user named, or in one below. The kernel says where it is; a process cannot choose.
fn is_in_named_group(pid: u32) -> bool {
    let Some(allowed) = ALLOWED.get().filter(|allowed| !allowed.groups.is_empty()) else { return false };
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    // Hierarchy, controllers, path.
    let paths = groups.lines().filter_map(|line| line.splitn(3, ':').nth(2)).map(Path::new).collect::<Vec<_>>();
    allowed.groups.iter().any(|group| paths.iter().any(|path| path.starts_with(group)))
}

/// Whether it is in a control group that was made for this run: only the broker puts processes there.
fn is_in_group(pid: u32, command: u32) -> bool {
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    groups.contains(&format!("/whyslow-{command}-"))
}

/// A process and those above it, up to the first.
fn ancestry(pid: u32) -> Vec<u32> {
    let mut found = vec![pid];
    while let Some(above) = found.last().and_then(|last| stat(*last)).map(|stat| stat.parent) {
        if above == 0 || found.contains(&above) {
            break;
        }
        found.push(above);
    }
    found
}

/// Of the line of /proc/PID/stat (proc(5)): the name in parentheses may hold anything; behind it stand state (3), parent (4), ...
fn stat(pid: u32) -> Option<Stat> {
    let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let rest = &bytes[bytes.iter().rposition(|byte| *byte == b')')? + 1..];
    let fields = std::str::from_utf8(rest).ok()?.split_whitespace().collect::<Vec<_>>();
    Some(Stat { parent: fields.get(4 - 3)?.parse().ok()?, started: fields.get(22 - 3)?.parse().ok()? })
}

fn refused() -> io::Error {
    io::Error::from_raw_os_error(libc::EPERM)
}
