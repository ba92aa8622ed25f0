//! What is said to servers.

use super::coding;
use super::state::FeedState;
use crate::address::Url;

/// What is preferred, and taken.
const TYPES: &str =
    "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, */*;q=0.8";

/// Most requests are shorter, in bytes: their text is put together without growing.
const USUAL: usize = 512;

/// The bytes of a conditional request.
pub(crate) fn feed(url: &Url, agent: &str, state: &FeedState) -> Vec<u8> {
    let mut head = String::with_capacity(USUAL);
    let mut add = |parts: &[&str]| parts.iter().for_each(|part| head.push_str(part));
    add(&["GET ", &url.path, " HTTP/1.1\r\nHost: ", &url.authority, "\r\nUser-Agent: ", agent]);
    add(&["\r\nAccept: ", TYPES, "\r\nAccept-Encoding: ", coding::ACCEPTED, "\r\n"]);
    if state.validated == url.text {
        if !state.etag.is_empty() {
            add(&["If-None-Match: ", &state.etag, "\r\n"]);
        }
        if !state.last_modified.is_empty() {
            add(&["If-Modified-Since: ", &state.last_modified, "\r\n"]);
        }
    }
    add(&["\r\n"]);
    head.into_bytes()
}

/// The bytes of a request for robots.txt.
pub(crate) fn robots(url: &Url, agent: &str) -> Vec<u8> {
    format!("GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: {agent}\r\n\r\n", url.path, url.authority).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::address;
    use super::*;

    #[test]
    fn a_request_is_conditional_for_the_address_that_gave_the_validators() {
        let url = address::read("https://a.test:8443/x?y").expect("an address");
        let state = FeedState { validated: url.text.clone(), etag: "W/\"1\"".into(), ..FeedState::default() };
        let text = |state: &FeedState| String::from_utf8(feed(&url, "bot/1", state)).expect("text");
        assert!(text(&state).starts_with("GET /x?y HTTP/1.1\r\nHost: a.test:8443\r\nUser-Agent: bot/1\r\n"));
        assert!(text(&state).ends_with("\r\nIf-None-Match: W/\"1\"\r\n\r\n"));
        let other = FeedState { validated: "https://b.test/".into(), ..state };
        assert!(!text(&other).contains("If-None-Match"));
    }
}
