//! What an intervention may change of a program's work without being wrong.

/// What of the work can be seen, and a cure may change by itself because that is what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// How many exchanges it takes: an interim answer that is no longer waited for is one less.
    Exchanges,
    /// How many bytes an answer has: a resumed TLS session needs no second ticket, and fewer TLS records need less framing.
    Bytes,
    /// Which HTTP statuses are seen: what is answered in the place of somebody else is none of theirs.
    Statuses,
    /// How many connections are reset: one whose port is to be free at once ends so.
    Resets,
}
