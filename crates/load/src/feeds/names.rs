//! Looking up names: on threads of their own, since the system's resolver blocks; each name once a round.
//!
//! The system says nothing of how long an answer holds, so that none is kept from round to round.

use super::clock;
use super::failure::FeedsFailure;
use crate::histogram::Times;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Look-ups at a time: a resolver that does not answer holds each for some seconds.
pub(crate) const THREADS: usize = 16;

/// Names with their addresses, given by hand.
pub type Hosts = HashMap<String, IpAddr>;

/// Reads a file of addresses and their names, in the form of `/etc/hosts`.
///
/// # Errors
/// Where it cannot be read, or a line does not begin with an address.
pub fn read(file: &Path) -> Result<Hosts, FeedsFailure> {
    let unread = |error: String| FeedsFailure::Unread { file: file.to_path_buf(), error };
    let text = std::fs::read_to_string(file).map_err(|error| unread(error.to_string()))?;
    let mut hosts = Hosts::new();
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let Some(address) = words.next() else { continue };
        let wrong = |_| unread(format!("line {} does not begin with an address", number + 1));
        let address = address.parse::<IpAddr>().map_err(wrong)?;
        hosts.extend(words.map(|name| (name.to_ascii_lowercase(), address)));
    }
    Ok(hosts)
}

/// A name to be looked up, for a worker.
pub(crate) struct Asked {
    pub host: String,
    pub worker: usize,
}

/// What names are looked up by.
pub(crate) struct Names<'a> {
    hosts: &'a Hosts,
    ask: Mutex<Option<Sender<Asked>>>,
    asked: Mutex<Receiver<Asked>>,
    spent: Mutex<Spent>,
    is_over: AtomicBool,
}

/// What look-ups took.
pub(crate) struct Spent {
    pub times: Times,
    pub cpu: Duration,
}

impl<'a> Names<'a> {
    pub(crate) fn of(hosts: &'a Hosts) -> Names<'a> {
        let (ask, asked) = channel();
        let spent = Mutex::new(Spent { times: Times::new(), cpu: Duration::ZERO });
        Names { hosts, ask: Mutex::new(Some(ask)), asked: Mutex::new(asked), spent, is_over: AtomicBool::new(false) }
    }

    /// The address of what needs no looking up.
    pub(crate) fn known(&self, host: &str) -> Option<IpAddr> {
        host.parse().ok().or_else(|| self.hosts.get(host).copied())
    }

    /// Has a name looked up.
    pub(crate) fn ask(&self, asked: Asked) {
        let ask = self.ask.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody looks up any more when the round is over.
        let _ = ask.as_ref().map(|ask| ask.send(asked));
    }

    /// No more names are needed, those that wait included.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        *self.ask.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Looks up names until there are no more; `tell` hears of each.
    pub(crate) fn look_up(&self, tell: impl Fn(Asked, Option<IpAddr>)) {
        let next = || self.asked.lock().unwrap_or_else(PoisonError::into_inner).recv();
        while let Ok(asked) = next() {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let (begun, used) = (Instant::now(), clock::used());
            let found = (asked.host.as_str(), 0u16).to_socket_addrs();
            let found = found.ok().and_then(|mut found| found.next()).map(|found: SocketAddr| found.ip());
            let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
            spent.times.add(begun.elapsed());
            spent.cpu += clock::used().saturating_sub(used);
            drop(spent);
            tell(asked, found);
        }
    }

    pub(crate) fn spent(self) -> Spent {
        self.spent.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_hosts_is_read_as_the_system_reads_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("hosts");
        std::fs::write(&file, "# mine\n127.1.2.3 A.test b.test # two\n\n::1 c.test\n").expect("written");
        let hosts = read(&file).expect("hosts");
        assert_eq!(hosts.len(), 3);
        assert_eq!(hosts["a.test"], IpAddr::from([127, 1, 2, 3]));
        std::fs::write(&file, "a.test 127.0.0.1\n").expect("written");
        assert!(read(&file).expect_err("no address").to_string().contains("line 1"));
    }

    #[test]
    fn what_is_an_address_or_given_is_not_looked_up() {
        let hosts = Hosts::from([("a.test".to_string(), IpAddr::from([127, 0, 0, 9]))]);
        let names = Names::of(&hosts);
        assert_eq!(names.known("a.test"), Some(IpAddr::from([127, 0, 0, 9])));
        assert_eq!(names.known("::1"), Some("::1".parse().expect("an address")));
        assert_eq!(names.known("localhost"), None);
    }
}
