//! System calls of x86-64 Linux, by the numbers that stand in the tables: their names, and what each is for.

use crate::tables::Call;

/// What a call is for, as far as a diagnosis distinguishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Reads bytes from its descriptor into one buffer.
    Read,
    /// Reads bytes from its descriptor into several buffers; their number or their list stands where others have a length.
    ReadVector,
    /// Writes bytes to its descriptor.
    Write,
    /// Hands over bytes from a file or pipe, without a buffer of the caller's.
    HandOver,
    /// Waits for any of several descriptors.
    Poll,
    /// Takes a connection.
    Accept,
    /// Opens a path.
    Open,
    /// Only sleeps.
    Sleep,
    /// Waits for a lock, or lets go of one; `fcntl` blocks for nothing else.
    Lock,
    /// Waits for a child process.
    WaitForChild,
    /// Waits for a signal.
    WaitForSignal,
    /// Puts data on a disk for good.
    Sync,
    /// Something else.
    Other,
}

/// A call that a recording can hold.
struct SystemCall {
    number: u16,
    name: &'static str,
    class: Class,
}

macro_rules! calls {
    ($($constant:ident $class:ident,)*) => {
        [$(SystemCall {
            number: libc::$constant as u16,
            // Without the `SYS_` of the constant's name.
            name: stringify!($constant).split_at(4).1,
            class: Class::$class,
        }),*]
    };
}

/// The calls that a recording can hold, in order of their numbers (arch/x86/entry/syscalls/syscall_64.tbl).
const CALLS: [SystemCall; 94] = calls![
    SYS_read Read,
    SYS_write Write,
    SYS_open Open,
    SYS_close Other,
    SYS_stat Other,
    SYS_fstat Other,
    SYS_lstat Other,
    SYS_poll Poll,
    SYS_lseek Other,
    SYS_mmap Other,
    SYS_munmap Other,
    SYS_brk Other,
    SYS_ioctl Other,
    SYS_pread64 Read,
    SYS_pwrite64 Write,
    SYS_readv ReadVector,
    SYS_writev Write,
    SYS_access Other,
    SYS_pipe Other,
    SYS_select Poll,
    SYS_sched_yield Other,
    SYS_msync Sync,
    SYS_madvise Other,
    SYS_dup Other,
    SYS_dup2 Other,
    SYS_pause Sleep,
    SYS_nanosleep Sleep,
    SYS_sendfile HandOver,
    SYS_socket Other,
    SYS_connect Other,
    SYS_accept Accept,
    SYS_sendto Write,
    SYS_recvfrom Read,
    SYS_sendmsg Write,
    SYS_recvmsg ReadVector,
    SYS_shutdown Other,
    SYS_bind Other,
    SYS_listen Other,
    SYS_socketpair Other,
    SYS_setsockopt Other,
    SYS_getsockopt Other,
    SYS_clone Other,
    SYS_fork Other,
    SYS_vfork Other,
    SYS_execve Other,
    SYS_wait4 WaitForChild,
    SYS_kill Other,
    SYS_fcntl Lock,
    SYS_flock Lock,
    SYS_fsync Sync,
    SYS_fdatasync Sync,
    SYS_getdents Other,
    SYS_chdir Other,
    SYS_fchdir Other,
    SYS_rename Other,
    SYS_unlink Other,
    SYS_rt_sigtimedwait WaitForSignal,
    SYS_rt_sigsuspend WaitForSignal,
    SYS_sync Sync,
    SYS_futex Lock,
    SYS_getdents64 Other,
    SYS_clock_nanosleep Sleep,
    SYS_exit_group Other,
    SYS_epoll_wait Poll,
    SYS_epoll_ctl Other,
    SYS_tgkill Other,
    SYS_waitid WaitForChild,
    SYS_openat Open,
    SYS_newfstatat Other,
    SYS_faccessat Other,
    SYS_pselect6 Poll,
    SYS_ppoll Poll,
    SYS_splice HandOver,
    SYS_sync_file_range Sync,
    SYS_epoll_pwait Poll,
    SYS_accept4 Accept,
    SYS_eventfd2 Other,
    SYS_epoll_create1 Other,
    SYS_dup3 Other,
    SYS_preadv ReadVector,
    SYS_pwritev Write,
    SYS_recvmmsg ReadVector,
    SYS_syncfs Sync,
    SYS_sendmmsg Write,
    SYS_getrandom Other,
    SYS_preadv2 ReadVector,
    SYS_pwritev2 Write,
    SYS_statx Other,
    SYS_io_uring_enter Poll,
    SYS_clone3 Other,
    SYS_close_range Other,
    SYS_openat2 Open,
    SYS_faccessat2 Other,
    SYS_epoll_pwait2 Poll,
];

/// Numbers that are looked up by their place; those above are no calls that can be recorded.
const MOST_NUMBERS: usize = 512;

/// The classes by number: asked for each of millions of calls.
static CLASSES: [Class; MOST_NUMBERS] = {
    let mut classes = [Class::Other; MOST_NUMBERS];
    let mut at = 0;
    while at < CALLS.len() {
        classes[CALLS[at].number as usize] = CALLS[at].class;
        at += 1;
    }
    classes
};

/// `close`.
pub const CLOSE: u16 = libc::SYS_close as u16;
/// `chdir`.
pub const CHDIR: u16 = libc::SYS_chdir as u16;
/// `connect`.
pub const CONNECT: u16 = libc::SYS_connect as u16;
/// `epoll_ctl`.
pub const EPOLL_CTL: u16 = libc::SYS_epoll_ctl as u16;
/// `fchdir`.
pub const FCHDIR: u16 = libc::SYS_fchdir as u16;
/// `futex`.
pub const FUTEX: u16 = libc::SYS_futex as u16;
/// `getrandom`.
pub const GETRANDOM: u16 = libc::SYS_getrandom as u16;
/// `getsockopt`.
pub const GETSOCKOPT: u16 = libc::SYS_getsockopt as u16;
/// `ioctl`.
pub const IOCTL: u16 = libc::SYS_ioctl as u16;
/// Gives the CPU to whoever else wants it.
pub const SCHED_YIELD: u16 = libc::SYS_sched_yield as u16;
/// `io_uring_enter`.
pub const IO_URING_ENTER: u16 = libc::SYS_io_uring_enter as u16;
/// `sendmsg`.
pub const SENDMSG: u16 = libc::SYS_sendmsg as u16;
/// `sendto`.
pub const SENDTO: u16 = libc::SYS_sendto as u16;
/// `setsockopt`.
pub const SETSOCKOPT: u16 = libc::SYS_setsockopt as u16;
/// `socket`.
pub const SOCKET: u16 = libc::SYS_socket as u16;

/// `flock`.
pub const FLOCK: u16 = libc::SYS_flock as u16;
/// `fcntl`.
pub const FCNTL: u16 = libc::SYS_fcntl as u16;

/// The commands of `fcntl` that take or give up a lock on a file, for the process or for what it opened.
const FILE_LOCKS: [i32; 4] = [libc::F_SETLK, libc::F_SETLKW, libc::F_OFD_SETLK, libc::F_OFD_SETLKW];

/// Whether a call, by its number and its second argument, takes or gives up a lock on a file.
pub fn is_file_lock(number: u16, argument_1: u64) -> bool {
    number == FLOCK || (number == FCNTL && FILE_LOCKS.iter().any(|command| u64::try_from(*command) == Ok(argument_1)))
}

/// What a call returns that was not to wait for a lock which somebody else has.
pub fn is_taken(result: i64) -> bool {
    result == EAGAIN || result == -i64::from(libc::EACCES)
}

/// The most that one call moves (MAX_RW_COUNT); a row that says more is damaged.
pub const MOST_BYTES: i64 = 0x7fff_f000;

/// What `connect` returns where no local port is free.
pub const NO_PORT: i64 = -(libc::EADDRNOTAVAIL as i64);

/// What a call returns that would open a file descriptor where the process has as many as it may.
pub const NO_DESCRIPTOR: i64 = -(libc::EMFILE as i64);

/// The same, where the machine has as many as it may.
pub const NO_DESCRIPTOR_ANYWHERE: i64 = -(libc::ENFILE as i64);

/// "Try again": nothing to read, or no room to write.
pub const EAGAIN: i64 = -(libc::EAGAIN as i64);

/// "Connection timed out": what a wait for a lock returns whose time is over.
pub const TIMED_OUT: i64 = -(libc::ETIMEDOUT as i64);

/// Errors that say that something is full, gone, forbidden or out of reach.
const TELLING: [(i32, &str); 21] = [
    (libc::EPERM, "EPERM"),
    (libc::EIO, "EIO"),
    (libc::ENOMEM, "ENOMEM"),
    (libc::EACCES, "EACCES"),
    (libc::ENFILE, "ENFILE"),
    (libc::EMFILE, "EMFILE"),
    (libc::ENOSPC, "ENOSPC"),
    (libc::EPIPE, "EPIPE"),
    (libc::EADDRINUSE, "EADDRINUSE"),
    (libc::EADDRNOTAVAIL, "EADDRNOTAVAIL"),
    (libc::ENETDOWN, "ENETDOWN"),
    (libc::ENETUNREACH, "ENETUNREACH"),
    (libc::ECONNABORTED, "ECONNABORTED"),
    (libc::ECONNRESET, "ECONNRESET"),
    (libc::ENOBUFS, "ENOBUFS"),
    (libc::ETIMEDOUT, "ETIMEDOUT"),
    (libc::ECONNREFUSED, "ECONNREFUSED"),
    (libc::EHOSTUNREACH, "EHOSTUNREACH"),
    (libc::EDQUOT, "EDQUOT"),
    (libc::EROFS, "EROFS"),
    (libc::EMSGSIZE, "EMSGSIZE"),
];

/// The name of the error that a call returned, where it says that something is wrong. Those that programs meet as they should
/// (nothing to read yet, a file that is looked for in several folders) say nothing.
pub fn telling_error(result: i64) -> Option<&'static str> {
    TELLING.iter().find(|(number, _)| i64::from(-number) == result).map(|(_, name)| *name)
}

/// What a call is for.
pub fn class(number: u16) -> Class {
    CLASSES.get(usize::from(number)).copied().unwrap_or(Class::Other)
}

/// Whether the call reads bytes from its descriptor.
pub fn is_read(number: u16) -> bool {
    matches!(class(number), Class::Read | Class::ReadVector)
}

/// Whether the call reads a directory's entries: `getdents64`, and `getdents` of old programs.
pub fn is_listing(number: u16) -> bool {
    matches!(i64::from(number), libc::SYS_getdents64 | libc::SYS_getdents)
}

/// Whether the call writes bytes to its descriptor. `sendfile` and `splice` count as writing.
pub fn is_write(number: u16) -> bool {
    matches!(class(number), Class::Write | Class::HandOver)
}

/// Whether the call writes where the last one ended: `write`, `writev`.
pub fn is_write_in_order(number: u16) -> bool {
    [libc::SYS_write, libc::SYS_writev].contains(&libc::c_long::from(number))
}

/// Whether the call hands over bytes from a file or pipe, without a buffer of the caller's: `sendfile`, `splice`.
pub fn is_handover(number: u16) -> bool {
    class(number) == Class::HandOver
}

/// Whether the call waits for any of several descriptors: `poll`, `select`, `epoll_wait` and their kin.
pub fn is_poll(number: u16) -> bool {
    class(number) == Class::Poll
}

/// Whether the call is given the descriptors that it waits for: `poll`, `select` and their kin, and not `epoll_wait`.
pub fn is_given_descriptors(number: u16) -> bool {
    let given = [libc::SYS_poll, libc::SYS_ppoll, libc::SYS_select, libc::SYS_pselect6];
    given.contains(&libc::c_long::from(number))
}

/// Whether the call waits for one descriptor alone; `argument_1` is its second argument. An event loop waits for many.
pub fn is_poll_of_one(number: u16, argument_1: u64) -> bool {
    is_poll_of_many(number) && argument_1 == 1
}

/// Whether the call is given a list of descriptors, as many as it likes: `poll`, `ppoll`.
pub fn is_poll_of_many(number: u16) -> bool {
    [libc::SYS_poll, libc::SYS_ppoll].contains(&libc::c_long::from(number))
}

/// Whether the call takes a connection: `accept`, `accept4`.
pub fn is_accept(number: u16) -> bool {
    class(number) == Class::Accept
}

/// Whether the call returns a descriptor for the path that it names: `open`, `openat` and `openat2`.
pub fn is_open(number: u16) -> bool {
    class(number) == Class::Open
}

/// Whether the call only sleeps: `nanosleep`, `clock_nanosleep`, `pause`.
pub fn is_sleep(number: u16) -> bool {
    class(number) == Class::Sleep
}

/// Whether a call that waits for descriptors was given none, until a time was over: some programs sleep so. What `select` is to read
/// from is its second argument, and so is how many descriptors `poll` has.
pub fn is_nap(call: &Call) -> bool {
    is_given_descriptors(call.number) && call.argument_1 == 0 && call.result == 0
}

/// Whether a call does nothing but let time pass.
pub fn sleeps(call: &Call) -> bool {
    is_sleep(call.number) || is_nap(call)
}

/// Whether the call waits for a child process: `wait4`, `waitid`.
pub fn is_wait_for_child(number: u16) -> bool {
    class(number) == Class::WaitForChild
}

/// Whether the call starts a process: of those that do, `vfork` returns when the child has become another program.
pub fn is_fork(number: u16) -> bool {
    [libc::SYS_clone, libc::SYS_fork, libc::SYS_vfork, libc::SYS_clone3].contains(&libc::c_long::from(number))
}

/// Whether the call sends a signal: `kill`, `tgkill`.
pub fn is_signal(number: u16) -> bool {
    [libc::SYS_kill, libc::SYS_tgkill].contains(&libc::c_long::from(number))
}

/// Whether the call puts data on a disk for good: `msync`, `fsync`, `fdatasync`, `sync`, `sync_file_range`, `syncfs`.
pub fn is_sync(number: u16) -> bool {
    class(number) == Class::Sync
}

/// The call's name, or `call NUMBER`.
pub fn name(number: u16) -> String {
    let index = CALLS.binary_search_by_key(&number, |call| call.number);
    index.map_or_else(|_| format!("call {number}"), |index| CALLS[index].name.to_string())
}

/// The number of the call that is named so, of those that a recording can hold.
pub fn number(name: &str) -> Option<u16> {
    CALLS.iter().find(|call| call.name == name).map(|call| call.number)
}

/// Whether a call that a recording can hold is named so.
pub fn is_name(name: &str) -> bool {
    number(name).is_some()
}

/// Whether the call makes a file's reads and writes go past the page cache: it opens it with `O_DIRECT`, or asks for that later.
pub fn goes_past_the_cache(call: &Call) -> bool {
    let flags = match libc::c_long::from(call.number) {
        libc::SYS_open => call.argument_1,
        libc::SYS_openat => call.argument_2,
        libc::SYS_fcntl if call.argument_1 == libc::F_SETFL as u64 => call.argument_2,
        _ => 0,
    };
    call.result >= 0 && flags & libc::O_DIRECT as u64 != 0
}

#[cfg(test)]
mod tests;
