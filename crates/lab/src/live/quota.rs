//! `cpu-quota` in a running program: the quota of the control group that limits its CPU time, lifted and put back.
//!
//! Only of a group in which nobody else runs: others would get more as well, which is nobody's to give.

use super::target::Target;
use super::{LiveNot, State, Switch};
use crate::error::LabError;
use crate::hierarchy::{Hierarchy, Version, carrier, hierarchies_of, members};
use crate::journal::{Entry, Journal, Undo, UndoResult, check_quota};
use broker::{Reply, Request, reply};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const FILE_OF_ONE: &str = "cpu.cfs_quota_us";
const FILE_OF_TWO: &str = "cpu.max";

pub fn open(target: &Target, journal: &Journal) -> Result<Box<dyn Switch>, LiveNot> {
    let hierarchies = hierarchies_of(target.pid);
    let Some(hierarchy) = carrier(&hierarchies, "cpu") else {
        return Err(LiveNot("no visible control group hierarchy limits CPU time".to_string()));
    };
    let quota = Quota::above(hierarchy)
        .ok_or_else(|| LiveNot(format!("no visible control group limits the CPU time of process {}", target.pid)))?;
    let own = target.processes();
    if members(&quota.folder).iter().any(|pid| !own.contains(pid)) {
        return Err(LiveNot(format!(
            "the control group {}, which limits its CPU time, also holds other processes",
            quota.folder.display()
        )));
    }
    Ok(Box::new(Lifted { quota, journal: journal.clone(), entry: None }))
}

/// A group's quota as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Quota {
    folder: PathBuf,
    file: PathBuf,
    value: String,
    unlimited: &'static str,
}

impl Quota {
    /// The nearest one, from a group up.
    fn above(hierarchy: &Hierarchy) -> Option<Quota> {
        let (name, unlimited) = match hierarchy.version {
            Version::One => (FILE_OF_ONE, "-1"),
            Version::Two => (FILE_OF_TWO, "max"),
        };
        let groups = hierarchy.own.ancestors().take_while(|folder| folder.starts_with(&hierarchy.root));
        let quota = |folder: &Path| {
            let (folder, file) = (folder.to_path_buf(), folder.join(name));
            Some(Quota { value: read(&file).ok()?, folder, file, unlimited })
        };
        groups.filter_map(quota).find(|quota| !quota.value.starts_with(unlimited))
    }

    fn write(&self, value: &str) -> Result<(), LabError> {
        let request = SetQuota { file: self.file.clone(), value: value.to_string() };
        broker::ask(request, &[]).map_err(LabError::io(&self.file))?;
        let shown = read(&self.file).map_err(LabError::io(&self.file))?;
        if shown.starts_with(value) {
            return Ok(());
        }
        Err(LabError::NotTaken { what: self.file.display().to_string(), asked: value.to_string(), shown })
    }
}

struct Lifted {
    quota: Quota,
    journal: Journal,
    /// There while it is lifted.
    entry: Option<Entry>,
}

impl Lifted {
    fn lift(&mut self) -> Result<(), LabError> {
        let group = fs::metadata(&self.quota.folder).map_err(LabError::io(&self.quota.folder))?.ino();
        let undo = Undo::Quota { file: self.quota.file.clone(), group, value: self.quota.value.clone() };
        self.entry = self.journal.note(&[undo])?.into_iter().next();
        self.quota.write(self.quota.unlimited)
    }

    fn put_back(&mut self) -> Result<(), LabError> {
        if let Some(entry) = self.entry {
            self.quota.write(&self.quota.value)?;
            self.journal.tick_off(entry);
            self.entry = None;
        }
        Ok(())
    }
}

impl Switch for Lifted {
    fn turn(&mut self, state: State) -> Result<(), LabError> {
        match state {
            State::On => self.lift(),
            State::Off if self.entry.is_some() => self.put_back(),
            State::Off => self.quota.write(&self.quota.value),
        }
    }

    fn refresh(&mut self) -> Result<(), LabError> {
        Ok(())
    }

    fn reached(&self) -> u64 {
        u64::from(self.entry.is_some())
    }

    fn why_none(&self) -> String {
        format!("the quota in {} was not lifted", self.quota.file.display())
    }
}

impl Drop for Lifted {
    fn drop(&mut self) {
        // What cannot be put back stays in the journal.
        let _ = self.put_back();
    }
}

fn read(file: &Path) -> std::io::Result<String> {
    Ok(fs::read_to_string(file)?.trim().to_string())
}

/// Puts a quota back that a run which was killed has left lifted.
pub fn undo(file: &Path, group: u64, value: &str) -> UndoResult {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let unlimited = match name {
        FILE_OF_ONE => "-1",
        FILE_OF_TWO => "max",
        _ => return UndoResult::Left(format!("{} is not a CPU quota", file.display())),
    };
    let folder = file.parent().unwrap_or(file);
    // Elsewhere the file may be a link to anything.
    if folder.exists() && !broker::is_group(folder) {
        return UndoResult::Left(format!("{} is not the quota of a control group", file.display()));
    }
    restore(file, group, value, unlimited)
}

/// The same in a folder that is known to be a group.
fn restore(file: &Path, group: u64, value: &str, unlimited: &str) -> UndoResult {
    let folder = file.parent().unwrap_or(file);
    let is_same = fs::metadata(folder).is_ok_and(|found| found.ino() == group) && folder.join("cgroup.procs").exists();
    match read(file) {
        // The group is gone, or somebody has set another quota since.
        Err(_) => UndoResult::WasGone,
        Ok(now) if !is_same || !now.starts_with(unlimited) => UndoResult::WasGone,
        Ok(_) => match fs::write(file, value) {
            Ok(()) => UndoResult::Undone(format!("restored the CPU quota in {} to {value}", file.display())),
            Err(error) => UndoResult::Left(format!("could not restore the quota in {}: {error}", file.display())),
        },
    }
}

/// Asks for a quota of CPU time to be lifted or put back.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SetQuota {
    pub file: PathBuf,
    pub value: String,
}

impl Request for SetQuota {
    const NAME: &'static str = "set-quota";
    const CHECKS: &'static str = "the quota of a group in which nobody but the subject runs";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        check_quota(&self.file)?;
        let name = self.file.file_name().and_then(|name| name.to_str());
        let (folder, name) = self.file.parent().zip(name).ok_or(io::ErrorKind::InvalidInput)?;
        broker::write_in_group(folder, name, &self.value)?;
        reply(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What looks like a group whose quota was lifted, and its inode.
    fn lifted() -> (tempfile::TempDir, PathBuf, u64) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(FILE_OF_TWO);
        fs::write(&file, "max 100000\n").expect("written");
        fs::write(folder.path().join("cgroup.procs"), "").expect("written");
        let group = fs::metadata(folder.path()).expect("there").ino();
        (folder, file, group)
    }

    #[test]
    fn a_quota_that_was_left_lifted_is_put_back_once() {
        let (_folder, file, group) = lifted();
        assert!(matches!(restore(&file, group, "20000 100000", "max"), UndoResult::Undone(_)));
        assert_eq!(read(&file).expect("read"), "20000 100000");
        assert!(matches!(restore(&file, group, "20000 100000", "max"), UndoResult::WasGone));
    }

    #[test]
    fn a_quota_set_since_or_of_another_group_or_file_is_left_alone() {
        let (folder, file, group) = lifted();
        assert!(matches!(restore(&file, group + 1, "20000 100000", "max"), UndoResult::WasGone));
        assert!(matches!(undo(&folder.path().join("memory.max"), group, "1"), UndoResult::Left(_)));
        assert_eq!(read(&file).expect("read"), "max 100000");
        fs::write(&file, "70000 100000").expect("written");
        assert!(matches!(restore(&file, group, "20000 100000", "max"), UndoResult::WasGone));
        assert_eq!(read(&file).expect("read"), "70000 100000");
    }

    #[test]
    fn what_only_looks_like_a_group_is_not_written_to() {
        let (folder, file, group) = lifted();
        assert!(matches!(undo(&file, group, "20000 100000"), UndoResult::Left(_)));
        assert_eq!(read(&file).expect("read"), "max 100000");
        drop(folder);
        assert!(matches!(undo(&file, group, "20000 100000"), UndoResult::WasGone));
    }
}
