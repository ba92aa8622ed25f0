//! What is asked of the broker's journal, and what it checks of each undo.

use super::{Journal, Undo};
use crate::hierarchy::{PREFIX, members};
use broker::{Reply, Request, check_group, check_subject, reply};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The broker's journal, once something was written down.
static JOURNAL: Mutex<Option<Journal>> = Mutex::new(None);
/// The files that set a quota of CPU time.
const QUOTAS: [&str; 2] = ["cpu.max", "cpu.cfs_quota_us"];

/// Asks for undos to be written down; their numbers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Note {
    pub undos: Vec<Undo>,
}

impl Request for Note {
    const NAME: &'static str = "note-undo";
    const CHECKS: &'static str = "each undo is of a group of this run, a process of the subject's, a quota of a group in which it alone runs, or a folder \
         named after this run, which is removed with its owner's rights";
    type Answer = Vec<u64>;

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<Vec<u64>>> {
        let undos = self.undos.into_iter().map(checked).collect::<io::Result<Vec<_>>>()?;
        let mut journal = JOURNAL.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = || Journal::open_here().map_err(|error| io::Error::other(error.to_string()));
        if journal.is_none() {
            *journal = Some(opened()?);
        }
        let noted = journal.as_ref().map(|journal| journal.note_numbers(&undos));
        reply(noted.unwrap_or_else(|| Ok(Vec::new())).map_err(|error| io::Error::other(error.to_string()))?)
    }
}

/// An undo as it is written down, once it is known to be of this run's.
fn checked(undo: Undo) -> io::Result<Undo> {
    match &undo {
        // Written down before it is made: that it is a control group is looked at when it is undone.
        Undo::Group { folder, .. } => check_group(folder)?,
        Undo::Session { leader: pid, .. } | Undo::Sockets { pid, .. } => check_subject(*pid)?,
        Undo::Quota { file, .. } => check_quota(file)?,
        Undo::Folder { path, .. } => check_folder(path)?,
    }
    Ok(match (undo, broker::becomes()) {
        (Undo::Folder { path, .. }, Some(owner)) => Undo::Folder { path, owner: Some(owner.uid) },
        (undo, _) => undo,
    })
}

/// Whether a file sets the quota of a group in which nobody but the subject runs.
pub(crate) fn check_quota(file: &Path) -> io::Result<()> {
    let is_quota = file.file_name().is_some_and(|name| QUOTAS.iter().any(|quota| name == *quota));
    let is_group = file.parent().is_some_and(broker::is_group);
    let members = file.parent().map(members).unwrap_or_default();
    if broker::is_broker() && (!is_quota || !is_group || members.is_empty()) {
        return Err(io::Error::from_raw_os_error(libc::EPERM));
    }
    members.into_iter().try_for_each(check_subject)
}

/// Asks for an undo to be ticked off.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TickOff {
    pub entry: u64,
}

impl Request for TickOff {
    const NAME: &'static str = "tick-off-undo";
    const CHECKS: &'static str = "only what this run has written down, by its number";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        if let Some(journal) = &*JOURNAL.lock().unwrap_or_else(PoisonError::into_inner) {
            journal.tick_off_number(self.entry);
        }
        reply(())
    }
}

/// Whether a folder is named after this run; outside of a broker that is left to whoever makes it.
fn check_folder(folder: &Path) -> io::Result<()> {
    let ours = format!("{PREFIX}{}-", broker::command_pid());
    let is_named = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&ours));
    let is_plain = folder.is_absolute() && !folder.components().any(|part| part == std::path::Component::ParentDir);
    if !broker::is_broker() || (is_named && is_plain) { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}
