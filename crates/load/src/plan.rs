//! What a load is to do.

use crate::address::{Scheme, Url};
use crate::arrival::Arrival;
use crate::message::Message;
use std::path::PathBuf;
use std::time::Duration;

/// All of it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What is asked for: one scheme, host and port; at least one.
    pub urls: Vec<Url>,
    /// When.
    pub arrival: Arrival,
    /// For how long at most.
    pub duration: Duration,
    /// Ends after so many requests; none for as many as there is time for.
    pub requests: Option<u64>,
    /// Connections at a time.
    pub connections: usize,
    /// Requests under way on one connection at most.
    pub pipeline: usize,
    /// Requests on a connection before it is closed; none for as many as the server allows.
    pub requests_each: Option<u64>,
    /// Threads.
    pub threads: usize,
    /// A request that takes longer has failed.
    pub timeout: Duration,
    /// The method of HTTP.
    pub method: String,
    /// Further headers of HTTP, as `Name: value`.
    pub headers: Vec<String>,
    /// The body; what an echo is to repeat.
    pub body: Vec<u8>,
    /// What answers are to be like.
    pub expected: Expected,
    /// How TLS is spoken.
    pub secured: Secured,
    /// Where random numbers begin.
    pub seed: u64,
}

/// What answers are to be like.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// Their status.
    pub status: Option<u16>,
    /// What their body holds within its first 64 KiB.
    pub body: Option<Vec<u8>>,
}

/// How TLS is spoken.
#[derive(Clone, Debug, Default)]
pub struct Secured {
    /// `1.2` or `1.3` only; none for whichever the server prefers.
    pub version: Option<String>,
    /// Every handshake is a full one.
    pub full_only: bool,
    /// Certificates to trust in place of the system's, as PEM.
    pub authorities: Option<PathBuf>,
    /// Any certificate is good.
    pub trusts_all: bool,
}

/// A request, as it is sent.
#[derive(Clone, Debug)]
pub struct Target {
    /// How often, beside others.
    pub weight: u32,
    /// The bytes.
    pub request: Vec<u8>,
    /// The same for HTTP/2, where bytes depend on what was sent before.
    pub(crate) message: Option<Message>,
    /// Whether its answer has no body whatever its head says.
    pub has_no_body: bool,
}

impl Plan {
    /// As long as any load goes on, where its end is not a matter of time.
    pub const WITHOUT_END: Duration = Duration::from_hours(24);

    /// What is spoken.
    pub(crate) fn scheme(&self) -> Scheme {
        self.urls.first().map_or(Scheme::Http, |url| url.scheme)
    }

    /// The requests to send.
    pub(crate) fn targets(&self) -> Vec<Target> {
        let target = |weight, url: &Url, method: &str, path: &str| {
            let is_http2 = matches!(url.scheme, Scheme::H2c | Scheme::H2);
            let message = if is_http2 { Message::of(url, method, path, &self.headers, &self.body) } else { None };
            Target { weight, request: self.request(url, method, path), message, has_no_body: method == "HEAD" }
        };
        if let (Arrival::Replay(replay), Some(origin)) = (&self.arrival, self.urls.first()) {
            return replay.targets.iter().map(|one| target(1, origin, &one.method, &one.path)).collect();
        }
        self.urls.iter().map(|url| target(url.weight, url, &self.method, &url.path)).collect()
    }

    /// Whether it ends by itself, whatever time is left.
    pub(crate) fn has_an_end(&self) -> bool {
        self.requests.is_some() || matches!(self.arrival, Arrival::Replay(_))
    }

    fn request(&self, url: &Url, method: &str, path: &str) -> Vec<u8> {
        match url.scheme {
            Scheme::Http | Scheme::Https => self.http(url, method, path),
            Scheme::H2c | Scheme::H2 => Vec::new(),
            Scheme::Tcp | Scheme::Tls => self.body.clone(),
            // The first letter of a path is the type of what it names, for the reader's menu only.
            Scheme::Gopher => format!("{}\r\n", url.path.get(2..).unwrap_or_default()).into_bytes(),
            Scheme::Gemini => format!("gemini://{}{}\r\n", url.authority, url.path).into_bytes(),
        }
    }

    fn http(&self, url: &Url, method: &str, path: &str) -> Vec<u8> {
        let has = |name: &str| {
            let names = self.headers.iter().filter_map(|header| header.split_once(':'));
            names.into_iter().any(|(one, _)| one.trim().eq_ignore_ascii_case(name))
        };
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        if !has("host") {
            head += &format!("Host: {}\r\n", url.authority);
        }
        if !has("user-agent") {
            head += "User-Agent: whyslow\r\n";
        }
        for header in &self.headers {
            head += &format!("{header}\r\n");
        }
        let takes_body = !matches!(method, "GET" | "HEAD" | "OPTIONS");
        if (takes_body || !self.body.is_empty()) && !has("content-length") {
            head += &format!("Content-Length: {}\r\n", self.body.len());
        }
        let mut request = (head + "\r\n").into_bytes();
        request.extend_from_slice(&self.body);
        request
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A plan to ask one URL over one connection.
    pub(crate) fn plan(url: &str) -> Plan {
        Plan {
            urls: vec![url.parse().expect("a URL")],
            arrival: Arrival::Closed,
            duration: Duration::from_millis(100),
            requests: None,
            connections: 1,
            pipeline: 1,
            requests_each: None,
            threads: 1,
            timeout: Duration::from_millis(300),
            method: "GET".into(),
            headers: Vec::new(),
            body: Vec::new(),
            expected: Expected::default(),
            secured: Secured::default(),
            seed: 1,
        }
    }

    fn text(plan: &Plan) -> String {
        String::from_utf8(plan.targets().remove(0).request).expect("text")
    }

    #[test]
    fn a_request_has_the_headers_given_and_no_second_host() {
        let mut plan = plan("http://localhost:8080/x?y");
        plan.headers = vec!["host: other".into(), "Accept: a".into()];
        assert_eq!(text(&plan), "GET /x?y HTTP/1.1\r\nUser-Agent: whyslow\r\nhost: other\r\nAccept: a\r\n\r\n");
        plan.headers.clear();
        (plan.method, plan.body) = ("POST".into(), b"abc".to_vec());
        let expected =
            "POST /x?y HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: whyslow\r\nContent-Length: 3\r\n\r\nabc";
        assert_eq!(text(&plan), expected);
    }

    #[test]
    fn gopher_sends_the_selector_and_gemini_the_url() {
        assert_eq!(text(&plan("gopher://h/1/menu")), "/menu\r\n");
        assert_eq!(text(&plan("gopher://h/")), "\r\n");
        assert_eq!(text(&plan("gemini://h/a")), "gemini://h/a\r\n");
    }
}
