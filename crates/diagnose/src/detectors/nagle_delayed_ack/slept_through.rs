//! Bytes that are held while the one they are for sleeps of its own accord: it would not have read them any sooner.

use super::Stall;
use crate::analysis::Analysis;
use crate::detectors::slow_reader;
use crate::syscall;
use crate::threads::{Cursor, State};

/// One sleep that covers so much of a hold. Whoever looks again and again, sleeping in between, would have found the bytes earlier.
const MOST: f64 = 0.8;

/// Whether the reader slept while the bytes were held. A reader that was not recorded was awake.
pub(super) fn is_slept_through(analysis: &Analysis, stall: &Stall) -> bool {
    let peer = analysis.connections.all()[stall.slot].peer;
    let Some(reader) = peer.and_then(|peer| slow_reader::reader(analysis, peer, stall.start)) else { return false };
    let mut longest = 0;
    analysis.threads.walk(reader, stall.start, stall.end, &mut Cursor::default(), &mut |moment| {
        let sleeps = moment.state == State::Blocked
            && moment.call.is_some_and(|row| syscall::is_sleep(analysis.call(row).number));
        longest = longest.max(if sleeps { moment.end - moment.start } else { 0 });
    });
    longest as f64 >= MOST * (stall.end - stall.start) as f64
}
