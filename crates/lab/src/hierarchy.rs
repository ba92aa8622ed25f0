//! The hierarchies of control groups on this host, which may be of version 2, of version 1, or both at a time (the
//! hybrid layout: version 2 beside version 1, each controller in one of them).

use std::path::{Path, PathBuf};

/// How the name of every group and folder of ours begins. Nothing else is ever removed.
pub(crate) const PREFIX: &str = "whyslow-";

/// A mounted hierarchy, as seen by this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    pub version: Version,
    /// What it can limit: `cpu`, `memory`, ...
    pub controllers: Vec<String>,
    /// Where it is mounted.
    pub root: PathBuf,
    /// The group that this process is in.
    pub own: PathBuf,
}

/// Which interface a hierarchy has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

/// All hierarchies that can be seen, each once.
pub(crate) fn hierarchies() -> Vec<Hierarchy> {
    hierarchies_of(std::process::id())
}

/// The same, with the groups that another process is in for our own.
pub(crate) fn hierarchies_of(pid: u32) -> Vec<Hierarchy> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let mut found = parse(&read("/proc/self/mountinfo"), &read(&format!("/proc/{pid}/cgroup")));
    for hierarchy in found.iter_mut().filter(|hierarchy| hierarchy.version == Version::Two) {
        let controllers = std::fs::read_to_string(hierarchy.root.join("cgroup.controllers")).unwrap_or_default();
        hierarchy.controllers = controllers.split_whitespace().map(str::to_string).collect();
    }
    found
}

/// The hierarchy that has a controller: version 1's, where both are there, since a controller is in one only.
pub(crate) fn carrier<'a>(hierarchies: &'a [Hierarchy], controller: &str) -> Option<&'a Hierarchy> {
    let mut carriers = hierarchies.iter().filter(|one| one.controllers.iter().any(|name| name == controller));
    carriers.next()
}

fn parse(mounts: &str, membership: &str) -> Vec<Hierarchy> {
    let mut found: Vec<Hierarchy> = Vec::new();
    for hierarchy in mounts.lines().filter_map(|line| hierarchy(line, membership)) {
        let is_same = |one: &Hierarchy| one.version == hierarchy.version && one.controllers == hierarchy.controllers;
        if !found.iter().any(is_same) {
            found.push(hierarchy);
        }
    }
    found
}

/// A line of `/proc/PID/mountinfo` (proc(5)): fields, a hyphen, then type, source and options.
fn hierarchy(line: &str, membership: &str) -> Option<Hierarchy> {
    let (fields, after) = line.split_once(" - ")?;
    let (mut fields, mut after) = (fields.split(' ').skip(3), after.split(' '));
    let (mounted, root) = (fields.next()?, PathBuf::from(fields.next()?));
    let (kind, options) = (after.next()?, after.nth(1)?.split(',').collect::<Vec<_>>());
    let version = match kind {
        "cgroup2" => Version::Two,
        "cgroup" => Version::One,
        _ => return None,
    };
    let (controllers, path) = membership.lines().find_map(|line| member_of(line, version, &options))?;
    let below = Path::new(path).strip_prefix(mounted).ok()?;
    // A path that leads out of the mount is that of a process outside of this namespace.
    let is_inside = !below.components().any(|part| part == std::path::Component::ParentDir);
    is_inside.then(|| Hierarchy { version, controllers, own: root.join(below), root })
}

/// A line of `/proc/PID/cgroup`, where it is the one of this mount: its controllers and the path.
fn member_of<'a>(line: &'a str, version: Version, options: &[&str]) -> Option<(Vec<String>, &'a str)> {
    let mut fields = line.splitn(3, ':');
    let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    let controllers = controllers.split(',').filter(|name| !name.is_empty()).collect::<Vec<_>>();
    let is_it = match version {
        Version::Two => number == "0",
        Version::One => !controllers.is_empty() && controllers.iter().all(|name| options.contains(name)),
    };
    is_it.then(|| (controllers.into_iter().map(str::to_string).collect(), path))
}

/// The processes in a group and in all groups below it.
pub(crate) fn members(folder: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    // 0 stands for a process that this process cannot see, and would mean our own to kill(2).
    let own = text.lines().filter_map(|line| line.parse().ok()).filter(|pid| *pid != 0);
    own.chain(children(folder).iter().flat_map(|child| members(child))).collect()
}

/// The groups below one.
pub(crate) fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
31 29 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw
32 29 0:28 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:11 - cgroup cgroup rw,cpu,cpuacct
33 29 0:29 /box /sys/fs/cgroup/memory rw,nosuid shared:12 - cgroup cgroup rw,memory
34 29 0:30 / /sys/fs/cgroup/systemd rw shared:13 - cgroup cgroup rw,name=systemd
35 29 0:31 / /proc rw - proc proc rw
";

    #[test]
    fn a_hybrid_layout_is_read_with_our_own_group_in_each_hierarchy() {
        let found = parse(MOUNTS, "4:cpu,cpuacct:/a\n3:memory:/box/b\n1:name=systemd:/\n0::/user.slice/c\n");
        let own = found.iter().map(|one| one.own.to_str().expect("text")).collect::<Vec<_>>();
        let cgroup = |path: &str| format!("/sys/fs/cgroup/{path}");
        assert_eq!(own, ["unified/user.slice/c", "cpu,cpuacct/a", "memory/b", "systemd/"].map(cgroup));
        assert_eq!(carrier(&found, "cpu").map(|one| one.version), Some(Version::One));
        assert_eq!(carrier(&found, "pids"), None);
    }

    #[test]
    fn a_group_outside_of_what_is_mounted_is_not_ours_to_use() {
        assert_eq!(parse(MOUNTS, "3:memory:/elsewhere\n"), []);
        assert_eq!(parse(MOUNTS, "0::/../sibling\n"), []);
    }
}
