//! System calls of x86-64 Linux: their names, and the few classes a diagnosis distinguishes.

/// `ioctl`.
pub const IOCTL: u16 = 16;
/// `socket`.
pub const SOCKET: u16 = 41;
/// `connect`.
pub const CONNECT: u16 = 42;
/// `setsockopt`.
pub const SETSOCKOPT: u16 = 54;
/// `getsockopt`.
pub const GETSOCKOPT: u16 = 55;
/// `close`.
pub const CLOSE: u16 = 3;
/// `futex`.
pub const FUTEX: u16 = 202;
/// `epoll_ctl`.
pub const EPOLL_CTL: u16 = 233;
/// `open`, `openat` and `openat2`.
pub const OPENS: [u16; 3] = [2, 257, 437];

/// The most that one call moves (MAX_RW_COUNT); a row that says more is damaged.
pub const MOST_BYTES: i64 = 0x7fff_f000;

/// "Try again": nothing to read, or no room to write.
pub const EAGAIN: i64 = -11;

/// Whether the call reads bytes from its descriptor.
pub fn is_read(number: u16) -> bool {
    matches!(number, 0 | 17 | 19 | 45 | 47 | 295 | 299 | 327)
}

/// Whether the call writes bytes to its descriptor. `sendfile` and `splice` count as writing.
pub fn is_write(number: u16) -> bool {
    matches!(number, 1 | 18 | 20 | 40 | 44 | 46 | 275 | 296 | 307 | 328)
}

/// Whether the call hands over bytes from a file or pipe, without a buffer of the caller's.
pub fn is_handover(number: u16) -> bool {
    matches!(number, 40 | 275)
}

/// Whether the call waits for any of several descriptors: `poll`, `select`, `epoll_wait` and their kin.
pub fn is_poll(number: u16) -> bool {
    matches!(number, 7 | 23 | 232 | 270 | 271 | 281 | 426 | 441)
}

/// Whether the call takes a connection: `accept`, `accept4`.
pub fn is_accept(number: u16) -> bool {
    matches!(number, 43 | 288)
}

/// Whether the call only sleeps: `nanosleep`, `clock_nanosleep`, `pause`.
pub fn is_sleep(number: u16) -> bool {
    matches!(number, 34 | 35 | 230)
}

/// Whether the call waits for a child process: `wait4`, `waitid`.
pub fn is_wait_for_child(number: u16) -> bool {
    matches!(number, 61 | 247)
}

/// Whether the call puts data on a disk for good: `msync`, `fsync`, `fdatasync`, `sync`, `sync_file_range`, `syncfs`.
pub fn is_sync(number: u16) -> bool {
    matches!(number, 26 | 74 | 75 | 162 | 277 | 306)
}

/// The call's name, or `call NUMBER`.
pub fn name(number: u16) -> String {
    let index = NAMES.binary_search_by_key(&number, |&(known, _)| known);
    index.map_or_else(|_| format!("call {number}"), |index| NAMES[index].1.to_string())
}

/// Whether a call that a recording can hold is named so.
pub fn is_name(name: &str) -> bool {
    NAMES.iter().any(|&(_, known)| known == name)
}

/// The calls that a recording can hold, in order of their numbers (arch/x86/entry/syscalls/syscall_64.tbl).
const NAMES: [(u16, &str); 90] = [
    (0, "read"),
    (1, "write"),
    (2, "open"),
    (3, "close"),
    (4, "stat"),
    (5, "fstat"),
    (6, "lstat"),
    (7, "poll"),
    (8, "lseek"),
    (9, "mmap"),
    (11, "munmap"),
    (12, "brk"),
    (16, "ioctl"),
    (17, "pread64"),
    (18, "pwrite64"),
    (19, "readv"),
    (20, "writev"),
    (21, "access"),
    (22, "pipe"),
    (23, "select"),
    (24, "sched_yield"),
    (26, "msync"),
    (28, "madvise"),
    (32, "dup"),
    (33, "dup2"),
    (34, "pause"),
    (35, "nanosleep"),
    (40, "sendfile"),
    (41, "socket"),
    (42, "connect"),
    (43, "accept"),
    (44, "sendto"),
    (45, "recvfrom"),
    (46, "sendmsg"),
    (47, "recvmsg"),
    (48, "shutdown"),
    (49, "bind"),
    (50, "listen"),
    (53, "socketpair"),
    (54, "setsockopt"),
    (55, "getsockopt"),
    (56, "clone"),
    (57, "fork"),
    (58, "vfork"),
    (59, "execve"),
    (61, "wait4"),
    (72, "fcntl"),
    (73, "flock"),
    (74, "fsync"),
    (75, "fdatasync"),
    (78, "getdents"),
    (82, "rename"),
    (87, "unlink"),
    (128, "rt_sigtimedwait"),
    (130, "rt_sigsuspend"),
    (162, "sync"),
    (202, "futex"),
    (217, "getdents64"),
    (230, "clock_nanosleep"),
    (231, "exit_group"),
    (232, "epoll_wait"),
    (233, "epoll_ctl"),
    (247, "waitid"),
    (257, "openat"),
    (262, "newfstatat"),
    (269, "faccessat"),
    (270, "pselect6"),
    (271, "ppoll"),
    (275, "splice"),
    (277, "sync_file_range"),
    (281, "epoll_pwait"),
    (288, "accept4"),
    (290, "eventfd2"),
    (291, "epoll_create1"),
    (292, "dup3"),
    (295, "preadv"),
    (296, "pwritev"),
    (299, "recvmmsg"),
    (306, "syncfs"),
    (307, "sendmmsg"),
    (318, "getrandom"),
    (327, "preadv2"),
    (328, "pwritev2"),
    (332, "statx"),
    (426, "io_uring_enter"),
    (435, "clone3"),
    (436, "close_range"),
    (437, "openat2"),
    (439, "faccessat2"),
    (441, "epoll_pwait2"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_names_is_in_order() {
        assert!(NAMES.is_sorted_by_key(|&(number, _)| number));
    }

    #[test]
    fn a_call_without_a_name_is_shown_by_its_number() {
        assert_eq!(name(281), "epoll_pwait");
        assert_eq!(name(999), "call 999");
    }
}
