//! Doors for fuzzers: each takes any bytes, gives no answer, and must come back.

use crate::{Conversation, Moved, Seen, content_of, dns as read_dns};
use case::Nanos;
use case::fuzz::Target;
use case::tables::{direction, role};

/// What the bytes are given to, by name.
pub const TARGETS: [(&str, Target); 3] = [("tls", conversation), ("http", conversation), ("dns", dns)];

/// Calls on a connection: each a byte that says who speaks and whether some of it is missing, a length, and the bytes.
fn conversation(bytes: &[u8]) {
    let Some((&first, mut rest)) = bytes.split_first() else { return };
    let ends = [role::CLIENT, role::SERVER];
    let mut conversation = Conversation::new(1, ends[usize::from(first & 1)]);
    let mut seen = Seen::default();
    let mut time = 0;
    while let Some((&[how, low, high], after)) = rest.split_first_chunk::<3>() {
        let length = usize::from(u16::from_le_bytes([low, high])).min(after.len());
        let (head, after) = after.split_at(length);
        rest = after;
        time += 10;
        let missing = u64::from(how >> 1) * 37;
        let moved = Moved {
            start: Nanos(time),
            end: Nanos(time + 5),
            tid: 1,
            direction: if how & 1 == 0 { direction::OUT } else { direction::IN },
            bytes: length as u64 + missing,
            head,
        };
        conversation.feed(&moved, &mut seen);
        content_of(head);
    }
    conversation.close();
}

fn dns(bytes: &[u8]) {
    for (over, direction) in [(0, direction::OUT), (1, direction::IN), (2, direction::IN)] {
        let length = bytes.len() as u64;
        let moved = Moved { start: Nanos(1), end: Nanos(2), tid: 1, direction, bytes: length, head: bytes };
        read_dns(1, over, &moved);
    }
}
