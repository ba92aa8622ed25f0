use crate::row::table;
use crate::units::Nanos;

table! {
    /// One TLS record, from its header; its contents are not kept.
    pub struct TlsRecord in "tls_records" {
        /// Start of the call that wrote or read its first byte.
        pub time: Nanos,
        /// The socket.
        pub connection: u32,
        /// The thread that made the call.
        pub tid: u32,
        /// Out or in; see `direction`.
        pub direction: u8,
        /// 20 change cipher spec, 21 alert, 22 handshake, 23 application data (in TLS 1.3 also encrypted handshake).
        pub content_type: u8,
        /// The version in the header (0x0303 for TLS 1.2 and 1.3).
        pub version: u16,
        /// Length of its body in bytes, without the 5 of the header.
        pub length: u32,
    }
}
