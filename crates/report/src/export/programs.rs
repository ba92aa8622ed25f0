//! What processes are called, and what part they play.

use crate::text::clean;
use case::tables::Process;
use case::{Nanos, Recording};
use std::collections::BTreeMap;

/// The program images of each process, in order of time.
pub(super) struct Programs<'r> {
    images: BTreeMap<u32, Vec<&'r Process>>,
}

impl<'r> Programs<'r> {
    /// Indexes a recording's processes.
    pub(super) fn of(recording: &'r Recording) -> Programs<'r> {
        let mut images: BTreeMap<u32, Vec<&Process>> = BTreeMap::new();
        for process in &recording.processes {
            images.entry(process.pid).or_default().push(process);
        }
        Programs { images }
    }

    /// The image that a process ran at a time; the first where it was seen only later.
    pub(super) fn at(&self, pid: u32, time: Nanos) -> Option<&'r Process> {
        let images = self.images.get(&pid)?;
        images.iter().rev().find(|image| image.start <= time).or(images.first()).copied()
    }

    /// A process in words: `client python3 (4711)`.
    pub(super) fn name(&self, pid: u32, time: Nanos) -> String {
        match self.at(pid, time) {
            Some(image) if image.role == "other" || image.role.is_empty() => format!("{} ({pid})", program(image)),
            Some(image) => format!("{} {} ({pid})", clean(&image.role), program(image)),
            None => format!("process {pid}"),
        }
    }
}

/// A program's name without its folder.
pub(super) fn program(image: &Process) -> String {
    clean(base_name(&image.executable))
}

/// A path's last part.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(path)
}
