//! Exports for other tools: each takes a recording and returns the file's contents.
//!
//! Strings from outside are cleaned before they are written, and escaped as each format asks for it.

mod clock;
mod code;
mod firefox_profile;
#[cfg(test)]
pub(crate) mod fixture;
mod pcapng;
mod programs;
mod speedscope;

pub use firefox_profile::firefox_profile;
pub use pcapng::pcapng;
pub use speedscope::speedscope;

use case::Nanos;

/// What a recording does not say by itself: what a diagnosis makes of it.
pub struct Known {
    /// The exchanges, in order of their starts.
    pub exchanges: Vec<Span>,
    /// A system call's name by its number.
    pub call_name: fn(u16) -> String,
}

/// One exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Its connection, as tables name it.
    pub connection: u32,
    /// When it began.
    pub start: Nanos,
    /// When it ended.
    pub end: Nanos,
    /// Bytes written and read.
    pub bytes: u64,
    /// Whether an answer came.
    pub answered: bool,
}
