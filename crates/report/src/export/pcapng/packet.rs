//! The heads of one packet, from a segment and its socket.

use super::is_out;
use case::tables::{Connection, Segment, transport};
use etherparse::{IpNumber, Ipv4Header, Ipv6Header, TcpHeader};
use std::net::IpAddr;

/// Not recorded; an open window is none that anybody waits for.
const WINDOW: u16 = u16::MAX;
/// Not recorded; what Linux sends with.
const TIME_TO_LIVE: u8 = 64;

/// IP and TCP heads of a segment, and how much payload followed them.
pub(super) struct Heads {
    bytes: Vec<u8>,
    payload: u32,
}

impl Heads {
    /// None where the addresses are not known, or not of one family.
    pub(super) fn of(segment: &Segment, connection: &Connection) -> Option<Heads> {
        if connection.transport != transport::TCP {
            return None;
        }
        let local = (address(&connection.local_address)?, connection.local_port);
        let remote = (address(&connection.remote_address)?, connection.remote_port);
        let (source, destination) = if is_out(segment) { (local, remote) } else { (remote, local) };
        let tcp = tcp(segment, source.1, destination.1).to_bytes();
        let inner = tcp.len() as u32 + segment.payload;
        let mut bytes = match (source.0, destination.0) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => ipv4(inner, source.octets(), destination.octets())?,
            (IpAddr::V6(source), IpAddr::V6(destination)) => ipv6(inner, source.octets(), destination.octets()),
            _ => return None,
        };
        bytes.extend_from_slice(&tcp);
        Some(Heads { bytes, payload: segment.payload })
    }

    /// What was kept of the packet.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How long the packet was with its payload.
    pub(super) fn original_length(&self) -> u32 {
        self.bytes.len() as u32 + self.payload
    }
}

/// An address without its scope; an IPv4 address in the clothes of IPv6 is what went over the wire.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.split('%').next()?;
    bare.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

fn tcp(segment: &Segment, source: u16, destination: u16) -> TcpHeader {
    let has = |bit: u8| segment.flags & bit != 0;
    TcpHeader {
        acknowledgment_number: segment.acknowledged,
        fin: has(0x01),
        syn: has(0x02),
        rst: has(0x04),
        psh: has(0x08),
        ack: has(0x10),
        urg: has(0x20),
        ece: has(0x40),
        cwr: has(0x80),
        ..TcpHeader::new(source, destination, segment.sequence, WINDOW)
    }
}

/// A length of 0 is what the kernel writes where the packet is too large for the field and yet to be cut up.
fn ipv4(inner: u32, source: [u8; 4], destination: [u8; 4]) -> Option<Vec<u8>> {
    let fits = u16::try_from(inner + Ipv4Header::MIN_LEN as u32).unwrap_or(0);
    let mut head = Ipv4Header::new(0, TIME_TO_LIVE, IpNumber::TCP, source, destination).ok()?;
    head.total_len = fits;
    head.header_checksum = head.calc_header_checksum();
    Some(head.to_bytes().to_vec())
}

fn ipv6(inner: u32, source: [u8; 16], destination: [u8; 16]) -> Vec<u8> {
    let payload_length = u16::try_from(inner).unwrap_or(0);
    let head = Ipv6Header {
        payload_length,
        next_header: IpNumber::TCP,
        hop_limit: TIME_TO_LIVE,
        source,
        destination,
        ..Ipv6Header::default()
    };
    head.to_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::tables::{direction, flags};

    fn heads(local: &str, remote: &str, payload: u32) -> Option<Heads> {
        let segment = Segment {
            direction: direction::OUT,
            flags: flags::ACK,
            sequence: 7,
            payload,
            ..crate::export::fixture::segment(1, 0)
        };
        let connection = Connection {
            transport: transport::TCP,
            local_address: local.into(),
            local_port: 40_000,
            remote_address: remote.into(),
            remote_port: 443,
            ..crate::export::fixture::connection(1)
        };
        Heads::of(&segment, &connection)
    }

    #[test]
    fn a_packet_says_how_long_it_was_and_holds_its_heads_only() {
        let four = heads("10.0.0.1", "10.0.0.2", 1_000).expect("a packet");
        assert_eq!((four.bytes().len(), four.original_length()), (40, 1_040));
        let six = heads("fe80::1%eth0", "fe80::2", 5).expect("a packet");
        assert_eq!((six.bytes().len(), six.original_length()), (60, 65));
    }

    #[test]
    fn an_address_of_ipv4_written_as_ipv6_is_one_of_ipv4() {
        let mapped = heads("::ffff:10.0.0.1", "10.0.0.2", 0).expect("a packet");
        assert_eq!(mapped.bytes()[0] >> 4, 4);
    }

    #[test]
    fn a_packet_too_large_for_its_length_says_0_as_the_kernel_does() {
        let large = heads("10.0.0.1", "10.0.0.2", 100_000).expect("a packet");
        assert_eq!((&large.bytes()[2..4], large.original_length()), (&[0, 0][..], 100_040));
    }

    #[test]
    fn without_addresses_there_is_no_packet() {
        assert!(heads("", "10.0.0.2", 1).is_none() && heads("10.0.0.1", "::1", 1).is_none());
    }
}
