//! The recorded segments as a capture for Wireshark and tshark.
//!
//! Packets are synthesised from the table of segments: IP and TCP heads as far as they were recorded, no payload, since
//! that was never kept. Their original length is the true one, so lengths and sequence numbers add up. What was not
//! recorded is set to something harmless: the window is always open, checksums of TCP are 0.

mod ends;
mod packet;
mod writers;

use super::Known;
use super::clock::Clock;
use super::programs::Programs;
use crate::command::command;
use crate::text::{clean, counted, shorten};
use case::tables::{Connection, Segment, direction};
use case::{Manifest, Recording};
use ends::Ends;
use packet::Heads;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{Endianness, PcapResult};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;
use writers::Writers;

/// An option's length is 16 bits; a comment this long says enough.
const MOST_LETTERS: usize = 2_000;
/// Directions in the flags of a packet.
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

/// The capture.
pub fn pcapng(recording: &Recording, known: &Known) -> Vec<u8> {
    // Writing to memory fails only where a block names an interface that was not written, and none does.
    written(recording, known).unwrap_or_default()
}

/// A segment that can be shown, with its socket.
struct Shown<'r> {
    segment: &'r Segment,
    connection: &'r Connection,
    heads: Heads,
}

fn written(recording: &Recording, known: &Known) -> PcapResult<Vec<u8>> {
    let shown = shown(recording);
    let skipped = recording.segments.len() - shown.len();
    let ends = Ends::of(recording, shown.iter().map(|one| one.connection));
    let mut file = PcapNgWriter::with_section_header(Vec::new(), section(&recording.manifest, skipped))?;
    for interface in ends.interfaces(recording) {
        file.write_pcapng_block(interface)?;
    }
    let (clock, programs) = (Clock::of(&recording.manifest), Programs::of(recording));
    let writers = Writers::of(recording, known);
    for one in &shown {
        let mut comment = programs.name(one.connection.pid, one.segment.time);
        if let Some(writer) = writers.before(one.segment) {
            comment = format!("{comment}: {writer}");
        }
        file.write_pcapng_block(EnhancedPacketBlock {
            interface_id: ends.interface_of(one.connection),
            timestamp: Duration::from_nanos(clock.unix(one.segment.time)),
            original_len: one.heads.original_length(),
            data: Cow::Borrowed(one.heads.bytes()),
            options: vec![
                EnhancedPacketOption::Comment(Cow::Owned(shorten(&comment, MOST_LETTERS))),
                EnhancedPacketOption::Flags(if is_out(one.segment) { OUTBOUND } else { INBOUND }),
            ],
        })?;
    }
    Ok(file.into_inner())
}

fn is_out(segment: &Segment) -> bool {
    segment.direction == direction::OUT
}

/// The segments whose addresses are known, in order of time.
fn shown(recording: &Recording) -> Vec<Shown<'_>> {
    let connections = recording.connections.iter().map(|row| (row.id, row)).collect::<BTreeMap<_, _>>();
    let known = recording.segments.iter().filter_map(|segment| {
        let connection = *connections.get(&segment.connection)?;
        Some(Shown { segment, connection, heads: Heads::of(segment, connection)? })
    });
    let mut shown = known.collect::<Vec<_>>();
    shown.sort_by_key(|one| one.segment.time);
    shown
}

/// The head of the file: what recorded it where, and what is not in it.
fn section(manifest: &Manifest, skipped: usize) -> SectionHeaderBlock<'static> {
    let host = &manifest.host;
    let hardware = format!("{}, {}", clean(&host.processor), counted(host.processors.into(), "processor"));
    let system = format!("Linux {}, {}", clean(&host.kernel), clean(&host.distribution));
    SectionHeaderBlock {
        endianness: Endianness::Little,
        options: vec![
            SectionHeaderOption::Comment(Cow::Owned(about(manifest, skipped))),
            SectionHeaderOption::Hardware(Cow::Owned(hardware)),
            SectionHeaderOption::OS(Cow::Owned(system)),
            SectionHeaderOption::UserApplication(Cow::Owned(format!("whyslow {}", clean(&manifest.whyslow)))),
        ],
        ..SectionHeaderBlock::default()
    }
}

fn about(manifest: &Manifest, skipped: usize) -> String {
    let mut about = format!(
        "Recorded by whyslow: {}. Heads are made from the kernel's events; payload was not kept, windows, options and \
         checksums of TCP were not recorded. Dates are exact to the second, lengths of time to the nanosecond. Where \
         both ends of a connection were recorded, each of its segments is here twice, once on each end's interface, \
         and what is called a retransmission or a duplicate is only that: frame.interface_id == 0 shows one end.",
        command(&manifest.command)
    );
    if skipped > 0 {
        about += &format!(" {} left out, whose addresses are not known.", left_out(skipped));
    }
    about
}

fn left_out(skipped: usize) -> String {
    format!("{} {}", counted(skipped as u64, "segment"), if skipped == 1 { "is" } else { "are" })
}

#[cfg(test)]
mod tests;
