//! Exports for other tools: each takes a recording, or what is told, and returns the file's contents.

mod firefox_profile;
mod markdown;
mod pcapng;
mod speedscope;

pub use firefox_profile::firefox_profile;
pub use markdown::markdown;
pub use pcapng::pcapng;
pub use speedscope::speedscope;
