//! One control group of ours: a folder in a hierarchy, with processes in it that are moved, ended, and gone.

use crate::ending::{self, LONGEST_END, TICK, name};
use crate::hierarchy::{PREFIX, children, members};
use crate::journal::UndoResult;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::Instant;

/// Moves a process into a group.
pub(crate) fn enter(folder: &Path, pid: u32) -> io::Result<()> {
    if broker::broker_pid().is_some() {
        return broker::ask(broker::Enter { folder: folder.to_path_buf(), pid }, &[]).map(drop);
    }
    std::fs::write(folder.join("cgroup.procs"), pid.to_string())
}

/// Makes a group.
pub(crate) fn make(folder: &Path) -> io::Result<()> {
    if broker::broker_pid().is_some() {
        return broker::ask(broker::MakeGroup { folder: folder.to_path_buf() }, &[]).map(drop);
    }
    std::fs::create_dir(folder)
}

/// Writes a value into a file of a group.
pub(crate) fn set(folder: &Path, file: &str, value: &str) -> io::Result<()> {
    if broker::broker_pid().is_some() {
        let (folder, file, value) = (folder.to_path_buf(), file.to_string(), value.to_string());
        return broker::ask(broker::SetGroup { folder, file, value }, &[]).map(drop);
    }
    std::fs::write(folder.join(file), value)
}

fn remove_one(folder: &Path) -> io::Result<()> {
    if broker::broker_pid().is_some() {
        return broker::ask(broker::RemoveGroup { folder: folder.to_path_buf() }, &[]).map(drop);
    }
    std::fs::remove_dir(folder)
}

/// Moves all processes into another group, those made meanwhile as well.
pub(crate) fn hand_over(folder: &Path, other: &Path) {
    let deadline = Instant::now() + LONGEST_END;
    loop {
        let members = members(folder);
        if members.is_empty() || Instant::now() > deadline {
            return;
        }
        for pid in members {
            // One that has ended meanwhile is no error.
            let _ = enter(other, pid);
        }
    }
}

/// Ends all processes in a group. Their ids.
pub(crate) fn end(folder: &Path) -> BTreeSet<u32> {
    // At once with all that they make meanwhile, where the kernel can (version 2, Linux 5.14).
    let kill_all = || drop(set(folder, "cgroup.kill", "1"));
    ending::end(|| members(folder), kill_all)
}

/// Removes a group in which no process runs, and those below it.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    for child in children(folder) {
        remove(&child)?;
    }
    let deadline = Instant::now() + LONGEST_END;
    loop {
        match remove_one(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            // The last of its processes is being torn down.
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && Instant::now() < deadline => {
                std::thread::sleep(TICK);
            }
            result => return result,
        }
    }
}

/// Ends what runs in a group that was left behind, and removes it.
pub(crate) fn undo(folder: &Path) -> UndoResult {
    if !folder.exists() {
        return UndoResult::WasGone;
    }
    if !is_ours(folder) {
        return UndoResult::Left(format!("{} is not a control group of whyslow's", folder.display()));
    }
    let running = members(folder).into_iter().map(|pid| format!("{pid} ({})", name(pid))).collect::<Vec<_>>();
    end(folder);
    match remove(folder) {
        Ok(()) => removed(folder, &running),
        Err(error) => UndoResult::Left(format!("could not remove the control group {}: {error}", folder.display())),
    }
}

/// Removes a group that was left behind, where nothing runs in it.
pub(crate) fn undo_if_empty(folder: &Path) -> UndoResult {
    match members(folder).as_slice() {
        [] => undo(folder),
        [first, ..] => {
            let name = name(*first);
            UndoResult::Left(format!("process {first} ({name}), watched by a run that was killed, is still running"))
        }
    }
}

fn removed(folder: &Path, ended: &[String]) -> UndoResult {
    let is_inner = !folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    match (ended, is_inner) {
        // It is gone with the group that it is in, which has a line of its own.
        ([], true) => UndoResult::WasGone,
        ([], false) => UndoResult::Undone(format!("removed the control group {}", folder.display())),
        _ => UndoResult::Undone(format!("ended {}", ending::listed(ended))),
    }
}

/// Whether a folder is a control group that whyslow made.
fn is_ours(folder: &Path) -> bool {
    let is_named = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with(PREFIX);
    let names = [folder.file_name(), folder.parent().and_then(Path::file_name)];
    broker::is_group(folder) && names.into_iter().flatten().any(is_named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_forged_list_of_processes_signals_nobody() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("whyslow-1-0");
        std::fs::create_dir(&folder).expect("made");
        let mut victim = Command::new("sleep").arg("60").spawn().expect("sleep");
        std::fs::write(folder.join("cgroup.procs"), victim.id().to_string()).expect("written");
        let named = [folder.clone(), folder.join("client")];
        std::fs::create_dir(&named[1]).expect("made");
        for folder in &named {
            assert!(matches!(undo(folder), UndoResult::Left(_)), "{}", folder.display());
            assert!(folder.exists());
        }
        let ended = victim.try_wait().expect("ours");
        victim.kill().and_then(|()| victim.wait()).expect("ended");
        assert!(ended.is_none(), "{ended:?}");
    }
}
