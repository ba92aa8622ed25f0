use crate::row::table;
use crate::units::Nanos;

table! {
    /// One TLS handshake, as one end saw it.
    pub struct Handshake in "handshakes" {
        /// Start of the call that wrote or read the ClientHello.
        pub start: Nanos,
        /// End of the call that wrote or read the client's last handshake record; 0 where it was not reached.
        pub end: Nanos,
        /// The socket.
        pub connection: u32,
        /// The thread that began it.
        pub tid: u32,
        /// The version agreed on (0x0304 is TLS 1.3); 0 where no ServerHello was seen.
        pub version: u16,
        /// The cipher suite agreed on (IANA number); 0 where not seen.
        pub cipher: u16,
        /// Whether it resumed an earlier session (the server took the offer).
        pub resumed: bool,
        /// Whether the client offered to resume one (session id, ticket or pre-shared key).
        pub offered: bool,
        /// Whether the server was seen to hand out a ticket (TLS 1.2), or wrote records between the client's last
        /// handshake record and the first request that can only be tickets (TLS 1.3, where the server was watched).
        pub ticket: bool,
        /// Server name that the client asked for; empty where none.
        pub server_name: String,
        /// Protocols the client offered (ALPN), separated by commas; empty where none.
        pub protocols: String,
        /// Length of the ClientHello in bytes.
        pub client_hello_bytes: u32,
    }
}
