//! A running process that something is switched in: itself, whatever else gets its id.

use super::LiveNot;
use record::descendants;

/// A process, and when it was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    pub pid: u32,
    pub started_ticks: u64,
}

impl Target {
    pub fn of(pid: u32) -> Result<Target, LiveNot> {
        let started_ticks = started_ticks(pid).ok_or_else(|| LiveNot(format!("process {pid} is not running")))?;
        Ok(Target { pid, started_ticks })
    }

    /// Whether it still runs.
    pub fn runs(self) -> bool {
        started_ticks(self.pid) == Some(self.started_ticks)
    }

    /// It and its descendants.
    pub fn processes(self) -> Vec<u32> {
        if !self.runs() {
            return Vec::new();
        }
        descendants(self.pid).into_iter().chain([self.pid]).collect()
    }
}

/// When a process was started, in clock ticks since boot; none where it has ended.
pub fn started_ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything; behind it stand the state, the third field of proc(5), and the start as the 22nd.
    let fields = stat.rsplit_once(") ")?.1.split(' ').collect::<Vec<_>>();
    (fields.first() != Some(&"Z")).then(|| fields.get(22 - 3)?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_itself_until_it_has_ended() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("sleep");
        let target = Target::of(child.id()).expect("it runs");
        assert!(target.runs());
        assert_eq!(target.processes(), [child.id()]);
        assert!(!Target { started_ticks: target.started_ticks + 1, ..target }.runs());
        child.kill().expect("killed");
        while started_ticks(child.id()).is_some() {}
        assert!(!target.runs(), "a zombie has ended");
        child.wait().expect("collected");
        assert!(target.processes().is_empty());
    }
}
