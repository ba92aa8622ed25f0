use crate::row::table;
use crate::units::Nanos;

table! {
    /// One command of a protocol in which words say what is asked for: RESP, as Redis speaks it, or a statement to PostgreSQL or
    /// MariaDB. Of several that one call moves, the first. Nothing but these words is kept.
    pub struct Command in "commands" {
        /// Start of the call that wrote or read its first byte.
        pub time: Nanos,
        /// The socket.
        pub connection: u32,
        /// The thread that made the call.
        pub tid: u32,
        /// Out or in; see `direction`.
        pub direction: u8,
        /// The word, in capitals: GET, KEYS, SELECT; `SELECT 1` where that is the whole statement.
        pub name: String as Word,
        /// The first table that a statement names; empty where there is none, or the captured bytes end before.
        pub object: String as Program = String::new(),
    }
}
