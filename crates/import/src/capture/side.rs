//! One end of a connection, as its packets show it.

use super::heads::Head;
use super::stream::Stream;

/// Two packets that are the same within this time are one that was captured twice.
const TWICE: u64 = 1_000_000;

/// What is known of one end.
#[derive(Debug, Default)]
pub struct Side {
    pub stream: Stream,
    /// The last packet, and when: to tell one that was captured twice.
    pub last: Option<(u64, Same)>,
    /// When its SYN was seen for the last time, and what it offered.
    pub syn: Option<u64>,
    pub offer: Option<(u16, bool)>,
    /// When it said that it sends no more.
    pub finished: Option<u64>,
}

/// What makes two packets the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Same {
    sequence: u32,
    acknowledged: u32,
    flags: u8,
    window: u16,
    identification: u16,
    payload: u32,
}

impl Side {
    /// Whether a packet is the one before once more: the same in all that an end changes from one to the next. A capture of all
    /// interfaces shows what stays on the machine as it leaves and as it arrives.
    pub fn is_twice(&mut self, time: u64, head: &Head) -> bool {
        let same = Same {
            sequence: head.sequence,
            acknowledged: head.acknowledged,
            flags: head.flags,
            window: head.window,
            identification: head.identification,
            payload: head.payload,
        };
        let is_numbered = head.identification != 0 || head.may_be_twice;
        let is_twice =
            is_numbered && self.last.is_some_and(|(before, last)| last == same && time.saturating_sub(before) < TWICE);
        // A third one is new again.
        self.last = if is_twice { None } else { Some((time, same)) };
        is_twice
    }
}
