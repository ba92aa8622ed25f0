use crate::row::table;
use crate::units::Nanos;

table! {
    /// One TCP segment leaving the host of a recorded socket, or arriving there. A large send that the network card (or
    /// loopback) splits is one row.
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
        /// Payload in bytes; 0 for a pure ACK.
        pub payload: u32,
        /// Of one that arrived: what kept the socket from sending more by then; see `limit`.
        pub limit: u8 = 0,
    }
}

/// What keeps a socket from sending, as the kernel counts it (`enum tcp_chrono` of `linux/tcp.h`).
pub mod limit {
    /// It has nothing to send, or it is not known.
    pub const NONE: u8 = 0;
    /// The network: the congestion window, or the time that segments take to leave.
    pub const NETWORK: u8 = 1;
    /// The receiver's window.
    pub const WINDOW: u8 = 2;
    /// Room in its own send buffer.
    pub const BUFFER: u8 = 3;
}

/// TCP flags, as on the wire.
pub mod flags {
    /// The sender has finished.
    pub const FIN: u8 = 0x01;
    /// A connection begins.
    pub const SYN: u8 = 0x02;
    /// The connection is refused or broken.
    pub const RST: u8 = 0x04;
    /// The acknowledgement number is valid.
    pub const ACK: u8 = 0x10;
}
