//! Ending processes: asked, waited for, and killed where they do not end.

use broker::Handle;
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
        let due = now.into_iter().filter(|pid| is_killing || !asked.contains(pid)).collect::<Vec<_>>();
        if !due.is_empty() {
            signal(&due, &running, if is_killing { libc::SIGKILL } else { libc::SIGTERM });
            asked.extend(due);
        }
        std::thread::sleep(TICK);
    }
}

/// Sends a signal to those of them that are listed once more after they are held: an id may be another process's by then.
fn signal(due: &[u32], running: impl Fn() -> Vec<u32>, signal: i32) {
    let held = due.iter().map(|pid| (*pid, Handle::open(*pid))).collect::<Vec<_>>();
    let still = running().into_iter().collect::<BTreeSet<_>>();
    for (pid, handle) in held.into_iter().filter(|(pid, _)| still.contains(pid)) {
        match handle.and_then(|handle| handle.send(signal)).map_err(|error| error.raw_os_error()) {
            Ok(()) | Err(Some(libc::ESRCH)) => {}
            // Too many for handles: by its number. Another user's: by the broker, which holds it itself.
            Err(_) => record::send_signal(pid, signal),
        }
    }
}

/// Collects those of them that have become our children and have ended: they would stay as zombies for as long as we
/// live.
pub(crate) fn reap(ended: &BTreeSet<u32>) {
    let running = record::processes();
    let children = record::children(&running, std::process::id()).into_iter().map(|child| child.pid);
    record::reap_orphans(&running, &children.filter(|pid| !ended.contains(pid)).collect::<Vec<_>>());
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn who_is_not_listed_any_more_when_it_is_held_is_not_reached() {
        let mut children = [0, 1].map(|_| Command::new("sleep").arg("60").spawn().expect("sleep"));
        let [stays, goes] = [children[0].id(), children[1].id()];
        signal(&[stays, goes], || vec![stays], libc::SIGKILL);
        let ended = children[0].wait().expect("ours");
        let other = children[1].try_wait().expect("ours");
        children[1].kill().and_then(|()| children[1].wait()).expect("ended");
        assert!(!ended.success() && other.is_none(), "{ended:?}, {other:?}");
    }
}
