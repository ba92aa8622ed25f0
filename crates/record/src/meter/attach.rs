//! Following processes that run already: their threads, and the connections that they have open.
//!
//! Which end of a connection a process is cannot be seen on a socket that is there. A connection to a port on which
//! somebody listens in its namespace was accepted through that listener; one whose other end is such a port was made.
//! Where neither is, the end with the lower port is taken for the server: the kernel draws clients' ports from high ones.

use super::{ConnectionOrigin, Followed, IN_KERNEL, IN_USER, Meter};
use crate::error::RecordError;
use crate::listening::descendants;
use crate::live_sockets::tables::{ByNamespace, TcpSocket, accepted_unix_sockets, sockets_by_descriptor, tcp_sockets};
use crate::loaded::refused;
use crate::source::Role;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;

/// The flag for a key that must not be there yet: a thread that the kernel's side has found first is known better.
const ONLY_IF_NEW: u64 = 1;
/// Name servers' port: what is asked there is no part of the program's own work.
const NAMES: u16 = 53;

impl Meter {
    /// Follows a process that runs, with all its threads, its descendants, and what they will make. Connections that they
    /// have open count from the next exchange on that begins on them; of Unix ones, those that were accepted.
    ///
    /// # Errors
    /// Where a table of the kernel's side is full.
    pub fn attach(&mut self, pid: u32, role: Role) -> Result<(), RecordError> {
        let mut known = BTreeSet::new();
        // Again until nothing new is found: what is made by a thread that is followed is followed by itself.
        loop {
            let found = descendants(pid).into_iter().chain([pid]).flat_map(threads).collect::<BTreeSet<_>>();
            let new = found.difference(&known).copied().collect::<Vec<_>>();
            if new.is_empty() {
                break;
            }
            for thread in new {
                self.attach_thread(thread, role)?;
                known.insert(thread);
            }
        }
        // After the threads: what they make from now on is seen being made.
        let mut processes = descendants(pid);
        processes.push(pid);
        self.adopt(&processes, role)
    }

    fn attach_thread(&mut self, thread: u32, role: Role) -> Result<(), RecordError> {
        let mode = if is_running(thread) { IN_USER } else { IN_KERNEL };
        let state = Followed { role: role.number(), mode, ..Followed::default() };
        match self.threads.insert(thread, state, ONLY_IF_NEW) {
            Ok(()) => {}
            Err(_) if self.threads.get(&thread, 0).is_ok() => {}
            Err(error) => return Err(refused("threads", &error)),
        }
        if !fs::exists(format!("/proc/{thread}")).unwrap_or(false) {
            // It ended meanwhile, and its id will be another's.
            let _ = self.threads.remove(&thread);
        }
        Ok(())
    }

    fn adopt(&mut self, processes: &[u32], role: Role) -> Result<(), RecordError> {
        let mut tables = ByNamespace::new(Sockets::read);
        for &pid in processes {
            let own = sockets_by_descriptor(pid);
            let Some(table) = tables.of(pid) else { continue };
            for (_, inode) in own {
                let Some(side) = table.side(inode, role) else { continue };
                self.adopted.insert(inode, side as u32, 0).map_err(|error| refused("adopted", &error))?;
            }
        }
        Ok(())
    }
}

/// The threads of a process.
fn threads(pid: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// Whether a thread runs or could: then most likely in its program, and else in a system call.
fn is_running(thread: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{thread}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R'))
}

/// The sockets of a namespace, as far as they can count.
struct Sockets {
    tcp: HashMap<u64, TcpSocket>,
    listening: HashSet<u16>,
    accepted_unix: HashSet<u64>,
}

impl Sockets {
    fn read(pid: u32) -> Sockets {
        let all = tcp_sockets(pid);
        let listening = all.iter().filter(|socket| socket.is_listener()).map(|socket| socket.local_port).collect();
        let connections = all.into_iter().filter(TcpSocket::is_connection);
        let tcp = connections.map(|socket| (socket.inode, socket)).collect();
        Sockets { tcp, listening, accepted_unix: accepted_unix_sockets(pid).into_iter().collect() }
    }

    /// On which side a socket counts; none where it does not.
    fn side(&self, inode: u64, role: Role) -> Option<ConnectionOrigin> {
        if self.accepted_unix.contains(&inode) {
            return Some(ConnectionOrigin::Accepted);
        }
        let tcp = self.tcp.get(&inode)?;
        let listens = |port: u16| self.listening.contains(&port);
        let is_accepted = match (listens(tcp.local_port), listens(tcp.remote_port)) {
            (true, false) => true,
            (false, true) => false,
            _ => tcp.local_port < tcp.remote_port,
        };
        match (is_accepted, role) {
            (true, _) => Some(ConnectionOrigin::Accepted),
            (false, _) if tcp.remote_port == NAMES => None,
            (false, Role::Client) => Some(ConnectionOrigin::MadeByClient),
            (false, Role::Server) => Some(ConnectionOrigin::MadeByServer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(local_port: u16, remote_port: u16, listening: &[u16]) -> Option<ConnectionOrigin> {
        let socket = TcpSocket { inode: 7, local_port, remote_port, state: 1 };
        let listening = listening.iter().copied().collect();
        let sockets = Sockets { tcp: HashMap::from([(7, socket)]), listening, accepted_unix: HashSet::new() };
        sockets.side(7, Role::Client)
    }

    #[test]
    fn a_connection_is_on_the_side_that_its_ports_tell() {
        assert_eq!(side(8080, 40_000, &[8080]), Some(ConnectionOrigin::Accepted));
        assert_eq!(side(40_000, 8080, &[8080]), Some(ConnectionOrigin::MadeByClient));
        assert_eq!(side(50_000, 40_000, &[50_000]), Some(ConnectionOrigin::Accepted), "whatever port it listens on");
        assert_eq!(side(40_000, 443, &[8080]), Some(ConnectionOrigin::MadeByClient), "its server is elsewhere");
        assert_eq!(side(8080, 40_000, &[]), Some(ConnectionOrigin::Accepted), "the listener was closed");
        assert_eq!(side(40_000, 53, &[]), None, "a name server");
    }

    #[test]
    fn a_socket_that_is_no_connection_does_not_count() {
        let none = Sockets { tcp: HashMap::new(), listening: HashSet::new(), accepted_unix: HashSet::from([9]) };
        assert_eq!(none.side(7, Role::Client), None);
        assert_eq!(none.side(9, Role::Client), Some(ConnectionOrigin::Accepted));
    }
}
