//! Requests of HTTP/2, as they are sent: heads and bodies, and not bytes, since those depend on what was sent before.

use crate::address::Url;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Uri};

/// Headers that HTTP/2 forbids (section 8.2.2), since they are about a connection; and those that stand elsewhere.
const LEFT_OUT: [&str; 6] = ["connection", "host", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/// A request as HTTP/2 sends it.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    /// The head, as the `h2` crate takes it.
    pub head: Request<()>,
    /// What follows.
    pub body: Bytes,
}

impl Message {
    /// One for a URL, with headers as `Name: value`; none where it has no place in HTTP/2.
    pub fn of(url: &Url, method: &str, path: &str, headers: &[String], body: &[u8]) -> Option<Message> {
        let named = |name: &str| headers.iter().find_map(|one| value(one, name));
        let scheme = if url.scheme.is_secured() { "https" } else { "http" };
        let authority = named("host").unwrap_or(&url.authority);
        let uri = Uri::builder().scheme(scheme).authority(authority).path_and_query(path).build().ok()?;
        let mut head = Request::builder().method(method).uri(uri);
        if named("user-agent").is_none() {
            head = head.header("user-agent", "whyslow");
        }
        for (name, value) in headers.iter().filter_map(|one| one.split_once(':')) {
            let name = HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
            if !LEFT_OUT.contains(&name.as_str()) {
                head = head.header(name, HeaderValue::from_str(value.trim()).ok()?);
            }
        }
        if !body.is_empty() && named("content-length").is_none() {
            head = head.header("content-length", body.len());
        }
        Some(Message { head: head.body(()).ok()?, body: Bytes::copy_from_slice(body) })
    }
}

/// The value of a header, where it has that name.
fn value<'a>(header: &'a str, wanted: &str) -> Option<&'a str> {
    let (name, value) = header.split_once(':')?;
    name.trim().eq_ignore_ascii_case(wanted).then_some(value.trim())
}
