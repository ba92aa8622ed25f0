//! Whether programs can be put into a tree of files of their own here: tried with the host's own tree, and no program.

use super::root::Root;
use super::surroundings::Surroundings;
use crate::RecordError;
use broker::{Reply, Request};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};
use serde::{Deserialize, Serialize};
use std::fs::DirBuilder;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Asks for a try.
#[derive(Serialize, Deserialize)]
pub(crate) struct TryTree;

impl Request for TryTree {
    const NAME: &'static str = "try-tree";
    const CHECKS: &'static str = "nothing to choose: the host's tree with nothing laid over it, seen by a process that executes nothing and ends";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        let place = Place::make()?;
        let root = Root { layers: vec![PathBuf::from("/")], shared: Vec::new(), place: place.0.clone() };
        let surroundings = Surroundings::prepare(Some(&root), &[], &[], None).map_err(io::Error::other)?;
        // SAFETY: the child makes async-signal-safe calls only and never returns.
        let child = match unsafe { fork() }? {
            // SAFETY: what it needs was prepared before the fork.
            ForkResult::Child => unsafe { libc::_exit(i32::from(surroundings.mount().is_err())) },
            ForkResult::Parent { child } => child,
        };
        match waitpid(child, None)? {
            WaitStatus::Exited(_, 0) => broker::reply(()),
            _ => Err(io::Error::other("the kernel refuses to put one together")),
        }
    }
}

/// An empty folder that only whoever makes it can exchange. It is removed when dropped.
struct Place(PathBuf);

impl Place {
    fn make() -> io::Result<Place> {
        let place = Path::new("/run").join(format!("whyslow-doctor-{}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&place)?;
        Ok(Place(place))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // It is empty for everybody but the child.
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// Whether it works.
///
/// # Errors
/// Why it does not.
pub(crate) fn try_tree() -> Result<(), RecordError> {
    broker::ask(TryTree, &[]).map(drop).map_err(RecordError::io("putting together a tree of files"))
}
