//! CPU accounting of cgroups, in either hierarchy: version 2, and version 1's `cpu` controller.

use super::named_lines;
use std::fs;
use std::path::PathBuf;

/// A cgroup whose `cpu.stat` is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cgroup {
    scope: String,
    file: PathBuf,
}

impl Cgroup {
    pub fn read(&self, values: &mut Vec<(String, String, u64)>) {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        values.extend(named_lines(&text).map(|(name, value)| (self.scope.clone(), name, value)));
    }
}

/// Where a hierarchy is mounted: the controllers of its line in `/proc/PID/cgroup`, the cgroup at the mount's root, and the
/// mount point.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hierarchy {
    is_unified: bool,
    root: String,
    mount_point: String,
}

/// The cgroups of the processes and those above them, each once: a quota set further up throttles as well.
pub(super) fn of(pids: &[u32]) -> Vec<Cgroup> {
    let hierarchies = hierarchies(&fs::read_to_string("/proc/self/mountinfo").unwrap_or_default());
    let mut found: Vec<Cgroup> = Vec::new();
    for &pid in pids {
        let membership = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        for hierarchy in &hierarchies {
            let Some(path) = path_in(&membership, hierarchy.is_unified) else { continue };
            for cgroup in ancestry(path).filter_map(|path| hierarchy.cgroup(path)) {
                if !found.contains(&cgroup) {
                    found.push(cgroup);
                }
            }
        }
    }
    found
}

/// The cgroup that limits a process's CPU: version 1's `cpu`, or else version 2's; empty where neither is there.
pub fn cgroup_of(pid: u32) -> String {
    let membership = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    path_in(&membership, false).or_else(|| path_in(&membership, true)).unwrap_or_default().to_string()
}

/// The hierarchies with CPU accounting, version 1 first: where both exist, it has the controller.
fn hierarchies(mounts: &str) -> Vec<Hierarchy> {
    let mut found: Vec<Hierarchy> = mounts.lines().filter_map(hierarchy).collect();
    found.sort_by_key(|hierarchy| hierarchy.is_unified);
    found
}

/// A line of `/proc/PID/mountinfo` (proc(5)): fields, a hyphen, then type, source and options.
fn hierarchy(line: &str) -> Option<Hierarchy> {
    let (fields, after) = line.split_once(" - ")?;
    let (mut fields, mut after) = (fields.split(' ').skip(3), after.split(' '));
    let (root, mount_point) = (fields.next()?.to_string(), fields.next()?.to_string());
    let (kind, options) = (after.next()?, after.nth(1)?);
    let is_unified = kind == "cgroup2";
    let has_cpu = kind == "cgroup" && options.split(',').any(|option| option == "cpu");
    (is_unified || has_cpu).then_some(Hierarchy { is_unified, root, mount_point })
}

/// The process's path in a hierarchy, from its `/proc/PID/cgroup`: `4:cpu,cpuacct:/path` or `0::/path`.
fn path_in(membership: &str, is_unified: bool) -> Option<&str> {
    membership.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let is_wanted = if is_unified { number == "0" } else { controllers.split(',').any(|name| name == "cpu") };
        is_wanted.then_some(path)
    })
}

/// The path and all above it, up to the root.
fn ancestry(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| match path.rfind('/') {
        Some(0) if path.len() > 1 => Some("/"),
        Some(at) if at > 0 => Some(&path[..at]),
        _ => None,
    })
}

impl Hierarchy {
    /// The cgroup at a path; `None` where that lies outside of what is mounted.
    fn cgroup(&self, path: &str) -> Option<Cgroup> {
        let below = if self.root == "/" { path } else { path.strip_prefix(&self.root)? };
        let folder = PathBuf::from(format!("{}/{}", self.mount_point, below.trim_start_matches('/')));
        Some(Cgroup { scope: format!("cgroup:{path}"), file: folder.join("cpu.stat") })
    }
}

/// A door for fuzzers: any text.
pub fn fuzz(text: &str) {
    for path in [false, true].into_iter().filter_map(|is_unified| path_in(text, is_unified)) {
        for hierarchy in hierarchies(text) {
            ancestry(path).for_each(|path| drop(hierarchy.cgroup(path)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
31 29 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw
32 29 0:28 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:11 - cgroup cgroup rw,cpu,cpuacct
33 29 0:29 / /sys/fs/cgroup/memory rw,nosuid shared:12 - cgroup cgroup rw,memory
";

    #[test]
    fn both_hierarchies_are_found_and_version_one_comes_first() {
        let found = hierarchies(HYBRID);
        let points: Vec<&str> = found.iter().map(|hierarchy| hierarchy.mount_point.as_str()).collect();
        assert_eq!(points, ["/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/unified"]);
    }

    #[test]
    fn a_process_has_a_path_in_each() {
        let membership = "9:name=systemd:/\n4:cpu,cpuacct:/limited/inner\n0::/user.slice\n";
        assert_eq!(path_in(membership, false), Some("/limited/inner"));
        assert_eq!(path_in(membership, true), Some("/user.slice"));
        assert_eq!(path_in("0::/only\n", false), None);
    }

    #[test]
    fn the_cgroups_above_count_too() {
        assert_eq!(ancestry("/a/b").collect::<Vec<_>>(), ["/a/b", "/a", "/"]);
        assert_eq!(ancestry("/").collect::<Vec<_>>(), ["/"]);
        assert_eq!(ancestry("").collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn a_mount_of_a_part_shows_only_what_is_below_it() {
        let part = Hierarchy { is_unified: true, root: "/docker/x".into(), mount_point: "/sys/fs/cgroup".into() };
        assert_eq!(part.cgroup("/docker/x/in").expect("inside").file, PathBuf::from("/sys/fs/cgroup/in/cpu.stat"));
        assert_eq!(part.cgroup("/docker/y"), None);
    }
}
