//! What wrote a segment: the last writing call on its socket before it left.

use super::is_out;
use crate::export::Known;
use crate::export::code::Code;
use case::tables::{Call, Segment};
use case::{Nanos, Recording};
use std::collections::BTreeMap;

/// The calls that write to a socket.
const WRITING: [&str; 8] = ["write", "writev", "pwritev", "sendto", "sendmsg", "sendmmsg", "sendfile", "splice"];
/// A call longer ago than this is not near: what leaves so late has another cause.
const NEAR: Nanos = Nanos::SECOND;

/// The writing calls of each connection, in order of time.
pub(super) struct Writers<'r> {
    code: Code<'r>,
    call_name: fn(u16) -> String,
    of_connection: BTreeMap<u32, Vec<&'r Call>>,
}

impl<'r> Writers<'r> {
    /// Indexes a recording.
    pub(super) fn of(recording: &'r Recording, known: &Known) -> Writers<'r> {
        let mut of_connection: BTreeMap<u32, Vec<&Call>> = BTreeMap::new();
        let mut is_writing: BTreeMap<u16, bool> = BTreeMap::new();
        for call in recording.calls.iter().filter(|call| call.connection != 0 && call.result > 0) {
            let name = || WRITING.contains(&(known.call_name)(call.number).as_str());
            if *is_writing.entry(call.number).or_insert_with(name) {
                of_connection.entry(call.connection).or_default().push(call);
            }
        }
        for calls in of_connection.values_mut() {
            calls.sort_by_key(|call| call.start);
        }
        Writers { code: Code::of(recording), call_name: known.call_name, of_connection }
    }

    /// The call in words, for a segment with payload that left: `write of 115 bytes at client.py:26 in post, 2.6 us
    /// before`.
    pub(super) fn before(&self, segment: &Segment) -> Option<String> {
        if !is_out(segment) || segment.payload == 0 {
            return None;
        }
        let calls = self.of_connection.get(&segment.connection)?;
        let begun = calls.partition_point(|call| call.start <= segment.time);
        let call = calls.get(begun.checked_sub(1)?)?;
        let since = segment.time - call.start;
        if since > NEAR {
            return None;
        }
        let name = (self.call_name)(call.number);
        let place = self.code.cause(call).map(|place| format!(" at {place}")).unwrap_or_default();
        Some(format!("last {name} of {} bytes{place}, {since} before", call.result))
    }
}
