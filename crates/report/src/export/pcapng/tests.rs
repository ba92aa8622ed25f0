use crate::export::fixture::{connection, known, recording, segment};
use pcap_file::pcapng::{Block, PcapNgReader};

/// The file's packets: interface, nanoseconds since 1970, original length, bytes, comment.
fn packets(file: &[u8]) -> Vec<(u32, u128, u32, Vec<u8>, String)> {
    let mut reader = PcapNgReader::new(file).expect("a capture");
    let mut packets = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.expect("a block") {
            let comment = format!("{:?}", packet.options.first().expect("a comment"));
            let nanos = packet.timestamp.as_nanos();
            packets.push((packet.interface_id, nanos, packet.original_len, packet.data.to_vec(), comment));
        }
    }
    packets
}

#[test]
fn every_segment_is_a_packet_with_its_own_time_ports_and_numbers() {
    let packets = packets(&super::pcapng(&recording(), &known()));
    assert_eq!(packets.len(), 4);
    let (_, time, length, bytes, _) = &packets[0];
    assert_eq!((*time, *length, bytes.len()), (1_700_000_000_000_100_000, 140, 40));
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    assert_eq!((number(12), number(16)), (0x0a00_0001, 0x0a00_0002), "addresses");
    assert_eq!((number(20), number(24), number(28)), ((40_000 << 16) + 443, 1_000, 2_000), "ports and numbers");
}

#[test]
fn each_end_has_an_interface_and_sees_a_segment_once() {
    let interfaces = packets(&super::pcapng(&recording(), &known()));
    assert_eq!(interfaces.iter().map(|packet| packet.0).collect::<Vec<_>>(), [0, 1, 1, 0]);
}

#[test]
fn a_packet_names_its_process_and_what_wrote_it() {
    let packets = packets(&super::pcapng(&recording(), &known()));
    let said = "client python3 (1): last write of 100 bytes at client.py:26 in post, 10.0 us before";
    assert!(packets[0].4.contains(said), "{}", packets[0].4);
    assert!(packets[1].4.contains("server ") && !packets[1].4.contains("write"), "{}", packets[1].4);
    assert!(packets.iter().all(|packet| !packet.4.contains('\u{1b}') && !packet.4.contains('\u{202e}')));
}

#[test]
fn a_segment_without_an_address_is_left_out_and_counted() {
    let mut recording = recording();
    recording.connections.push(case::tables::Connection { local_address: String::new(), ..connection(3) });
    recording.segments.extend([segment(3, 1), segment(99, 2)]);
    let file = super::pcapng(&recording, &known());
    assert_eq!(packets(&file).len(), 4);
    assert!(String::from_utf8_lossy(&file).contains("2 segments are left out, whose addresses are not known."));
}
