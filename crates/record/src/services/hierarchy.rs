//! Where control groups are mounted, in either version of the hierarchy.

use std::fs;
use std::path::{Path, PathBuf};

/// One hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hierarchy {
    /// Version 2.
    Unified,
    /// That of a controller of version 1, or systemd's own (`name=systemd`).
    Of(&'static str),
}

/// Its mount points.
pub fn mounts_of(hierarchy: Hierarchy) -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    text.lines().filter_map(|line| mount_point(line, hierarchy)).collect()
}

/// The folder of a group in it; none where it is not in this hierarchy.
pub fn folder_in(hierarchy: Hierarchy, group: &Path) -> Option<PathBuf> {
    mounts_of(hierarchy).into_iter().map(|mount| mount.join(group)).find(|folder| folder.is_dir())
}

/// Of a line of /proc/self/mounts: device, point, type, options.
fn mount_point(line: &str, hierarchy: Hierarchy) -> Option<PathBuf> {
    let mut fields = line.split(' ').skip(1);
    let (point, kind, options) = (fields.next()?, fields.next()?, fields.next()?);
    let is_it = match hierarchy {
        Hierarchy::Unified => kind == "cgroup2",
        Hierarchy::Of(name) => kind == "cgroup" && options.split(',').any(|option| option == name),
    };
    is_it.then(|| PathBuf::from(point))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_told_apart_by_type_and_options() {
        let point = |line, hierarchy| mount_point(line, hierarchy).map(|path| path.display().to_string());
        let version_2 = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0";
        let version_1 = "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0";
        assert_eq!(point(version_2, Hierarchy::Unified).as_deref(), Some("/sys/fs/cgroup"));
        assert_eq!(point(version_2, Hierarchy::Of("cpu")), None);
        assert_eq!(point(version_1, Hierarchy::Of("cpuacct")).as_deref(), Some("/sys/fs/cgroup/cpu,cpuacct"));
        assert_eq!(point(version_1, Hierarchy::Of("memory")), None);
    }
}
