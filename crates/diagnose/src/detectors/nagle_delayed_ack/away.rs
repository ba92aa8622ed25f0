//! Bytes that are held while the one they are for sleeps of its own accord, gets no CPU, or still reads what came before: it would
//! not have read them any sooner.

use super::Stall;
use crate::analysis::Analysis;
use crate::detectors::slow_reader;
use crate::syscall;
use crate::threads::{Cursor, State};

/// One sleep that covers so much of a hold, or waits for a CPU together, or reads that go on until so much of it is over. Whoever looks
/// again and again, sleeping in between, would have found the bytes earlier.
const MOST: f64 = 0.8;

/// Whether the reader was about something else while the bytes were held. A reader that was not recorded was waiting for them.
pub(super) fn is_reader_away(analysis: &Analysis, stall: &Stall) -> bool {
    let Some(peer) = analysis.connections.all()[stall.slot].peer else { return false };
    let Some(reader) = slow_reader::reader(analysis, peer, stall.start) else { return false };
    let earlier =
        analysis.connections.transfers_of(peer).filter(|call| syscall::is_read(call.number) && call.result > 0);
    let within = earlier.map(|call| call.start.0).filter(|start| (stall.start..stall.end).contains(start));
    let read_on = within.max().map_or(0, |last| last - stall.start);
    let (mut slept, mut waited) = (0, 0);
    analysis.threads.walk(reader, stall.start, stall.end, &mut Cursor::default(), &mut |moment| {
        let length = moment.end - moment.start;
        let is_sleep = || moment.call.is_some_and(|row| syscall::is_sleep(analysis.call(row).number));
        match moment.state {
            State::Blocked if is_sleep() => slept = slept.max(length),
            State::Runnable => waited += length,
            _ => {}
        }
    });
    slept.max(waited).max(read_on) as f64 >= MOST * (stall.end - stall.start) as f64
}
