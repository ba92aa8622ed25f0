use crate::row::table;
use crate::units::Nanos;

table! {
    /// One TCP segment leaving the host of a watched socket, or arriving at one. A large send that the network card
    /// (or the loopback) is to cut up is one row.
    pub struct Segment in "segments" {
        /// When it was handed to the device, or reached TCP.
        pub time: Nanos,
        /// The socket.
        pub connection: u32,
        /// Out or in; see `direction`.
        pub direction: u8,
        /// TCP flags; see `flags`.
        pub flags: u8,
        /// Sequence number of its first byte.
        pub sequence: u32,
        /// Acknowledgement number.
        pub acknowledged: u32,
        /// Payload in bytes; 0 for a pure acknowledgement.
        pub payload: u32,
    }
}

/// TCP flags, as on the wire.
pub mod flags {
    /// The sender is done.
    pub const FIN: u8 = 0x01;
    /// A connection begins.
    pub const SYN: u8 = 0x02;
    /// The connection is refused or broken.
    pub const RST: u8 = 0x04;
    /// The acknowledgement number counts.
    pub const ACK: u8 = 0x10;
}
