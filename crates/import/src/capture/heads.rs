//! The heads of a captured packet: who sends what to whom over TCP. Also of packets that were cut short.

use super::packets::Packet;
use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TransportSlice};
use std::net::IpAddr;

/// Links by their numbers (tcpdump.org/linktypes.html), as far as a TCP packet is found behind them.
mod link {
    pub const NULL: u32 = 0;
    pub const ETHERNET: u32 = 1;
    pub const RAW: [u32; 5] = [12, 14, 101, 228, 229];
    pub const LOOP: u32 = 108;
    pub const COOKED: u32 = 113;
    pub const COOKED_2: u32 = 276;
}

/// The type of an Ethernet frame that holds IPv4 (RFC 7042), the number of TCP and the flag of IPv4 that forbids fragments (RFC 791).
const IPV4: [u8; 2] = [0x08, 0x00];
const TCP: u8 = 6;
const DONT_FRAGMENT: u16 = 0x4000;

/// One of the two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// Its IP address.
    pub ip: IpAddr,
    /// Its port.
    pub port: u16,
}

/// A packet of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head<'p> {
    /// Who sends it, and to whom.
    pub from: Address,
    /// To whom.
    pub to: Address,
    /// Sequence number of its first byte.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledged: u32,
    /// TCP's flags, as on the wire.
    pub flags: u8,
    /// The window as it stands in the head, not scaled.
    pub window: u16,
    /// The identification of the IP packet; 0 for IPv6.
    pub identification: u16,
    /// Length of the payload on the wire.
    pub payload: u32,
    /// The payload as far as it was captured.
    pub bytes: &'p [u8],
    /// Of a SYN: the largest segment that its sender takes, and whether it offers timestamps.
    pub offer: Option<(u16, bool)>,
    /// Whether the capture may show each packet twice: taken of all interfaces at once.
    pub may_be_twice: bool,
}

/// Why a packet is no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skipped {
    /// The link is of a type that is not read.
    Link(u32),
    /// Something else than TCP over IP.
    NotTcp,
    /// The capture holds less of it than the heads.
    CutShort,
    /// A fragment of an IP packet.
    Fragment,
    /// Its heads contradict themselves.
    Malformed,
}

/// Reads the heads of a packet.
pub fn read<'p>(packet: &Packet<'p>) -> Result<Head<'p>, Skipped> {
    plain(packet).map_or_else(|| any(packet), Ok)
}

/// What nearly all packets are: IPv4 without options behind Ethernet, whole, in the middle of a connection. None of any other.
fn plain<'p>(packet: &Packet<'p>) -> Option<Head<'p>> {
    let network = packet.bytes.get(14..).filter(|_| packet.link == link::ETHERNET)?;
    let ip = network.first_chunk::<20>()?;
    let is_whole = u16::from_be_bytes([ip[6], ip[7]]) & !DONT_FRAGMENT == 0;
    if packet.bytes[12..14] != IPV4 || ip[0] != 0x45 || ip[9] != TCP || !is_whole {
        return None;
    }
    let whole = network.get(..usize::from(u16::from_be_bytes([ip[2], ip[3]])))?;
    let tcp = whole.get(20..)?;
    let head = tcp.first_chunk::<20>()?;
    let (length, flags) = (usize::from(head[12] >> 4) * 4, head[13]);
    if length < 20 || flags & case::tables::flags::SYN != 0 {
        return None;
    }
    let bytes = tcp.get(length..)?;
    let address = |at: usize, port: usize| Address {
        ip: IpAddr::V4([ip[at], ip[at + 1], ip[at + 2], ip[at + 3]].into()),
        port: u16::from_be_bytes([head[port], head[port + 1]]),
    };
    let number = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    Some(Head {
        from: address(12, 0),
        to: address(16, 2),
        sequence: number(4),
        acknowledged: number(8),
        flags,
        window: u16::from_be_bytes([head[14], head[15]]),
        identification: u16::from_be_bytes([ip[4], ip[5]]),
        payload: bytes.len() as u32,
        bytes,
        offer: None,
        may_be_twice: false,
    })
}

/// Reads the heads of any packet.
fn any<'p>(packet: &Packet<'p>) -> Result<Head<'p>, Skipped> {
    let (network, sliced) = slice(packet)?;
    let (source, destination, identification) = match &sliced.net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let header = ip.header();
            if header.is_fragmenting_payload() {
                return Err(Skipped::Fragment);
            }
            (IpAddr::V4(header.source_addr()), IpAddr::V4(header.destination_addr()), header.identification())
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            if ip.payload().fragmented {
                return Err(Skipped::Fragment);
            }
            (IpAddr::V6(ip.header().source_addr()), IpAddr::V6(ip.header().destination_addr()), 0)
        }
        _ if sliced.stop_err.is_some() => return Err(cut_or_malformed(packet)),
        _ => return Err(Skipped::NotTcp),
    };
    let tcp = match &sliced.transport {
        Some(TransportSlice::Tcp(tcp)) => tcp,
        None if sliced.stop_err.is_some() => return Err(cut_or_malformed(packet)),
        _ => return Err(Skipped::NotTcp),
    };
    let bytes = tcp.payload();
    let before = (tcp.slice().as_ptr() as usize - network.as_ptr() as usize) + tcp.header_slice().len();
    let payload = on_the_wire(packet, network, &sliced).saturating_sub(before as u64);
    let payload = u32::try_from(payload).map_err(|_| Skipped::Malformed)?;
    let flags = tcp.header_slice()[13];
    Ok(Head {
        from: Address { ip: source, port: tcp.source_port() },
        to: Address { ip: destination, port: tcp.destination_port() },
        sequence: tcp.sequence_number(),
        acknowledged: tcp.acknowledgment_number(),
        flags,
        window: tcp.window_size(),
        identification,
        payload,
        bytes: &bytes[..bytes.len().min(payload as usize)],
        offer: (flags & case::tables::flags::SYN != 0).then(|| offer(tcp)),
        may_be_twice: matches!(packet.link, link::COOKED | link::COOKED_2),
    })
}

fn cut_or_malformed(packet: &Packet) -> Skipped {
    if (packet.bytes.len() as u64) < u64::from(packet.length) { Skipped::CutShort } else { Skipped::Malformed }
}

/// What is behind the link's head, and its heads.
fn slice<'p>(packet: &Packet<'p>) -> Result<(&'p [u8], LaxSlicedPacket<'p>), Skipped> {
    let bytes = packet.bytes;
    let ether_type =
        |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk::<2>()).map(|two| u16::from_be_bytes(*two));
    let behind = |at: usize, kind: Option<u16>| {
        let (Some(rest), Some(kind)) = (bytes.get(at..), kind) else { return Err(Skipped::CutShort) };
        let sliced = LaxSlicedPacket::from_ether_type(EtherType(kind), rest);
        // Behind tags of virtual networks the IP packet begins later.
        let tags: usize = sliced.link_exts.iter().map(etherparse::LaxLinkExtSlice::header_len).sum();
        Ok((rest.get(tags..).unwrap_or_default(), sliced))
    };
    match packet.link {
        link::ETHERNET => behind(14, ether_type(12)),
        link::COOKED => behind(16, ether_type(14)),
        link::COOKED_2 => behind(20, ether_type(0)),
        link::NULL | link::LOOP => ip(bytes.get(4..).ok_or(Skipped::CutShort)?, packet),
        other if link::RAW.contains(&other) => ip(bytes, packet),
        other => Err(Skipped::Link(other)),
    }
}

fn ip<'p>(bytes: &'p [u8], packet: &Packet) -> Result<(&'p [u8], LaxSlicedPacket<'p>), Skipped> {
    let sliced = LaxSlicedPacket::from_ip(bytes).map_err(|_| cut_or_malformed(packet))?;
    Ok((bytes, sliced))
}

/// The length of the IP packet on the wire. A card that splits large packets by itself is handed ones whose head says 0.
fn on_the_wire(packet: &Packet, network: &[u8], sliced: &LaxSlicedPacket) -> u64 {
    let said = match &sliced.net {
        Some(LaxNetSlice::Ipv4(ip)) => u64::from(ip.header().total_len()),
        Some(LaxNetSlice::Ipv6(ip)) => match ip.header().payload_length() {
            0 => 0,
            length => u64::from(length) + 40,
        },
        _ => 0,
    };
    let link = packet.bytes.len() - network.len();
    if said > 0 { said } else { u64::from(packet.length).saturating_sub(link as u64) }
}

fn offer(tcp: &etherparse::TcpSlice) -> (u16, bool) {
    let (mut largest, mut has_timestamps) = (0, false);
    for option in tcp.options_iterator().map_while(Result::ok) {
        match option {
            TcpOptionElement::MaximumSegmentSize(size) => largest = size,
            TcpOptionElement::Timestamp(..) => has_timestamps = true,
            _ => {}
        }
    }
    (largest, has_timestamps)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of IPv4 and TCP behind Ethernet.
    fn frame(payload: usize) -> Vec<u8> {
        let mut bytes = vec![0; 12];
        bytes.extend([8, 0, 0x45, 0]);
        bytes.extend((40 + payload as u16).to_be_bytes());
        bytes.extend([0, 7, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend([0xc3, 0x50, 0, 80, 0, 0, 0, 9, 0, 0, 1, 0, 0x50, 0x18, 1, 2, 0, 0, 0, 0]);
        bytes.extend(vec![b'x'; payload]);
        bytes
    }

    #[test]
    fn the_short_way_reads_what_the_long_one_reads_whatever_is_in_a_packet() {
        let mut random = fastrand::Rng::with_seed(11);
        let mut short = 0;
        for turn in 0..200_000 {
            let mut bytes = frame(random.usize(..40));
            for _ in 0..turn % 4 {
                let at = random.usize(..bytes.len().min(56));
                bytes[at] = random.u8(..);
            }
            // Padding of short frames, and packets that were cut.
            let length = bytes.len() as u32;
            bytes.resize((bytes.len() + 6).saturating_sub(random.usize(..20)), 0);
            let packet =
                Packet { time: 1, link: link::ETHERNET, length: length.max(bytes.len() as u32), bytes: &bytes };
            if let Some(head) = plain(&packet) {
                short += 1;
                assert_eq!(any(&packet), Ok(head), "{bytes:x?}");
            }
        }
        assert!(short > 50_000, "{short}");
    }
}
