//! DNS messages (RFC 1035): the header and the first question.

use super::Moved;
use super::reader::Reader;
use case::tables::{Lookup, transport};

/// Codes above 23 are not assigned as answers in plain DNS (RFC 6895); such a number says that this is no DNS.
const LAST_CODE: u16 = 23;

/// More records than this in one section do not occur in real messages.
const MOST_RECORDS: u16 = 512;

/// Longest name, in bytes as text (RFC 1035, 2.3.4).
const LONGEST_NAME: usize = 255;

/// The DNS message that a call moved to or from port 53; `None` where its bytes are none.
///
/// A name that the captured bytes do not hold to its end is given as far as it goes, with a trailing `…` and the record
/// type 0. Over TCP a message follows its two length bytes, which some readers read on their own.
pub fn dns(connection: u32, over: u8, moved: &Moved) -> Option<Lookup> {
    let captured = moved.captured();
    let message = if over == transport::TCP { without_length(captured, moved.bytes) } else { captured };
    let mut reader = Reader::new(message);
    let identifier = reader.u16()?;
    let flags = reader.u16()?;
    let (code, reserved, opcode) = (flags & 0xf, flags & 0x40, flags >> 11 & 0xf);
    if reserved != 0 || opcode != 0 || code > LAST_CODE || reader.u16()? != 1 {
        return None;
    }
    for _ in 0..3 {
        if reader.u16()? > MOST_RECORDS {
            return None;
        }
    }
    let is_answer = flags & 0x8000 != 0;
    let (name, record_type) = question(&mut reader)?;
    Some(Lookup {
        time: moved.start,
        connection,
        tid: moved.tid,
        direction: moved.direction,
        message: identifier,
        name,
        record_type,
        code: if is_answer { code as u8 } else { 0 },
    })
}

/// The message after its length, where the length is in the same buffer.
fn without_length(captured: &[u8], bytes: u64) -> &[u8] {
    match captured {
        [high, low, message @ ..] if u64::from(u16::from_be_bytes([*high, *low])) + 2 == bytes => message,
        _ => captured,
    }
}

/// Name and record type of a question; `None` where it is not one.
fn question(reader: &mut Reader) -> Option<(String, u16)> {
    let mut name = String::new();
    loop {
        let Some(length) = reader.u8() else { return Some((cut(name), 0)) };
        if length == 0 {
            break;
        }
        // The two upper bits mark a pointer, which a first question cannot hold: nothing stands before it.
        if length > 63 || name.len() > LONGEST_NAME {
            return None;
        }
        let label = reader.take_available(usize::from(length));
        if !label.iter().all(u8::is_ascii_graphic) {
            return None;
        }
        if !name.is_empty() {
            name.push('.');
        }
        name.extend(label.iter().map(|&byte| char::from(byte)));
        if label.len() < usize::from(length) {
            return Some((cut(name), 0));
        }
    }
    let (Some(record_type), class) = (reader.u16(), reader.u16()) else { return Some((name, 0)) };
    // Internet, Chaos, Hesiod or any; the top bit is multicast DNS's.
    let is_class = class.is_none_or(|class| matches!(class & 0x7fff, 1 | 3 | 4 | 255));
    is_class.then_some((name, record_type))
}

fn cut(mut name: String) -> String {
    name.push('…');
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::Nanos;
    use proptest::prelude::*;

    fn moved(head: &[u8]) -> Moved<'_> {
        Moved { start: Nanos(5), end: Nanos(9), tid: 7, direction: 0, bytes: head.len() as u64, head }
    }

    fn message(flags: u16, name: &str, record_type: u16) -> Vec<u8> {
        let mut bytes = vec![0xab, 0xcd];
        bytes.extend(flags.to_be_bytes());
        bytes.extend([0, 1, 0, 0, 0, 0, 0, 1]);
        for label in name.split('.') {
            bytes.push(label.len() as u8);
            bytes.extend(label.bytes());
        }
        bytes.push(0);
        bytes.extend(record_type.to_be_bytes());
        bytes.extend([0, 1]);
        bytes
    }

    #[test]
    fn a_query_gives_its_name_and_type() {
        let lookup = dns(3, transport::UDP, &moved(&message(0x0100, "www.example.org", 28))).expect("a query");
        assert_eq!((lookup.name.as_str(), lookup.record_type, lookup.code), ("www.example.org", 28, 0));
        assert_eq!((lookup.message, lookup.connection, lookup.tid), (0xabcd, 3, 7));
    }

    #[test]
    fn an_answer_gives_its_code() {
        let lookup = dns(3, transport::UDP, &moved(&message(0x8183, "nowhere.example", 1))).expect("an answer");
        assert_eq!(lookup.code, 3);
    }

    #[test]
    fn over_tcp_the_length_may_stand_before_the_message_or_in_an_earlier_read() {
        let body = message(0x0100, "a.example", 1);
        let mut framed = (body.len() as u16).to_be_bytes().to_vec();
        framed.extend(&body);
        for bytes in [&framed, &body] {
            assert_eq!(dns(1, transport::TCP, &moved(bytes)).expect("a query").name, "a.example");
        }
        assert_eq!(dns(1, transport::TCP, &moved(&framed[..2])), None);
    }

    #[test]
    fn a_name_that_was_not_captured_whole_says_so() {
        let bytes = message(0x0100, "service.namespace.svc.cluster.local", 1);
        let lookup = dns(1, transport::UDP, &moved(&bytes[..30])).expect("a query");
        assert_eq!((lookup.name.as_str(), lookup.record_type), ("service.namespace…", 0));
    }

    #[test]
    fn other_datagrams_are_no_lookups() {
        for other in [&b"GET / HTTP/1.1\r\nHost: example\r\n\r\n"[..], b"", &[0; 40], &[0xff; 40]] {
            assert_eq!(dns(1, transport::UDP, &moved(other)), None);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0usize..40, value: u8, over in 1u8..3) {
            let _ = dns(1, over, &moved(&bytes));
            let mut mutated = message(0x0100, "www.example.org", 28);
            if let Some(byte) = mutated.get_mut(at) { *byte = value; }
            let _ = dns(1, over, &moved(&mutated));
        }
    }
}
