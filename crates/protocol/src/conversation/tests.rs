//! Real conversations, replayed as either end's calls, cut up as different programs would.

use super::*;
use case::Nanos;
use case::tables::direction::{IN, OUT};
use proptest::prelude::*;

const FULL_1_2: &str = include_str!("../fixtures/tls12-full.hex");
const RESUMED_1_2: &str = include_str!("../fixtures/tls12-resumed.hex");
const FULL_1_3: &str = include_str!("../fixtures/tls13-full.hex");
const RESUMED_1_3: &str = include_str!("../fixtures/tls13-resumed.hex");
const RETRY_1_3: &str = include_str!("../fixtures/tls13-retry.hex");
const GO_FULL: &str = include_str!("../fixtures/go-tls13-full.hex");
const GO_RESUMED: &str = include_str!("../fixtures/go-tls13-resumed.hex");
const ALL: [&str; 6] = [FULL_1_2, RESUMED_1_2, FULL_1_3, RESUMED_1_3, GO_FULL, GO_RESUMED];

/// How a program reads.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reads {
    /// All there is.
    Whole,
    /// A record's header, then its body: OpenSSL without read-ahead.
    HeaderThenBody,
}

/// One call as the recorder hands it over.
#[derive(Clone, Debug)]
struct Call {
    direction: u8,
    bytes: Vec<u8>,
}

/// The bursts of a fixture as the calls of one end, `b'c'` or `b's'`.
fn calls(fixture: &str, end: u8, reads: Reads) -> Vec<Call> {
    let mut calls = Vec::new();
    for line in fixture.lines() {
        let bytes: Vec<u8> = (2..line.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&line[at..at + 2], 16).expect("hexadecimal"))
            .collect();
        let direction = if line.as_bytes()[0] == end { OUT } else { IN };
        if direction == OUT || reads == Reads::Whole {
            calls.push(Call { direction, bytes });
            continue;
        }
        let mut rest = &bytes[..];
        while rest.len() >= 5 {
            let (header, after) = rest.split_at(5);
            let (body, after) = after.split_at(usize::from(u16::from_be_bytes([header[3], header[4]])));
            calls.extend([header, body].map(|part| Call { direction, bytes: part.to_vec() }));
            rest = after;
        }
    }
    calls
}

/// What a conversation of these calls gives; the call with index n lasts from 100 n to 100 n + 50.
fn replay(calls: &[Call], captured: usize) -> (Seen, Option<Handshake>) {
    let (mut conversation, mut seen) = (Conversation::new(3, role::CLIENT), Seen::default());
    for (index, call) in calls.iter().enumerate() {
        let start = Nanos(index as u64 * 100);
        let head = &call.bytes[..call.bytes.len().min(captured)];
        let end = start + Nanos(50);
        let moved = Moved { start, end, tid: 7, direction: call.direction, bytes: call.bytes.len() as u64, head };
        conversation.feed(&moved, &mut seen);
    }
    let at_close = conversation.close();
    let handshake = seen.handshake.clone().or(at_close);
    (seen, handshake)
}

/// The index of the call in which the handshake ended.
fn ended_in(calls: &[Call], captured: usize) -> (Handshake, usize) {
    let handshake = replay(calls, captured).1.expect("a handshake");
    let index = (handshake.end.0 / 100) as usize;
    (handshake, index)
}

#[test]
fn both_ends_see_the_same_handshake_however_they_read() {
    let expected = [
        (FULL_1_2, 0x0303, false, false),
        (RESUMED_1_2, 0x0303, true, true),
        (FULL_1_3, 0x0304, false, false),
        (RESUMED_1_3, 0x0304, true, true),
        (GO_FULL, 0x0304, false, false),
        (GO_RESUMED, 0x0304, true, true),
    ];
    for (fixture, version, resumed, offered) in expected {
        for end in *b"cs" {
            for reads in [Reads::Whole, Reads::HeaderThenBody] {
                let handshake = replay(&calls(fixture, end, reads), 2048).1.expect("a handshake");
                let what = (handshake.version, handshake.resumed, handshake.offered);
                assert_eq!(what, (version, resumed, offered), "{} {reads:?}", char::from(end));
                assert_eq!(
                    (handshake.server_name.as_str(), handshake.protocols.as_str()),
                    ("example.test", "http/1.1")
                );
                assert_eq!((handshake.connection, handshake.tid, handshake.start), (3, 7, Nanos(0)));
                assert_ne!(handshake.cipher, 0);
                assert_ne!(handshake.end, Nanos(0));
                assert!(handshake.offers_1_3 || version != 0x0304);
            }
        }
    }
}

#[test]
fn a_server_that_asks_for_another_key_share_gets_a_second_hello() {
    for end in *b"cs" {
        for reads in [Reads::Whole, Reads::HeaderThenBody] {
            let handshake = replay(&calls(RETRY_1_3, end, reads), 2048).1.expect("a handshake");
            assert_eq!(
                (handshake.version, handshake.resumed, handshake.server_name.as_str()),
                (0x0304, false, "example.test")
            );
            // After the first hello and the server's question.
            let (second, answered) = (handshake.second_hello.0, handshake.end.0);
            assert!(second >= 200 && second < answered, "{second} {answered}");
        }
    }
    let handshake = replay(&calls(FULL_1_3, b'c', Reads::Whole), 2048).1.expect("a handshake");
    assert_eq!(handshake.second_hello.0, 0);
}

#[test]
fn a_client_of_tls_1_3_ends_with_its_own_last_write_and_a_server_with_reading_it() {
    for fixture in [FULL_1_3, RESUMED_1_3] {
        let client = calls(fixture, b'c', Reads::Whole);
        assert_eq!(ended_in(&client, 2048).1, 2);
        let server = calls(fixture, b's', Reads::HeaderThenBody);
        let (handshake, index) = ended_in(&server, 2048);
        assert_eq!((server[index].direction, server[index].bytes.len()), (IN, 69), "the Finished's body");
        assert_eq!(server[index + 1].direction, OUT, "tickets follow");
        assert!(handshake.ticket);
    }
}

#[test]
fn tls_1_2_ends_with_the_second_finished_of_either_side() {
    assert_eq!(ended_in(&calls(FULL_1_2, b'c', Reads::Whole), 2048).1, 3);
    assert_eq!(ended_in(&calls(FULL_1_2, b's', Reads::Whole), 2048).1, 3);
    assert_eq!(ended_in(&calls(RESUMED_1_2, b'c', Reads::Whole), 2048).1, 2);
}

#[test]
fn a_ticket_of_tls_1_2_is_seen_in_the_clear_by_both_ends() {
    for end in *b"cs" {
        assert!(replay(&calls(FULL_1_2, end, Reads::HeaderThenBody), 2048).1.expect("a handshake").ticket);
        assert!(!replay(&calls(RESUMED_1_2, end, Reads::HeaderThenBody), 2048).1.expect("a handshake").ticket);
    }
}

#[test]
fn a_server_of_tls_1_2_that_gives_nothing_and_a_client_that_takes_no_ticket_are_seen_by_both_ends() {
    let seen = |calls: &[Call]| {
        let handshake = replay(calls, 2048).1.expect("a handshake");
        (handshake.gives_none, handshake.takes_no_ticket)
    };
    for end in *b"cs" {
        let mut calls = calls(FULL_1_2, end, Reads::Whole);
        assert_eq!(seen(&calls), (false, false));
        // The record with the ticket goes: a handshake record, and its message's type.
        let is_ticket = |call: &&mut Call| call.bytes.starts_with(&[22, 3, 3]) && call.bytes.get(5) == Some(&4);
        let ticket = calls.iter_mut().find(is_ticket).expect("a ticket");
        let length = usize::from(u16::from_be_bytes([ticket.bytes[3], ticket.bytes[4]]));
        ticket.bytes.drain(..5 + length);
        assert_eq!(seen(&calls), (true, false));
        // The empty extension that asks for a ticket becomes one that nobody knows.
        let hello = &mut calls[0].bytes;
        let asks = hello.windows(4).position(|bytes| bytes == [0, 35, 0, 0]).expect("the extension");
        hello[asks] = 0x5a;
        assert_eq!(seen(&calls), (true, true));
    }
    assert_eq!(seen(&calls(FULL_1_3, b'c', Reads::Whole)), (false, false), "encrypted");
}

#[test]
fn a_ticket_sent_with_the_servers_first_flight_is_seen_where_the_server_is_watched() {
    for fixture in [GO_FULL, GO_RESUMED] {
        let server = calls(fixture, b's', Reads::Whole);
        let (handshake, index) = ended_in(&server, 2048);
        assert!(handshake.ticket);
        assert_eq!((index, server[index].direction), (2, IN));
        assert!(!replay(&calls(fixture, b'c', Reads::Whole), 2048).1.expect("a handshake").ticket);
    }
}

#[test]
fn a_client_of_tls_1_3_claims_no_ticket() {
    assert!(!replay(&calls(FULL_1_3, b'c', Reads::Whole), 2048).1.expect("a handshake").ticket);
}

#[test]
fn a_request_read_together_with_the_last_message_makes_no_ticket_of_its_answer() {
    let mut server = calls(FULL_1_3, b's', Reads::Whole);
    let request = server.iter().rposition(|call| call.direction == IN && call.bytes.len() > 30).expect("a request");
    let request = server.remove(request).bytes;
    server[2].bytes.extend(request);
    let handshake = replay(&server, 2048).1.expect("a handshake");
    assert!(!handshake.ticket);
    assert_eq!(handshake.end, Nanos(250));
}

#[test]
fn sixty_four_bytes_of_each_body_still_tell_version_end_and_resumption() {
    for (fixture, version, resumed) in
        [(FULL_1_2, 0x0303, false), (RESUMED_1_2, 0x0303, true), (FULL_1_3, 0x0304, false), (RESUMED_1_3, 0x0304, true)]
    {
        let client = calls(fixture, b'c', Reads::HeaderThenBody);
        // What is written begins with 0x16 and is captured further; what is read after its header is not.
        let (mut conversation, mut seen) = (Conversation::new(3, role::CLIENT), Seen::default());
        for (index, call) in client.iter().enumerate() {
            let captured = if call.bytes[0] == 0x16 { 2048 } else { 64 };
            let head = &call.bytes[..call.bytes.len().min(captured)];
            let start = Nanos(index as u64 * 100);
            let moved =
                Moved { start, end: start, tid: 7, direction: call.direction, bytes: call.bytes.len() as u64, head };
            conversation.feed(&moved, &mut seen);
        }
        let handshake = seen.handshake.or(conversation.close()).expect("a handshake");
        assert_eq!((handshake.version, handshake.resumed), (version, resumed));
        assert_ne!(handshake.end, Nanos(0));
    }
}

#[test]
fn every_record_is_counted_however_the_calls_are_cut() {
    for fixture in ALL {
        let whole = replay(&calls(fixture, b'c', Reads::Whole), 4096).0.records;
        let cut = replay(&calls(fixture, b'c', Reads::HeaderThenBody), 4096).0.records;
        let bare = |records: Vec<case::tables::TlsRecord>| {
            records.into_iter().map(|record| (record.direction, record.content_type, record.length)).collect::<Vec<_>>()
        };
        assert_eq!(bare(whole.clone()), bare(cut));
        let bytes: u64 = whole.iter().map(|record| u64::from(record.length) + 5).sum();
        let moved: usize = calls(fixture, b'c', Reads::Whole).iter().map(|call| call.bytes.len()).sum();
        assert_eq!(bytes, moved as u64);
    }
}

#[test]
fn a_handshake_that_breaks_off_is_given_at_the_end_without_one() {
    let client = calls(FULL_1_2, b'c', Reads::Whole);
    let (seen, at_close) = replay(&client[..2], 2048);
    assert_eq!(seen.handshake, None);
    let handshake = at_close.expect("a handshake");
    assert_eq!((handshake.end, handshake.version, handshake.offered), (Nanos(0), 0x0303, false));
}

#[test]
fn tls_after_a_tunnel_request_is_seen() {
    let text = |direction, text: &str| Call { direction, bytes: text.as_bytes().to_vec() };
    let mut tunnel =
        vec![text(OUT, "CONNECT example.test:443 HTTP/1.1\r\n\r\n"), text(IN, "HTTP/1.1 200 Established\r\n\r\n")];
    tunnel.extend(calls(FULL_1_3, b'c', Reads::HeaderThenBody));
    let (seen, _) = replay(&tunnel, 2048);
    assert_eq!(seen.messages.len(), 2);
    assert!(seen.handshake.is_some());
}

#[test]
fn a_connection_that_was_there_before_is_followed_without_its_handshake() {
    let (mut conversation, mut seen) = (Conversation::new(3, role::UNKNOWN), Seen::default());
    for call in &calls(FULL_1_3, b'c', Reads::Whole)[3..] {
        let moved = Moved {
            start: Nanos(1),
            end: Nanos(2),
            tid: 7,
            direction: call.direction,
            bytes: call.bytes.len() as u64,
            head: &call.bytes,
        };
        conversation.feed(&moved, &mut seen);
    }
    assert_eq!(seen.records.len(), 6);
    assert_eq!(conversation.close(), None);
}

#[test]
fn a_conversation_joined_at_any_call_tells_of_no_handshake_and_of_no_record_that_is_not_there() {
    for (fixture, end, reads) in ALL.iter().flat_map(|fixture| {
        [(b'c', Reads::Whole), (b'c', Reads::HeaderThenBody), (b's', Reads::Whole), (b's', Reads::HeaderThenBody)]
            .map(|(end, reads)| (*fixture, end, reads))
    }) {
        let calls = calls(fixture, end, reads);
        let key = |record: &case::tables::TlsRecord| (record.direction, record.content_type, record.length);
        let all: Vec<_> = replay(&calls, 2048).0.records.iter().map(key).collect();
        for joined in 1..calls.len() {
            let (mut conversation, mut seen) = (Conversation::new(3, role::UNKNOWN), Seen::default());
            for call in &calls[joined..] {
                let (direction, bytes, head) = (call.direction, call.bytes.len() as u64, &call.bytes[..]);
                let moved = Moved { start: Nanos(1), end: Nanos(2), tid: 7, direction, bytes, head };
                conversation.feed(&moved, &mut seen);
            }
            let place = format!("end {} {reads:?} joined at {joined}", char::from(end));
            assert_eq!(seen.handshake.clone().or(conversation.close()), None, "{place}");
            let ghost = seen.records.iter().map(key).find(|record| !all.contains(record));
            assert_eq!(ghost, None, "{place}");
        }
    }
}

#[test]
fn plain_text_and_other_protocols_are_not_taken_for_tls() {
    for bytes in
        [&b"\x16\x03binary of some kind"[..], b"\x16\x03\x01\x02\x00\x02rest", b"GET / HTTP/1.1\r\n\r\n", b"\x16"]
    {
        let calls =
            [Call { direction: OUT, bytes: bytes.to_vec() }, Call { direction: IN, bytes: b"+OK\r\n".to_vec() }];
        let (seen, at_close) = replay(&calls, 64);
        assert_eq!((seen.records.len(), seen.handshake, at_close), (0, None, None), "{bytes:?}");
    }
}

/// How long the ClientHello of each is, and whether it offers a ticket or a key to resume with, as tshark 4.0 reads them.
const READ_BY_TSHARK: [(&str, u64, bool); 6] = [
    (FULL_1_2, 219, false),
    (RESUMED_1_2, 427, true),
    (FULL_1_3, 256, false),
    (RESUMED_1_3, 543, true),
    (GO_FULL, 314, false),
    (GO_RESUMED, 466, true),
];

#[test]
fn hellos_agree_with_another_parser() {
    for (fixture, length, offered) in READ_BY_TSHARK {
        let ours = replay(&calls(fixture, b'c', Reads::Whole), 2048).1.expect("a handshake");
        assert_eq!((u64::from(ours.client_hello_bytes), ours.offered), (length, offered));
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(chunks in proptest::collection::vec((0u8..2, proptest::collection::vec(any::<u8>(), 0..80), 0u64..400), 0..12), role in 0u8..4) {
        let (mut conversation, mut seen) = (Conversation::new(3, role), Seen::default());
        for (direction, head, bytes) in &chunks {
            let moved = Moved { start: Nanos(1), end: Nanos(2), tid: 7, direction: *direction, bytes: *bytes, head };
            conversation.feed(&moved, &mut seen);
        }
        conversation.close();
    }

    #[test]
    fn no_mutation_of_a_real_conversation_makes_it_panic(
        which in 0usize..6, end in prop_oneof![Just(b'c'), Just(b's')], captured in 0usize..2048,
        mutations in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 0..6),
        dropped in any::<prop::sample::Index>(), split: bool,
    ) {
        let mut mutated = calls(ALL[which], end, if split { Reads::HeaderThenBody } else { Reads::Whole });
        for (call, at, value) in mutations {
            let bytes = &mut call.get_mut(&mut mutated[..]).bytes;
            if !bytes.is_empty() { *at.get_mut(&mut bytes[..]) = value; }
        }
        mutated.remove(dropped.index(mutated.len()));
        replay(&mutated, captured);
    }
}

/// How long so many multiplications take that wait for each other: a yardstick of the machine, and of the moment.
fn multiplied(times: u64) -> u64 {
    let begin = std::time::Instant::now();
    let product =
        (0..times).fold(1_u64, |product, _| std::hint::black_box(product.wrapping_mul(6_364_136_223_846_793_005)));
    std::hint::black_box(product);
    begin.elapsed().as_nanos() as u64
}

/// A call costs less than two hundred multiplications, each of which waits for the one before; the numbers printed are the ones to
/// look at.
#[test]
fn bulk_data_costs_little() {
    let mut record = b"\x17\x03\x03\x40\x00".to_vec();
    record.extend([0x55; 59]);
    let plain = [b'x'; 64];
    for (name, head, bytes) in [("records", &record[..], 16_389), ("plain", &plain[..], 65_536)] {
        let (mut conversation, mut seen) = (Conversation::new(3, role::UNKNOWN), Seen::default());
        let (batches, calls) = (20, 50_000);
        let mut batch = |first: u64| {
            let begin = std::time::Instant::now();
            for index in first..first + calls {
                let moved = Moved { start: Nanos(index), end: Nanos(index + 1), tid: 7, direction: OUT, bytes, head };
                conversation.feed(std::hint::black_box(&moved), &mut seen);
                seen.records.clear();
            }
            begin.elapsed().as_nanos() as u64
        };
        // The quickest of them had the processor to itself.
        let measured = (0..batches).map(|number| (batch(number * calls), multiplied(200 * calls)));
        let (took, yardstick) =
            measured.fold((u64::MAX, u64::MAX), |least, one| (least.0.min(one.0), least.1.min(one.1)));
        println!("{name}: {} ns a call, beside {} ns", took / calls, yardstick / calls);
        assert!(took < yardstick, "{name}: {} ns a call, beside {} ns", took / calls, yardstick / calls);
    }
}
