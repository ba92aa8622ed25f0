//! CPython 3.9 to 3.14, seen from outside: where a process keeps its frames, and what a frame's code object and
//! instruction mean in the script.
//!
//! The kernel side walks the frames at each call and hands over pairs of code object and instruction; [`locate`] tells it
//! where to look, [`CodeObjects`] says which file, function and line a pair is. Both read another process's memory: what
//! they find is checked, and what fails the check is `None`, never a guess. Free-threaded builds are not read.

mod code;
mod layout;
mod locate;
pub(crate) mod memory;

pub use code::{CodeObjects, ScriptLine};
pub use layout::{CodeLayout, Interpreter, Offsets};
pub use locate::{locate, might_be, version};

#[cfg(test)]
mod tests;
