//! The link between a client and a server: two network namespaces joined by a pair of virtual Ethernet devices.
//!
//! Undo: there is nothing to undo. Each namespace belongs to the process that was held in it and vanishes with the last
//! process inside; the devices vanish with their namespaces, and the queues with the devices. No name is ever entered
//! into the host's own namespace, so neither Ctrl-C nor a kill -9 can leave anything behind, and two runs at a time can
//! use the same addresses. A test kills and looks.

use crate::rate::Rate;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::process::Command;
use std::str::FromStr;

/// The client's address. Private addresses that few networks use; they are visible inside the namespaces only.
const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// The server's address.
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
/// The device's name, the same at both ends.
const DEVICE: &str = "link0";

/// Ethernet's own, where none is asked for.
const DEFAULT_MTU: u32 = 1500;
/// The least that IPv4 must carry (RFC 791), and the most that a virtual Ethernet device takes.
const MTU_RANGE: std::ops::RangeInclusive<u32> = 68..=65_535;

/// The kernel hands a virtual device segments of up to 64 KiB at a time, headers not counted; a bucket that cannot
/// hold two of them wedges the queue.
const LEAST_BURST_BYTES: u64 = 128 * 1024;
/// A bucket of this much time keeps the rate on kernels whose timers tick every 4 ms or 10 ms.
const BURST_MILLISECONDS: u64 = 10;
/// The queue before the bucket holds this much time, so that an answer that does not fit the link queues up instead of
/// being dropped.
const QUEUE_MILLISECONDS: u64 = 200;

/// A link as it was asked for: `mtu=1500,rate=10mbit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Largest packet in bytes.
    pub mtu: u32,
    /// How fast each direction is; none is as fast as the machine.
    pub rate: Option<Rate>,
}

/// Where the two ends of a link can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// The client's.
    pub client: IpAddr,
    /// The server's.
    pub server: IpAddr,
}

/// Why a link cannot be made.
#[derive(Debug, thiserror::Error)]
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
}

impl Link {
    /// The addresses that the ends of any link have.
    pub fn addresses() -> Addresses {
        Addresses { client: IpAddr::V4(CLIENT), server: IpAddr::V4(SERVER) }
    }

    /// Joins the network namespaces of two processes.
    ///
    /// # Errors
    /// Names the command that failed, and what it said.
    pub fn join(&self, client: u32, server: u32) -> Result<Addresses, LinkError> {
        let (mtu, client_text, server_text) = (self.mtu.to_string(), client.to_string(), server.to_string());
        let one_end = ["ip", "link", "add", DEVICE, "mtu", &mtu, "netns", &client_text, "type", "veth"];
        let other_end = ["peer", "name", DEVICE, "mtu", &mtu, "netns", &server_text];
        run(&[&one_end[..], &other_end[..]].concat())?;
        self.set_up(client, CLIENT)?;
        self.set_up(server, SERVER)?;
        Ok(Link::addresses())
    }

    /// Configures one end, inside the namespace of the process that holds it.
    fn set_up(&self, pid: u32, address: Ipv4Addr) -> Result<(), LinkError> {
        let namespace = format!("--net=/proc/{pid}/ns/net");
        let inside = |command: &[&str]| run(&[&["nsenter", &namespace], command].concat());
        inside(&["ip", "address", "add", &format!("{address}/24"), "dev", DEVICE])?;
        if let Some(rate) = self.rate {
            let burst = rate.bytes_in(BURST_MILLISECONDS).max(LEAST_BURST_BYTES);
            let limit = burst + rate.bytes_in(QUEUE_MILLISECONDS).max(LEAST_BURST_BYTES);
            let rate = format!("{}bit", rate.bits_per_second);
            let queue = ["tc", "qdisc", "add", "dev", DEVICE, "root", "tbf", "rate", &rate];
            inside(&[&queue[..], &["burst", &burst.to_string(), "limit", &limit.to_string()]].concat())?;
        }
        inside(&["ip", "link", "set", "lo", "up"])?;
        inside(&["ip", "link", "set", DEVICE, "up"])
    }
}

fn run(command: &[&str]) -> Result<(), LinkError> {
    let failed = |reason: String| LinkError::Command { command: command.join(" "), reason };
    let output = Command::new(command[0]).args(&command[1..]).output();
    let output = output.map_err(|error| failed(format!("{} cannot be started: {error}", command[0])))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    Err(failed(if said.is_empty() { output.status.to_string() } else { said }))
}

impl FromStr for Link {
    type Err = LinkError;

    fn from_str(text: &str) -> Result<Link, LinkError> {
        let mut link = Link { mtu: DEFAULT_MTU, rate: None };
        for part in text.split(',') {
            let Some((key, value)) = part.split_once('=') else {
                return wrong(format!("`{part}` is not of the form key=value; the keys are mtu and rate"));
            };
            match key.trim() {
                "mtu" => link.mtu = mtu(value)?,
                "rate" => link.rate = Some(value.parse().map_err(LinkError::Specification)?),
                other => return wrong(format!("a link has no `{other}`; the keys are mtu and rate")),
            }
        }
        Ok(link)
    }
}

fn mtu(text: &str) -> Result<u32, LinkError> {
    match text.trim().parse() {
        Ok(mtu) if MTU_RANGE.contains(&mtu) => Ok(mtu),
        _ => wrong(format!("`{text}` is not an MTU: bytes from {} to {}", MTU_RANGE.start(), MTU_RANGE.end())),
    }
}

fn wrong<T>(reason: String) -> Result<T, LinkError> {
    Err(LinkError::Specification(reason))
}

impl fmt::Display for Link {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "mtu={}", self.mtu)?;
        self.rate.map_or(Ok(()), |rate| write!(out, ",rate={rate}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_read_from_either_key_or_both() {
        let link = |text: &str| text.parse::<Link>().expect("a link").to_string();
        assert_eq!(link("mtu=1400"), "mtu=1400");
        assert_eq!(link("rate=10mbit"), "mtu=1500,rate=10mbit");
        assert_eq!(link("rate=1gbit,mtu=9000"), "mtu=9000,rate=1gbit");
    }

    #[test]
    fn what_is_wrong_with_a_link_is_named_with_what_is_allowed() {
        let error = |text: &str| text.parse::<Link>().expect_err("refused").to_string();
        assert_eq!(error("delay=5ms"), "a link has no `delay`; the keys are mtu and rate");
        assert_eq!(error(""), "`` is not of the form key=value; the keys are mtu and rate");
        assert_eq!(error("mtu=9"), "`9` is not an MTU: bytes from 68 to 65535");
        assert!(error("rate=fast").contains("10mbit"));
    }
}
