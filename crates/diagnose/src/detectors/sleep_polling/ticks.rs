//! A server that looks for work, or hands over what is done, each time that a timer of its own ticks, and not when a request comes.

use crate::analysis::Analysis;
use crate::detectors::Found;
use crate::detectors::beat;
use case::Nanos;

pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    let beat = beat::of_a_server(analysis).filter(|beat| !beat.is_limit())?;
    let what = format!("Requests wait for a timer of the server that ticks every {}", Nanos(beat.period));
    let remedy = "Deal with a request when it comes (wake whoever does, instead of letting a timer look), or let the timer tick \
                  more often.";
    Some(beat.found(analysis, what, remedy))
}
