//! Whose time it is: the program that a process was at a time.

use crate::code::{UNKNOWN_MODULE, base_name};
use crate::profile::Frame;
use case::Recording;
use case::tables::Process;
use std::collections::BTreeMap;

/// The images of every process, in order of their starts.
pub struct Images<'r> {
    by_pid: BTreeMap<u32, Vec<&'r Process>>,
}

impl<'r> Images<'r> {
    /// Of a recording.
    pub fn new(recording: &'r Recording) -> Images<'r> {
        let mut by_pid: BTreeMap<u32, Vec<&Process>> = BTreeMap::new();
        for row in &recording.processes {
            by_pid.entry(row.pid).or_default().push(row);
        }
        for images in by_pid.values_mut() {
            images.sort_by_key(|row| row.start);
        }
        Images { by_pid }
    }

    /// What a process was at a time.
    pub fn at(&self, pid: u32, time: u64) -> Option<&'r Process> {
        let images = self.by_pid.get(&pid)?;
        let started = images.partition_point(|row| row.start.0 <= time);
        images.get(started.saturating_sub(1)).copied()
    }
}

/// The root of a program's tree: its role and its executable's name.
pub fn root(process: Option<&Process>, rename: &dyn Fn(&str) -> String) -> Frame {
    let module = rename(executable(process));
    let function = match process.map(|row| row.role.as_str()) {
        Some(role @ ("client" | "server")) => format!("{role} {module}"),
        _ => module.clone(),
    };
    Frame { function, module }
}

/// The name of a program's executable.
pub fn executable(process: Option<&Process>) -> &str {
    process.map_or(UNKNOWN_MODULE, |row| base_name(&row.executable))
}
