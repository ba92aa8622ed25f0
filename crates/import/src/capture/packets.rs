//! The packets of a capture, one after another: pcap and pcapng, in a buffer of fixed size whatever the file's.

use super::ahead::Ahead;
use pcap_file::pcap::{PcapParser, RawPcapPacket};
use pcap_file::pcapng::PcapNgReader;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::{Endianness, PcapError, TsResolution};
use std::borrow::Cow;

/// A file that describes more interfaces is no capture: machines with many containers have some thousand.
const MOST_INTERFACES: usize = 65_536;

/// Types of pcapng's blocks that hold a packet (draft-ietf-opsawg-pcapng, 4).
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// A longer packet is none: links carry at most some hundred kilobytes at a time.
const LONGEST_PACKET: usize = 8_000_000;

/// Ticks in a second where an interface says nothing: microseconds.
const MICROSECONDS: u64 = 1_000_000;

/// One packet as it was captured.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'p> {
    /// Nanoseconds since 1970.
    pub time: u64,
    /// The number of its link's type (tcpdump.org/linktypes.html).
    pub link: u32,
    /// How long it was on the wire.
    pub length: u32,
    /// Its bytes, as far as they were captured.
    pub bytes: &'p [u8],
}

/// What comes next in a file.
#[derive(Clone, Copy, Debug)]
pub enum Step<'p> {
    /// A packet.
    Packet(Packet<'p>),
    /// Something that is no packet.
    Other,
    /// Nothing more.
    End,
}

/// Why a capture cannot be read, or no further.
#[derive(Debug)]
pub enum Broken {
    /// The bytes at this place are not what the format asks for.
    Malformed(String),
    /// The file ends in the middle of a packet.
    Truncated,
    /// The system refused to read.
    Io(std::io::Error),
}

impl From<PcapError> for Broken {
    fn from(error: PcapError) -> Broken {
        match error {
            PcapError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Broken::Truncated,
            PcapError::IoError(error) => Broken::Io(error),
            other => Broken::Malformed(other.to_string()),
        }
    }
}

/// The packets of a file.
pub enum Packets {
    /// The older format: one link, one resolution of time.
    Pcap(Records, Clock, u32),
    /// The newer one.
    PcapNg(Box<Blocks>),
}

/// A file of the older format, from which packets are slices.
pub struct Records {
    parser: PcapParser,
    from: Ahead,
}

/// A file of blocks, and what its interfaces said.
pub struct Blocks {
    reader: PcapNgReader<Ahead>,
    interfaces: Vec<Interface>,
    /// Packets without a time have that of the one before.
    last_time: u64,
}

/// How an interface counts time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Ticks in a second.
    resolution: u64,
    /// Seconds to be added.
    offset: u64,
}

#[derive(Clone, Copy)]
struct Interface {
    link: u32,
    clock: Clock,
}

/// Whether the first bytes of a file are those of a capture.
pub fn is_capture(begin: &[u8]) -> bool {
    matches!(
        begin.first_chunk::<4>(),
        Some(
            [0xa1, 0xb2, 0xc3, 0xd4]
                | [0xd4, 0xc3, 0xb2, 0xa1]
                | [0xa1, 0xb2, 0x3c, 0x4d]
                | [0x4d, 0x3c, 0xb2, 0xa1]
                | [0x0a, 0x0d, 0x0d, 0x0a]
        )
    )
}

impl Packets {
    /// Reads a file's head. `begin` are its first bytes, which `from` gives once more.
    pub fn new(begin: &[u8], from: Ahead) -> Result<Packets, Broken> {
        if begin.first() == Some(&0x0a) {
            let reader = PcapNgReader::new(from)?;
            return Ok(Packets::PcapNg(Box::new(Blocks { reader, interfaces: Vec::new(), last_time: 0 })));
        }
        let records = Records::new(from)?;
        let header = records.parser.header();
        let resolution = match header.ts_resolution {
            TsResolution::MicroSecond => MICROSECONDS,
            TsResolution::NanoSecond => 1_000_000_000,
        };
        Ok(Packets::Pcap(records, Clock { resolution, offset: 0 }, header.datalink.into()))
    }

    /// What comes next.
    pub fn next(&mut self) -> Result<Step<'_>, Broken> {
        match self {
            Packets::Pcap(records, clock, link) => {
                let Some(packet) = records.next()? else { return Ok(Step::End) };
                let seconds = u64::from(packet.ts_sec).saturating_mul(1_000_000_000);
                let time = seconds.saturating_add(clock.nanos(u64::from(packet.ts_frac)));
                let Cow::Borrowed(bytes) = packet.data else { return Ok(Step::Other) };
                Ok(Step::Packet(Packet { time, link: *link, length: packet.orig_len, bytes }))
            }
            Packets::PcapNg(blocks) => blocks.next(),
        }
    }
}

impl Records {
    /// Reads the file's head.
    fn new(mut from: Ahead) -> Result<Records, Broken> {
        loop {
            match PcapParser::new(from.left()) {
                Ok((rest, parser)) => {
                    let head = from.left().len() - rest.len();
                    from.pass(head);
                    return Ok(Records { parser, from });
                }
                Err(PcapError::IncompleteBuffer) => {}
                Err(other) => return Err(other.into()),
            }
            if !from.more().map_err(Broken::Io)? {
                return Err(Broken::Truncated);
            }
        }
    }

    /// The next packet.
    fn next(&mut self) -> Result<Option<RawPcapPacket<'_>>, Broken> {
        let length = loop {
            let left = self.from.left();
            match self.parser.next_raw_packet(left) {
                Ok((rest, _)) => break left.len() - rest.len(),
                Err(PcapError::IncompleteBuffer) if left.len() < LONGEST_PACKET => {}
                Err(PcapError::IncompleteBuffer) => return Err(Broken::Truncated),
                Err(other) => return Err(other.into()),
            }
            let is_between = left.is_empty();
            if !self.from.more().map_err(Broken::Io)? {
                return if is_between { Ok(None) } else { Err(Broken::Truncated) };
            }
        };
        let (_, packet) = self.parser.next_raw_packet(self.from.pass(length))?;
        Ok(Some(packet))
    }
}

impl Blocks {
    fn next(&mut self) -> Result<Step<'_>, Broken> {
        self.keep_interfaces()?;
        let endianness = self.reader.section().endianness;
        let Some(block) = self.reader.next_raw_block().transpose()? else { return Ok(Step::End) };
        if !matches!(block.type_, OBSOLETE_PACKET | SIMPLE_PACKET | ENHANCED_PACKET) {
            return Ok(Step::Other);
        }
        let Cow::Borrowed(body) = block.body else { return Ok(Step::Other) };
        let fields = Fields { body, endianness };
        let Some((time, link, length, bytes)) = fields.packet(block.type_, &self.interfaces, self.last_time) else {
            return Err(Broken::Malformed("a packet's block is shorter than what it holds".to_string()));
        };
        self.last_time = time;
        Ok(Step::Packet(Packet { time, link, length, bytes }))
    }

    /// Notes what interfaces were described since the last block; a new section begins anew.
    fn keep_interfaces(&mut self) -> Result<(), Broken> {
        let described = self.reader.interfaces();
        if described.len() > MOST_INTERFACES {
            return Err(Broken::Malformed(format!("it describes more than {MOST_INTERFACES} interfaces")));
        }
        if described.len() < self.interfaces.len() {
            self.interfaces.clear();
        }
        let known = self.interfaces.len();
        self.interfaces.extend(described[known..].iter().map(Interface::of));
        Ok(())
    }
}

/// The numbers at the beginning of a block.
#[derive(Clone, Copy)]
struct Fields<'b> {
    body: &'b [u8],
    endianness: Endianness,
}

impl<'b> Fields<'b> {
    fn u32(self, at: usize) -> Option<u32> {
        let bytes = *self.body.get(at..)?.first_chunk::<4>()?;
        Some(match self.endianness {
            Endianness::Big => u32::from_be_bytes(bytes),
            Endianness::Little => u32::from_le_bytes(bytes),
        })
    }

    fn u16(self, at: usize) -> Option<u16> {
        let bytes = *self.body.get(at..)?.first_chunk::<2>()?;
        Some(match self.endianness {
            Endianness::Big => u16::from_be_bytes(bytes),
            Endianness::Little => u16::from_le_bytes(bytes),
        })
    }

    /// Time, link, length and bytes of a packet.
    fn packet(self, kind: u32, interfaces: &[Interface], before: u64) -> Option<(u64, u32, u32, &'b [u8])> {
        if kind == SIMPLE_PACKET {
            let (interface, length) = (interfaces.first()?, self.u32(0)?);
            let bytes = self.body.get(4..)?;
            return Some((before, interface.link, length, &bytes[..bytes.len().min(length as usize)]));
        }
        let number = if kind == ENHANCED_PACKET { self.u32(0)? } else { u32::from(self.u16(0)?) };
        let interface = interfaces.get(number as usize)?;
        let ticks = u64::from(self.u32(4)?) << 32 | u64::from(self.u32(8)?);
        let (captured, length) = (self.u32(12)? as usize, self.u32(16)?);
        let bytes = self.body.get(20..)?.get(..captured)?;
        Some((interface.clock.since_1970(ticks), interface.link, length, bytes))
    }
}

impl Interface {
    fn of(block: &InterfaceDescriptionBlock) -> Interface {
        let mut clock = Clock { resolution: MICROSECONDS, offset: 0 };
        for option in &block.options {
            match option {
                // A power of two where the first bit is set, else of ten; what 64 bits cannot hold no clock has.
                InterfaceDescriptionOption::IfTsResol(exponent) if exponent & 0x80 != 0 => {
                    clock.resolution = 1u64.checked_shl(u32::from(exponent & 0x7f)).unwrap_or(MICROSECONDS);
                }
                InterfaceDescriptionOption::IfTsResol(exponent) => {
                    clock.resolution = 10u64.checked_pow(u32::from(*exponent)).unwrap_or(MICROSECONDS);
                }
                InterfaceDescriptionOption::IfTsOffset(seconds) => clock.offset = *seconds,
                _ => {}
            }
        }
        Interface { link: block.linktype.into(), clock }
    }
}

impl Clock {
    /// Ticks as nanoseconds.
    fn nanos(self, ticks: u64) -> u64 {
        match self.resolution {
            MICROSECONDS => ticks.saturating_mul(1_000),
            1_000_000_000 => ticks,
            other => {
                let nanos = u128::from(ticks) * 1_000_000_000 / u128::from(other.max(1));
                u64::try_from(nanos).unwrap_or(u64::MAX)
            }
        }
    }

    fn since_1970(self, ticks: u64) -> u64 {
        self.nanos(ticks).saturating_add(self.offset.saturating_mul(1_000_000_000))
    }
}
