//! The resolver's own process: what it gives away before it reads anything, and its life.

use super::worker::Worker;
use crate::scheduling::take_short_turns;
use broker::message;
use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, Scope};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::{Gid, Uid, geteuid, setgroups, setresgid, setresuid};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Nobody: the user and group without anything of their own, on every Linux (`overflowuid`).
const NOBODY: u32 = 65_534;

/// What a resolver may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Addresses: two of the largest files that are mapped, and what is kept of them.
    pub address_bytes: u64,
    /// Memory of its own: the tables of all images, and an answer.
    pub memory_bytes: u64,
    /// Processor time for one question, in milliseconds. The largest debug information takes some seconds.
    pub question_ms: u32,
    /// Processor time in all, in seconds.
    pub total_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { address_bytes: 8 << 30, memory_bytes: 2 << 30, question_ms: 20_000, total_seconds: 600 }
    }
}

/// Shuts this process in and answers questions that come by its standard input, until nobody asks any more. To be called before
/// any thread is started.
pub fn serve(limits: &Limits) -> ! {
    let code = match shut_in(limits) {
        Ok(()) => answer_all(limits),
        Err(_) => 1,
    };
    // SAFETY: never returns.
    unsafe { libc::_exit(code) }
}

fn answer_all(limits: &Limits) -> i32 {
    // SAFETY: whoever started this process gave it this end of a pair, which nobody closes.
    let socket = unsafe { BorrowedFd::borrow_raw(0) };
    let mut worker = Worker::default();
    while let Ok(Some((question, mut files))) = message::receive(socket.as_fd()) {
        let file = files.drain(..).next();
        allow_time(limits.question_ms);
        let answer = worker.answer(&question, file);
        allow_time(0);
        if message::send(socket.as_fd(), &answer, &[]).is_err() {
            break;
        }
    }
    0
}

/// So much processor time from now on, after which the process is ended; 0: any.
fn allow_time(milliseconds: u32) {
    let once = libc::timeval { tv_sec: i64::from(milliseconds / 1000), tv_usec: i64::from(milliseconds % 1000) * 1000 };
    let timer = libc::itimerval { it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 }, it_value: once };
    // SAFETY: the kernel reads a value of ours.
    unsafe { libc::setitimer(libc::ITIMER_PROF, &raw const timer, std::ptr::null_mut()) };
}

/// Gives away user, files, rights and calls, in this order: each step needs what a later one takes.
fn shut_in(limits: &Limits) -> io::Result<()> {
    take_short_turns();
    if geteuid().is_root() {
        let (uid, gid) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
        setgroups(&[])?;
        setresgid(gid, gid, gid)?;
        setresuid(uid, uid, uid)?;
    }
    // SAFETY: prctl with numbers and a constant; all descriptors but the socket are closed, which nobody uses here.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"whyslow-resolve".as_ptr());
        if libc::close_range(1, u32::MAX, 0) != 0
            || libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
        {
            return Err(io::Error::last_os_error());
        }
    }
    // Each image is held open.
    let (_, most_files) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most_files, most_files)?;
    for (resource, most) in [
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_NPROC, 0),
        (Resource::RLIMIT_CPU, limits.total_seconds),
        (Resource::RLIMIT_DATA, limits.memory_bytes),
        (Resource::RLIMIT_AS, limits.address_bytes),
    ] {
        setrlimit(resource, most, most)?;
    }
    without_files().map_err(io::Error::other)?;
    seccompiler::apply_filter(&filter().map_err(io::Error::other)?).map_err(io::Error::other)
}

/// No file system, no network, nobody to signal, as far as the kernel knows how.
fn without_files() -> Result<(), landlock::RulesetError> {
    let newest = ABI::V6;
    let rules = Ruleset::default().handle_access(AccessFs::from_all(newest))?;
    let rules = rules.handle_access(AccessNet::from_all(newest))?.scope(Scope::from_all(newest))?;
    rules.create()?.restrict_self().map(drop)
}

/// Calls that reading files that are open, and memory, take. Any other ends the process: it opens nothing, starts nothing, and
/// connects to nobody.
fn filter() -> Result<BpfProgram, seccompiler::BackendError> {
    // Messages too long for the socket go by a file in memory, for which that is made.
    let plain = [
        libc::SYS_read,
        libc::SYS_pread64,
        libc::SYS_write,
        libc::SYS_lseek,
        libc::SYS_close,
        libc::SYS_recvmsg,
        libc::SYS_sendmsg,
        libc::SYS_memfd_create,
        libc::SYS_brk,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_madvise,
        libc::SYS_setitimer,
        libc::SYS_futex,
        libc::SYS_getrandom,
        libc::SYS_clock_gettime,
        libc::SYS_sigaltstack,
        libc::SYS_rt_sigreturn,
        libc::SYS_exit_group,
    ];
    let mut rules = plain.map(|call| (call, Vec::new())).to_vec();
    let only = |argument, how, value: i32| {
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, how, value as u64)?;
        SeccompRule::new(vec![condition]).map(|rule| vec![rule])
    };
    // No memory that can be executed.
    let executable = SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64);
    rules.push((libc::SYS_mmap, only(2, executable.clone(), 0)?));
    rules.push((libc::SYS_mprotect, only(2, executable, 0)?));
    // Builds with assertions ask whether a descriptor that is closed was open.
    rules.push((libc::SYS_fcntl, only(1, SeccompCmpOp::Eq, libc::F_GETFD)?));
    let (otherwise, listed) = (SeccompAction::KillProcess, SeccompAction::Allow);
    SeccompFilter::new(rules.into_iter().collect(), otherwise, listed, TargetArch::x86_64)?.try_into()
}
