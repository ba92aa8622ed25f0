use crate::row::table;
use crate::units::Nanos;

table! {
    /// One TLS handshake, as seen by one end.
    pub struct Handshake in "handshakes" {
        /// Start of the call that wrote or read the ClientHello.
        pub start: Nanos,
        /// End of the call that wrote or read the client's last handshake record; 0 if it never got there.
        pub end: Nanos,
        /// The socket.
        pub connection: u32,
        /// The thread that began it.
        pub tid: u32,
        /// The negotiated version (0x0304 is TLS 1.3); 0 if no ServerHello was seen.
        pub version: u16,
        /// The negotiated cipher suite (IANA number); 0 if not seen.
        pub cipher: u16,
        /// Whether it resumed an earlier session (the server accepted the offer).
        pub resumed: bool,
        /// Whether the client offered to resume one (session id, ticket or pre-shared key).
        pub offered: bool,
        /// Whether the server was seen issuing a ticket (TLS 1.2), or wrote records between the client's last handshake
        /// record and the first request that can only be tickets (TLS 1.3, if the server was recorded).
        pub ticket: bool,
        /// Whether the client is known to take no ticket: its hello lacks the extension that asks for one.
        pub takes_no_ticket: bool = false,
        /// Whether the server is known to have given nothing to resume: neither a session id nor a ticket (TLS 1.2 and
        /// before; in TLS 1.3 what it gives is encrypted).
        pub gives_none: bool = false,
        /// Whether the client is known to have offered TLS 1.3.
        pub offers_1_3: bool = false,
        /// When the client's second hello began, where the server asked for another key share (HelloRetryRequest); 0 where it
        /// did not.
        pub second_hello: Nanos = Nanos(0),
        /// Server name the client asked for; empty for none.
        pub server_name: String as Host,
        /// Protocols the client offered (ALPN), separated by commas; empty for none.
        pub protocols: String as Word,
        /// Length of the ClientHello in bytes.
        pub client_hello_bytes: u32,
    }
}
