//! What a run has left behind: processes, namespaces, control groups, folders, journals, and changes of the host's own
//! network and mounts.

use crate::stage::{Stage, shell};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use testing::stretched;

const VARIABLE: &str = "WHYSLOW_TEST_MARK";

/// What ends may take a moment to end: the tethered get SIGTERM from the kernel, and are torn down by it.
const PATIENCE: Duration = Duration::from_secs(10);

/// A mark in the environment of a run, which everything that it starts inherits.
pub struct Marked(String);

impl Marked {
    pub fn new() -> Marked {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Marked(format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    pub fn on(&self, command: &mut Command) {
        command.env(VARIABLE, &self.0);
    }

    /// The processes that carry it.
    pub fn processes(&self) -> BTreeSet<u32> {
        let variable = format!("{VARIABLE}={}", self.0);
        let carries = |pid: &u32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|one| one == variable.as_bytes())
        };
        all_processes().into_iter().filter(carries).collect()
    }

    /// Those of them that have a name.
    pub fn named(&self, wanted: &str) -> Vec<u32> {
        self.processes().into_iter().filter(|pid| name(*pid) == wanted).collect()
    }
}

/// What a run has left.
#[derive(Debug)]
pub struct Left {
    processes: BTreeSet<u32>,
    groups: Vec<String>,
    folders: Vec<String>,
    journals: Vec<String>,
}

impl Left {
    /// What the whyslow of that process id has left, after what ends has had time to.
    pub fn by(pid: u32, mark: &Marked, stage: &Stage) -> Left {
        let prefix = format!("whyslow-{pid}-");
        let deadline = Instant::now() + stretched(PATIENCE);
        loop {
            let left = Left {
                processes: mark.processes(),
                groups: named_below(Path::new("/sys/fs/cgroup"), &prefix),
                folders: ["/tmp", "/var/tmp", "/dev/shm"].iter().flat_map(|place| named_in(place, &prefix)).collect(),
                journals: named_in(&stage.path("journals").display().to_string(), &format!("{pid}-")),
            };
            if left.is_nothing() || Instant::now() > deadline {
                return left;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn is_nothing(&self) -> bool {
        self.processes.is_empty() && self.groups.is_empty() && self.folders.is_empty() && self.journals.is_empty()
    }
}

/// The host's own state that a run could change and must not: devices, their queues, routes, and mounts, among them
/// those that would keep a namespace alive.
pub fn run_state() -> String {
    shell(
        "ip -brief link | cut -d' ' -f1; tc qdisc show; ip route show table all; ip rule; ip netns; grep -v ^whyslow-test /proc/self/mounts",
    )
}

pub fn name(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim_end().to_string()
}

fn all_processes() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn named_in(place: &str, prefix: &str) -> Vec<String> {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let paths = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    paths.map(|entry| entry.path().display().to_string()).collect()
}

fn named_below(folder: &Path, prefix: &str) -> Vec<String> {
    let mut found = named_in(&folder.display().to_string(), prefix);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(named_below(&entry.path(), prefix));
        }
    }
    found
}
