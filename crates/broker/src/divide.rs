//! The division into two roles: one process becomes two, of which the one that was started becomes its caller.

use crate::message;
use crate::request::{self, Entry};
use crate::role::{ALLOWED, Allowed, BROKER, Broker, COMMAND, DROPPED, Identity, command_pid};
use crate::watched;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::unistd::{ForkResult, Gid, Uid, fork, getppid, setresgid, setresuid};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Mutex;

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
            watched::name(&allowed.named);
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
