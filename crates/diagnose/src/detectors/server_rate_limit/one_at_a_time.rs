//! A limit that one client meets, who asks for one thing at a time.

use crate::analysis::Analysis;
use crate::detectors::Found;
use crate::detectors::beat::{self, Beat};
use case::Nanos;

pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    let beat = beat::of_a_server(analysis).filter(Beat::is_limit)?;
    let what = format!("The server lets one request through every {}, however soon it comes", Nanos(beat.period));
    Some(beat.found(analysis, what, "Raise the server's limit, ask less often, or ask for more at a time."))
}
