//! What is attached to a subject while it runs, and what it tells afterwards.

use crate::groups::Groups;
use crate::intervention_counters::{InterventionCounters, SocketCounts};
use crate::link::Joined;
use crate::proxy::Proxies;
use crate::sessions::Sessions;
use crate::staged::Staged;
use crate::treatment::{End, NetworkChange, Preload, SocketOptions, Treatment};
use record::SocketProgram;
use std::net::SocketAddr;
use std::path::Path;

/// The shims that set sockets, and that let connects fail, where no program of the kernel's can be attached to them.
const NODELAY: &str = "nodelay";
const REFUSE_SILENT: &str = "refuse-silent";

/// All machinery around one subject. When it is dropped, what still runs of a trial is ended (SIGTERM, 2 s, SIGKILL), also
/// what has turned itself into a daemon; a watched client is left alone; then groups and files are removed and ticked off
/// in the journal. The end of a trial's processes is collected then: who wants to know it asks before.
pub struct Attached {
    /// What the host refused.
    pub(crate) notes: Vec<String>,
    /// Ends whose route acknowledges at once.
    pub(crate) routes: Vec<End>,
    /// Changes of the network that were made.
    pub(crate) network: Vec<NetworkChange>,
    // In the order in which they are to go.
    pub(crate) groups: Option<Groups>,
    pub(crate) sessions: Option<Sessions>,
    sockets: Option<SocketProgram>,
    pub(crate) proxies: Option<Proxies>,
    /// Why there are none, where some were asked for.
    pub(crate) no_proxy: Option<String>,
    pub(crate) staged: Option<Staged>,
    pub(crate) link: Option<Joined>,
}

impl Attached {
    /// Nothing yet.
    pub(crate) fn bare() -> Attached {
        let (notes, routes, network) = (Vec::new(), Vec::new(), Vec::new());
        let (groups, sessions, sockets, proxies, no_proxy) = (None, None, None, None, None);
        Attached { notes, routes, network, groups, sessions, sockets, proxies, no_proxy, staged: None, link: None }
    }

    /// What the interventions have left behind so far.
    pub fn counters(&self) -> InterventionCounters {
        InterventionCounters {
            shims: self.staged.as_ref().map(Staged::counts).unwrap_or_default(),
            sockets: self.socket_counts(),
            routes: self.routes.clone(),
            network: self.network.clone(),
            replaced: self.staged.as_ref().map_or(0, Staged::opened),
            outside_quota: self.groups.as_ref().is_some_and(|groups| groups.outside_quota),
            proxied: self.proxies.as_ref().map(Proxies::counts).unwrap_or_default(),
            no_proxy: self.no_proxy.clone(),
        }
    }

    /// What could not be attached, and why: sentences for the user.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The processes of one end that run, as far as groups tell.
    pub fn members_of(&self, end: End) -> Vec<u32> {
        self.groups.as_ref().map(|groups| groups.members_of(end)).unwrap_or_default()
    }

    /// Children of ours that are not the server's: the client's process, and proxies.
    pub fn besides(&self, client: u32) -> Vec<u32> {
        [client].into_iter().chain(self.proxies.iter().flat_map(Proxies::pids)).collect()
    }

    /// The control group (version 2) that holds both ends.
    pub fn group(&self) -> Option<&Path> {
        self.groups.as_ref().and_then(Groups::unified)
    }

    /// The treatment by means that reach the subject: shims do what is done to its sockets where there is no group of
    /// version 2 to attach a program to.
    pub(crate) fn reachable(&self, treatment: &Treatment) -> Treatment {
        let mut reachable = treatment.clone();
        if let (Some(sockets), None) = (&treatment.sockets, self.group()) {
            let or_inert = |parameter: String, acts: bool| if acts { parameter } else { "inert".to_string() };
            let parameter = or_inert(String::new(), sockets.nodelay);
            reachable.preloads.push(Preload { shim: NODELAY, parameter });
            let words: Vec<String> = sockets.unreachable.iter().map(word).collect();
            let parameter = or_inert(words.join(" "), !words.is_empty());
            reachable.preloads.push(Preload { shim: REFUSE_SILENT, parameter });
        }
        reachable
    }

    /// Attaches the program that sets sockets, to the group that holds both ends.
    pub(crate) fn watch_sockets(&mut self, sockets: Option<&SocketOptions>) {
        let redirected = self.proxies.as_ref().map(Proxies::redirected);
        let wanted = match (sockets.cloned(), redirected) {
            (sockets, Some(redirected)) => Some(SocketOptions { redirected, ..sockets.unwrap_or_default() }),
            (sockets, None) => sockets,
        };
        let (Some(wanted), Some(group)) = (wanted, self.group()) else { return };
        match SocketProgram::attach(group, &wanted) {
            Ok(program) => self.sockets = Some(program),
            Err(error) => self.notes.push(format!("socket options were left unchanged: {error}")),
        }
    }

    fn socket_counts(&self) -> Option<SocketCounts> {
        if let Some(program) = &self.sockets {
            return Some(program.counts());
        }
        let mut counts = self.staged.as_ref()?.counts();
        let (nodelay, refuse_silent) = (counts.remove(NODELAY)?, counts.remove(REFUSE_SILENT).unwrap_or_default());
        let (seen, unreachable) = (nodelay.seen + refuse_silent.seen, refuse_silent.changed);
        Some(SocketCounts { seen, nodelay: nodelay.changed, unreachable, ..SocketCounts::default() })
    }
}

/// An address as the shim reads it.
fn word(address: &SocketAddr) -> String {
    format!("{}/{}", address.ip(), address.port())
}
