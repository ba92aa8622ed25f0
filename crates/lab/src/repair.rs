//! Undoing what whyslow processes that are gone have left behind.

use crate::error::LabError;
use crate::journal::{ENDING, Members, Undo, UndoResult, open_undos, place};
use crate::{group, live, sessions, staged};
use broker::{Reply, Request, reply};
use serde::{Deserialize, Serialize};
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// A broker whose command was killed holds its lock until it is torn down, with all that it has in the kernel. This is how long that
/// may take on a crowded machine: the next run waits no longer, and goes on.
const LONGEST_DEATH: Duration = Duration::from_secs(5);
/// Who asks for an undo waits for more: on two processors with thirty programs that want them it has taken over five seconds.
const LONGEST_DEATH_ASKED: Duration = Duration::from_secs(30);
/// Writable for the group or for others.
const OTHERS_WRITE: u32 = 0o022;

/// What is repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Repair {
    /// What the next run does by itself: everything but a watched client that still runs.
    Left,
    /// What `whyslow undo` does: everything, and such a client is ended.
    All,
}

/// What came of it, in lines for the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repaired {
    /// What was undone.
    pub done: Vec<String>,
    /// What could not be undone, or was left alone, and why.
    pub left: Vec<String>,
}

/// Undoes what is written in the journals of processes that are gone. Journals of processes that live are not touched.
///
/// # Errors
/// Where a journal can be seen and not be read.
pub fn repair(which: Repair) -> Result<Repaired, LabError> {
    if broker::broker_pid().is_some() { mend(which) } else { repair_here(which) }
}

/// Does so as we are.
pub(crate) fn repair_here(which: Repair) -> Result<Repaired, LabError> {
    let mut repaired = Repaired::default();
    for folder in place::existing() {
        repair_folder(&folder, which, &mut repaired)?;
    }
    Ok(repaired)
}

pub(crate) fn repair_folder(folder: &Path, which: Repair, repaired: &mut Repaired) -> Result<(), LabError> {
    let entries = std::fs::read_dir(folder).map_err(LabError::io(folder))?;
    let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path())).collect::<Vec<_>>();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == ENDING));
    paths.sort();
    let patience = if which == Repair::All { LONGEST_DEATH_ASKED } else { LONGEST_DEATH };
    for path in paths {
        match inherit(&path, patience)? {
            Inherited::Ours(file) => repair_journal(&path, file, which, repaired)?,
            Inherited::Dying if which == Repair::All => repaired.left.push(format!(
                "a run that was killed has not quite ended: what it left, written down in {}, cannot be undone yet",
                path.display()
            )),
            Inherited::Dying | Inherited::Nothing => {}
        }
    }
    Ok(())
}

/// What became of a journal.
enum Inherited {
    /// Its owner is gone, and we have it locked.
    Ours(File),
    /// Its owner is gone, and a process of that run still has it.
    Dying,
    /// Its owner lives, it has gone meanwhile, or it is not ours: what it says is done with our rights.
    Nothing,
}

/// The journal at a path. One that a dying process has is waited for so long.
fn inherit(path: &Path, patience: Duration) -> Result<Inherited, LabError> {
    // A link, a pipe or another's file is no journal, and nobody waits for it.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Err(error) if is_no_journal(&error) => return Ok(Inherited::Nothing),
        opened => opened.map_err(LabError::io(path))?,
    };
    let own = nix::unistd::geteuid().as_raw();
    let is_ours = |found: Metadata| found.is_file() && found.uid() == own && found.mode() & OTHERS_WRITE == 0;
    if !file.metadata().is_ok_and(is_ours) {
        return Ok(Inherited::Nothing);
    }
    let deadline = Instant::now() + patience;
    loop {
        match file.try_lock() {
            Ok(()) if file.metadata().is_ok_and(|found| found.nlink() > 0) => return Ok(Inherited::Ours(file)),
            Ok(()) => return Ok(Inherited::Nothing),
            Err(TryLockError::WouldBlock) if owner_lives(path) => return Ok(Inherited::Nothing),
            Err(TryLockError::WouldBlock) if Instant::now() > deadline => return Ok(Inherited::Dying),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
            Err(TryLockError::Error(error)) => return Err(LabError::io(path)(error)),
        }
    }
}

/// Whether there is nothing any more, or a link or a socket.
fn is_no_journal(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ELOOP | libc::ENXIO))
}

/// Whether the process that a journal is named after runs.
fn owner_lives(path: &Path) -> bool {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let mut numbers = name.split('-').map(str::parse::<u64>);
    let (Some(Ok(pid)), Some(Ok(started))) = (numbers.next(), numbers.next()) else { return false };
    let is_owner = |process: &record::ProcessStat| u64::from(process.pid) == pid && process.started_ticks == started;
    record::processes().iter().any(|process| is_owner(process) && !process.is_zombie())
}

fn repair_journal(path: &Path, file: File, which: Repair, repaired: &mut Repaired) -> Result<(), LabError> {
    // What was cut off by a crash need not be UTF-8 either.
    let mut bytes = Vec::new();
    (&file).read_to_end(&mut bytes).map_err(LabError::io(path))?;
    let mut is_done = true;
    // What was made last stands on what was made before it.
    for undo in open_undos(&String::from_utf8_lossy(&bytes)).into_iter().rev() {
        match perform(&undo, which) {
            UndoResult::WasGone => {}
            UndoResult::Undone(line) => repaired.done.push(line),
            UndoResult::Left(line) => {
                is_done = false;
                // One process may be in groups of several hierarchies.
                if !repaired.left.contains(&line) {
                    repaired.left.push(line);
                }
            }
        }
    }
    if is_done {
        std::fs::remove_file(path).map_err(LabError::io(path))?;
    }
    // Only now may others have it.
    drop(file);
    Ok(())
}

/// Does what an undo says.
fn perform(undo: &Undo, which: Repair) -> UndoResult {
    match undo {
        Undo::Group { folder, members } => match (members, which) {
            (Members::TheUsers, Repair::Left) => group::undo_if_empty(folder),
            _ => group::undo(folder),
        },
        Undo::Session { leader, started_ticks } => sessions::undo(*leader, *started_ticks),
        Undo::Sockets { pid, started_ticks, inodes } => live::undo_sockets(*pid, *started_ticks, inodes),
        Undo::Quota { file, group, value } => live::undo_quota(file, *group, value),
        Undo::Folder { path, owner } => staged::undo(path, *owner),
    }
}

/// Asks for what runs that are gone have left behind to be undone.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Mend {
    pub which: Repair,
}

impl Request for Mend {
    const NAME: &'static str = "repair";
    const CHECKS: &'static str =
        "only what journals say that nobody but root can have written, of owners that are gone";
    type Answer = Result<Repaired, String>;

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<Self::Answer>> {
        reply(repair_here(self.which).map_err(|error| error.to_string()))
    }
}

/// Has what runs that are gone have left behind undone.
pub(crate) fn mend(which: Repair) -> Result<Repaired, LabError> {
    let answer = broker::ask(Mend { which }, &[]).map(|reply| reply.answer);
    answer.unwrap_or_else(|error| Err(error.to_string())).map_err(LabError::World)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_has_not_quite_ended_is_distinguished_from_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("1-2.jsonl");
        let held = File::create(&path).expect("made");
        held.lock().expect("locked");
        let now = || inherit(&path, Duration::ZERO).expect("looked at");
        assert!(matches!(now(), Inherited::Dying), "no process 1 was started two ticks after the boot");
        drop(held);
        assert!(matches!(now(), Inherited::Ours(_)));
        std::fs::remove_file(&path).expect("removed");
        assert!(matches!(now(), Inherited::Nothing));
    }
}
