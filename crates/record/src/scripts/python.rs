//! CPython 3.9 to 3.14: what a frame's code object and instruction mean in the script. Free-threaded builds are not read.

mod code;
mod layout;

pub use code::CodeObjects;
pub use layout::{CodeLayout, Interpreter, Offsets};
pub(super) use layout::{PUBLISHED_LENGTH, known, published};

#[cfg(test)]
mod tests;
