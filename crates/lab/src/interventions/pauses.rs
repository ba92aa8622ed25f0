//! Sleeps that a runtime makes in calls that are not for sleeping: an event loop's wait for events, a wait for other threads.

use super::Request;
use case::syscall;
use case::tables::Call;
use std::collections::BTreeMap;

/// A timer fires late and never early, but the runtime had begun to count before it made the call.
const EARLIER: f64 = 0.7;

/// Whether a client sleeps between requests until it is told what it waits for: the sleeps are no part of any request.
pub(super) fn is_between_requests(request: &Request) -> bool {
    request.finding.is_some_and(|finding| finding.id == "P06" && finding.cost.is_between_requests())
}

/// A shim's parameter that names, beside what is done, the waits in which the finding's runtime sleeps: the shortest and the longest
/// in nanoseconds, and the name of the threads that make them. Only what is to be done where it sleeps in calls for that.
pub(super) fn parameter(request: &Request, what: &str) -> String {
    let waits: Vec<&Call> = request.calls().filter(|call| !syscall::sleeps(call)).collect();
    let lengths = || waits.iter().map(|call| call.blocked.0);
    let Some((shortest, longest)) = lengths().min().zip(lengths().max()) else { return what.to_string() };
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for call in &waits {
        let threads = request.recording.map_or(&[][..], |recording| &recording.threads);
        if let Some(thread) = threads.iter().rfind(|row| row.tid == call.tid) {
            *names.entry(thread.name.as_str()).or_default() += 1;
        }
    }
    let Some((name, _)) = names.into_iter().max_by_key(|(_, count)| *count) else { return what.to_string() };
    format!("{what} {} {longest} {name}", (shortest as f64 * EARLIER) as u64)
}
