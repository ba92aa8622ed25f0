//! The link between a client and a server: two network namespaces joined by a pair of virtual Ethernet devices, or, where packets
//! are to take time or get lost, by two tunnels and a thread of ours between them.
//!
//! Undo: there is nothing to undo. Each namespace belongs to the process that was held in it and vanishes with the last
//! process inside; the devices vanish with their namespaces (tunnels also with us), and with them queues, routes and settings. No name is ever
//! entered into the host's own namespace, so neither Ctrl-C nor a kill -9 can leave anything behind, and two runs at a
//! time can use the same addresses. A test kills and looks.

mod inside;
mod path;
mod relay;
mod request;
mod specification;

pub(crate) use specification::size;

use crate::rate::Rate;
use crate::treatment::End;
use inside::{in_namespace, run, run_inside};
use path::Path;
pub(crate) use relay::Relay;
pub(crate) use request::Network;
use request::{join, network};
use serde::{Deserialize, Serialize};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::OwnedFd;
use std::time::Duration;

/// The client's address. Private addresses that few networks use; they are visible inside the namespaces only.
const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// The server's address.
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
/// The network that both are in, as routes name it.
const NETWORK: &str = "10.77.0.0/24";
/// The device's name, the same at both ends.
const DEVICE: &str = "link0";

/// A bucket of this much time keeps the rate on kernels whose timers tick every 4 ms or 10 ms.
const BURST_MILLISECONDS: u64 = 10;
/// The kernel keeps a burst as 32 bits of time in units of 64 ns.
const MOST_BURST_MILLISECONDS: u64 = (64 << 32) / 1_000_000;
/// The queue before the bucket holds this much time, so that an answer that does not fit the link queues up instead of
/// being dropped.
const QUEUE_MILLISECONDS: u64 = 200;

/// A device hands packets over one at a time, and we take them in turns of 64: room for what a sender may write meanwhile.
const TUNNEL_QUEUE: &str = "10000";

/// A link as it was asked for: `mtu=1500,rate=10mbit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Largest packet in bytes.
    pub mtu: u32,
    /// How fast each direction is; none is as fast as the machine.
    pub rate: Option<Rate>,
    /// Bytes that may leave at once after a rest; none leaves it to us.
    pub burst: Option<u64>,
    /// What keeps the rate.
    pub queue: Queue,
    /// How long each packet is under way; a round trip takes twice that.
    pub delay: Duration,
    /// Packets lost, in a million, in each direction.
    pub loss: u32,
    /// How long packets may wait before a rate; none leaves it to us.
    pub buffer: Option<Duration>,
    /// The largest packet that gets through; larger ones vanish without a word.
    pub path_mtu: Option<u32>,
}

/// The kernel's queue that keeps a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Queue {
    /// `tbf`: a token bucket. Its burst has a least size.
    #[default]
    TokenBucket,
    /// `htb`: one class of a hierarchy of buckets. Takes any burst.
    Hierarchical,
}

/// Where the two ends of a link can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// The client's.
    pub client: IpAddr,
    /// The server's.
    pub server: IpAddr,
}

impl Addresses {
    /// A command with `{client}` and `{server}` replaced.
    pub fn fill(&self, words: &[String]) -> Vec<String> {
        let (client, server) = (self.client.to_string(), self.server.to_string());
        words.iter().map(|word| word.replace("{server}", &server).replace("{client}", &client)).collect()
    }
}

/// Why a link cannot be made.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
pub enum LinkError {
    /// It was not asked for in the right words.
    #[error("{0}")]
    Specification(String),
    /// A command failed.
    #[error("`{command}` failed: {reason}")]
    Command {
        /// The command as it can be typed.
        command: String,
        /// What it said, or why it could not be started.
        reason: String,
    },
    /// A tunnel cannot be made.
    #[error("the link's delay, loss, buffer and path-mtu need a tunnel: {0}")]
    Tunnel(String),
    /// A kernel setting was refused.
    #[error("the setting `{name}` was refused: {reason}")]
    Setting {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
    /// The kernel took something and does not show it.
    #[error("{what}: asked for `{asked}`, but the kernel shows `{shown}`")]
    NotShown {
        /// What was changed.
        what: String,
        /// How.
        asked: String,
        /// What it is.
        shown: String,
    },
}

/// Two namespaces that are joined. When it is dropped, a link of ours carries nothing any more.
#[derive(Debug)]
pub struct Joined {
    _relay: Option<Relay>,
}

impl Link {
    /// Ten times the burst that was asked for, as far as the kernel takes it; none where none was, or where it takes no more.
    pub(crate) fn larger_burst(&self) -> Option<u64> {
        const TIMES: u64 = 10;
        let (burst, rate) = (self.burst?, self.rate?);
        let most = specification::MOST_BURST_BYTES.min(rate.bytes_in(MOST_BURST_MILLISECONDS));
        Some(burst.saturating_mul(TIMES).min(most)).filter(|larger| *larger > burst)
    }

    /// The addresses that the ends of any link have.
    pub fn addresses() -> Addresses {
        Addresses { client: IpAddr::V4(CLIENT), server: IpAddr::V4(SERVER) }
    }

    /// Joins the network namespaces of two processes. The link is there for as long as what is returned is kept.
    ///
    /// # Errors
    /// Names the command that failed, and what it said.
    pub fn join(&self, client: u32, server: u32) -> Result<Joined, LinkError> {
        let failed = |error: io::Error| LinkError::Tunnel(error.to_string());
        let tunnels = join(Network::Join { link: *self, client, server })?;
        let relay = match (self.path(), <[OwnedFd; 2]>::try_from(tunnels)) {
            (Some(path), Ok(ends)) => Some(Relay::start(ends.map(record::Tunnel::from), path).map_err(failed)?),
            _ => None,
        };
        Ok(Joined { _relay: relay })
    }

    /// Does so, where that is allowed. The tunnels of a link whose packets are ours to carry are returned, the client's first.
    pub(crate) fn join_here(&self, client: u32, server: u32) -> Result<Vec<OwnedFd>, LinkError> {
        if self.path().is_some() {
            return self.join_by_tunnels(client, server);
        }
        let (mtu, client_text, server_text) = (self.mtu.to_string(), client.to_string(), server.to_string());
        let one_end = ["ip", "link", "add", DEVICE, "mtu", &mtu, "netns", &client_text, "type", "veth"];
        let other_end = ["peer", "name", DEVICE, "mtu", &mtu, "netns", &server_text];
        run(&[&one_end[..], &other_end[..]].concat())?;
        self.set_up(client, CLIENT)?;
        self.set_up(server, SERVER)?;
        Ok(Vec::new())
    }

    /// What our own link does to packets; none where the kernel's does.
    fn path(&self) -> Option<Path> {
        let is_ours = self.loss > 0 || self.delay > Duration::ZERO || self.buffer.is_some() || self.path_mtu.is_some();
        is_ours.then(|| Path {
            delay: self.delay,
            loss: self.loss,
            rate: self.rate,
            burst: self.burst.unwrap_or_default(),
            buffer: self.buffer.unwrap_or(Duration::from_millis(QUEUE_MILLISECONDS)),
            largest: self.path_mtu,
        })
    }

    fn join_by_tunnels(&self, client: u32, server: u32) -> Result<Vec<OwnedFd>, LinkError> {
        let failed = |error: io::Error| LinkError::Tunnel(error.to_string());
        let tunnel = |pid: u32| {
            let opened = in_namespace(pid, || Ok(record::Tunnel::open(DEVICE))).map_err(failed)?;
            opened.map(OwnedFd::from).map_err(|error| LinkError::Tunnel(error.to_string()))
        };
        let ends = vec![tunnel(client)?, tunnel(server)?];
        for (pid, address) in [(client, CLIENT), (server, SERVER)] {
            let words = format!("ip link set {DEVICE} mtu {} txqueuelen {TUNNEL_QUEUE}", self.mtu);
            run_inside(pid, &words.split(' ').collect::<Vec<_>>())?;
            Link { rate: None, ..*self }.set_up(pid, address)?;
        }
        Ok(ends)
    }

    /// Configures one end, inside the namespace of the process that holds it.
    fn set_up(&self, pid: u32, address: Ipv4Addr) -> Result<(), LinkError> {
        let inside = |words: &str| run_inside(pid, &words.split(' ').collect::<Vec<_>>()).map(drop);
        inside(&format!("ip address add {address}/24 dev {DEVICE}"))?;
        for command in self.rate.map_or_else(Vec::new, |rate| self.queue_commands(rate)) {
            inside(&command)?;
        }
        inside("ip link set lo up")?;
        inside(&format!("ip link set {DEVICE} up"))
    }

    /// What makes the device keep its rate.
    fn queue_commands(&self, rate: Rate) -> Vec<String> {
        let by_time = rate.bytes_in(BURST_MILLISECONDS).max(specification::LEAST_BURST_BYTES);
        let burst = self.burst.unwrap_or(by_time);
        let limit = burst + rate.bytes_in(QUEUE_MILLISECONDS).max(specification::LEAST_BURST_BYTES);
        let rate = rate.bits_per_second;
        let add = format!("tc qdisc add dev {DEVICE}");
        match self.queue {
            Queue::TokenBucket => vec![format!("{add} root tbf rate {rate}bit burst {burst} limit {limit}")],
            Queue::Hierarchical => vec![
                format!("{add} root handle 1: htb default 1"),
                format!(
                    "tc class add dev {DEVICE} parent 1: classid 1:1 htb rate {rate}bit burst {burst} cburst {burst}"
                ),
                format!("{add} parent 1:1 bfifo limit {limit}"),
            ],
        }
    }
}

/// Changes a route inside the namespace of the process `pid`, and looks whether the kernel shows it so. `words` are those
/// of `ip route change`; where they begin with no destination, they are added to the route to the other end.
pub(crate) fn change_route(pid: u32, words: &str) -> Result<(), LinkError> {
    network(Network::Route { pid, words: words.to_string() }).map(drop)
}

/// Does so, where that is allowed.
pub(crate) fn change_route_here(pid: u32, words: &str) -> Result<(), LinkError> {
    let wanted = words.split_whitespace().collect::<Vec<_>>();
    let has_destination = wanted.first().is_some_and(|word| *word == "default" || word.contains(['.', ':', '/']));
    let destination = if has_destination { wanted[0] } else { NETWORK };
    let show = || run_inside(pid, &["ip", "route", "show", destination]);
    let before = show()?;
    let kept = if has_destination { Vec::new() } else { words_of_route(&before) };
    run_inside(pid, &[&["ip", "route", "change"], &kept[..], &wanted[..]].concat())?;
    let after = show()?;
    let is_shown = wanted.iter().all(|word| after.split_whitespace().any(|shown| shown == *word));
    if is_shown || after != before {
        return Ok(());
    }
    Err(LinkError::NotShown { what: "a route".into(), asked: words.to_string(), shown: inside::plain(&after) })
}

/// Tells the route of one end to the other to acknowledge every segment at once.
pub(crate) fn acknowledge_at_once(pid: u32) -> Result<(), LinkError> {
    network(Network::Acknowledge { pid }).map(drop)
}

/// Does so, where that is allowed.
pub(crate) fn acknowledge_at_once_here(pid: u32) -> Result<(), LinkError> {
    const WORDS: &str = "quickack 1";
    let is_shown = || run_inside(pid, &["ip", "route", "show", NETWORK]).map(|shown| shown.contains(WORDS));
    if is_shown()? {
        return Ok(());
    }
    change_route_here(pid, WORDS)?;
    if is_shown()? {
        return Ok(());
    }
    Err(LinkError::NotShown { what: "a route".into(), asked: WORDS.into(), shown: "a route without".into() })
}

/// A route as it is shown, without the words that only tell its state.
fn words_of_route(shown: &str) -> Vec<&str> {
    const STATES: [&str; 5] = ["linkdown", "dead", "offload", "rt_offload", "rt_trap"];
    let line = shown.lines().next().unwrap_or_default();
    let words = line.split_whitespace().filter(|word| !STATES.contains(word)).collect::<Vec<_>>();
    if words.contains(&"dev") {
        return words;
    }
    let at = words.len().min(1);
    [&words[..at], &["dev", DEVICE], &words[at..]].concat()
}

/// Makes a setting, where that is allowed, and returns what it is afterwards.
pub(crate) fn set_here(pid: u32, name: &str, value: &str) -> Result<String, LinkError> {
    inside::set(pid, name, value)
}

/// Makes a kernel setting at one end, inside the namespace of the process `pid`, and looks whether it was taken.
pub(crate) fn change_setting(end: End, pid: u32, name: &str, value: &str) -> Result<(), LinkError> {
    let shown = network(Network::Setting { pid, name: name.to_string(), value: value.to_string() })?;
    if shown == inside::plain(value) {
        return Ok(());
    }
    let what = format!("the setting `{name}` of the {}", end.word());
    Err(LinkError::NotShown { what, asked: value.to_string(), shown })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_changed_by_the_words_that_show_it() {
        let shown = "10.77.0.0/24 dev link0 proto kernel scope link src 10.77.0.1 linkdown \n";
        assert_eq!(words_of_route(shown).join(" "), "10.77.0.0/24 dev link0 proto kernel scope link src 10.77.0.1");
        assert_eq!(words_of_route("10.77.0.0/24 scope link").join(" "), "10.77.0.0/24 dev link0 scope link");
    }
}
