//! The sockets of a network namespace as the kernel lists them, by inode: which are TCP, which listen, between which ports.

use crate::peer;
use broker::Place;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;

/// How the kernel numbers states (`include/net/tcp_states.h`).
const TIME_WAIT: u8 = 6;
const CLOSED: u8 = 7;
const LISTENING: u8 = 10;

/// A TCP socket of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSocket {
    pub inode: u64,
    pub local_port: u16,
    pub remote_port: u16,
    pub state: u8,
}

impl TcpSocket {
    pub fn is_listener(&self) -> bool {
        self.state == LISTENING
    }

    /// Whether it is a connection that a process holds, or is being made into one.
    pub fn is_connection(&self) -> bool {
        self.inode != 0 && !matches!(self.state, TIME_WAIT | CLOSED | LISTENING)
    }
}

/// The TCP sockets of the namespace that a process is in; none where it has ended.
pub fn tcp_sockets(pid: u32) -> Vec<TcpSocket> {
    let read = |table: &str| fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
    ["tcp", "tcp6"].into_iter().flat_map(|table| read(table).lines().filter_map(tcp_line).collect::<Vec<_>>()).collect()
}

/// Inodes of the Unix stream sockets there that were accepted: they bear the name of their listener, and do not listen.
pub fn accepted_unix_sockets(pid: u32) -> Vec<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/net/unix")).unwrap_or_default();
    text.lines().filter_map(accepted_unix_line).collect()
}

/// The namespace that a process is in, and its sockets by descriptor; empty where it has ended or may not be looked at.
pub fn sockets_by_descriptor(pid: u32) -> Vec<(i32, u64)> {
    let socket = |(fd, target): (i32, OsString)| {
        Some((fd, target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()?))
    };
    peer::descriptors(pid).into_iter().filter_map(socket).collect()
}

/// Something of each network namespace, read once however many processes are in it.
pub struct ByNamespace<T> {
    known: HashMap<String, T>,
    read: fn(u32) -> T,
}

impl<T> ByNamespace<T> {
    pub fn new(read: fn(u32) -> T) -> ByNamespace<T> {
        ByNamespace { known: HashMap::new(), read }
    }

    /// That of the namespace of a process; none where the process has ended.
    pub fn of(&mut self, pid: u32) -> Option<&T> {
        let namespace = peer::link(pid, Place::Network).ok()?.to_str()?.to_string();
        Some(self.known.entry(namespace).or_insert_with(|| (self.read)(pid)))
    }
}

/// A line of /proc/net/tcp: number, local address, remote address, state, ..., and the inode as the tenth field.
fn tcp_line(line: &str) -> Option<TcpSocket> {
    let fields = line.split_whitespace().collect::<Vec<_>>();
    let port = |at: usize| u16::from_str_radix(fields.get(at)?.rsplit_once(':')?.1, 16).ok();
    Some(TcpSocket {
        local_port: port(1)?,
        remote_port: port(2)?,
        state: u8::from_str_radix(fields.get(3)?, 16).ok()?,
        inode: fields.get(9)?.parse().ok()?,
    })
}

/// A line of /proc/net/unix: address, references, protocol, flags, type, state, inode and, where it has one, its name.
/// Type 1 is a stream; state 3 is connected; flag 10000 is a listener's.
fn accepted_unix_line(line: &str) -> Option<u64> {
    let fields = line.split_whitespace().collect::<Vec<_>>();
    let [_, _, _, "00000000", "0001", "03", inode, _, ..] = fields.as_slice() else { return None };
    inode.parse().ok()
}

/// A door for fuzzers: any text.
pub fn fuzz(text: &str) {
    for line in text.lines() {
        tcp_line(line);
        accepted_unix_line(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_the_ports_and_what_the_socket_is() {
        let line = |state| {
            format!(
                "0: 0100007F:1F90 00000000000000000000000001000000:A00B {state} 00000000:00000000 00:0 0 0 0 7711 1"
            )
        };
        let socket = tcp_line(&line("01")).expect("a socket");
        assert_eq!((socket.local_port, socket.remote_port, socket.inode), (8080, 40_971, 7711));
        assert!(socket.is_connection() && !socket.is_listener());
        let listener = tcp_line(&line("0A")).expect("a socket");
        assert!(listener.is_listener() && !listener.is_connection());
        assert!(!tcp_line(&line("06")).expect("a socket").is_connection(), "nobody holds it any more");
        assert_eq!(tcp_line("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt"), None);
    }

    #[test]
    fn an_accepted_unix_socket_bears_a_name_and_a_pair_does_not() {
        assert_eq!(accepted_unix_line("0: 00000003 00000000 00000000 0001 03 1234 /run/x"), Some(1234));
        assert_eq!(accepted_unix_line("0: 00000003 00000000 00000000 0001 03 1234"), None);
        assert_eq!(accepted_unix_line("0: 00000002 00000000 00010000 0001 01 1234 /run/x"), None);
        assert_eq!(accepted_unix_line("0: 00000003 00000000 00000000 0002 03 1234 /run/x"), None);
    }
}
