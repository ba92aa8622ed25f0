//! The journal: what would outlive this process, written down before it is made.
//!
//! A file for each whyslow process that has something to undo, named by its process id and start time, one JSON line an
//! undo, synced to the disk before the act and ticked off after it was undone. The file is locked for as long as its
//! owner lives, which the kernel ends with it, whatever ends it: a lock that can be had is an owner that is gone. It is
//! removed when nothing is left in it.

pub(crate) mod place;
mod request;

use crate::error::LabError;
pub(crate) use request::{Note, TickOff, check_quota};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The ending of a journal's file.
pub(crate) const ENDING: &str = "jsonl";

/// Something that outlives a process, and how it is undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Undo {
    /// A control group, which is removed after its processes have ended.
    Group {
        /// Its folder.
        folder: PathBuf,
        /// Whose processes run in it.
        members: Members,
    },
    /// A session of ours, whose processes are ended.
    Session {
        /// The process that it is named after.
        leader: u32,
        /// When that was started, in clock ticks since boot.
        started_ticks: u64,
    },
    /// TCP connections of a running process on which TCP_NODELAY was set, which is set back.
    Sockets {
        /// The process.
        pid: u32,
        /// When that was started, in clock ticks since boot.
        started_ticks: u64,
        /// The connections.
        inodes: Vec<u64>,
    },
    /// A control group's quota of CPU time that was lifted, which is put back.
    Quota {
        /// The file that sets it.
        file: PathBuf,
        /// The inode of the group's folder, which tells it from a later group of that name.
        group: u64,
        /// What it was.
        value: String,
    },
    /// A folder of files, which is removed with all that is in it.
    Folder {
        /// Its path.
        path: PathBuf,
        /// Whose it is, and with whose rights it is removed; none for whoever made the journal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<u32>,
    },
}

/// What became of one undo.
pub(crate) enum UndoResult {
    /// There was nothing left to do.
    WasGone,
    /// It was undone; this says what.
    Undone(String),
    /// It is still there; this says why.
    Left(String),
}

/// Whose processes run in a control group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Members {
    /// Ours: a trial's, or a server that we started. They are ended by whoever repairs.
    Ours,
    /// The user's: the client that is watched. Only a user who asks for it ends it.
    TheUsers,
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// Something is about to be done.
    Noted { entry: u64, undo: Undo },
    /// It was undone.
    Undone { entry: u64 },
}

/// An entry of the journal, to be ticked off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(u64);

/// What this process would leave behind. Clones are the same journal.
#[derive(Clone, Debug)]
pub struct Journal(Arc<Mutex<Pages>>);

#[derive(Debug)]
struct Pages {
    folder: PathBuf,
    /// None while there is nothing to undo.
    file: Option<(PathBuf, File)>,
    open: BTreeMap<u64, Undo>,
    next: u64,
    /// Why nothing can be written down.
    refused: Option<String>,
    /// Whether the broker writes it.
    is_brokers: bool,
}

impl Journal {
    /// A journal in the first folder that can hold one: `/run/whyslow` for root, else `whyslow` in XDG_RUNTIME_DIR or
    /// in the state folder.
    ///
    /// # Errors
    /// Where none of these folders can be made or written.
    pub fn open() -> Result<Journal, LabError> {
        if broker::broker_pid().is_some() {
            // That it cannot be written is found with the first undo.
            let journal = Journal::in_folder(PathBuf::new());
            journal.pages().is_brokers = true;
            return Ok(journal);
        }
        Journal::open_here()
    }

    /// The same, written by this process.
    pub(crate) fn open_here() -> Result<Journal, LabError> {
        Ok(Journal::in_folder(place::writable()?))
    }

    /// A journal that takes nothing, because of this error: then nothing is made that would have to be undone.
    pub fn closed(why: LabError) -> Journal {
        let journal = Journal::in_folder(PathBuf::new());
        journal.pages().refused = Some(match why {
            LabError::NoJournal(why) => why,
            other => other.to_string(),
        });
        journal
    }

    /// How many undos are open: what would be left behind if this process were killed now.
    pub fn open_entries(&self) -> usize {
        self.pages().open.len()
    }

    fn in_folder(folder: PathBuf) -> Journal {
        let pages = Pages { folder, file: None, open: BTreeMap::new(), next: 0, refused: None, is_brokers: false };
        Journal(Arc::new(Mutex::new(pages)))
    }

    /// Writes down how to undo what is about to be done, and returns when the disk has it.
    pub(crate) fn note(&self, undos: &[Undo]) -> Result<Vec<Entry>, LabError> {
        let entries = self.note_numbers(undos)?;
        Ok(entries.into_iter().map(Entry).collect())
    }

    /// The same; the entries by their numbers.
    pub(crate) fn note_numbers(&self, undos: &[Undo]) -> Result<Vec<u64>, LabError> {
        let mut pages = self.pages();
        if pages.is_brokers {
            let noted = broker::ask(Note { undos: undos.to_vec() }, &[]);
            let entries = noted.map_err(|error| LabError::NoJournal(error.to_string()))?.answer;
            pages.open.extend(entries.iter().copied().zip(undos.iter().cloned()));
            return Ok(entries);
        }
        let entries = (pages.next..).take(undos.len()).collect::<Vec<_>>();
        let lines = entries.iter().zip(undos).map(|(entry, undo)| Line::Noted { entry: *entry, undo: undo.clone() });
        let text = lines.map(|line| as_text(&line)).collect::<String>();
        pages.write(&text)?;
        pages.next += undos.len() as u64;
        pages.open.extend(entries.iter().copied().zip(undos.iter().cloned()));
        Ok(entries)
    }

    /// Ticks off what has been undone. Should this be lost, it is found to be undone by whoever repairs.
    pub(crate) fn tick_off(&self, entry: Entry) {
        self.tick_off_number(entry.0);
    }

    /// The same, by its number.
    pub(crate) fn tick_off_number(&self, entry: u64) {
        let mut pages = self.pages();
        if pages.open.remove(&entry).is_none() {
            return;
        }
        if pages.is_brokers {
            // Where the broker is gone, whoever repairs finds it undone.
            let _ = broker::ask(TickOff { entry }, &[]);
            return;
        }
        if pages.open.is_empty() {
            pages.close();
        } else if let Some((_, file)) = &mut pages.file {
            let _ = file.write_all(as_text(&Line::Undone { entry }).as_bytes());
        }
    }

    /// A panic elsewhere does not make what is written down less true.
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    fn write(&mut self, text: &str) -> Result<(), LabError> {
        if let Some(why) = &self.refused {
            return Err(LabError::NoJournal(why.clone()));
        }
        if self.file.is_none() {
            self.file = Some(create(&self.folder)?);
        }
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        file.write_all(text.as_bytes()).and_then(|()| file.sync_data()).map_err(LabError::io(&*path))
    }

    /// Removes the file, in which nothing is left. A name that cannot be removed leads to an unlocked file in which
    /// everything is ticked off or undone: whoever repairs removes it.
    fn close(&mut self) {
        if let Some((path, _)) = self.file.take() {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Makes the file of this process, locks it and syncs its folder.
fn create(folder: &Path) -> Result<(PathBuf, File), LabError> {
    let pid = broker::command_pid();
    let started = record::process(pid).map_or(0, |own| own.started_ticks);
    for number in 0.. {
        // Several journals of one process, as in tests, have a number each.
        let suffix = if number == 0 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{pid}-{started}{suffix}.{ENDING}"));
        match OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(LabError::io(path)(error)),
            Ok(file) => {
                file.lock().map_err(LabError::io(&path))?;
                // Between its making and its locking, somebody who repairs may have removed it as empty.
                if file.metadata().is_ok_and(|metadata| metadata.nlink() > 0) {
                    File::open(folder).and_then(|folder| folder.sync_all()).map_err(LabError::io(folder))?;
                    return Ok((path, file));
                }
            }
        }
    }
    Err(LabError::NoJournal(format!("{} is full", folder.display())))
}

fn as_text(line: &Line) -> String {
    // Paths that are not UTF-8 are the only thing that cannot be written, and ours are made of plain words.
    serde_json::to_string(line).map(|text| text + "\n").unwrap_or_default()
}

/// The undos that are open in a journal's text, oldest first. Lines that cannot be read are skipped: the last one may
/// have been cut off by a crash, before what it announces was done.
pub(crate) fn open_undos(text: &str) -> Vec<Undo> {
    let mut open = BTreeMap::new();
    for line in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
        match line {
            Line::Noted { entry, undo } => drop(open.insert(entry, undo)),
            Line::Undone { entry } => drop(open.remove(&entry)),
        }
    }
    open.into_values().collect()
}

#[cfg(test)]
mod tests;
