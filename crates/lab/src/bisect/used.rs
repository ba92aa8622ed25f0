//! Which files a recorded subject used: executed, loaded or read.
//!
//! The recorder follows a program from its first instruction, so that the loader's own opening of every library is among the
//! calls. What it keeps of mapped images are those that got a sample, so libraries are taken from the calls. The loader
//! itself, which the kernel maps, is in no call: it is known from the programs that name it.

use crate::treatment::End;
use case::Recording;
use case::tables::{Call, Process};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// Calls that open a file, each with the number of its argument that holds the flags: `open`, `openat`.
const OPEN: u16 = 2;
const OPEN_AT: u16 = 257;
/// `openat2` has its flags in a structure that is not kept: it is taken to read.
const OPEN_AT_2: u16 = 437;
/// Calls that execute a file: `execve`, `execveat`.
const EXECUTE: [u16; 2] = [59, 322];
/// Folders that hold no files of a world: the kernel's views, and devices.
const NOT_FILES: [&str; 3] = ["/proc", "/sys", "/dev"];

/// The paths, as the subject saw them, of all files that the programs of an end executed, loaded or opened to read.
/// Files that it only wrote, folders, and files named by a path that is not absolute are left out: the recorder does not
/// keep the folder that such a path starts from.
pub fn used(recording: &Recording, end: End) -> BTreeSet<PathBuf> {
    let is_of_end = |process: &&Process| process.role == end.word();
    let processes = recording.processes.iter().filter(is_of_end).collect::<Vec<_>>();
    let pids = processes.iter().map(|process| process.pid).collect::<BTreeSet<_>>();
    let names = recording.paths.iter().map(|path| (path.id, path.path.as_str())).collect::<BTreeMap<_, _>>();
    let calls = recording.calls.iter().filter(|call| pids.contains(&call.pid) && uses_a_file(call));
    let named = calls.filter_map(|call| names.get(&call.path).copied());
    let executed = processes.iter().filter(|process| !is_before_program(process, &processes));
    let executed = executed.map(|process| process.executable.as_str());
    named.chain(executed).filter_map(plain).filter(|path| is_of_a_world(path)).collect()
}

/// The names, without folders, of all files that the programs of an end executed, loaded or opened to read, wherever they
/// are: of files named by a path that is not absolute nothing more is known.
pub fn opened(recording: &Recording, end: End) -> BTreeSet<String> {
    let processes = recording.processes.iter().filter(|process| process.role == end.word());
    let pids = processes.map(|process| process.pid).collect::<BTreeSet<_>>();
    let names = recording.paths.iter().map(|path| (path.id, path.path.as_str())).collect::<BTreeMap<_, _>>();
    let calls = recording.calls.iter().filter(|call| pids.contains(&call.pid) && uses_a_file(call));
    let named = calls.filter_map(|call| names.get(&call.path)).filter_map(|path| Path::new(path).file_name());
    named.map(|name| name.to_string_lossy().into_owned()).collect()
}

/// Whether a process is still what started the subject: the first image of a process that none of the subject's started, where
/// another one follows.
fn is_before_program(process: &Process, all: &[&Process]) -> bool {
    let is_started_by_subject = all.iter().any(|other| other.pid == process.parent);
    !is_started_by_subject
        && all.iter().any(|other| other.pid == process.pid && other.start > process.start)
        && all.iter().all(|other| other.pid != process.pid || other.start >= process.start)
}

/// Whether a call executed a file or opened one to read.
fn uses_a_file(call: &Call) -> bool {
    let reads = |flags: u64| {
        let flags = flags as i32;
        flags & libc::O_ACCMODE != libc::O_WRONLY && flags & libc::O_DIRECTORY == 0
    };
    call.finished
        && call.result >= 0
        && match call.number {
            OPEN => reads(call.argument_1),
            OPEN_AT => reads(call.argument_2),
            number => number == OPEN_AT_2 || EXECUTE.contains(&number),
        }
}

/// An absolute path without `.`; those with `..` stay, since a link may stand before it.
fn plain(path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    path.is_absolute().then(|| path.components().filter(|part| *part != Component::CurDir).collect())
}

fn is_of_a_world(path: &Path) -> bool {
    !NOT_FILES.iter().any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests;
