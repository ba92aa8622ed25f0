use crate::row::table;
use crate::units::Nanos;

table! {
    /// One command of a protocol in which a word says what is asked for: RESP, as Redis speaks it. Of several that one call
    /// moves, the first. Nothing but that word is kept.
    pub struct Command in "commands" {
        /// Start of the call that wrote or read its first byte.
        pub time: Nanos,
        /// The socket.
        pub connection: u32,
        /// The thread that made the call.
        pub tid: u32,
        /// Out or in; see `direction`.
        pub direction: u8,
        /// The word, in capitals: GET, KEYS.
        pub name: String as Word,
    }
}
