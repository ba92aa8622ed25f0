use crate::row::table;
use crate::units::Nanos;

table! {
    /// One DNS message that a recorded process sent or received.
    pub struct Lookup in "lookups" {
        /// Start of the call.
        pub time: Nanos,
        /// The socket.
        pub connection: u32,
        /// The thread.
        pub tid: u32,
        /// Out or in; see `direction`.
        pub direction: u8,
        /// The message's identifier, the same in a query and its answer.
        pub message: u16,
        /// The name asked for.
        pub name: String as Host,
        /// The record type asked for: 1 A, 28 AAAA, 65 HTTPS.
        pub record_type: u16,
        /// An answer's code: 0 found, 2 server failure, 3 no such name; 0 in a query.
        pub code: u8,
    }
}
