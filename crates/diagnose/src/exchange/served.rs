//! What the server moved of an exchange. Found once: many ask for it.

use super::Exchange;
use crate::connections::{Connections, End};
use crate::search::not_after;
use crate::syscall;
use crate::threads::call_end;
use case::Recording;
use std::ops::Range;

/// The part of [`Connections::transfers`] by which the server moved an exchange's bytes; empty where it was not
/// recorded. A read belongs to it by its end: a thread that reads before the request comes is in that call when the
/// exchange begins.
pub(super) fn by_server(recording: &Recording, connections: &Connections, exchange: &Exchange) -> Range<u32> {
    let slot = match exchange.end_seen {
        End::Client => connections.all()[exchange.connection].peer,
        End::Server => Some(exchange.connection),
    };
    let Some(slot) = slot else { return 0..0 };
    let call = |row: u32| &recording.calls[row as usize];
    // They are in order of their ends.
    let rows = connections.transfer_numbers(slot);
    let ended = |rows: &[u32], by: u64| not_after(rows, |&row| call_end(call(row)), by);
    let writes_before = |rows: &[u32], time: u64| {
        rows.iter().take_while(|row| syscall::is_write(call(**row).number) && call(**row).start.0 < time).count()
    };
    let first = ended(rows, exchange.start);
    // The answer before may have reached its client before the call that wrote it ended.
    let first = first + writes_before(&rows[first..], exchange.start);
    let last = first + ended(&rows[first..], exchange.end);
    let last = last + writes_before(&rows[last..], exchange.end);
    let offset = connections.all()[slot].transfers.start;
    (offset + first) as u32..(offset + last) as u32
}
