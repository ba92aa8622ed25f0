//! Which system calls are recorded, and what there is to read about each. One line a call.

use crate::events::CallClass;
use case::syscall::{self, Class};

/// Mirrors the flags in `bpf/calls.bpf.h`.
mod class {
    pub const RECORD: u16 = 1;
    pub const DESCRIPTOR: u16 = 2;
    pub const BUFFER: u16 = 4;
    pub const VECTOR: u16 = 8;
    pub const MESSAGE: u16 = 16;
    pub const PATH_0: u16 = 32;
    pub const PATH_1: u16 = 64;
    pub const POLL: u16 = 128;
    pub const ACCEPT: u16 = 256;
    pub const CONNECT: u16 = 512;
    pub const LISTEN: u16 = 1024;
    pub const MESSAGES: u16 = 2048;
    pub const MAPPING: u16 = 4096;
    pub const CLOSES: u16 = 8192;
    pub const IN: u16 = 16384;
    pub const OUT: u16 = 32768;
}
use class::{
    ACCEPT, BUFFER, CLOSES, CONNECT, DESCRIPTOR, IN, LISTEN, MAPPING, MESSAGE, MESSAGES, OUT, PATH_0, PATH_1, POLL,
    RECORD, VECTOR,
};

const EPOLL_PWAIT: u16 = libc::SYS_epoll_pwait as u16;
const EPOLL_WAIT: u16 = libc::SYS_epoll_wait as u16;
const RECVFROM: u16 = libc::SYS_recvfrom as u16;
const RECVMMSG: u16 = libc::SYS_recvmmsg as u16;
const SENDMMSG: u16 = libc::SYS_sendmmsg as u16;
const SENDTO: u16 = libc::SYS_sendto as u16;
const SPLICE: u16 = libc::SYS_splice as u16;

/// No such argument.
const NONE: u8 = 255;

/// Which of a call's bytes went out, which came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It moves no bytes of its descriptor.
    Nothing,
    /// It reads.
    In,
    /// It writes.
    Out,
}

/// How the timeout of a waiting call is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// It has none, or it is nanoseconds already.
    AsRead,
    /// Microseconds in the place of nanoseconds: a timeval.
    TimeValue,
    /// Milliseconds, signed, by value; negative is none.
    Milliseconds,
}

/// One recorded call.
#[derive(Clone, Copy, Debug)]
pub struct Recorded {
    /// Its number.
    pub number: u16,
    /// How its timeout is given.
    pub timeout: Timeout,
    class: CallClass,
}

const fn call(number: libc::c_long, flags: u16) -> Recorded {
    let class = CallClass { flags: flags | RECORD, time_argument: NONE, value_argument: NONE };
    Recorded { number: number as u16, timeout: Timeout::AsRead, class }
}

impl Recorded {
    const fn time(mut self, argument: u8) -> Recorded {
        self.class.time_argument = argument;
        self
    }

    const fn value(mut self, argument: u8) -> Recorded {
        self.class.value_argument = argument;
        self
    }

    /// Which way the bytes of its descriptor go. The first descriptor of `splice` is the one that it empties, and what it
    /// moves is no message of the program's.
    pub fn flow(self) -> Flow {
        match syscall::class(self.number) {
            Class::Read | Class::ReadVector => Flow::In,
            Class::HandOver if self.number == SPLICE => Flow::Nothing,
            Class::Write | Class::HandOver => Flow::Out,
            _ => Flow::Nothing,
        }
    }

    /// The third value as it stands in the row. Where it was read through a pointer it fills the lower half (the upper
    /// one holds the fourth argument); `poll` gives its first entry whole; other calls give their fourth argument, which
    /// is worth keeping where it is the flags of a send or receive.
    pub fn third_value(self, read: u64) -> u64 {
        if self.class.value_argument != NONE {
            read & 0xffff_ffff
        } else if self.class.flags & POLL != 0 || matches!(self.number, SENDTO | RECVFROM) {
            read
        } else {
            0
        }
    }

    /// The timeout of `epoll_wait` is its fourth argument, that of `poll` its third.
    pub fn timeout_argument(self, arguments: &[u64; 3]) -> u64 {
        if matches!(self.number, EPOLL_WAIT | EPOLL_PWAIT) { arguments[2] >> 32 } else { arguments[1] }
    }

    const fn timeout(mut self, timeout: Timeout) -> Recorded {
        self.timeout = timeout;
        self
    }
}

/// Every recorded call, in order of their numbers.
const CALLS: &[Recorded] = &[
    call(libc::SYS_read, DESCRIPTOR | BUFFER),
    call(libc::SYS_write, DESCRIPTOR | BUFFER),
    call(libc::SYS_open, PATH_0),
    call(libc::SYS_close, DESCRIPTOR | CLOSES),
    call(libc::SYS_stat, PATH_0),
    call(libc::SYS_fstat, DESCRIPTOR),
    call(libc::SYS_lstat, PATH_0),
    call(libc::SYS_poll, POLL).timeout(Timeout::Milliseconds),
    call(libc::SYS_mmap, MAPPING),
    call(libc::SYS_ioctl, DESCRIPTOR).value(2),
    call(libc::SYS_pread64, DESCRIPTOR | BUFFER),
    call(libc::SYS_pwrite64, DESCRIPTOR | BUFFER),
    call(libc::SYS_readv, DESCRIPTOR | VECTOR),
    call(libc::SYS_writev, DESCRIPTOR | VECTOR),
    call(libc::SYS_access, PATH_0),
    call(libc::SYS_select, 0).time(4).timeout(Timeout::TimeValue),
    call(libc::SYS_sched_yield, 0),
    call(libc::SYS_msync, 0),
    call(libc::SYS_dup, DESCRIPTOR),
    call(libc::SYS_dup2, DESCRIPTOR | CLOSES),
    call(libc::SYS_pause, 0),
    call(libc::SYS_nanosleep, 0).time(0),
    call(libc::SYS_sendfile, DESCRIPTOR),
    call(libc::SYS_socket, 0),
    call(libc::SYS_connect, DESCRIPTOR | CONNECT),
    call(libc::SYS_accept, DESCRIPTOR | ACCEPT),
    call(libc::SYS_sendto, DESCRIPTOR | BUFFER),
    call(libc::SYS_recvfrom, DESCRIPTOR | BUFFER),
    call(libc::SYS_sendmsg, DESCRIPTOR | MESSAGE),
    call(libc::SYS_recvmsg, DESCRIPTOR | MESSAGE),
    call(libc::SYS_shutdown, DESCRIPTOR),
    call(libc::SYS_listen, DESCRIPTOR | LISTEN),
    call(libc::SYS_setsockopt, DESCRIPTOR).value(3),
    call(libc::SYS_clone, 0),
    call(libc::SYS_fork, 0),
    call(libc::SYS_vfork, 0),
    call(libc::SYS_wait4, 0),
    call(libc::SYS_kill, 0),
    call(libc::SYS_fcntl, DESCRIPTOR),
    call(libc::SYS_flock, DESCRIPTOR),
    call(libc::SYS_fsync, DESCRIPTOR),
    call(libc::SYS_fdatasync, DESCRIPTOR),
    call(libc::SYS_chdir, PATH_0),
    call(libc::SYS_fchdir, DESCRIPTOR),
    call(libc::SYS_rename, PATH_0),
    call(libc::SYS_unlink, PATH_0),
    call(libc::SYS_rt_sigtimedwait, 0).time(2),
    call(libc::SYS_futex, 0).time(3),
    call(libc::SYS_getdents64, DESCRIPTOR),
    call(libc::SYS_clock_nanosleep, 0).time(2),
    call(libc::SYS_epoll_wait, DESCRIPTOR).value(1).timeout(Timeout::Milliseconds),
    call(libc::SYS_epoll_ctl, DESCRIPTOR).value(3),
    call(libc::SYS_tgkill, 0),
    call(libc::SYS_waitid, 0),
    call(libc::SYS_openat, PATH_1),
    call(libc::SYS_newfstatat, PATH_1),
    call(libc::SYS_faccessat, PATH_1),
    call(libc::SYS_pselect6, 0).time(4),
    call(libc::SYS_ppoll, POLL).time(2),
    call(libc::SYS_splice, DESCRIPTOR),
    call(libc::SYS_sync_file_range, DESCRIPTOR),
    call(libc::SYS_epoll_pwait, DESCRIPTOR).value(1).timeout(Timeout::Milliseconds),
    call(libc::SYS_accept4, DESCRIPTOR | ACCEPT),
    call(libc::SYS_dup3, DESCRIPTOR | CLOSES),
    call(libc::SYS_preadv, DESCRIPTOR | VECTOR),
    call(libc::SYS_pwritev, DESCRIPTOR | VECTOR),
    call(libc::SYS_recvmmsg, DESCRIPTOR | MESSAGE | MESSAGES),
    call(libc::SYS_sendmmsg, DESCRIPTOR | MESSAGE | MESSAGES),
    call(libc::SYS_getrandom, 0),
    call(libc::SYS_preadv2, DESCRIPTOR | VECTOR),
    call(libc::SYS_pwritev2, DESCRIPTOR | VECTOR),
    call(libc::SYS_statx, PATH_1),
    call(libc::SYS_io_uring_enter, DESCRIPTOR),
    call(libc::SYS_clone3, 0),
    call(libc::SYS_close_range, CLOSES),
    call(libc::SYS_openat2, PATH_1),
    call(libc::SYS_faccessat2, PATH_1),
    call(libc::SYS_epoll_pwait2, DESCRIPTOR).value(1).time(3),
];

/// The table that the BPF programs read, by call number.
pub fn classes() -> [CallClass; 512] {
    let mut classes = [CallClass { flags: 0, time_argument: NONE, value_argument: NONE }; 512];
    for call in CALLS {
        let flow = match call.flow() {
            Flow::In => IN,
            Flow::Out => OUT,
            Flow::Nothing => 0,
        };
        classes[usize::from(call.number)] = CallClass { flags: call.class.flags | flow, ..call.class };
    }
    classes
}

/// What is known of a recorded call; none for a number that is not recorded.
pub fn recorded(number: u16) -> Option<&'static Recorded> {
    CALLS.binary_search_by_key(&number, |call| call.number).ok().map(|at| &CALLS[at])
}

/// Whether the kernel side follows a call from its entry to its return; mappings are reported in another way.
pub fn is_followed(number: u32) -> bool {
    let known = u16::try_from(number).ok().and_then(recorded);
    known.is_some_and(|call| call.class.flags & MAPPING == 0)
}

/// Whether a call's first argument is a file descriptor.
pub fn has_descriptor(number: u16) -> bool {
    recorded(number).is_some_and(|call| call.class.flags & DESCRIPTOR != 0)
}

/// Whether a call's first argument is the descriptor of the folder that its path starts from.
pub fn has_folder(number: u16) -> bool {
    recorded(number).is_some_and(|call| call.class.flags & PATH_1 != 0)
}

/// Whether a call moves several messages and returns how many: `recvmmsg`, `sendmmsg`.
pub fn moves_several(number: u16) -> bool {
    matches!(number, RECVMMSG | SENDMMSG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_stand_in_the_order_of_their_numbers() {
        assert!(CALLS.windows(2).all(|pair| pair[0].number < pair[1].number));
        assert_eq!(recorded(42).map(|call| call.number), Some(42));
        assert!(recorded(60).is_none());
    }

    #[test]
    fn every_recorded_call_has_a_name() {
        assert!(CALLS.iter().all(|call| !syscall::name(call.number).starts_with("call ")));
    }
}
