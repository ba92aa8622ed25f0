//! What the first bytes of a buffer are, judged by themselves.

use super::http;
use super::tls;
use case::tables::content;

/// The HTTP/2 connection preface up to the version (RFC 9113, 3.4).
pub(super) const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0";

/// PEM text begins so (RFC 7468).
const PEM: &[u8] = b"-----BEGIN ";

/// What ends a label.
const DASHES: &[u8] = b"-----";

/// The labels of certificates: RFC 7468's, and those that OpenSSL reads besides.
const CERTIFICATES: [&[u8]; 3] = [b"CERTIFICATE", b"TRUSTED CERTIFICATE", b"X509 CERTIFICATE"];

/// The content code of a buffer that begins with `head`. DNS is not recognised here: its messages have no mark, and
/// only the port tells; see [`dns`](super::dns()).
pub fn content_of(head: &[u8]) -> u8 {
    match head.first() {
        Some(20..=24) if tls::is_record_header(head) => content::TLS,
        Some(b'H') if http::begins_response(head) => content::HTTP_RESPONSE,
        Some(b'P') if head.starts_with(HTTP2_PREFACE) => content::HTTP2_PREFACE,
        Some(b'A'..=b'Z') if http::begins_request(head) => content::HTTP_REQUEST,
        Some(b'-' | b'#' | b'\n' | b' ') => pem(head).unwrap_or(content::OTHER),
        _ => content::OTHER,
    }
}

/// PEM text by its first label; bundles may begin with comment lines. A label that is cut short tells nothing against
/// certificates.
fn pem(head: &[u8]) -> Option<u8> {
    let mut lines = head.split(|&byte| byte == b'\n').skip_while(|line| line.is_empty() || line[0] == b'#');
    let label = lines.next()?.trim_ascii_start().strip_prefix(PEM)?;
    let whole = label.windows(DASHES.len()).position(|bytes| bytes == DASHES).map(|end| &label[..end]);
    Some(if whole.is_none_or(|label| CERTIFICATES.contains(&label)) { content::PEM } else { content::PEM_OTHER })
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
    fn keys_requests_and_revocation_lists_are_told_from_certificates() {
        for label in ["CERTIFICATE", "TRUSTED CERTIFICATE", "CERTIFIC"] {
            let end = if label.len() < 11 { "" } else { "-----\nMIID" };
            assert_eq!(content_of(format!("-----BEGIN {label}{end}").as_bytes()), content::PEM, "{label}");
        }
        for label in ["PRIVATE KEY", "RSA PRIVATE KEY", "X509 CRL", "CERTIFICATE REQUEST", "DH PARAMETERS"] {
            let text = format!("# ours\n-----BEGIN {label}-----\nMIID");
            assert_eq!(content_of(text.as_bytes()), content::PEM_OTHER, "{label}");
        }
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
