//! What the first bytes of a buffer are, judged by themselves.

use super::http;
use super::tls;
use case::tables::content;

/// The HTTP/2 connection preface up to the version (RFC 9113, 3.4).
pub(super) const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0";

/// PEM text begins so (RFC 7468).
const PEM: &[u8] = b"-----BEGIN ";

/// The content code of a buffer that begins with `head`. DNS is not recognised here: its messages have no mark, and
/// only the port tells; see [`dns`](super::dns()).
pub fn content_of(head: &[u8]) -> u8 {
    match head.first() {
        Some(20..=24) if tls::is_record_header(head) => content::TLS,
        Some(b'H') if http::begins_response(head) => content::HTTP_RESPONSE,
        Some(b'P') if head.starts_with(HTTP2_PREFACE) => content::HTTP2_PREFACE,
        Some(b'A'..=b'Z') if http::begins_request(head) => content::HTTP_REQUEST,
        Some(b'-' | b'#' | b'\n' | b' ') if is_pem(head) => content::PEM,
        _ => content::OTHER,
    }
}

/// Whether it is PEM text; bundles may begin with comment lines.
fn is_pem(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n').skip_while(|line| line.is_empty() || line[0] == b'#');
    lines.next().is_some_and(|line| line.trim_ascii_start().starts_with(PEM))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_tell_what_a_buffer_is() {
        assert_eq!(content_of(b"\x17\x03\x03\x00\x40abc"), content::TLS);
        assert_eq!(content_of(b"GET / HTTP/1.1\r\n"), content::HTTP_REQUEST);
        assert_eq!(content_of(b"HTTP/1.1 200 OK\r\n"), content::HTTP_RESPONSE);
        assert_eq!(content_of(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), content::HTTP2_PREFACE);
        assert_eq!(content_of(b"-----BEGIN CERTIFICATE-----\nMIID"), content::PEM);
        assert_eq!(content_of(b"# GlobalSign Root CA\n-----BEGIN CERTIFICATE-----\n"), content::PEM);
    }

    #[test]
    fn what_only_resembles_a_format_is_nothing_known() {
        for other in [
            &b""[..],
            b"G",
            b"GET key\r\n",
            b"HTTP",
            b"\x16\x09\x09\x00\x40",
            b"\x17\x03\x03\xff\xff",
            b"# just a file\nkey=1\n",
        ] {
            assert_eq!(content_of(other), content::OTHER, "{other:?}");
        }
    }
}
