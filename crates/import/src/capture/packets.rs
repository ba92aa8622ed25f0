//! The packets of a capture, one after another: pcap and pcapng, in a buffer of fixed size whatever the file's.

use super::ahead::Ahead;
use pcap_file::pcap::{PcapHeader, PcapParser};
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

/// The head of a record in the older format: seconds, ticks, bytes captured, bytes on the wire (draft-ietf-opsawg-pcap, 5).
const RECORD_HEAD: usize = 16;

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
    endianness: Endianness,
    from: Ahead,
    /// The length of the next record with its head, as far as that was read.
    next: usize,
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
        let (records, header) = Records::new(from)?;
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
                let Some(record) = records.next()? else { return Ok(Step::End) };
                let seconds = u64::from(record.seconds).saturating_mul(1_000_000_000);
                let time = seconds.saturating_add(clock.nanos(u64::from(record.ticks)));
                Ok(Step::Packet(Packet { time, link: *link, length: record.length, bytes: record.bytes }))
            }
            Packets::PcapNg(blocks) => blocks.next(),
        }
    }
}

/// One record of the older format.
struct Record<'r> {
    seconds: u32,
    /// Microseconds or nanoseconds, as the file's head says.
    ticks: u32,
    /// How long the packet was on the wire.
    length: u32,
    bytes: &'r [u8],
}

impl Records {
    /// Reads the file's head.
    fn new(mut from: Ahead) -> Result<(Records, PcapHeader), Broken> {
        loop {
            match PcapParser::new(from.left()) {
                Ok((rest, parser)) => {
                    let head = from.left().len() - rest.len();
                    from.pass(head);
                    let header = parser.header();
                    let mut records = Records { endianness: header.endianness, from, next: 0 };
                    records.look_ahead();
                    return Ok((records, header));
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
    fn next(&mut self) -> Result<Option<Record<'_>>, Broken> {
        while self.from.left().len() < self.next {
            let left = self.from.left().len();
            if left >= LONGEST_PACKET {
                return Err(Broken::Truncated);
            }
            if !self.from.more().map_err(Broken::Io)? {
                return if left == 0 { Ok(None) } else { Err(Broken::Truncated) };
            }
            self.look_ahead();
        }
        let length = self.next;
        self.from.skip(length);
        // The head of the record after this one is fetched while this one is worked on.
        self.look_ahead();
        let (head, bytes) = self.from.skipped(length).split_at(RECORD_HEAD);
        let fields = Fields { body: head, endianness: self.endianness };
        let field = |at| fields.u32(at).unwrap_or_default();
        Ok(Some(Record { seconds: field(0), ticks: field(4), length: field(12), bytes }))
    }

    /// Reads how long the next record is: of one that is not there yet, its head.
    fn look_ahead(&mut self) {
        let fields = Fields { body: self.from.left(), endianness: self.endianness };
        let captured = fields.u32(8).filter(|_| fields.body.len() >= RECORD_HEAD).unwrap_or_default();
        self.next = RECORD_HEAD + captured as usize;
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
