//! A value of what is varied.

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// As a number: bytes of a size, bits a second of a rate, the place (from 0) of a word.
    pub number: f64,
    /// As it is shown: `16K`.
    pub label: String,
    /// As it is put into a command or world: `16384`, `10mbit`.
    pub text: String,
}
