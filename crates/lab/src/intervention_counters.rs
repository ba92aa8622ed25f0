//! What a trial left behind that tells whether its interventions took effect: counts kept by shims, by the programs on
//! sockets, and what the kernel said of routes.

use crate::treatment::ProxyTask;
pub use record::SocketCounts;
use std::collections::BTreeMap;

/// What one shim counted, over all processes that it was loaded into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShimCounts {
    /// Processes (program images) that it was loaded into.
    pub loaded: u64,
    /// Calls that it saw.
    pub seen: u64,
    /// Calls that it answered otherwise than the library would have.
    pub changed: u64,
}

/// What a trial left behind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InterventionCounters {
    /// Of each shim, by its name.
    pub shims: BTreeMap<&'static str, ShimCounts>,
    /// Of the program on sockets; none where there was none.
    pub sockets: Option<SocketCounts>,
    /// Ends whose route was changed, and the kernel showed it so when asked.
    pub routes: Vec<crate::treatment::End>,
    /// Changes of the network that were made, and the kernel showed so when asked.
    pub network: Vec<crate::treatment::NetworkChange>,
    /// Files that were replaced and opened by the subject's view.
    pub replaced: u64,
    /// Whether the subject ran outside the groups that limit it.
    pub outside_quota: bool,
    /// For how many requests a proxy did each of its tasks.
    pub proxied: BTreeMap<ProxyTask, u64>,
    /// Why no proxy was put between, where one was asked for.
    pub no_proxy: Option<String>,
}

impl InterventionCounters {
    /// The verdict of a change of the network: applied where it was made.
    pub(crate) fn of_network(&self, is_it: impl Fn(&crate::treatment::NetworkChange) -> bool) -> Result<u64, String> {
        match self.network.iter().filter(|change| is_it(change)).count() as u64 {
            0 => Err("the kernel does not show the network as changed".to_string()),
            made => Ok(made),
        }
    }

    /// The verdict of a proxy: applied where it did such a task for a request.
    pub(crate) fn of_proxy(&self, is_it: impl Fn(&ProxyTask) -> bool) -> Result<u64, String> {
        if let Some(why) = &self.no_proxy {
            return Err(format!("no proxy was put in between: {why}"));
        }
        match self.proxied.iter().filter(|(task, _)| is_it(task)).map(|(_, count)| count).sum() {
            0 => Err("no request came through the proxy that it could do this for".to_string()),
            done => Ok(done),
        }
    }

    /// The verdict of most shims: applied where it changed something; else why not.
    pub fn of_shim(&self, shim: &str) -> Result<u64, String> {
        let counts = self.shims.get(shim).copied().unwrap_or_default();
        match counts {
            ShimCounts { changed: 1.., .. } => Ok(counts.changed),
            ShimCounts { loaded: 0, .. } => {
                Err("no program loaded it: statically linked, or written in a language that does not use libc".into())
            }
            ShimCounts { seen: 0, .. } => Err("the program never calls the functions that it intercepts".into()),
            _ => Err("it found nothing to change".into()),
        }
    }
}
