//! Programs by the name that they were started as. Several of a package's are often links to one file: `redis-server` is one to
//! `redis-check-rdb` on Debian, and nobody knows it by that name. Of an interpreter it is the script's: with two services in
//! Python, `python3` tells nobody which.

mod script;

use crate::Recording;
use crate::tables::{Process, Thread};
use std::collections::{BTreeMap, HashSet};

/// As many bytes of a name the kernel keeps of a thread (`TASK_COMM_LEN` less its end).
const LONGEST_COMM: usize = 15;

impl Recording {
    /// What a program is called: an interpreter by the script that it runs; as it was started, where the kernel and the program's own
    /// arguments agree on a name, since several programs can be links to one file; else its file's name. Empty where neither is known.
    pub fn program<'r>(&'r self, process: &'r Process) -> &'r str {
        let is_called = |name: &[u8]| {
            let agrees = |thread: &Thread| thread.tid == process.pid && thread.name.as_bytes() == name;
            self.threads.iter().any(agrees)
        };
        script::of(process).unwrap_or_else(|| name(process, is_called))
    }

    /// Calls the files of programs, and the code in them, as the programs were started, where all agree. A version at the name's end
    /// stays: that `python3` was `python3.11` matters.
    pub(crate) fn call_files_as_started(&mut self) {
        // Of very many processes nobody looks through all threads for each.
        let first = self.threads.iter().filter(|thread| thread.tid == thread.pid);
        let called: HashSet<(u32, &[u8])> = first.map(|thread| (thread.tid, thread.name.as_bytes())).collect();
        let mut names: BTreeMap<&str, Option<&str>> = BTreeMap::new();
        for process in self.processes.iter().filter(|process| !process.command.is_empty()) {
            let name = name(process, |name| called.contains(&(process.pid, name)));
            let agreed = names.entry(&process.executable).or_insert(Some(name));
            *agreed = agreed.filter(|agreed| *agreed == name);
        }
        let renamed = |(file, name): (&str, Option<&str>)| {
            let name = name.filter(|name| !base_name(file).starts_with(name))?;
            let folder = &file[..file.len() - base_name(file).len()];
            Some((file.to_string(), format!("{folder}{name}")))
        };
        let names: BTreeMap<String, String> = names.into_iter().filter_map(renamed).collect();
        if names.is_empty() {
            return;
        }
        let files = self.processes.iter_mut().map(|row| &mut row.executable);
        for file in files.chain(self.locations.iter_mut().map(|row| &mut row.module)) {
            if let Some(name) = names.get(file) {
                file.clone_from(name);
            }
        }
    }
}

/// What a process is called: as it was started, where the kernel calls it so as well, which is asked by as much as that keeps.
fn name(process: &Process, is_called: impl Fn(&[u8]) -> bool) -> &str {
    let started_as = base_name(process.command.split(' ').next().unwrap_or_default());
    let file = base_name(&process.executable);
    // The kernel's is that of the path that was executed, until the program changes it.
    let of_kernel = &started_as.as_bytes()[..started_as.len().min(LONGEST_COMM)];
    let is_it = !started_as.is_empty() && started_as != file && is_called(of_kernel);
    if is_it { started_as } else { file }
}

/// The last part of a path.
fn base_name(path: &str) -> &str {
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Location;

    /// A process with this file, command and name of its thread, and a function in the file.
    fn started(executable: &str, command: &str, comm: &str) -> Recording {
        let (executable, command) = (executable.to_string(), command.to_string());
        let location = Location { module: executable.clone(), function: "main".into(), ..Location::default() };
        let process = Process { pid: 7, executable, command, ..Process::default() };
        let thread = Thread { tid: 7, pid: 7, name: comm.to_string(), ..Thread::default() };
        Recording { threads: vec![thread], processes: vec![process], locations: vec![location], ..Recording::default() }
    }

    #[test]
    fn a_program_that_is_a_link_is_called_what_it_was_started_as() {
        let called = |command: &str, comm: &str| {
            let recording = started("/usr/bin/redis-check-rdb", command, comm);
            recording.program(&recording.processes[0]).to_string()
        };
        assert_eq!(called("redis-server --port 1", "redis-server"), "redis-server");
        assert_eq!(called("/opt/a-name-of-many-letters", "a-name-of-many-"), "a-name-of-many-letters");
        // A title that the program gave itself, and a name that another of its threads has.
        assert_eq!(called("redis: serving", "redis-server"), "redis-check-rdb");
        assert_eq!(called("/usr/bin/python3 serve", "serve"), "redis-check-rdb");
        assert_eq!(called("", "redis-server"), "redis-check-rdb");
    }

    #[test]
    fn code_is_in_the_file_that_was_started_and_versions_stay() {
        let called = |recording: &mut Recording| {
            recording.call_files_as_started();
            (recording.processes[0].executable.clone(), recording.locations[0].module.clone())
        };
        let redis = || started("/usr/bin/redis-check-rdb", "redis-server *:1", "redis-server");
        let server = "/usr/bin/redis-server".to_string();
        assert_eq!(called(&mut redis()), (server.clone(), server));
        let python = "/usr/bin/python3.11".to_string();
        assert_eq!(called(&mut started(&python, "python3 a.py", "python3")), (python.clone(), python));
        // Another process was started from the same file as something else.
        let mut both = redis();
        let other = started("/usr/bin/redis-check-rdb", "redis-check-aof", "redis-check-aof");
        both.processes.push(Process { pid: 8, ..other.processes[0].clone() });
        both.threads.push(Thread { tid: 8, pid: 8, ..other.threads[0].clone() });
        assert_eq!(called(&mut both).1, "/usr/bin/redis-check-rdb");
    }
}
