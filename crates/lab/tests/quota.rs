//! Leaving the groups that limit CPU time, on a real kernel. Alone in its file, since the test puts its own process
//! under a quota. Needs root; without it the test says so and passes.

mod fixture;

use fixture::{Fixture, is_root};
use lab::{Treatment, World};
use std::path::{Path, PathBuf};

/// A group with a quota, and this process in it until it is dropped.
struct Limited {
    folder: PathBuf,
    root: PathBuf,
}

impl Limited {
    /// None where no hierarchy with a processor controller can be written.
    fn enter() -> Option<Limited> {
        let files =
            [("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "50000"), ("/sys/fs/cgroup", "cpu.max", "50000 100000")];
        for (root, file, quota) in files {
            let folder = Path::new(root).join(format!("quota-test-{}", std::process::id()));
            if !Path::new(root).join("cgroup.procs").exists() || std::fs::create_dir(&folder).is_err() {
                continue;
            }
            let limited = Limited { folder, root: root.into() };
            if std::fs::write(limited.folder.join(file), quota).is_ok() {
                move_to(&limited.folder);
                return Some(limited);
            }
        }
        testing::does_not_apply("no hierarchy of control groups limits CPU time here");
        None
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        move_to(&self.root);
        std::fs::remove_dir(&self.folder).expect("removed");
    }
}

fn move_to(folder: &Path) {
    std::fs::write(folder.join("cgroup.procs"), std::process::id().to_string()).expect("moved");
}

#[test]
fn a_subject_runs_outside_every_quota_when_asked_to_and_under_it_otherwise() {
    if !is_root() {
        return;
    }
    let Some(limited) = Limited::enter() else { return };
    let fixture = Fixture::new("outside");
    let name = limited.folder.file_name().expect("a name").to_string_lossy().into_owned();
    let mut world = World::default();
    for (outside_quota, quota) in [(false, None), (true, None), (true, Some("0.3"))] {
        if let Some(quota) = quota {
            world.change("quota", quota).expect("understood");
        }
        let treatment = Treatment { outside_quota, ..Treatment::default() };
        let launched = fixture.set("cat /proc/self/cgroup", &world, &treatment);
        assert_eq!(launched.attached.counters().outside_quota, outside_quota, "{:?}", launched.attached.notes());
        let groups = fixture.play(launched);
        assert_eq!(groups.contains(&name), !outside_quota, "{groups}");
        fixture.is_left_as_found();
    }
}
