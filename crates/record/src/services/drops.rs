//! Connections that a listening socket turned away, as its queue was full: sock_diag(7) tells for every TCP listener of this network
//! namespace how much it dropped, to any user.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// linux/sock_diag.h, linux/inet_diag.h.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET_DIAG_SKMEMINFO: u16 = 7;
/// The place of drops among a socket's memory figures (SK_MEMINFO_DROPS).
const DROPS: usize = 8;
/// TCP_LISTEN, as a bit of a set of states.
const LISTENING: u32 = 1 << 10;
/// Of `struct inet_diag_msg`: the source port, in network order, and its length.
const PORT_AT: usize = 4;
const MESSAGE: usize = 72;
/// Of `struct nlmsghdr`.
const HEADER: usize = 16;

/// Drops by port. Empty where the kernel does not tell.
pub fn of_listeners() -> BTreeMap<u16, u64> {
    let mut found = BTreeMap::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        // A kernel without inet_diag: overflows are not seen.
        let _ = ask(family as u8, &mut found);
    }
    found
}

fn ask(family: u8, found: &mut BTreeMap<u16, u64>) -> io::Result<()> {
    // SAFETY: a new socket, which is owned from here on.
    let socket = unsafe {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        let socket = libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_SOCK_DIAG);
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(socket)
    };
    let request = request(family);
    let mut buffer = vec![0_u8; 32 << 10];
    // SAFETY: as many bytes as there are are sent from the request.
    if unsafe { libc::send(socket.as_raw_fd(), request.as_ptr().cast(), request.len(), 0) } < 0 {
        return Err(io::Error::last_os_error());
    }
    loop {
        // SAFETY: as many bytes as the buffer has are received at most.
        let length = unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        if length <= 0 {
            return Err(io::Error::last_os_error());
        }
        if read(&buffer[..length as usize], found) {
            return Ok(());
        }
    }
}

/// A dump of all TCP sockets that listen: `struct nlmsghdr` and `struct inet_diag_req_v2`.
fn request(family: u8) -> Vec<u8> {
    let mut body = vec![family, libc::IPPROTO_TCP as u8, 1 << (INET_DIAG_SKMEMINFO - 1), 0];
    body.extend(LISTENING.to_ne_bytes());
    body.resize(4 + 4 + 48, 0);
    let mut request = Vec::new();
    request.extend(((HEADER + body.len()) as u32).to_ne_bytes());
    request.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    request.extend(((libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16).to_ne_bytes());
    request.extend([0; 8]);
    request.extend(body);
    request
}

/// Reads messages; whether the last one was among them.
fn read(mut bytes: &[u8], found: &mut BTreeMap<u16, u64>) -> bool {
    while let Some(length) = number::<4>(bytes, 0).map(|length| u32::from_ne_bytes(length) as usize) {
        let kind = number::<2>(bytes, 4).map_or(0, u16::from_ne_bytes);
        if i32::from(kind) == libc::NLMSG_DONE || i32::from(kind) == libc::NLMSG_ERROR || length < HEADER {
            return true;
        }
        let message = bytes.get(HEADER..length.min(bytes.len())).unwrap_or_default();
        if let Some((port, drops)) = listener(message) {
            *found.entry(port).or_insert(0) += drops;
        }
        let Some(rest) = bytes.get(length.next_multiple_of(4)..) else { break };
        bytes = rest;
    }
    false
}

fn listener(message: &[u8]) -> Option<(u16, u64)> {
    let port = u16::from_be_bytes(number(message, PORT_AT)?);
    let mut attributes = message.get(MESSAGE..)?;
    while let Some(length) = number::<2>(attributes, 0).map(|length| usize::from(u16::from_ne_bytes(length))) {
        if u16::from_ne_bytes(number(attributes, 2)?) == INET_DIAG_SKMEMINFO {
            return Some((port, u64::from(u32::from_ne_bytes(number(attributes, 4 + 4 * DROPS)?))));
        }
        attributes = attributes.get(length.max(4).next_multiple_of(4)..)?;
    }
    None
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::socket::{Backlog, listen};
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, Instant};

    #[test]
    fn a_queue_that_is_full_is_seen_to_drop() {
        // Another test asks whether this process listens.
        let _alone = crate::alone::alone();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        listen(&listener, Backlog::new(1).expect("a length")).expect("a short queue");
        let address = listener.local_addr().expect("an address");
        assert_eq!(of_listeners().get(&address.port()), Some(&0));
        let attempts = (0..6)
            .map(|_| std::thread::spawn(move || TcpStream::connect_timeout(&address, Duration::from_millis(300))));
        let attempts = attempts.collect::<Vec<_>>();
        let begun = Instant::now();
        while of_listeners()[&address.port()] == 0 {
            assert!(begun.elapsed() < Duration::from_secs(10), "nothing was dropped");
            std::thread::sleep(Duration::from_millis(20));
        }
        for attempt in attempts {
            drop(attempt.join());
        }
    }

    #[test]
    fn torn_messages_are_passed_over() {
        let mut found = BTreeMap::new();
        assert!(!read(&[1, 2], &mut found));
        assert!(!read(&[200, 0, 0, 0, 20, 0, 0, 0], &mut found));
        assert!(read(&[0; 16], &mut found));
        assert!(found.is_empty());
    }
}
