//! Starting a resolver: this program again, with nothing of ours.

use broker::{Reply, Request, ask, with_files};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The first argument by which this program is the resolver.
pub const ARGUMENT: &str = "--resolver";
/// What it is called.
const NAME: &str = "whyslow-resolver";

static APART: OnceLock<()> = OnceLock::new();
/// Those that this process has started.
static STARTED: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// From now on each recording's resolver is a process of its own: this program becomes one by its first argument.
pub fn start_apart() {
    let _ = APART.set(());
}

pub(super) fn is_apart() -> bool {
    APART.get().is_some()
}

/// Asks for a resolver.
#[derive(Serialize, Deserialize)]
pub struct StartResolver;

impl Request for StartResolver {
    const NAME: &'static str = "start-resolver";
    const CHECKS: &'static str = "nothing is chosen: whyslow itself, which becomes nobody and shuts itself in";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
        let mut command = Command::new("/proc/self/exe");
        command.arg0(NAME).arg(ARGUMENT).env_clear().current_dir("/");
        // A group of its own, so that Ctrl-C does not end it: what was recorded is named then.
        let child = command.process_group(0).stdin(theirs).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let mut started = started();
        started.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
        started.push(child);
        with_files((), vec![ours])
    }
}

/// The processes of those that this one has started.
pub(crate) fn pids() -> Vec<u32> {
    started().iter().map(Child::id).collect()
}

fn started() -> MutexGuard<'static, Vec<Child>> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts one; our end of what connects us.
pub(super) fn start() -> Option<OwnedFd> {
    ask(StartResolver, &[]).ok()?.files.pop()
}
