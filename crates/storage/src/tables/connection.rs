use crate::row::table;
use crate::units::Nanos;

table! {
    /// One end of a connection: a socket of a recorded process. If both ends were recorded there are two rows, each
    /// naming the other as its `peer`.
    pub struct Connection in "connections" {
        /// Its id in other tables.
        pub id: u32,
        /// The first process to use it; in a case from a capture of packets a number for each local address.
        pub pid: u32,
        /// Inode of its network namespace.
        pub network_namespace: u64,
        /// `tcp`, `udp`, `unix` or `other`; see `transport`.
        pub transport: u8,
        /// How it came to be; see `role`.
        pub role: u8,
        /// Local address without the port; for a Unix socket its path, if any.
        pub local_address: String as Host,
        /// Local port; 0 for none.
        pub local_port: u16,
        /// Remote address without the port.
        pub remote_address: String as Host,
        /// Remote port; 0 for none.
        pub remote_port: u16,
        /// When it was first seen.
        pub opened: Nanos,
        /// When TCP reached ESTABLISHED; 0 if that was not seen.
        pub established: Nanos,
        /// When the owner (or TCP) closed it; the end of recording if it was still open.
        pub closed: Nanos,
        /// The other end, if that was recorded, too; 0 otherwise.
        pub peer: u32,
        /// Maximum segment size last seen, in bytes; 0 if not TCP.
        pub mss: u32,
        /// Smoothed round-trip time last seen; 0 if unknown.
        pub srtt: Nanos,
        /// Whether TCP_NODELAY was on when last checked.
        pub nodelay: bool,
    }
}

/// The transport of a socket.
pub mod transport {
    /// TCP, over IPv4 or IPv6.
    pub const TCP: u8 = 1;
    /// UDP, over IPv4 or IPv6.
    pub const UDP: u8 = 2;
    /// A Unix-domain socket.
    pub const UNIX: u8 = 3;
    /// Netlink, raw and others.
    pub const OTHER: u8 = 4;
}

/// How a socket came to be.
pub mod role {
    /// Unknown: it existed before recording began.
    pub const UNKNOWN: u8 = 0;
    /// The owner called `connect` (or sent first, if the transport has no connections).
    pub const CLIENT: u8 = 1;
    /// The owner accepted it.
    pub const SERVER: u8 = 2;
    /// It listens.
    pub const LISTENER: u8 = 3;
}
