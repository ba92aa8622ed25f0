use crate::row::table;
use crate::units::Nanos;

table! {
    /// Something TCP did to a recorded socket besides sending and receiving.
    pub struct TcpEvent in "tcp_events" {
        /// When.
        pub time: Nanos,
        /// The socket.
        pub connection: u32,
        /// What; see `event`.
        pub event: u8,
        /// For a state change the old state, else 0.
        pub before: u32,
        /// For a state change the new state (the kernel's numbers: 1 ESTABLISHED, 7 CLOSE), else 0.
        pub after: u32,
    }
}

/// What TCP did.
pub mod event {
    /// The connection's state changed.
    pub const STATE: u8 = 1;
    /// The delayed-ACK timer fired: the ACK had waited for its full delay.
    pub const DELAYED_ACK_FIRED: u8 = 3;
    /// A segment was retransmitted.
    pub const RETRANSMIT: u8 = 4;
}
