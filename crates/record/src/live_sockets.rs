//! Options of sockets that a running process has open, read and set from outside: its descriptor is duplicated into ours
//! (pidfd_getfd, Linux 5.6), the option set, the duplicate closed. Needs no privilege for processes of the same user,
//! where the kernel lets them trace each other.
//!
//! A duplicate is held for microseconds: were the process to close the connection within them, it would end with the
//! duplicate. So nothing is duplicated that need not be.

pub(crate) mod tables;

use crate::error::RecordError;
use broker::{Reply, Request};
use serde::{Deserialize, Serialize};
use std::io::{Error, ErrorKind};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use tables::{ByNamespace, TcpSocket, sockets_by_descriptor, tcp_sockets};

/// A TCP socket that a running process has open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LiveSocket {
    /// Whose it is.
    pub pid: u32,
    /// Its descriptor there.
    pub fd: i32,
    /// What tells it from a later socket of that descriptor.
    pub inode: u64,
    /// Whether it listens; connections inherit the options of the listener that they came through.
    pub is_listener: bool,
}

/// Whether a socket sends short segments at once (TCP_NODELAY), or holds them back while an earlier one is not
/// acknowledged (Nagle's algorithm).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nodelay {
    /// At once.
    On,
    /// Held back: what a socket does by itself.
    Off,
}

/// The TCP sockets that processes have open, connections and listeners; a socket that several of them have is listed once
/// for each. Processes that have ended have none, and so have those that may not be looked at.
pub fn sockets_of(pids: &[u32]) -> Vec<LiveSocket> {
    let by_inode = |pid| tcp_sockets(pid).into_iter().map(|socket| (socket.inode, socket)).collect();
    let mut tables = ByNamespace::<std::collections::HashMap<u64, TcpSocket>>::new(by_inode);
    let mut found = Vec::new();
    for &pid in pids {
        let own = sockets_by_descriptor(pid);
        let Some(table) = tables.of(pid) else { continue };
        let known = own.into_iter().filter_map(|(fd, inode)| Some((fd, table.get(&inode)?)));
        let known = known.filter(|(_, socket)| socket.is_listener() || socket.is_connection());
        let live = known.map(|(fd, tcp)| LiveSocket { pid, fd, inode: tcp.inode, is_listener: tcp.is_listener() });
        found.extend(live);
    }
    found
}

impl LiveSocket {
    /// How it is set; none where it has been closed.
    ///
    /// # Errors
    /// Where the process may not be reached.
    pub fn nodelay(&self) -> Result<Option<Nodelay>, RecordError> {
        self.with(read_nodelay)
    }

    /// Sets it, and returns how it was set before; none where it has been closed.
    ///
    /// # Errors
    /// Where the process may not be reached, or the kernel refuses.
    pub fn set_nodelay(&self, wanted: Nodelay) -> Result<Option<Nodelay>, RecordError> {
        self.with(|socket| {
            let before = read_nodelay(socket)?;
            set(socket, libc::IPPROTO_TCP, libc::TCP_NODELAY, i32::from(wanted == Nodelay::On))?;
            Ok(before)
        })
    }

    fn with<T>(&self, act: impl FnOnce(&OwnedFd) -> Result<T, Error>) -> Result<Option<T>, RecordError> {
        let action = || format!("reaching descriptor {} of process {}", self.fd, self.pid);
        let socket = match duplicate(self.pid, self.fd) {
            Err(error) if matches!(error.raw_os_error(), Some(libc::EBADF | libc::ESRCH)) => return Ok(None),
            other => other.map_err(RecordError::io(action()))?,
        };
        // Closed since it was listed, and the descriptor is another's now.
        if inode(&socket).map_err(RecordError::io(action()))? != self.inode {
            return Ok(None);
        }
        act(&socket).map(Some).map_err(RecordError::io(action()))
    }
}

/// Sets an option of one socket of a running process.
///
/// # Errors
/// Where the process or its descriptor is not there, may not be reached, or the kernel refuses the option.
pub fn set_option_in(pid: u32, descriptor: i32, level: i32, option: i32, value: i32) -> Result<(), RecordError> {
    let action = || format!("setting an option of descriptor {descriptor} of process {pid}");
    let socket = duplicate(pid, descriptor).map_err(RecordError::io(action()))?;
    set(&socket, level, option, value).map_err(RecordError::io(action()))
}

/// Asks for a TCP socket of a process, as a descriptor of ours.
#[derive(Serialize, Deserialize)]
pub(crate) struct Duplicate {
    pid: u32,
    descriptor: RawFd,
}

impl Request for Duplicate {
    const NAME: &'static str = "duplicate-socket";
    const CHECKS: &'static str = "the process is the subject's; what is handed over is a TCP socket and nothing else";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> Result<Reply<()>, Error> {
        broker::check_subject(self.pid)?;
        let socket = duplicate_ourselves(self.pid, self.descriptor)?;
        if get(&socket, libc::SOL_SOCKET, libc::SO_PROTOCOL)? != libc::IPPROTO_TCP {
            return Err(Error::from_raw_os_error(libc::EPERM));
        }
        broker::with_files((), vec![socket])
    }
}

/// A descriptor of another process, as one of ours.
fn duplicate(pid: u32, descriptor: RawFd) -> Result<OwnedFd, Error> {
    match duplicate_ourselves(pid, descriptor) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied && broker::has_dropped() => {
            let handed_over = broker::ask(Duplicate { pid, descriptor }, &[])?.files.pop();
            handed_over.ok_or_else(|| Error::from_raw_os_error(libc::EBADF))
        }
        other => other,
    }
}

fn duplicate_ourselves(pid: u32, descriptor: RawFd) -> Result<OwnedFd, Error> {
    // SAFETY: numbers only; what it returns is a descriptor of ours or an error.
    let handle = unsafe { owned(libc::syscall(libc::SYS_pidfd_open, pid, 0)) }?;
    // SAFETY: as above.
    unsafe { owned(libc::syscall(libc::SYS_pidfd_getfd, handle.as_raw_fd(), descriptor, 0)) }
}

/// # Safety
/// `result` must be what a system call returned that makes a descriptor.
unsafe fn owned(result: libc::c_long) -> Result<OwnedFd, Error> {
    if result < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: a new descriptor, which nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(result as RawFd) })
}

fn inode(socket: &OwnedFd) -> Result<u64, Error> {
    Ok(nix::sys::stat::fstat(socket)?.st_ino)
}

fn read_nodelay(socket: &OwnedFd) -> Result<Nodelay, Error> {
    let value = get(socket, libc::IPPROTO_TCP, libc::TCP_NODELAY)?;
    Ok(if value == 0 { Nodelay::Off } else { Nodelay::On })
}

fn set(socket: &OwnedFd, level: i32, option: i32, value: i32) -> Result<(), Error> {
    let size = size_of::<i32>() as libc::socklen_t;
    // SAFETY: `value` outlives the call, and its size is given.
    let result = unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const value).cast(), size) };
    if result == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

fn get(socket: &OwnedFd, level: i32, option: i32) -> Result<i32, Error> {
    let mut value = 0_i32;
    let mut size = size_of::<i32>() as libc::socklen_t;
    // SAFETY: `value` and `size` outlive the call.
    let result = unsafe { libc::getsockopt(socket.as_raw_fd(), level, option, (&raw mut value).cast(), &raw mut size) };
    if result == 0 { Ok(value) } else { Err(Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::net::{TcpListener, TcpStream};
    use std::process::{Child, Command, Stdio};

    /// Writes, writes and reads for ever; prints what each exchange took, in milliseconds.
    const STALLED: &str = "
import socket, time
listener = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
other = socket.socketpair()
while True:
    start = time.monotonic()
    client.send(b'head')
    client.send(b'body')
    read = b''
    while len(read) < 8:
        read += server.recv(8)
    server.send(b'answer')
    client.recv(6)
    print((time.monotonic() - start) * 1000, flush=True)
";

    struct Stalled(Child);

    impl Drop for Stalled {
        fn drop(&mut self) {
            self.0.kill().expect("killed");
            self.0.wait().expect("collected");
        }
    }

    /// What the last five of so many exchanges took, in the middle.
    fn middle(lines: &mut impl Iterator<Item = std::io::Result<String>>, exchanges: usize) -> f64 {
        let next = |_| lines.next().expect("a line").expect("read").parse::<f64>().expect("a number");
        let mut times = (0..exchanges).map(next).collect::<Vec<_>>().split_off(exchanges - 5);
        times.sort_by(f64::total_cmp);
        times[2]
    }

    #[test]
    fn a_stalled_program_is_fast_as_soon_as_the_option_is_set() {
        let mut command = Command::new("/usr/bin/python3");
        let mut stalled = Stalled(command.args(["-c", STALLED]).stdout(Stdio::piped()).spawn().expect("python"));
        let mut lines = BufReader::new(stalled.0.stdout.take().expect("a pipe")).lines();
        let before = middle(&mut lines, 15);
        assert!(before > 35.0, "{before} ms");
        // A listener, a client, and what was accepted; not the pair of Unix sockets.
        let sockets = sockets_of(&[stalled.0.id()]);
        assert_eq!((sockets.len(), sockets.iter().filter(|socket| socket.is_listener).count()), (3, 1));
        for socket in &sockets {
            assert_eq!(socket.set_nodelay(Nodelay::On).expect("set"), Some(Nodelay::Off));
        }
        let after = middle(&mut lines, 500);
        assert!(after < 5.0, "{after} ms");
    }

    #[test]
    fn one_option_of_one_socket_is_set() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let client = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        let set = |descriptor| set_option_in(std::process::id(), descriptor, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1);
        assert!(!client.nodelay().expect("read"));
        set(client.as_raw_fd()).expect("set");
        assert!(client.nodelay().expect("read"));
        let refused = set(100_000).expect_err("no such descriptor").to_string();
        assert!(refused.starts_with("setting an option of descriptor 100000 of process "), "{refused}");
    }

    #[test]
    fn a_socket_that_was_closed_or_gave_its_descriptor_to_another_is_not_touched() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let connect = || TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        let client = connect();
        let known = |socket: &&LiveSocket| socket.fd == client.as_raw_fd();
        let live = *sockets_of(&[std::process::id()]).iter().find(known).expect("listed");
        assert_eq!(live.nodelay().expect("read"), Some(Nodelay::Off));
        let another = LiveSocket { inode: live.inode + 1_000_000, ..live };
        assert_eq!(another.set_nodelay(Nodelay::On).expect("looked at"), None);
        assert_eq!(live.nodelay().expect("read"), Some(Nodelay::Off));
        let closed = LiveSocket { fd: 100_000, ..live };
        assert_eq!(closed.nodelay().expect("looked at"), None);
        assert_eq!(LiveSocket { pid: u32::MAX / 2, ..live }.nodelay().expect("looked for"), None);
        assert_eq!(sockets_of(&[u32::MAX / 2]), []);
    }
}
