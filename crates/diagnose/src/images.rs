//! What processes are called.

use case::tables::Process;
use case::views::Caller;
use case::{End, Recording};
use rustc_hash::FxHashMap;

/// The programs that each process was, in order of time.
pub struct Images<'r> {
    recording: &'r Recording,
    by_pid: FxHashMap<u32, Vec<&'r Process>>,
}

impl<'r> Images<'r> {
    /// Indexes the table of processes.
    pub fn new(recording: &'r Recording) -> Images<'r> {
        let mut by_pid: FxHashMap<u32, Vec<&Process>> = FxHashMap::default();
        for row in &recording.processes {
            by_pid.entry(row.pid).or_default().push(row);
        }
        for rows in by_pid.values_mut() {
            rows.sort_by_key(|row| row.start);
        }
        Images { recording, by_pid }
    }

    /// A process as people tell it from others at some time: `python3 (4711)`. Empty for none, the number where the
    /// program is not known.
    pub fn name(&self, pid: u32, at: u64) -> String {
        match self.at(pid, at).map(|row| self.recording.program(row)) {
            _ if pid == 0 => String::new(),
            None | Some("") => format!("process {pid}"),
            Some(program) => format!("{program} ({pid})"),
        }
    }

    /// Its end of the exchanges; else the last program it was, without its number.
    pub fn caller(&self, pid: u32) -> Option<Caller> {
        let last = self.by_pid.get(&pid).and_then(|rows| rows.last())?;
        match (last.role.as_str(), self.recording.program(last)) {
            ("client", _) => Some(Caller::End(End::Client)),
            ("server", _) => Some(Caller::End(End::Server)),
            (_, "") => None,
            (_, program) => Some(Caller::Program(program.to_string())),
        }
    }

    /// The program that a process was at a time; the first one before that.
    pub fn at(&self, pid: u32, at: u64) -> Option<&'r Process> {
        let rows = self.by_pid.get(&pid)?;
        let begun = rows.partition_point(|row| row.start.0 <= at);
        rows.get(begun.saturating_sub(1)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::Nanos;

    #[test]
    fn a_process_has_the_name_of_the_program_it_was_at_the_time() {
        let mut recording = Recording::default();
        for (start, executable) in [(10, "/bin/sh"), (20, "/usr/sbin/nginx")] {
            let (start, executable) = (Nanos(start), executable.to_string());
            recording.processes.push(Process { pid: 7, start, executable, ..Process::default() });
        }
        let programs = Images::new(&recording);
        assert_eq!(programs.name(7, 5), "sh (7)");
        assert_eq!(programs.name(7, 19), "sh (7)");
        assert_eq!(programs.name(7, 20), "nginx (7)");
        assert_eq!(programs.name(8, 20), "process 8");
        assert_eq!(programs.name(0, 20), "");
        assert_eq!(programs.caller(7), Some(Caller::Program("nginx".into())));
    }
}
