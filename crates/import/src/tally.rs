//! How much: requests with their bytes and their time.

/// Requests, and what they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Requests.
    pub requests: u64,
    /// Bytes that were sent in answer.
    pub bytes: u64,
    /// Time from request to answer, in nanoseconds; 0 where the log does not say.
    pub took_ns: u64,
}

impl Tally {
    /// Adds another's.
    pub fn add(&mut self, other: &Tally) {
        self.requests = self.requests.saturating_add(other.requests);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.took_ns = self.took_ns.saturating_add(other.took_ns);
    }
}
