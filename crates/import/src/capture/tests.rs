use super::*;
use case::tables::{Call, Connection, Handshake, HttpMessage, Segment, direction, role};
use case::{Case, CaseWriter, Manifest, SCHEMA, Source};
use std::path::PathBuf;

/// The rows of one case.
struct Imported {
    captured: Captured,
    case: Case,
    _home: tempfile::TempDir,
}

impl Imported {
    fn rows<R: case::Row>(&self) -> Vec<R> {
        self.case.read().expect("a table")
    }

    fn problem(&self, problem: &Problem) -> u64 {
        self.captured.problems.iter().find(|(one, _)| one == problem).map_or(0, |(_, count)| *count)
    }
}

fn import(path: &Path) -> Result<Imported, ImportError> {
    let home = tempfile::tempdir().expect("a folder");
    let (captured, recording) = read_capture(path)?;
    let manifest = Manifest { schema: SCHEMA, source: Source::Capture, ..recording.manifest.clone() };
    let mut writer = CaseWriter::create(&home.path().join("case"), manifest).expect("a case");
    recording.write(&mut writer);
    let case = writer.close().expect("closed");
    let recording = Recording { manifest: case.manifest().clone(), ..recording };
    assert!(recording == Recording::load(&case).expect("a recording"), "other rows are read than were written");
    Ok(Imported { captured, case, _home: home })
}

fn import_bytes(bytes: &[u8]) -> Result<Imported, ImportError> {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), bytes).expect("written");
    import(file.path())
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// A packet of IPv4 over a link of raw IP: from port to port, sequence, acknowledged, flags, payload.
fn packet(ports: (u16, u16), numbers: (u32, u32), flags: u8, payload: &[u8]) -> Vec<u8> {
    let total = 40 + payload.len() as u16;
    let (from, to) = if ports.0 > ports.1 { ([10, 0, 0, 1], [10, 0, 0, 2]) } else { ([10, 0, 0, 2], [10, 0, 0, 1]) };
    let mut bytes = vec![0x45, 0];
    bytes.extend(total.to_be_bytes());
    bytes.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    bytes.extend(from);
    bytes.extend(to);
    bytes.extend(ports.0.to_be_bytes());
    bytes.extend(ports.1.to_be_bytes());
    bytes.extend(numbers.0.to_be_bytes());
    bytes.extend(numbers.1.to_be_bytes());
    bytes.extend([0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
    bytes.extend(payload);
    bytes
}

const RAW: u32 = 101;

/// A pcap file with microseconds of packets: time, bytes, and how many of them were captured.
fn pcap(link: u32, packets: &[(u64, Vec<u8>, usize)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65_535, link] {
        bytes.extend(number.to_le_bytes());
    }
    for (time, packet, captured) in packets {
        let captured = packet.len().min(*captured);
        let (seconds, rest) = ((time / 1_000_000) as u32, (time % 1_000_000) as u32);
        for number in [seconds, rest, captured as u32, packet.len() as u32] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(&packet[..captured]);
    }
    bytes
}

/// A connection in which a client asks for a page: handshake of the given half round trips, request, answer.
fn page(there: u64, back: u64) -> Vec<(u64, Vec<u8>, usize)> {
    const ALL: usize = 65_535;
    let (ask, answer) = ((50_000, 80), (80, 50_000));
    let request = b"GET /a?token=secret HTTP/1.1\r\nHost: casebook.test\r\n\r\n";
    let response = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let t = 1_700_000_000_000_000;
    let asked = 101 + request.len() as u32;
    vec![
        (t, packet(ask, (100, 0), 0x02, b""), ALL),
        (t + there, packet(answer, (900, 101), 0x12, b""), ALL),
        (t + there + back, packet(ask, (101, 901), 0x10, b""), ALL),
        (t + there + back + 10, packet(ask, (101, 901), 0x18, request), ALL),
        (t + 2 * there + back + 500, packet(answer, (901, asked), 0x18, response), ALL),
    ]
}

#[test]
fn a_page_is_a_connection_with_a_request_an_answer_and_no_secret() {
    let got = import_bytes(&pcap(RAW, &page(1_000, 10))).expect("a case");
    let connections: Vec<Connection> = got.rows();
    let [one] = &connections[..] else { panic!("{connections:?}") };
    assert_eq!((one.role, one.remote_address.as_str(), one.remote_port), (role::CLIENT, "10.0.0.2", 80));
    assert_eq!((one.established - one.opened, one.srtt), (Nanos(1_000_000), Nanos(1_000_000)));
    let messages: Vec<HttpMessage> = got.rows();
    assert_eq!((messages[0].target.as_str(), messages[1].status), ("/a?token=*", 200));
    let calls: Vec<Call> = got.rows();
    assert_eq!(calls.iter().map(|call| (call.number, call.result)).collect::<Vec<_>>(), [(1, 53), (0, 43)]);
    let segments: Vec<Segment> = got.rows();
    let ways: Vec<u8> = segments.iter().map(|row| row.direction).collect();
    assert_eq!(ways, [direction::OUT, direction::IN, direction::OUT, direction::OUT, direction::IN]);
    assert_eq!(got.captured.problems, []);
}

#[test]
fn a_capture_taken_at_the_server_is_told_from_there() {
    let got = import_bytes(&pcap(RAW, &page(5, 1_000))).expect("a case");
    let connections: Vec<Connection> = got.rows();
    assert_eq!((connections[0].role, connections[0].local_port), (role::SERVER, 80));
    assert_eq!(connections[0].srtt, Nanos(1_000_000));
    let calls: Vec<Call> = got.rows();
    assert_eq!(calls.iter().map(|call| call.number).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn packets_that_were_cut_behind_their_heads_keep_their_length() {
    let mut packets = page(1_000, 10);
    for (_, _, captured) in &mut packets {
        *captured = 44;
    }
    let got = import_bytes(&pcap(RAW, &packets)).expect("a case");
    let calls: Vec<Call> = got.rows();
    assert_eq!(calls.iter().map(|call| call.result).collect::<Vec<_>>(), [53, 43]);
    for (_, _, captured) in &mut packets {
        *captured = 30;
    }
    let got = import_bytes(&pcap(RAW, &packets)).expect("a case");
    assert_eq!((got.captured.segments, got.problem(&Problem::CutShort)), (0, 5));
}

#[test]
fn a_segment_that_is_sent_again_is_an_event_and_moves_nothing() {
    let mut packets = page(1_000, 10);
    let (time, bytes, captured) = packets[3].clone();
    packets.insert(4, (time + 900, bytes, captured));
    let got = import_bytes(&pcap(RAW, &packets)).expect("a case");
    assert_eq!(got.rows::<case::tables::TcpEvent>().len(), 1);
    let calls: Vec<Call> = got.rows();
    assert_eq!(calls.iter().map(|call| call.result).collect::<Vec<_>>(), [53, 43]);
}

#[test]
fn what_a_capture_of_all_interfaces_shows_twice_counts_once() {
    // The Linux cooked head of `tcpdump -i any`, version 2, before each packet.
    let cooked = |(time, bytes, captured): &(u64, Vec<u8>, usize), way: u8| {
        let mut head = vec![8, 0, 0, 0, 0, 0, 0, 1, 3, 4, way, 6];
        head.extend([0; 8]);
        head.extend(bytes);
        (*time, head, *captured)
    };
    let twice: Vec<_> = page(10, 5).iter().flat_map(|one| [cooked(one, 4), cooked(one, 0)]).collect();
    let got = import_bytes(&pcap(276, &twice)).expect("a case");
    assert_eq!((got.captured.segments, got.problem(&Problem::Twice)), (5, 5));
    assert_eq!(got.rows::<case::tables::TcpEvent>().len(), 0);
}

#[test]
fn a_file_that_breaks_off_or_goes_on_as_something_else_is_read_up_to_there() {
    let whole = pcap(RAW, &page(1_000, 10));
    let cut = import_bytes(&whole[..whole.len() - 7]).expect("a case");
    assert_eq!((cut.captured.segments, cut.problem(&Problem::Truncated)), (4, 1));
    let garbled = [&whole[..], &[0xff; 4_000]].concat();
    let garbled = import_bytes(&garbled).expect("a case");
    assert_eq!(garbled.captured.segments, 5);
    assert_eq!(garbled.captured.problems.len(), 1, "{:?}", garbled.captured.problems);
}

#[test]
fn any_length_of_a_real_capture_adds_up() {
    let bytes = std::fs::read(fixture("nagle-slow-client.pcap")).expect("a fixture");
    for length in (24..bytes.len()).step_by(1_499) {
        let got = import_bytes(&bytes[..length]).expect("a case");
        let problems: u64 = got.captured.problems.iter().map(|(_, count)| count).sum();
        let truncated = got.problem(&Problem::Truncated);
        assert_eq!(got.captured.segments + problems, got.captured.packets + truncated, "{length}");
    }
}

#[test]
fn what_is_no_capture_is_refused() {
    for bytes in [&b""[..], b"GET / HTTP/1.1\r\n", &[0x0a, 0x0d, 0x0d, 0x0a, 1, 2, 3], &[0xd4, 0xc3, 0xb2, 0xa1]] {
        assert!(matches!(import_bytes(bytes), Err(ImportError::NotACapture(_))), "{bytes:?}");
    }
}

#[test]
fn a_packed_capture_and_one_of_blocks_are_the_same_as_the_plain_one() {
    let plain = std::fs::read(fixture("nagle-slow-client.pcap")).expect("a fixture");
    let expected = import_bytes(&plain).expect("a case");
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packer, &plain).expect("packed");
    let packed = import_bytes(&packer.finish().expect("packed")).expect("a case");
    let zstd = import_bytes(&zstd::encode_all(&plain[..], 1).expect("packed")).expect("a case");
    let blocks = import_bytes(&as_blocks(&plain)).expect("a case");
    for other in [packed, zstd, blocks] {
        assert_eq!(other.captured, expected.captured);
        assert_eq!(other.rows::<Segment>(), expected.rows::<Segment>());
        assert_eq!(other.rows::<Handshake>(), expected.rows::<Handshake>());
    }
}

/// A pcap file with microseconds as pcapng, in big-endian blocks that count nanoseconds.
fn as_blocks(plain: &[u8]) -> Vec<u8> {
    fn block(bytes: &mut Vec<u8>, kind: u32, body: &[u8]) {
        let padded = body.len().next_multiple_of(4);
        let length = (12 + padded) as u32;
        bytes.extend(kind.to_be_bytes());
        bytes.extend(length.to_be_bytes());
        bytes.extend(body);
        bytes.extend(std::iter::repeat_n(0, padded - body.len()));
        bytes.extend(length.to_be_bytes());
    }
    let u32_at = |at: usize| u32::from_le_bytes(*plain[at..].first_chunk().expect("four bytes"));
    let mut bytes = Vec::new();
    block(&mut bytes, 0x0a0d_0d0a, &[0x1a, 0x2b, 0x3c, 0x4d, 0, 1, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
    let link = (u32_at(20) as u16).to_be_bytes();
    // if_tsresol: nanoseconds.
    block(&mut bytes, 1, &[link[0], link[1], 0, 0, 0, 0, 0xff, 0xff, 0, 9, 0, 1, 9, 0, 0, 0, 0, 0, 0, 0]);
    let mut at = 24;
    while at < plain.len() {
        let time = u64::from(u32_at(at)) * 1_000_000_000 + u64::from(u32_at(at + 4)) * 1_000;
        let (captured, length) = (u32_at(at + 8), u32_at(at + 12));
        let mut body = Vec::new();
        for number in [0, (time >> 32) as u32, time as u32, captured, length] {
            body.extend(number.to_be_bytes());
        }
        body.extend(&plain[at + 16..at + 16 + captured as usize]);
        block(&mut bytes, 6, &body);
        at += 16 + captured as usize;
    }
    bytes
}

#[test]
fn a_clock_that_is_years_off_makes_no_time_overflow() {
    let mut packets = page(1_000, 10);
    packets[3].0 = u64::from(u32::MAX) * 1_000_000;
    packets[4].0 = 0;
    let got = import_bytes(&pcap(RAW, &packets)).expect("a case");
    assert_eq!((got.problem(&Problem::FarOff), got.problem(&Problem::OutOfOrder)), (1, 1));
    assert_eq!(got.rows::<Segment>().len(), 5);
}

#[test]
fn a_connection_is_closed_when_its_own_end_says_so_and_whoever_comes_again_is_another() {
    let (ask, answer) = ((50_000, 80), (80, 50_000));
    let mut packets = page(1_000, 10);
    let last = packets[4].0;
    packets.push((last + 100, packet(ask, (154, 944), 0x11, b""), 100));
    packets.push((last + 2_000, packet(answer, (944, 155), 0x11, b""), 100));
    let again: Vec<_> = page(1_000, 10).into_iter().map(|(time, bytes, all)| (time + 60_000, bytes, all)).collect();
    packets.extend(again);
    let got = import_bytes(&pcap(RAW, &packets)).expect("a case");
    let connections: Vec<Connection> = got.rows();
    assert_eq!(connections.len(), 2);
    let opened = packets[0].0;
    assert_eq!(connections[0].closed - connections[0].opened, Nanos((last + 100 - opened) * 1_000));
}

#[test]
fn rows_beyond_those_that_a_case_holds_are_counted() {
    let bytes = pcap(RAW, &page(1_000, 10));
    let from = Ahead::of(std::io::Cursor::new(bytes.clone()));
    let (captured, recording) = read(&bytes[..4], from, 3).expect("a capture");
    assert_eq!((captured.segments, captured.problems), (3, vec![(Problem::NoRoom, 2)]));
    assert_eq!(recording.segments.len(), 3);
}

#[test]
fn however_many_connections_there_are_only_so_many_are_followed() {
    let mut rows = Rows::new(u64::MAX);
    let mut reading = Reading::default();
    for number in 0..(MOST_LIVE as u32 + 1_000) {
        let ip = std::net::IpAddr::V4(std::net::Ipv4Addr::from(number));
        let head = Head {
            from: Address { ip, port: 5_000 },
            to: Address { ip: std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), port: 80 },
            sequence: number,
            acknowledged: 0,
            flags: case::tables::flags::SYN,
            window: 1,
            identification: 0,
            payload: 0,
            bytes: b"",
            offer: None,
            may_be_twice: false,
        };
        reading.take(u64::from(number), false, &head, &mut rows);
        assert!(reading.live.len() <= MOST_LIVE);
    }
    assert_eq!(reading.finish(rows).0.connections, MOST_LIVE as u64 + 1_000);
}
