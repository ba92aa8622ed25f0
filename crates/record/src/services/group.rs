//! A control group of a service: its processes, its CPU time, its memory, and for how long it was throttled. In version 2 of the
//! hierarchy or, where a controller is there, in version 1.

use super::hierarchy::{Hierarchy, folder_in};
use case::{Nanos, ServiceSample};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Groups within a group are looked into so far down: systemd's have one or two.
const DEEPEST: usize = 6;

/// The group.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its folders in the hierarchies, where it is in them: of version 2, or of a controller of version 1.
    processes: PathBuf,
    cpu: Option<PathBuf>,
    accounting: Option<PathBuf>,
    memory: Option<PathBuf>,
    before: BTreeMap<&'static str, u64>,
}

impl Group {
    /// The group at a path within its hierarchy (`/system.slice/nginx.service`); none where it is not there.
    pub fn at(path: &Path) -> Option<Group> {
        let path = path.strip_prefix("/").unwrap_or(path);
        if path.as_os_str().is_empty() {
            return None;
        }
        let of = |hierarchy| folder_in(hierarchy, path);
        let unified = of(Hierarchy::Unified);
        let [cpu, accounting, memory, named] =
            [Hierarchy::Of("cpu"), Hierarchy::Of("cpuacct"), Hierarchy::Of("memory"), Hierarchy::Of("name=systemd")]
                .map(of);
        let processes = unified.clone().or(named).or_else(|| cpu.clone()).or_else(|| memory.clone())?;
        Some(Group {
            processes,
            cpu: cpu.or_else(|| unified.clone()),
            accounting: accounting.or_else(|| unified.clone()),
            memory: memory.or(unified),
            before: BTreeMap::new(),
        })
    }

    /// The group that limits a process's CPU time, where that is not the whole host.
    pub fn limiting(pid: u32) -> Option<Group> {
        let path = crate::counters::cgroup_of(pid);
        Group::at(Path::new(&path)).filter(|_| path != "/" && !path.is_empty())
    }

    /// The same with what an earlier look at it found.
    pub fn after(self, earlier: Option<Group>) -> Group {
        Group { before: earlier.map(|group| group.before).unwrap_or_default(), ..self }
    }

    /// All processes in it.
    pub fn processes(&self) -> Vec<u32> {
        let mut found = Vec::new();
        collect(&self.processes, DEEPEST, &mut found);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Enters what came since the last look: the throttling, and where the group is the service also CPU time and memory, which
    /// it knows more exactly than the processes do.
    pub fn look(&mut self, is_service: bool, figures: &mut ServiceSample) {
        if let Some(text) = read(self.cpu.as_deref(), "cpu.stat") {
            let nanoseconds =
                field(&text, "throttled_usec").map(|us| us * 1_000).or_else(|| field(&text, "throttled_time"));
            figures.throttled = Nanos(self.since("throttled", nanoseconds).unwrap_or(0));
        }
        if !is_service {
            return;
        }
        let text = read(self.accounting.as_deref(), "cpu.stat").unwrap_or_default();
        let of_version_1 = |name: &str| read(self.accounting.as_deref(), name)?.trim().parse::<u64>().ok();
        let user = field(&text, "user_usec").map(|us| us * 1_000).or_else(|| of_version_1("cpuacct.usage_user"));
        let system = field(&text, "system_usec").map(|us| us * 1_000).or_else(|| of_version_1("cpuacct.usage_sys"));
        if let (Some(user), Some(system)) = (self.since("user", user), self.since("system", system)) {
            (figures.user, figures.system) = (Nanos(user), Nanos(system));
        }
        let memory =
            ["memory.current", "memory.usage_in_bytes"].iter().find_map(|name| read(self.memory.as_deref(), name));
        if let Some(bytes) = memory.and_then(|text| text.trim().parse().ok()) {
            figures.memory = bytes;
        }
    }

    /// What a sum has grown by; nothing the first time.
    fn since(&mut self, name: &'static str, now: Option<u64>) -> Option<u64> {
        let now = now?;
        let before = self.before.insert(name, now).unwrap_or(now);
        // A group that was made anew counts from nothing.
        Some(if now < before { now } else { now - before })
    }
}

fn collect(folder: &Path, deeper: usize, found: &mut Vec<u32>) {
    let text = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    found.extend(text.lines().filter_map(|line| line.trim().parse::<u32>().ok()).filter(|pid| *pid > 0));
    if deeper == 0 {
        return;
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.for_each(|entry| collect(&entry.path(), deeper - 1, found));
}

fn read(folder: Option<&Path>, name: &str) -> Option<String> {
    fs::read_to_string(folder?.join(name)).ok()
}

/// A line of `NAME NUMBER`.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_by_their_whole_name() {
        let text = "usage_usec 9\nuser_usec 4\nnr_throttled 2\n";
        assert_eq!(
            (field(text, "user_usec"), field(text, "user"), field(text, "nr_throttled")),
            (Some(4), None, Some(2))
        );
    }

    #[test]
    fn the_whole_host_is_no_group() {
        assert!(Group::at(Path::new("/")).is_none());
        assert!(Group::at(Path::new("/no/such/group")).is_none());
    }
}
