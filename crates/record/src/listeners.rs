//! Who listens on a TCP port: the processes that hold a listening socket for it, in any network namespace.

use crate::counters;
use crate::listening::{self, TcpListener};
use crate::running;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;

/// The processes that listen on a TCP port, in any network namespace that a visible process is in. Of several that share
/// the work, as a server and its workers do, the one that started the others.
pub fn listeners_on(port: u16) -> Vec<u32> {
    holders(|listener| listener.port == port).get(&port).map(leading).unwrap_or_default()
}

/// Who listens on which TCP port, likewise; found out when it is first asked, and once.
#[derive(Debug, Default)]
pub struct Listening(OnceCell<FxHashMap<u16, FxHashSet<u32>>>);

impl Listening {
    /// The processes that listen on a port.
    pub fn on(&self, port: u16) -> Vec<u32> {
        self.all().get(&port).map(leading).unwrap_or_default()
    }

    /// Those that listen on any.
    pub fn on_any(&self) -> Vec<u32> {
        leading(&self.all().values().flatten().copied().collect())
    }

    fn all(&self) -> &FxHashMap<u16, FxHashSet<u32>> {
        self.0.get_or_init(|| holders(|_| true))
    }
}

/// All that hold a listening socket that is asked for, by its port.
fn holders(is_wanted: impl Fn(&TcpListener) -> bool) -> FxHashMap<u16, FxHashSet<u32>> {
    let mut ports: FxHashMap<u64, FxHashMap<u64, u16>> = FxHashMap::default();
    let mut holders: FxHashMap<u16, FxHashSet<u32>> = FxHashMap::default();
    for process in listening::processes() {
        let pid = process.pid;
        let Some(namespace) = counters::network_namespace(pid) else { continue };
        let here = ports.entry(namespace).or_insert_with(|| {
            let wanted = listening::tcp_listeners(pid).into_iter().filter(&is_wanted);
            wanted.map(|listener| (listener.inode, listener.port)).collect()
        });
        if here.is_empty() {
            continue;
        }
        for port in listening::sockets(pid).iter().filter_map(|socket| here.get(socket)) {
            holders.entry(*port).or_default().insert(pid);
        }
    }
    holders
}

/// Those of some processes that none of the others started, directly or not, in order.
fn leading(processes: &FxHashSet<u32>) -> Vec<u32> {
    let starts = |pid: &&u32| !running::ancestry(**pid)[1..].iter().any(|ancestor| processes.contains(ancestor));
    let mut found: Vec<u32> = processes.iter().filter(starts).copied().collect();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_found_by_its_port() {
        let _alone = crate::alone::alone();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
        let port = listener.local_addr().expect("an address").port();
        assert_eq!(listeners_on(port), [std::process::id()]);
        drop(listener);
        assert!(listeners_on(port).is_empty());
    }

    #[test]
    fn of_processes_that_share_a_port_the_one_that_started_the_others_leads() {
        let own = std::process::id();
        let parent = nix::unistd::getppid().as_raw() as u32;
        assert_eq!(leading(&FxHashSet::from_iter([own, parent])), [parent]);
        assert_eq!(leading(&FxHashSet::from_iter([own])), [own]);
    }
}
