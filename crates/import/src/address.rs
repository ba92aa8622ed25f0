//! Addresses and networks as numbers: IPv4 is mapped into IPv6, so that one type holds both.

use std::net::{IpAddr, Ipv6Addr};

/// IPv4 in IPv6: ::ffff:0:0/96.
const MAPPED: u128 = 0xffff_0000_0000;

/// A network of one size: /24 for IPv4, /48 for IPv6, which is what one customer commonly has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Network(pub u128);

impl Network {
    /// The network of all whose address is not known, such as host names.
    pub const UNKNOWN: Network = Network(u128::MAX);

    /// The network of an address.
    pub fn of(address: u128) -> Network {
        Network(if is_mapped(address) { address & !0xff } else { address & !((1 << 80) - 1) })
    }
}

fn is_mapped(address: u128) -> bool {
    address >> 32 == MAPPED >> 32
}

/// An address as text.
pub fn address_text(address: u128) -> String {
    if is_mapped(address) {
        std::net::Ipv4Addr::from(address as u32).to_string()
    } else {
        Ipv6Addr::from(address).to_string()
    }
}

/// A network as text: `203.0.113.0/24`.
pub fn network_text(network: Network) -> String {
    if network == Network::UNKNOWN {
        return "not known".into();
    }
    format!("{}/{}", address_text(network.0), if is_mapped(network.0) { 24 } else { 48 })
}

/// Reads an address, which may have a port, brackets or a zone; none where it is none.
pub fn of(text: &[u8]) -> Option<u128> {
    if let Some((address, rest)) = version_four(text) {
        return (rest.is_empty() || rest[0] == b':').then_some(MAPPED | u128::from(address));
    }
    let text = std::str::from_utf8(text).ok()?;
    let text = text.strip_prefix('[').map_or(text, |inner| inner.split(']').next().unwrap_or(inner));
    let text = text.split('%').next().unwrap_or(text);
    let parsed = text.parse::<IpAddr>().ok();
    let number = |address: IpAddr| match address {
        IpAddr::V4(four) => MAPPED | u128::from(u32::from(four)),
        IpAddr::V6(six) => u128::from(six),
    };
    // HAProxy writes the port behind an address of IPv6 without brackets: eight groups and one more.
    let is_full = text.bytes().filter(|byte| *byte == b':').count() >= 8 || (parsed.is_none() && text.contains(':'));
    match text.rsplit_once(':') {
        Some((before, port)) if is_full && port.parse::<u16>().is_ok() => before.parse::<IpAddr>().ok().map(number),
        _ => parsed.map(number),
    }
}

/// The address of IPv4 that a text begins with, and what follows it.
fn version_four(text: &[u8]) -> Option<(u32, &[u8])> {
    let mut address = 0u32;
    let mut rest = text;
    for group in 0..4 {
        if group > 0 {
            rest = rest.strip_prefix(b".")?;
        }
        let length = rest.iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
        let value = rest[..length].iter().fold(0u32, |sum, digit| sum * 10 + u32::from(digit - b'0'));
        if length == 0 || value > 255 {
            return None;
        }
        address = address << 8 | value;
        rest = &rest[length..];
    }
    Some((address, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_with_whatever_stands_around_them() {
        let shown = |text: &str| of(text.as_bytes()).map(address_text);
        for (text, address) in [
            ("203.0.113.9", "203.0.113.9"),
            ("203.0.113.9:8080", "203.0.113.9"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]:443", "2001:db8::1"),
            ("2001:db8:1:2:3:4:5:6:443", "2001:db8:1:2:3:4:5:6"),
            ("fe80::1%eth0", "fe80::1"),
            ("::ffff:203.0.113.9", "203.0.113.9"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(address), "{text}");
        }
        for text in ["", "-", "host.example.org", "203.0.113", "203.0.113.256", "203.0.113.9x"] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn a_network_is_what_one_customer_has() {
        let network = |text: &str| network_text(Network::of(of(text.as_bytes()).unwrap()));
        assert_eq!(network("203.0.113.9"), "203.0.113.0/24");
        assert_eq!(network("2001:db8:7:8::1"), "2001:db8:7::/48");
    }
}
