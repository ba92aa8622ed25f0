//! Whether a server is ready, and which processes it consists of: read from /proc, without asking the server.

use crate::peer;
use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::Read;

/// A process as /proc/PID/stat describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessStat {
    /// Process id.
    pub pid: u32,
    /// Its parent.
    pub parent: u32,
    /// Its session.
    pub session: u32,
    /// One letter: R running, S sleeping, Z ended and not yet collected, ...
    pub state: char,
    /// For how long its threads have been on CPU, in clock ticks.
    pub ran_ticks: u64,
    /// When it was started, in clock ticks since boot.
    pub started_ticks: u64,
}

impl ProcessStat {
    /// Whether it has ended and waits to be collected.
    pub fn is_zombie(&self) -> bool {
        self.state == 'Z'
    }
}

/// Whether the process `pid`, or a descendant of it, has a listening socket (TCP or Unix).
pub fn listens(pid: u32) -> bool {
    descendants(pid).into_iter().chain([pid]).any(process_listens)
}

/// The TCP ports that a process or a descendant of it listens on.
pub fn ports(pid: u32) -> BTreeSet<u16> {
    descendants(pid).into_iter().chain([pid]).flat_map(process_ports).collect()
}

/// The TCP ports that a process itself listens on.
pub fn process_ports(pid: u32) -> BTreeSet<u16> {
    let own = sockets(pid);
    let listeners = if own.is_empty() { Vec::new() } else { tcp_listeners(pid) };
    listeners.into_iter().filter(|listener| own.contains(&listener.inode)).map(|listener| listener.port).collect()
}

/// The children of a process, their children, and so on.
pub fn descendants(pid: u32) -> Vec<u32> {
    descendants_among(&processes(), pid)
}

/// The same, among processes that were looked at together.
pub fn descendants_among(all: &[ProcessStat], pid: u32) -> Vec<u32> {
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(all.iter().filter(|process| process.parent == parent).map(|process| process.pid));
        next += 1;
    }
    found.split_off(1)
}

/// The children of a process among those that were looked at; the broker is nobody's.
pub fn children(all: &[ProcessStat], pid: u32) -> Vec<ProcessStat> {
    let own = crate::resolver::pids();
    let is_broker = |process: &ProcessStat| broker::broker_pid() == Some(process.pid) || own.contains(&process.pid);
    all.iter().filter(|process| process.parent == pid && !is_broker(process)).copied().collect()
}

/// All processes that can be seen.
pub fn processes() -> Vec<ProcessStat> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let pids = names.filter_map(|name| name.parse::<u32>().ok());
    pids.filter_map(process).collect()
}

/// One process; none where it is gone.
pub fn process(pid: u32) -> Option<ProcessStat> {
    // More than its 52 numbers and its name take: in one read, since all processes are looked at often.
    let mut line = [0; 2048];
    let length = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut line).ok()?;
    parse_stat(&String::from_utf8_lossy(&line[..length]))
}

/// Reads the line of /proc/PID/stat. The name in parentheses may hold anything, blanks and parentheses included.
fn parse_stat(line: &str) -> Option<ProcessStat> {
    let (pid, rest) = line.split_once(" (")?;
    let fields = rest[rest.rfind(')')? + 1..].split_whitespace().collect::<Vec<_>>();
    // proc(5) counts from 1, and the first two fields are cut off: state is 3, parent 4, session 6, CPU time 14 and 15 (of the
    // kernel for it), start time 22.
    let field = |number: usize| fields.get(number - 3).copied();
    Some(ProcessStat {
        pid: pid.trim().parse().ok()?,
        state: field(3)?.chars().next()?,
        parent: field(4)?.parse().ok()?,
        session: field(6)?.parse().ok()?,
        ran_ticks: field(14)?.parse::<u64>().ok()?.saturating_add(field(15)?.parse().ok()?),
        started_ticks: field(22)?.parse().ok()?,
    })
}

/// Whether a process itself has a listening socket.
pub fn process_listens(pid: u32) -> bool {
    let own = sockets(pid);
    if own.is_empty() {
        return false;
    }
    let tcp = tcp_listeners(pid).iter().any(|listener| own.contains(&listener.inode));
    let unix = fs::read_to_string(format!("/proc/{pid}/net/unix")).unwrap_or_default();
    tcp || unix.lines().filter_map(unix_listener).any(|socket| own.contains(&socket))
}

/// A TCP socket that listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpListener {
    /// Its inode.
    pub inode: u64,
    /// Its port.
    pub port: u16,
}

/// All TCP sockets that listen in the network namespace of a process, whoever holds them.
pub fn tcp_listeners(pid: u32) -> Vec<TcpListener> {
    let read = |table: &str| fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
    ["tcp", "tcp6"]
        .into_iter()
        .flat_map(|table| read(table).lines().filter_map(tcp_listener).collect::<Vec<_>>())
        .collect()
}

/// Inodes of the sockets among a process's descriptors.
pub fn sockets(pid: u32) -> HashSet<u64> {
    let targets = peer::descriptors(pid).into_iter().map(|(_, target)| target);
    targets.filter_map(|target| target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()).collect()
}

/// The socket of a line of /proc/net/tcp that is in state 0A, LISTEN.
fn tcp_listener(line: &str) -> Option<TcpListener> {
    let mut fields = line.split_whitespace();
    let (_, port) = fields.nth(1)?.rsplit_once(':')?;
    if fields.nth(1)? != "0A" {
        return None;
    }
    Some(TcpListener { inode: fields.nth(5)?.parse().ok()?, port: u16::from_str_radix(port, 16).ok()? })
}

/// The inode in a line of /proc/net/unix whose socket accepts connections (flag `__SO_ACCEPTCON`).
fn unix_listener(line: &str) -> Option<u64> {
    let fields = line.split_whitespace().collect::<Vec<_>>();
    if *fields.get(3)? == "00010000" { fields.get(6)?.parse().ok() } else { None }
}

/// A door for fuzzers: any text.
pub fn fuzz(text: &str) {
    for line in text.lines() {
        parse_stat(line);
        tcp_listener(line);
        unix_listener(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_confuse_the_reader() {
        let line = "42 (a) b (c) S 7 42 41 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9876 0 0";
        let expected = ProcessStat { pid: 42, parent: 7, session: 41, state: 'S', ran_ticks: 11, started_ticks: 9876 };
        assert_eq!(parse_stat(line), Some(expected));
        assert_eq!(parse_stat("42 (torn"), None);
    }

    #[test]
    fn only_listening_sockets_count() {
        let line =
            |state| format!("0: 0100007F:1F90 00000000:0000 {state} 00000000:00000000 00:00000000 00000000 0 0 7711 1");
        assert_eq!(tcp_listener(&line("0A")), Some(TcpListener { inode: 7711, port: 8080 }));
        assert_eq!(tcp_listener(&line("01")), None);
        assert_eq!(unix_listener("0000: 00000002 00000000 00010000 0001 01 1234 /run/x"), Some(1234));
        assert_eq!(unix_listener("0000: 00000003 00000000 00000000 0001 03 1234 /run/x"), None);
    }

    #[test]
    fn a_process_with_a_listener_listens_and_one_without_does_not() {
        let _listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
        assert!(listens(std::process::id()));
        // Other tests of this process may listen.
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("sleep");
        assert!(!process_listens(child.id()));
        child.kill().expect("killed");
        child.wait().expect("collected");
    }

    #[test]
    fn a_child_is_among_the_descendants() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("sleep");
        assert!(descendants(std::process::id()).contains(&child.id()));
        child.kill().expect("killed");
        assert!(children(&processes(), std::process::id()).iter().any(|process| process.pid == child.id()));
        child.wait().expect("collected");
    }
}
