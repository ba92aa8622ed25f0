//! Sources of rows: what they are asked for and what they say. What records, and with which privileges, is behind this
//! seam: a second way of recording (without privileges, say) is one file and a line in the recorder's list.

use crate::error::RecordError;
use case::{CaseWriter, Share};
use std::time::Duration;

/// Events that are kept unless asked otherwise: eight million, calls all of them, are diagnosed within 1 GB of memory.
pub const DEFAULT_EVENTS: u64 = 8_000_000;

/// The same of what is attached to, beside programs that need their memory: diagnosed within 300 MB, and in a case of
/// 30 MB.
pub const ATTACHED_EVENTS: u64 = 3_000_000;

/// CPU samples a second, unless asked otherwise, of what is recorded for up to a minute. Prime, so that samples do not
/// run in step with timers.
const HERTZ: u32 = 997;
/// The same of longer recordings: as many samples as in six seconds by the other come within a minute, at a tenth of
/// the cost.
const HERTZ_OF_LONG: u32 = 97;
/// What is recorded for longer than this is long.
const LONG: Duration = Duration::from_mins(1);

/// CPU samples a second on each processor that suit so long a recording; of one whose end is not known, as if it were
/// short.
pub fn usual_hertz(duration: Option<Duration>) -> u32 {
    if duration.is_some_and(|duration| duration > LONG) { HERTZ_OF_LONG } else { HERTZ }
}

/// What to record.
#[derive(Clone, Debug)]
pub struct Options {
    /// CPU samples a second on each processor; 0 takes none.
    pub sampling_hertz: u32,
    /// Most events that are kept; those beyond are counted as lost, by table.
    pub event_limit: u64,
    /// What recording may cost, as a share of the CPU time that the subject takes, and at least of one CPU: rows are
    /// thinned out by it, over all the time, and so that there are no more than `event_limit`. None: there are rows of
    /// everything up to that limit.
    pub overhead: Option<Share>,
    /// How long recording is going to last, where that is known.
    pub duration: Option<Duration>,
    /// Whether requests are counted even where single events are thinned out: for whoever stops after a number of them.
    pub counts_requests: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            sampling_hertz: usual_hertz(None),
            event_limit: DEFAULT_EVENTS,
            overhead: None,
            duration: None,
            counts_requests: true,
        }
    }
}

/// Whose process it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The subject's command.
    Client,
    /// The command given by `--server`.
    Server,
}

/// How far a recording has got.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Events taken.
    pub events: u64,
    /// Events lost.
    pub lost: u64,
    /// Requests (first bytes out after bytes in) seen so far on clients' connections; where single events are thinned
    /// out, of those only if [`Options::counts_requests`].
    pub requests: u64,
}

/// Something that fills a case.
pub trait Source {
    /// Follows a process that has not begun its program yet, and all its children to be.
    fn follow(&self, pid: u32, role: Role) -> Result<(), RecordError>;

    /// Follows a process that runs already, with its threads and descendants, and all their children to be.
    fn attach(&self, pid: u32, role: Role) -> Result<(), RecordError>;

    /// How far it has got.
    fn progress(&self) -> Progress;

    /// Whether rows can no longer be written.
    fn has_failed(&self) -> bool;

    /// Stops, writes what is known only at the end, and hands back the case for closing.
    fn finish(self: Box<Self>) -> Result<CaseWriter, RecordError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_to_last_is_sampled_less_often() {
        assert_eq!(Options::default().sampling_hertz, HERTZ);
        assert_eq!(usual_hertz(Some(LONG)), HERTZ);
        assert_eq!(usual_hertz(Some(LONG * 2)), HERTZ_OF_LONG);
    }
}
