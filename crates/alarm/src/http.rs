//! One HTTP/1.1 POST, and what its answer means.

use crate::handed::Handed;
use crate::line::Connection;
use crate::secret::Secret;
use load::{Scheme, Url};
use std::io;
use std::path::Path;
use std::time::Duration;

/// No head of an answer is longer.
const LONGEST_HEAD: usize = 64 << 10;
/// Headers that are looked through.
const MOST_HEADERS: usize = 64;

/// What is posted.
pub(crate) struct Post<'a> {
    pub url: &'a Secret,
    pub token: Option<&'a Secret>,
    pub body: &'a str,
    pub is_form: bool,
    pub key: &'a str,
    pub trusted: Option<&'a Path>,
}

/// Posts it. The address is in nothing that is told: it may be a secret.
pub(crate) fn post(post: &Post) -> Handed {
    let Ok(url) = post.url.expose().parse::<Url>() else {
        return Handed::Refused("its address is no URL".into());
    };
    match exchange(post, &url) {
        Ok(answer) => meaning(&answer),
        Err(error) => Handed::Later { why: format!("{}: {error}", url.host), after: None },
    }
}

fn exchange(post: &Post, url: &Url) -> io::Result<Vec<u8>> {
    let mut connection = Connection::open(&url.host, url.port)?;
    if url.scheme == Scheme::Https {
        connection = connection.secured(&url.host, post.trusted)?;
    }
    let kind = if post.is_form { "application/x-www-form-urlencoded" } else { "application/json" };
    let token = post.token.map(|token| format!("Authorization: Bearer {}\r\n", token.expose())).unwrap_or_default();
    let head = format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: whyslow\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Idempotency-Key: {}\r\n{token}Connection: close\r\n\r\n",
        url.path,
        url.authority,
        post.body.len(),
        post.key,
    );
    connection.write(&[head.as_bytes(), post.body.as_bytes()].concat())?;
    connection.read_until(LONGEST_HEAD, |bytes| bytes.windows(4).any(|end| end == b"\r\n\r\n"))
}

/// What a status asks for: RFC 9110, section 15; Retry-After in seconds (section 10.2.3).
fn meaning(answer: &[u8]) -> Handed {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let Some(status) = response.parse(answer).ok().and(response.code) else {
        return Handed::Later { why: "it did not answer in HTTP".into(), after: None };
    };
    let retry = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("retry-after"));
    let after =
        retry.and_then(|header| std::str::from_utf8(header.value).ok()?.trim().parse().ok()).map(Duration::from_secs);
    match status {
        200..=299 => Handed::Taken,
        408 | 425 | 429 | 500..=599 => Handed::Later { why: format!("it answered with status {status}"), after },
        _ => Handed::Refused(format!("it answered with status {status}")),
    }
}

/// A value of a form: `application/x-www-form-urlencoded`.
pub(crate) fn form_encoded(text: &str) -> String {
    let encoded = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
        b' ' => "+".into(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encoded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_says_whether_to_ask_again() {
        assert_eq!(meaning(b"HTTP/1.1 204 No Content\r\n\r\n"), Handed::Taken);
        let later = |after| Handed::Later { why: "it answered with status 429".into(), after };
        assert_eq!(meaning(b"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\n\r\n"), later(Some(Duration::from_secs(7))));
        assert_eq!(meaning(b"HTTP/1.1 429 Slow\r\n\r\n"), later(None));
        assert!(matches!(meaning(b"HTTP/1.1 404 Gone\r\n\r\n"), Handed::Refused(_)));
        assert!(matches!(meaning(b"SSH-2.0-OpenSSH\r\n\r\n"), Handed::Later { .. }));
        assert_eq!(form_encoded("a b&c=\u{e9}"), "a+b%26c%3D%C3%A9");
    }
}
