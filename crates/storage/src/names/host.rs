//! Hosts: addresses and names, with or without a port.

use super::Pseudonyms;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Names that say nothing of a host, and domains under which addresses are looked up.
const PLAIN: [&str; 2] = ["localhost", "localhost.localdomain"];
const REVERSE: [&str; 2] = [".in-addr.arpa", ".ip6.arpa"];

impl Pseudonyms {
    /// Addresses become addresses of the same family, a host's name has as many parts as before, and a port stays. What is neither is
    /// the path of a socket.
    pub(super) fn host(&self, text: &str) -> String {
        if text.starts_with(['/', '@', '\0']) {
            return self.path(text);
        }
        if let Ok(address) = text.parse::<SocketAddr>() {
            return SocketAddr::new(self.address(address.ip()), address.port()).to_string();
        }
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Some(address) = bare.and_then(|bare| bare.parse::<IpAddr>().ok()) {
            return format!("[{}]", self.address(address));
        }
        // An interface's name behind the address is one, too.
        let (address, zone) = text.split_once('%').map_or((text, None), |(address, zone)| (address, Some(zone)));
        if let Ok(address) = address.parse::<IpAddr>() {
            let zone = zone.map_or(String::new(), |zone| format!("%{}", self.word(zone)));
            return format!("{}{zone}", self.address(address));
        }
        match text.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
                format!("{}:{port}", self.host_name(name))
            }
            _ => self.host_name(text),
        }
    }

    /// Part by part: that a name lies in a domain that was searched is seen as before.
    fn host_name(&self, name: &str) -> String {
        let plain = name.to_ascii_lowercase();
        if PLAIN.contains(&plain.trim_end_matches('.')) {
            return name.to_string();
        }
        if let Some(domain) = REVERSE.iter().find(|domain| plain.ends_with(**domain)) {
            return self.word(&plain[..plain.len() - domain.len()]) + domain;
        }
        let parts = plain.split('.').map(|part| if part.is_empty() { String::new() } else { self.word(part) });
        let shown = parts.collect::<Vec<_>>().join(".");
        self.as_in_sentences(name, &shown);
        shown
    }

    /// Loopback stays, and so do the addresses of whyslow's own links.
    pub(super) fn address(&self, address: IpAddr) -> IpAddr {
        let canonical = address.to_canonical();
        let is_plain = canonical.is_loopback() || canonical.is_unspecified() || canonical.is_multicast();
        if is_plain || matches!(canonical, IpAddr::V4(own) if own.octets()[..3] == [10, 77, 0]) {
            return address;
        }
        let shown = self.other_address(canonical);
        match (address, shown) {
            (IpAddr::V6(_), IpAddr::V4(mapped)) => IpAddr::V6(mapped.to_ipv6_mapped()),
            _ => shown,
        }
    }

    fn other_address(&self, address: IpAddr) -> IpAddr {
        let mut known = self.known();
        if let Some(shown) = known.addresses.get(&address) {
            return *shown;
        }
        // The first that no other address has.
        let mut tries = (0u32..).map(|number| {
            let digest = self.digest(format!("{address} {number}").as_bytes());
            match address {
                IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::new(10, digest[0], digest[1], digest[2])),
                IpAddr::V6(from) => IpAddr::V6(like(from, digest)),
            }
        });
        let is_free = |shown: &IpAddr| !known.taken.contains(shown) && !is_own(*shown);
        let shown = tries.by_ref().take(super::MOST_REMEMBERED).find(is_free).unwrap_or(address_of_none(address));
        known.addresses.insert(address, shown);
        known.taken.insert(shown);
        shown
    }
}

/// Link-local stays link-local; all others become unique local ones.
fn like(from: Ipv6Addr, digest: [u8; 32]) -> Ipv6Addr {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    if from.is_unicast_link_local() {
        bytes[..8].copy_from_slice(&[0xfe, 0x80, 0, 0, 0, 0, 0, 0]);
    } else {
        bytes[0] = 0xfd;
    }
    Ipv6Addr::from(bytes)
}

fn is_own(address: IpAddr) -> bool {
    matches!(address, IpAddr::V4(own) if own.octets()[..3] == [10, 77, 0])
}

/// For whom no address is left: of more than any recording has.
fn address_of_none(address: IpAddr) -> IpAddr {
    if address.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { IpAddr::V6(Ipv6Addr::UNSPECIFIED) }
}
