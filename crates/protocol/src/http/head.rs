//! One HTTP/1 head, as far as it was captured.

use case::tables::HttpMessage;
use case::{Nanos, redact_target};

/// The longest method anybody registered is `UPDATEREDIRECTREF` (IANA); beyond it, it is no HTTP.
pub(super) const LONGEST_METHOD: usize = 17;

/// Shortest: GET, PUT, ACL.
const SHORTEST_METHOD: usize = 3;

/// Headers beyond this many are not looked at.
const MOST_HEADERS: usize = 100;

/// Whether it can be a method: methods are upper-case letters, and WebDAV's have a hyphen.
pub(super) fn is_method(bytes: &[u8]) -> bool {
    let is_length = (SHORTEST_METHOD..=LONGEST_METHOD).contains(&bytes.len());
    is_length && bytes.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'-')
}

/// A head's fields that a case keeps, and those that frame its body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "a head says each of them by itself")]
pub(super) struct Head {
    pub method: String,
    pub target: String,
    pub host: String,
    pub status: u16,
    pub content_length: Option<u64>,
    pub expects_continue: bool,
    pub closes: bool,
    pub is_chunked: bool,
    pub is_text: bool,
    pub is_compressed: bool,
    /// Its length in bytes, with the empty line; none where that was not captured.
    pub length: Option<usize>,
}

impl Head {
    /// Parses a request's or a response's head; `None` where it is none. A head that ends early gives what it holds.
    pub fn parse(bytes: &[u8]) -> Option<Head> {
        if bytes.starts_with(b"HTTP/") { Head::parse_response(bytes) } else { Head::parse_request(bytes) }
    }

    fn parse_request(bytes: &[u8]) -> Option<Head> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let length = length_of(request.parse(bytes))?;
        let method = request.method.unwrap_or_default().to_string();
        let target = match request.path {
            Some(path) => redact_target(path),
            None => redact_target(&String::from_utf8_lossy(cut_target(bytes))),
        };
        let keeps_alive = request.version != Some(0);
        let head = Head { method, target, length, closes: !keeps_alive, ..Head::default() };
        Some(head.with_headers(request.headers))
    }

    fn parse_response(bytes: &[u8]) -> Option<Head> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let length = length_of(response.parse(bytes))?;
        let closes = response.version == Some(0);
        let head = Head { status: response.code?, length, closes, ..Head::default() };
        Some(head.with_headers(response.headers))
    }

    fn with_headers(mut self, headers: &[httparse::Header]) -> Head {
        for header in headers.iter().take_while(|header| !header.name.is_empty()) {
            let is = |name: &str| header.name.eq_ignore_ascii_case(name);
            let text = std::str::from_utf8(header.value).unwrap_or_default().trim();
            let has = |word: &str| text.split(',').any(|part| part.trim().eq_ignore_ascii_case(word));
            if is("host") {
                self.host = text.to_string();
            } else if is("content-length") {
                self.content_length = text.parse().ok();
            } else if is("connection") {
                self.closes = has("close") || (self.closes && !has("keep-alive"));
            } else if is("expect") {
                self.expects_continue = has("100-continue");
            } else if is("transfer-encoding") {
                self.is_chunked = true;
            } else if is("content-type") {
                self.is_text = is_text(text);
            } else if is("content-encoding") || is("accept-encoding") {
                self.is_compressed = text.split(',').any(names_compression);
            }
        }
        if self.is_chunked {
            // The chunks frame the body then, whatever a length says (RFC 9112, 6.3).
            self.content_length = None;
        }
        self
    }

    /// The row of the case.
    pub fn message(self, connection: u32, time: Nanos, tid: u32, direction: u8) -> HttpMessage {
        HttpMessage {
            time,
            connection,
            tid,
            direction,
            method: self.method,
            target: self.target,
            host: self.host,
            status: self.status,
            expects_continue: self.expects_continue,
            closes: self.closes,
            content_length: self.content_length.and_then(|length| i64::try_from(length).ok()).unwrap_or(-1),
            is_text: self.is_text,
            is_compressed: self.is_compressed,
        }
    }
}

/// Types of text that do not begin with `text/`, and ends that say what others consist of (RFC 6838, 4.2.8).
const TEXTS: [&str; 6] =
    ["application/json", "application/xml", "application/javascript", "application/x-ndjson", "+json", "+xml"];

/// Whether a body of this type is text. `text/plain` without a character set is what servers say of what they do not know:
/// nginx of all files whose names end in nothing it has a type for.
fn is_text(media_type: &str) -> bool {
    let (name, parameters) = media_type.split_once(';').unwrap_or((media_type, ""));
    let name = name.trim().to_ascii_lowercase();
    let says_charset = parameters.to_ascii_lowercase().contains("charset=");
    match name.strip_prefix("text/") {
        Some("plain") => says_charset,
        Some(_) => true,
        None => TEXTS.iter().any(|text| name.ends_with(text)),
    }
}

/// Compressions of a body (the registry of RFC 9110, 8.4.1).
const COMPRESSIONS: [&str; 7] = ["gzip", "x-gzip", "deflate", "br", "zstd", "compress", "*"];

/// Whether one of the words of Content-Encoding or Accept-Encoding is a compression, and not refused by a weight of 0.
fn names_compression(word: &str) -> bool {
    let (name, weight) = word.split_once(';').unwrap_or((word, ""));
    let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f64>().ok());
    COMPRESSIONS.iter().any(|one| one.eq_ignore_ascii_case(name.trim())) && weight != Some(0.0)
}

/// The head's length where it is complete; the outer `None` where it is not HTTP.
#[allow(clippy::option_option, reason = "not HTTP, not complete and complete are three things")]
fn length_of(status: httparse::Result<usize>) -> Option<Option<usize>> {
    match status {
        Ok(httparse::Status::Complete(length)) => Some(Some(length)),
        Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => Some(None),
        Err(_) => None,
    }
}

/// The target of a request line that ends before the target does.
fn cut_target(bytes: &[u8]) -> &[u8] {
    bytes.split(u8::is_ascii_whitespace).nth(1).unwrap_or_default()
}
