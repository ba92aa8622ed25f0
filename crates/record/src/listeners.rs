//! Who listens on a TCP port: the processes that hold a listening socket for it, in any network namespace.

use crate::counters;
use crate::listening::{self, TcpListener};
use crate::running;
use rustc_hash::{FxHashMap, FxHashSet};

/// The processes that listen on a TCP port, in any network namespace that a visible process is in. Of several that share
/// the work, as a server and its workers do, the one that started the others.
pub fn listeners_on(port: u16) -> Vec<u32> {
    leading(&holders(|listener| listener.port == port))
}

/// The processes that listen on any TCP port, likewise.
pub fn all_listeners() -> Vec<u32> {
    leading(&holders(|_| true))
}

/// All that hold a listening socket that is asked for.
fn holders(is_wanted: impl Fn(&TcpListener) -> bool) -> FxHashSet<u32> {
    let mut inodes: FxHashMap<u64, FxHashSet<u64>> = FxHashMap::default();
    let mut holders = FxHashSet::default();
    for process in listening::processes() {
        let pid = process.pid;
        let Some(namespace) = counters::network_namespace(pid) else { continue };
        let here = inodes.entry(namespace).or_insert_with(|| {
            listening::tcp_listeners(pid).into_iter().filter(&is_wanted).map(|listener| listener.inode).collect()
        });
        if !here.is_empty() && listening::sockets(pid).iter().any(|socket| here.contains(socket)) {
            holders.insert(pid);
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
