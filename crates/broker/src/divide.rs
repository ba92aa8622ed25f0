//! The division into two roles: one process becomes two, of which the one that was started becomes its caller.

use crate::message;
use crate::request::{self, Entry};
use crate::watched;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::unistd::{ForkResult, Gid, Uid, fork, getpid, getppid, setresgid, setresuid};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The broker of this process, for the command; unset without one, and in the broker.
static BROKER: OnceLock<Broker> = OnceLock::new();
/// The command's process, for the broker.
static COMMAND: OnceLock<u32> = OnceLock::new();
/// What the command may ask for, for the broker.
static ALLOWED: OnceLock<Allowed> = OnceLock::new();
/// Whether the command has become another user.
static DROPPED: OnceLock<()> = OnceLock::new();

/// Whom the command becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

/// What is settled before the division, by the words that whyslow was started with.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    /// Whom the command becomes; none where it stays root.
    pub becomes: Option<Identity>,
    /// Whom else it may start programs as.
    pub others: Vec<Identity>,
    /// A running process that it may look into.
    pub named: Option<u32>,
}

/// The other process, as the command reaches it.
pub(crate) struct Broker {
    pid: u32,
    /// None once it was dismissed.
    socket: Mutex<Option<OwnedFd>>,
}

/// What the broker's process is called.
const NAME: &std::ffi::CStr = c"whyslow-broker";

/// What a signal does that is meant for the command: nothing. Not ignored, for what is ignored stays so in programs.
extern "C" fn pass_by(_: libc::c_int) {}

/// Divides this process, where it is root's: the broker is forked and stays root, and what returns is the command. Where it is to
/// become another user, its groups must be that user's already. To be called before any thread is started.
///
/// # Errors
/// Where the kernel refuses. Then nothing must go on: what was to be somebody else's would be root's.
pub fn divide(requests: &'static [&'static [Entry]], allowed: &Allowed) -> io::Result<()> {
    if !nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
    // SAFETY: there is no other thread yet, so that the new process has everything that this one has.
    match unsafe { fork() }? {
        ForkResult::Child => {
            drop(ours);
            let _ = COMMAND.set(getppid().as_raw() as u32);
            allowed.named.into_iter().for_each(watched::name);
            let _ = ALLOWED.set(allowed.clone());
            serve(&theirs, requests);
        }
        ForkResult::Parent { child } => {
            drop(theirs);
            let pid = child.as_raw() as u32;
            let _ = BROKER.set(Broker { pid, socket: Mutex::new(Some(ours)) });
        }
    }
    allowed.becomes.map_or(Ok(()), become_user)
}

/// Makes this process another user's, for good: no process of that user's can look into it or change it, and it gets no rights
/// back.
///
/// # Errors
/// Where the kernel refuses.
pub fn become_user(user: Identity) -> io::Result<()> {
    let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
    setresgid(gid, gid, gid)?;
    setresuid(uid, uid, uid)?;
    // SAFETY: prctl with numbers only.
    unsafe {
        if libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
        {
            return Err(io::Error::last_os_error());
        }
    }
    if user.uid != 0 && setresuid(Uid::from_raw(0), Uid::from_raw(0), Uid::from_raw(0)).is_ok() {
        return Err(io::Error::other("root could be had back"));
    }
    let _ = DROPPED.set(());
    Ok(())
}

/// The broker's life: it ends with the command.
fn serve(socket: &OwnedFd, requests: &[&[Entry]]) -> ! {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT] {
        let action = SigAction::new(SigHandler::Handler(pass_by), SaFlags::SA_RESTART, SigSet::empty());
        // SAFETY: the handler does nothing.
        let before = unsafe { sigaction(signal, &action) };
        if let Ok(before) = before.as_ref()
            && matches!(before.handler(), SigHandler::SigIgn)
        {
            // As by nohup: programs are to find it ignored.
            // SAFETY: what was there before.
            let _ = unsafe { sigaction(signal, before) };
        }
    }
    take_name();
    // SAFETY: prctl with numbers. A program of the subject's must not look into root's memory, whatever else fails; and what is being
    // done when the command is killed is left to whoever repairs, as it always was.
    unsafe {
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    if getppid().as_raw() as u32 != command_pid() {
        // SAFETY: never returns.
        unsafe { libc::_exit(0) }
    }
    while let Ok(Some((message, files))) = message::receive(socket.as_fd()) {
        let (said, files) = request::answer(requests, &message, files);
        if message::send(socket.as_fd(), &said, &request::borrowed(&files)).is_err() {
            break;
        }
    }
    // What is undone at an end of its own would be undone here as well: a journal tells the next run what is left.
    // SAFETY: never returns.
    unsafe { libc::_exit(0) }
}

/// Whoever lists processes finds the broker by a name and a command line of its own, not by those of the command.
fn take_name() {
    // SAFETY: prctl with a constant.
    unsafe { libc::prctl(libc::PR_SET_NAME, NAME.as_ptr()) };
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect::<Vec<_>>()).unwrap_or_default();
    // proc(5): state is field 3; arg_start and arg_end are fields 48 and 49.
    let field = |number: usize| fields.get(number - 3).and_then(|field| field.parse::<usize>().ok());
    let (Some(start), Some(end)) = (field(48), field(49)) else { return };
    let name = NAME.to_bytes_with_nul();
    if start == 0 || end.saturating_sub(start) < name.len() {
        return;
    }
    // SAFETY: the kernel says that this process's arguments are there, on its stack, which can be written; nobody reads them any more,
    // since the broker has one thread and is served by requests.
    unsafe {
        std::ptr::write_bytes(start as *mut u8, 0, end - start);
        std::ptr::copy_nonoverlapping(name.as_ptr(), start as *mut u8, name.len());
    }
}

impl Broker {
    /// Sends a request and waits for what comes back. One at a time.
    pub fn exchange(&self, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = || io::Error::new(io::ErrorKind::BrokenPipe, "the part of whyslow that is root has ended");
        let socket = socket.as_ref().ok_or_else(gone)?;
        message::send(socket.as_fd(), bytes, files).map_err(|error| match error.raw_os_error() {
            Some(libc::EPIPE | libc::ECONNRESET) => gone(),
            _ => error,
        })?;
        message::receive(socket.as_fd())?.ok_or_else(gone)
    }
}

pub(crate) fn broker() -> Option<&'static Broker> {
    BROKER.get()
}

/// Whether this process is the broker.
pub fn is_broker() -> bool {
    COMMAND.get().is_some()
}

/// Whom the command has become, in the broker; none where it is root.
pub fn becomes() -> Option<Identity> {
    ALLOWED.get()?.becomes
}

/// Whether a program may be started as this user.
///
/// # Errors
/// Where nobody has named it.
pub fn check_user(user: Identity) -> io::Result<()> {
    let is_allowed =
        |allowed: &Allowed| allowed.becomes.is_none_or(|becomes| becomes == user) || allowed.others.contains(&user);
    let is_allowed = ALLOWED.get().is_none_or(is_allowed);
    if is_allowed { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EPERM)) }
}

/// Whether the command is root itself.
///
/// # Errors
/// Where it is another user.
pub fn check_root() -> io::Result<()> {
    if becomes().is_none() { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EPERM)) }
}

/// The broker's process, seen from the command.
pub fn broker_pid() -> Option<u32> {
    BROKER.get().map(|broker| broker.pid)
}

/// The command's process, in either role: whoever looks for whyslow finds this one.
pub fn command_pid() -> u32 {
    COMMAND.get().copied().unwrap_or_else(|| getpid().as_raw() as u32)
}

/// Whether the command is another user's than root's, and what needs root is the broker's.
pub fn has_dropped() -> bool {
    DROPPED.get().is_some()
}

/// Whether requests are carried out as root.
pub fn acts_as_root() -> bool {
    BROKER.get().is_some() || nix::unistd::geteuid().is_root()
}

/// Lets the broker end, and waits for that: what it holds in the kernel is gone then.
pub fn dismiss() {
    let Some(broker) = BROKER.get() else { return };
    if broker.socket.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
        let _ = nix::sys::wait::waitpid(nix::unistd::Pid::from_raw(broker.pid as i32), None);
    }
}
