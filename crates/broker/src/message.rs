//! One message from one role to the other: bytes, and descriptors that come along.

use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// As many bytes go through the socket itself; what is longer goes as a file in memory. Well below what a socket takes at once
/// (`net.core.wmem_default`, 212,992 bytes).
const MOST_INLINE: usize = 64 << 10;
/// The longest message that is read: a command line and an environment have at most 2 MiB each (`ARG_MAX`).
const LONGEST: u64 = 32 << 20;
/// As many descriptors come with a message; the recorder's maps are the most.
pub const MOST_FILES: usize = 16;

/// The first byte of a message: its bytes follow.
const HERE: u8 = 0;
/// The first byte of a message: its bytes are in the last file that came along.
const IN_FILE: u8 = 1;

/// Sends one.
pub fn send(socket: BorrowedFd<'_>, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
    if bytes.len() <= MOST_INLINE {
        return send_packet(socket, HERE, bytes, files);
    }
    let mut file = File::from(memfd_create("whyslow", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    let files = files.iter().copied().chain([file.as_fd()]).collect::<Vec<_>>();
    send_packet(socket, IN_FILE, &[], &files)
}

/// Receives the next; none where the other end is gone.
pub fn receive(socket: BorrowedFd<'_>) -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let mut bytes = vec![0_u8; MOST_INLINE + 1];
    let (length, mut files) = receive_packet(socket, &mut bytes)?;
    if length == 0 {
        return Ok(None);
    }
    if bytes[0] == HERE {
        return Ok(Some((bytes[1..length].to_vec(), files)));
    }
    let file = files.pop().ok_or_else(|| io::Error::other("a message without its file"))?;
    let mut bytes = Vec::new();
    File::from(file).take(LONGEST).read_to_end(&mut bytes)?;
    Ok(Some((bytes, files)))
}

fn send_packet(socket: BorrowedFd<'_>, kind: u8, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
    if files.len() > MOST_FILES {
        return Err(io::Error::from_raw_os_error(libc::E2BIG));
    }
    let raw = files.iter().map(AsRawFd::as_raw_fd).collect::<Vec<RawFd>>();
    let rights = [ControlMessage::ScmRights(&raw)];
    let control = if raw.is_empty() { &rights[..0] } else { &rights[..] };
    let kind = [kind];
    let parts = [IoSlice::new(&kind), IoSlice::new(bytes)];
    loop {
        match sendmsg::<()>(socket.as_raw_fd(), &parts, control, MsgFlags::MSG_NOSIGNAL, None) {
            Err(nix::errno::Errno::EINTR) => {}
            other => return other.map(drop).map_err(io::Error::from),
        }
    }
}

fn receive_packet(socket: BorrowedFd<'_>, bytes: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut control = nix::cmsg_space!([RawFd; MOST_FILES]);
    loop {
        let mut parts = [IoSliceMut::new(bytes)];
        let flags = MsgFlags::MSG_CMSG_CLOEXEC;
        let message = match recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut control), flags) {
            Err(nix::errno::Errno::EINTR) => continue,
            other => other?,
        };
        let mut files = Vec::new();
        for part in message.cmsgs()? {
            if let ControlMessageOwned::ScmRights(raw) = part {
                // SAFETY: descriptors that the kernel has just made for us.
                files.extend(raw.into_iter().map(|raw| unsafe { OwnedFd::from_raw_fd(raw) }));
            }
        }
        return Ok((message.bytes, files));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};

    #[test]
    fn messages_of_any_length_arrive_whole_with_their_files() {
        let kind = SockType::SeqPacket;
        let (one, other) = socketpair(AddressFamily::Unix, kind, None, SockFlag::SOCK_CLOEXEC).expect("a pair");
        for length in [1, MOST_INLINE, MOST_INLINE + 1, 3 << 20] {
            let sent = vec![7_u8; length];
            let mut along = tempfile::tempfile().expect("a file");
            along.write_all(b"along").expect("written");
            along.rewind().expect("rewound");
            send(one.as_fd(), &sent, &[along.as_fd()]).expect("sent");
            let (bytes, mut files) = receive(other.as_fd()).expect("received").expect("a message");
            assert!(bytes == sent && files.len() == 1, "{length}");
            let mut text = String::new();
            File::from(files.remove(0)).read_to_string(&mut text).expect("read");
            assert_eq!(text, "along");
        }
        drop(one);
        assert!(receive(other.as_fd()).expect("received").is_none(), "the other end is gone");
    }
}
