//! Which system calls are recorded, and what there is to read about each. One line a call.

use crate::events::CallClass;

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
}
use class::{
    ACCEPT, BUFFER, CLOSES, CONNECT, DESCRIPTOR, LISTEN, MAPPING, MESSAGE, MESSAGES, PATH_0, PATH_1, POLL, RECORD,
    VECTOR,
};

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
    /// Which way its bytes go.
    pub flow: Flow,
    /// How its timeout is given.
    pub timeout: Timeout,
    class: CallClass,
}

const fn call(number: u16, flags: u16, flow: Flow) -> Recorded {
    let class = CallClass { flags: flags | RECORD, time_argument: NONE, value_argument: NONE };
    Recorded { number, flow, timeout: Timeout::AsRead, class }
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

    /// The third value as it stands in the row. Where it was read through a pointer it fills the lower half (the upper
    /// one holds the fourth argument); `poll` gives its first entry whole; other calls give their fourth argument, which
    /// is worth keeping where it is the flags of a send or receive.
    pub fn third_value(self, read: u64) -> u64 {
        if self.class.value_argument != NONE {
            read & 0xffff_ffff
        } else if self.class.flags & POLL != 0 || matches!(self.number, 44 | 45) {
            read
        } else {
            0
        }
    }

    /// The timeout of `epoll_wait` is its fourth argument, that of `poll` its third.
    pub fn timeout_argument(self, arguments: &[u64; 3]) -> u64 {
        if matches!(self.number, 232 | 281) { arguments[2] >> 32 } else { arguments[1] }
    }

    const fn timeout(mut self, timeout: Timeout) -> Recorded {
        self.timeout = timeout;
        self
    }
}

use Flow::{In, Nothing, Out};

/// Every recorded call (numbers of x86-64 Linux).
const CALLS: &[Recorded] = &[
    call(0, DESCRIPTOR | BUFFER, In),                                       // read
    call(1, DESCRIPTOR | BUFFER, Out),                                      // write
    call(2, PATH_0, Nothing),                                               // open
    call(3, DESCRIPTOR | CLOSES, Nothing),                                  // close
    call(4, PATH_0, Nothing),                                               // stat
    call(5, DESCRIPTOR, Nothing),                                           // fstat
    call(6, PATH_0, Nothing),                                               // lstat
    call(7, POLL, Nothing).timeout(Timeout::Milliseconds),                  // poll
    call(9, MAPPING, Nothing),                                              // mmap
    call(16, DESCRIPTOR, Nothing).value(2),                                 // ioctl
    call(17, DESCRIPTOR | BUFFER, In),                                      // pread64
    call(18, DESCRIPTOR | BUFFER, Out),                                     // pwrite64
    call(19, DESCRIPTOR | VECTOR, In),                                      // readv
    call(20, DESCRIPTOR | VECTOR, Out),                                     // writev
    call(21, PATH_0, Nothing),                                              // access
    call(23, 0, Nothing).time(4).timeout(Timeout::TimeValue),               // select
    call(24, 0, Nothing),                                                   // sched_yield
    call(26, 0, Nothing),                                                   // msync
    call(32, DESCRIPTOR, Nothing),                                          // dup
    call(33, DESCRIPTOR | CLOSES, Nothing),                                 // dup2
    call(34, 0, Nothing),                                                   // pause
    call(35, 0, Nothing).time(0),                                           // nanosleep
    call(40, DESCRIPTOR, Out),                                              // sendfile
    call(41, 0, Nothing),                                                   // socket
    call(42, DESCRIPTOR | CONNECT, Nothing),                                // connect
    call(43, DESCRIPTOR | ACCEPT, Nothing),                                 // accept
    call(44, DESCRIPTOR | BUFFER, Out),                                     // sendto
    call(45, DESCRIPTOR | BUFFER, In),                                      // recvfrom
    call(46, DESCRIPTOR | MESSAGE, Out),                                    // sendmsg
    call(47, DESCRIPTOR | MESSAGE, In),                                     // recvmsg
    call(48, DESCRIPTOR, Nothing),                                          // shutdown
    call(50, DESCRIPTOR | LISTEN, Nothing),                                 // listen
    call(54, DESCRIPTOR, Nothing).value(3),                                 // setsockopt
    call(61, 0, Nothing),                                                   // wait4
    call(72, DESCRIPTOR, Nothing),                                          // fcntl
    call(73, DESCRIPTOR, Nothing),                                          // flock
    call(74, DESCRIPTOR, Nothing),                                          // fsync
    call(75, DESCRIPTOR, Nothing),                                          // fdatasync
    call(82, PATH_0, Nothing),                                              // rename
    call(87, PATH_0, Nothing),                                              // unlink
    call(128, 0, Nothing).time(2),                                          // rt_sigtimedwait
    call(202, 0, Nothing).time(3),                                          // futex
    call(217, DESCRIPTOR, Nothing),                                         // getdents64
    call(230, 0, Nothing).time(2),                                          // clock_nanosleep
    call(232, DESCRIPTOR, Nothing).value(1).timeout(Timeout::Milliseconds), // epoll_wait
    call(233, DESCRIPTOR, Nothing).value(3),                                // epoll_ctl
    call(247, 0, Nothing),                                                  // waitid
    call(257, PATH_1, Nothing),                                             // openat
    call(262, PATH_1, Nothing),                                             // newfstatat
    call(269, PATH_1, Nothing),                                             // faccessat
    call(270, 0, Nothing).time(4),                                          // pselect6
    call(271, POLL, Nothing).time(2),                                       // ppoll
    call(275, DESCRIPTOR, Nothing),                                         // splice
    call(277, DESCRIPTOR, Nothing),                                         // sync_file_range
    call(281, DESCRIPTOR, Nothing).value(1).timeout(Timeout::Milliseconds), // epoll_pwait
    call(288, DESCRIPTOR | ACCEPT, Nothing),                                // accept4
    call(292, DESCRIPTOR | CLOSES, Nothing),                                // dup3
    call(295, DESCRIPTOR | VECTOR, In),                                     // preadv
    call(296, DESCRIPTOR | VECTOR, Out),                                    // pwritev
    call(299, DESCRIPTOR | MESSAGE | MESSAGES, In),                         // recvmmsg
    call(307, DESCRIPTOR | MESSAGE | MESSAGES, Out),                        // sendmmsg
    call(318, 0, Nothing),                                                  // getrandom
    call(327, DESCRIPTOR | VECTOR, In),                                     // preadv2
    call(328, DESCRIPTOR | VECTOR, Out),                                    // pwritev2
    call(332, PATH_1, Nothing),                                             // statx
    call(426, DESCRIPTOR, Nothing),                                         // io_uring_enter
    call(436, CLOSES, Nothing),                                             // close_range
    call(437, PATH_1, Nothing),                                             // openat2
    call(439, PATH_1, Nothing),                                             // faccessat2
    call(441, DESCRIPTOR, Nothing).value(1).time(3),                        // epoll_pwait2
];

/// The table that the BPF programs read, by call number.
pub fn classes() -> [CallClass; 512] {
    let mut classes = [CallClass { flags: 0, time_argument: NONE, value_argument: NONE }; 512];
    for call in CALLS {
        classes[usize::from(call.number)] = call.class;
    }
    classes
}

/// What is known of a recorded call; none for a number that is not recorded.
pub fn recorded(number: u16) -> Option<&'static Recorded> {
    CALLS.binary_search_by_key(&number, |call| call.number).ok().map(|at| &CALLS[at])
}

/// Whether the kernel side follows a call from its entry to its return; mappings are told in another way.
pub fn is_followed(number: u32) -> bool {
    let known = u16::try_from(number).ok().and_then(recorded);
    known.is_some_and(|call| call.class.flags & MAPPING == 0)
}

/// Whether a call's first argument is a file descriptor.
pub fn has_descriptor(number: u16) -> bool {
    recorded(number).is_some_and(|call| call.class.flags & DESCRIPTOR != 0)
}

/// Number of `openat`'s kind of call: those that return a descriptor for the path they name.
pub fn opens_path(number: u16) -> bool {
    matches!(number, 2 | 257 | 437)
}

/// Whether a call moves several messages and returns how many: `recvmmsg`, `sendmmsg`.
pub fn moves_several(number: u16) -> bool {
    matches!(number, 299 | 307)
}

/// Number of `close`.
pub const CLOSE: u16 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_stand_in_the_order_of_their_numbers() {
        assert!(CALLS.windows(2).all(|pair| pair[0].number < pair[1].number));
        assert_eq!(recorded(42).map(|call| call.number), Some(42));
        assert!(recorded(60).is_none());
    }
}
