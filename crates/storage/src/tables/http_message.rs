use crate::row::table;
use crate::units::Nanos;

table! {
    /// The head of one HTTP/1 message sent in plain text. Header values are not kept, except those listed here.
    pub struct HttpMessage in "http_messages" {
        /// Start of the call that wrote or read its first byte.
        pub time: Nanos,
        /// The socket.
        pub connection: u32,
        /// The thread that made the call.
        pub tid: u32,
        /// Out or in; see `direction`.
        pub direction: u8,
        /// Request method; empty for a response.
        pub method: String as Word,
        /// Request target, query values redacted; empty for a response.
        pub target: String as Target,
        /// Value of the Host header.
        pub host: String as Host,
        /// Status code; 0 for a request.
        pub status: u16,
        /// Whether a request has `Expect: 100-continue`.
        pub expects_continue: bool,
        /// Whether it has `Connection: close`, or is HTTP/1.0 without `keep-alive`.
        pub closes: bool,
        /// Content-Length; -1 for none.
        pub content_length: i64,
        /// Whether the body is of a type that compresses well: HTML, JSON, XML, scripts and the like (Content-Type).
        pub is_text: bool = false,
        /// Of a response, whether its body is compressed (Content-Encoding); of a request, whether one may be (Accept-Encoding).
        pub is_compressed: bool = false,
    }
}
