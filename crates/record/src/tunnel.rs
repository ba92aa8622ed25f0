//! A tunnel: a network device whose packets a program of ours carries.
//!
//! Promises: the device vanishes with the last descriptor of it, so with us however we end.

use crate::error::RecordError;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

/// `TUNSETIFF`, and the flags that ask for packets of IP without a header before them (`linux/if_tun.h`).
const TUNSETIFF: libc::c_ulong = 0x4004_54ca;
const IFF_TUN: u16 = 0x0001;
const IFF_NO_PI: u16 = 0x1000;

/// `struct ifreq` as far as it is read: a name and flags.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    flags: u16,
    rest: [u8; 22],
}

/// A network device, as who carries its packets sees it.
pub struct Tunnel {
    file: File,
}

impl Tunnel {
    /// Makes a device of that name (15 bytes at most) in the network namespace that the calling thread is in. It is down, and
    /// reads do not wait.
    ///
    /// # Errors
    /// Where there is no /dev/net/tun, or privileges are missing.
    pub fn open(name: &str) -> Result<Tunnel, RecordError> {
        let mut options = OpenOptions::new();
        let opened = options.read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun");
        let file = opened.map_err(RecordError::io("opening /dev/net/tun".to_string()))?;
        let mut request = InterfaceRequest { name: [0; 16], flags: IFF_TUN | IFF_NO_PI, rest: [0; 22] };
        for (to, from) in request.name.iter_mut().take(15).zip(name.bytes()) {
            *to = from;
        }
        // SAFETY: the descriptor is open; the kernel reads and writes no more than a struct ifreq, which this is as large as.
        let made = unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF, &raw mut request) };
        if made != 0 {
            return Err(RecordError::io(format!("making the network device {name}"))(io::Error::last_os_error()));
        }
        Ok(Tunnel { file })
    }

    /// Takes a packet that left by the device; none where there is none now. A packet longer than the buffer is cut.
    ///
    /// # Errors
    /// Where the device is down or gone.
    pub fn take(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.file).read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Lets a packet arrive by the device.
    ///
    /// # Errors
    /// Where the device is down or gone.
    pub fn deliver(&self, packet: &[u8]) -> io::Result<()> {
        (&self.file).write_all(packet)
    }
}

impl From<OwnedFd> for Tunnel {
    fn from(device: OwnedFd) -> Tunnel {
        Tunnel { file: device.into() }
    }
}

impl From<Tunnel> for OwnedFd {
    fn from(tunnel: Tunnel) -> OwnedFd {
        tunnel.file.into()
    }
}

impl AsFd for Tunnel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Has the calling thread run as soon as it is woken, before all threads of the usual kind, to the microsecond: for a thread that
/// works for microseconds at a time. Where that is refused the thread runs like any other.
pub fn run_at_once() {
    let priority = libc::sched_param { sched_priority: 1 };
    // SAFETY: 0 is the calling thread; the structure outlives the call.
    let _ = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const priority) };
    // SAFETY: sets the calling thread's timer slack, in nanoseconds; touches no memory.
    let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_000 as libc::c_ulong) };
}
