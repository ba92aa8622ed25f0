//! ClientHello and ServerHello (RFC 8446, 4.1; RFC 5246, 7.4.1), as far as they were captured.

use super::super::reader::Reader;

/// Handshake message types.
pub(super) const CLIENT_HELLO: u8 = 1;
/// See above.
pub(super) const SERVER_HELLO: u8 = 2;

/// TLS 1.3's number.
pub(super) const TLS_1_3: u16 = 0x0304;
/// TLS 1.2's number, which TLS 1.3 wears in its hellos too.
pub(super) const TLS_1_2: u16 = 0x0303;

/// A ServerHello with this random is a HelloRetryRequest: the SHA-256 of that word (RFC 8446, 4.1.3).
const RETRY_RANDOM: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11,
    0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// Extension numbers (IANA).
mod extension {
    pub const SERVER_NAME: u16 = 0;
    pub const PROTOCOLS: u16 = 16;
    pub const SESSION_TICKET: u16 = 35;
    pub const PRE_SHARED_KEY: u16 = 41;
    pub const SUPPORTED_VERSIONS: u16 = 43;
    pub const KEY_EXCHANGE_MODES: u16 = 45;
}

/// What a client asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ClientHello {
    pub server_name: String,
    /// Separated by commas.
    pub protocols: String,
    /// Whether it offers to resume a session.
    pub offers_session: bool,
    /// Whether it is known to take no ticket: it lacks the extension that asks for one (TLS 1.2, RFC 5077), or the one
    /// without which none can be used (TLS 1.3, RFC 8446, 4.2.9).
    pub takes_no_ticket: bool,
    /// Whether it is known to offer TLS 1.3.
    pub offers_1_3: bool,
}

impl ClientHello {
    /// Parses the captured part of a body that is `length` bytes long.
    pub fn parse(body: &[u8], length: u32) -> ClientHello {
        let mut hello = ClientHello::default();
        // None: the body ended early, and what was read of it counts.
        let _ = hello.read(&mut Reader::new(body), body.len() >= length as usize);
        hello
    }

    fn read(&mut self, reader: &mut Reader, is_whole: bool) -> Option<()> {
        reader.take(2 + 32)?;
        let session_length = reader.u8()?;
        reader.take(usize::from(session_length))?;
        let ciphers_length = reader.u16()?;
        reader.take(usize::from(ciphers_length))?;
        let compressions = reader.u8()?;
        reader.take(usize::from(compressions))?;
        let (mut knows_1_3, mut has_ticket, mut has_key, mut asks) = (false, false, false, false);
        each_extension(reader, |number, value, length| match number {
            extension::SERVER_NAME => self.server_name = server_name(value).unwrap_or_default(),
            extension::PROTOCOLS => self.protocols = protocols(value),
            extension::SESSION_TICKET => (asks, has_ticket) = (true, length > 0),
            extension::KEY_EXCHANGE_MODES => asks = true,
            extension::PRE_SHARED_KEY => has_key = true,
            extension::SUPPORTED_VERSIONS => knows_1_3 |= lists(value, TLS_1_3),
            _ => {}
        });
        // A client that knows TLS 1.3 sends a random session id for old middleboxes (RFC 8446, D.4): not an offer.
        self.takes_no_ticket = is_whole && !asks;
        self.offers_1_3 = knows_1_3;
        self.offers_session = has_key || has_ticket || (!knows_1_3 && session_length > 0);
        Some(())
    }
}

/// What a server chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ServerHello {
    /// 0 where it is not known: the header's version is TLS 1.2's, and the extensions were not captured.
    pub version: u16,
    /// 0 where not captured.
    pub cipher: u16,
    /// Whether it takes up an offered key (TLS 1.3); none where the extensions were not captured.
    pub takes_key: Option<bool>,
    /// Whether it names the session, so that it can be resumed by that name (before TLS 1.3); none where not captured.
    pub names_session: Option<bool>,
    /// Whether it is no answer but asks for another ClientHello.
    pub is_retry: bool,
}

impl ServerHello {
    /// Parses the captured part of a body that is `length` bytes long.
    pub fn parse(body: &[u8], length: u32) -> ServerHello {
        let mut hello = ServerHello::default();
        // None: as for the client's.
        let _ = hello.read(&mut Reader::new(body), body.len() >= length as usize);
        hello
    }

    fn read(&mut self, reader: &mut Reader, is_whole: bool) -> Option<()> {
        let legacy_version = reader.u16()?;
        if legacy_version < TLS_1_2 {
            self.version = legacy_version;
        }
        self.is_retry = reader.take(32)? == RETRY_RANDOM;
        let session_length = reader.u8()?;
        self.names_session = Some(session_length > 0);
        reader.take(usize::from(session_length))?;
        self.cipher = reader.u16()?;
        // TLS 1.3 has cipher suites of its own (RFC 8446, B.4), which tells the version without extensions.
        let is_cipher_1_3 = self.cipher >> 8 == 0x13;
        self.version = match legacy_version {
            TLS_1_2 if is_cipher_1_3 => TLS_1_3,
            other => other,
        };
        reader.u8()?;
        let mut takes_key = false;
        each_extension(reader, |number, value, _| match number {
            extension::PRE_SHARED_KEY => takes_key = true,
            extension::SUPPORTED_VERSIONS => {
                if let [high, low] = value {
                    self.version = u16::from_be_bytes([*high, *low]);
                }
            }
            _ => {}
        });
        self.takes_key = (takes_key || is_whole).then_some(takes_key);
        Some(())
    }
}

/// Visits each extension: its number, the captured part of its value, and the value's whole length.
fn each_extension(reader: &mut Reader, mut visit: impl FnMut(u16, &[u8], usize)) {
    let Some(length) = reader.u16() else { return };
    let mut list = Reader::new(reader.take_available(usize::from(length)));
    while let (Some(number), Some(length)) = (list.u16(), list.u16()) {
        visit(number, list.take_available(usize::from(length)), usize::from(length));
    }
}

/// The host name of a server_name extension (RFC 6066, 3).
fn server_name(value: &[u8]) -> Option<String> {
    let mut reader = Reader::new(value);
    reader.u16()?;
    let kind = reader.u8()?;
    let length = reader.u16()?;
    let name = reader.take(usize::from(length))?;
    let is_name = kind == 0 && name.iter().all(u8::is_ascii_graphic);
    is_name.then(|| String::from_utf8_lossy(name).into_owned())
}

/// The names of an ALPN extension (RFC 7301, 3.1), those that were captured whole.
fn protocols(value: &[u8]) -> String {
    let mut reader = Reader::new(value);
    let mut names: Vec<String> = Vec::new();
    reader.u16();
    while let Some(name) = reader.u8().and_then(|length| reader.take(usize::from(length))) {
        names.push(String::from_utf8_lossy(name).into_owned());
    }
    names.join(",")
}

/// Whether a supported_versions extension of a client lists the version.
fn lists(value: &[u8], version: u16) -> bool {
    value.get(1..).unwrap_or_default().chunks_exact(2).any(|pair| pair == version.to_be_bytes())
}
