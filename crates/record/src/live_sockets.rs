//! Options of sockets that a running process has open, set from outside: its descriptor is duplicated into ours
//! (pidfd_getfd, Linux 5.6), the option set, the duplicate closed. Needs no privilege for processes of the same user,
//! where the kernel lets them trace each other.

use crate::error::RecordError;
use std::fs;
use std::io::Error;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// TCP under its other name, which some runtimes use by default.
const IPPROTO_MPTCP: i32 = 262;

/// A process whose descriptors can be duplicated.
struct Process {
    pid: u32,
    handle: OwnedFd,
}

impl Process {
    fn open(pid: u32) -> Result<Process, RecordError> {
        // SAFETY: numbers only; what it returns is a descriptor of ours or an error.
        let handle = unsafe { owned(libc::syscall(libc::SYS_pidfd_open, pid, 0)) };
        Ok(Process { pid, handle: handle.map_err(RecordError::io(format!("opening process {pid}")))? })
    }

    fn duplicate(&self, descriptor: RawFd) -> Result<OwnedFd, Error> {
        // SAFETY: as above.
        unsafe { owned(libc::syscall(libc::SYS_pidfd_getfd, self.handle.as_raw_fd(), descriptor, 0)) }
    }

    /// The numbers of its descriptors that are sockets.
    fn sockets(&self) -> Result<Vec<RawFd>, RecordError> {
        let folder = format!("/proc/{}/fd", self.pid);
        let entries = fs::read_dir(&folder).map_err(RecordError::io(format!("reading {folder}")))?;
        let is_socket = |target: &std::path::Path| target.to_str().is_some_and(|text| text.starts_with("socket:"));
        let sockets = entries.flatten().filter(|entry| fs::read_link(entry.path()).is_ok_and(|path| is_socket(&path)));
        Ok(sockets.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
    }
}

/// SAFETY: `result` is that of a system call that returns a new descriptor.
unsafe fn owned(result: libc::c_long) -> Result<OwnedFd, Error> {
    if result < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: new, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(result as RawFd) })
}

/// Sets an option of one socket of a running process.
///
/// # Errors
/// Where the process or its descriptor is not there, may not be reached, or the kernel refuses the option.
pub fn set_option_in(pid: u32, descriptor: i32, level: i32, option: i32, value: i32) -> Result<(), RecordError> {
    let action = || format!("setting an option of descriptor {descriptor} of process {pid}");
    let socket = Process::open(pid)?.duplicate(descriptor).map_err(RecordError::io(action()))?;
    set(&socket, level, option, value).map_err(RecordError::io(action()))
}

/// Sets TCP_NODELAY on all TCP sockets that a process has open, and returns on how many. Listeners are among them: the
/// connections that they accept from then on inherit it. The process's children have descriptors of their own.
///
/// # Errors
/// Where the process is not there or may not be reached, or the kernel refuses.
pub fn set_nodelay_in(pid: u32) -> Result<u64, RecordError> {
    let process = Process::open(pid)?;
    let mut set_on = 0;
    for descriptor in process.sockets()? {
        let action = || format!("setting TCP_NODELAY on descriptor {descriptor} of process {pid}");
        let socket = match process.duplicate(descriptor) {
            // Closed since it was listed.
            Err(error) if error.raw_os_error() == Some(libc::EBADF) => continue,
            other => other.map_err(RecordError::io(action()))?,
        };
        let protocol = get(&socket, libc::SOL_SOCKET, libc::SO_PROTOCOL).map_err(RecordError::io(action()))?;
        if matches!(protocol, libc::IPPROTO_TCP | IPPROTO_MPTCP) {
            set(&socket, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1).map_err(RecordError::io(action()))?;
            set_on += 1;
        }
    }
    Ok(set_on)
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
        assert_eq!(set_nodelay_in(stalled.0.id()).expect("set"), 3);
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
    fn a_process_that_is_not_there_is_said_to_be_so() {
        let refused = set_nodelay_in(u32::MAX / 2).expect_err("no such process").to_string();
        assert!(refused.starts_with("opening process "), "{refused}");
    }
}
