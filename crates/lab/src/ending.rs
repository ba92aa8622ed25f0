//! Ending processes: asked, waited for, and killed where they do not end.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// What processes get to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);
/// How long the kernel may take to tear down what was killed.
pub(crate) const LONGEST_END: Duration = Duration::from_secs(5);
/// How often is looked whether they have ended.
pub(crate) const TICK: Duration = Duration::from_millis(2);

/// Ends what `running` lists, until it lists nothing any more; `kill_all` kills all of it at once where that can be done.
/// The ids of all that was seen.
pub(crate) fn end(running: impl Fn() -> Vec<u32>, kill_all: impl Fn()) -> BTreeSet<u32> {
    let mut asked = BTreeSet::new();
    let patience = Instant::now() + GRACE;
    loop {
        let now = running();
        let is_killing = Instant::now() > patience;
        if now.is_empty() || Instant::now() > patience + LONGEST_END {
            return asked;
        }
        if is_killing {
            kill_all();
        }
        for pid in now {
            match (asked.insert(pid), is_killing) {
                (_, true) => record::send_signal(pid, libc::SIGKILL),
                (true, false) => record::send_signal(pid, libc::SIGTERM),
                (false, false) => {}
            }
        }
        std::thread::sleep(TICK);
    }
}

/// Collects those of them that have become our children and have ended: they would stay as zombies for as long as we
/// live.
pub(crate) fn reap(ended: &BTreeSet<u32>) {
    let children = record::children(std::process::id()).into_iter().map(|child| child.pid);
    record::reap_orphans(&children.filter(|pid| !ended.contains(pid)).collect::<Vec<_>>());
}

/// The name of a process, as far as it has one.
pub(crate) fn name(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim_end().to_string()
}

/// Processes in a sentence: `process 7 (nginx)`.
pub(crate) fn listed(described: &[String]) -> String {
    match described {
        [one] => format!("process {one}"),
        more => format!("processes {}", more.join(", ")),
    }
}
