//! What is asked: a URL, as far as a load needs it.

use std::str::FromStr;

/// What is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// HTTP/1.1.
    Http,
    /// HTTP/1.1 over TLS.
    Https,
    /// HTTP/2 without TLS, from the first byte.
    H2c,
    /// HTTP/2 over TLS.
    H2,
    /// An echo over TCP.
    Tcp,
    /// An echo over TLS.
    Tls,
    /// Gopher.
    Gopher,
    /// Gemini.
    Gemini,
}

impl Scheme {
    const ALL: [(&'static str, Scheme, Option<u16>); 8] = [
        ("http", Scheme::Http, Some(80)),
        ("https", Scheme::Https, Some(443)),
        ("h2c", Scheme::H2c, Some(80)),
        ("h2", Scheme::H2, Some(443)),
        ("tcp", Scheme::Tcp, None),
        ("tls", Scheme::Tls, None),
        ("gopher", Scheme::Gopher, Some(70)),
        ("gemini", Scheme::Gemini, Some(1965)),
    ];

    /// Whether it is spoken within TLS.
    pub fn is_secured(self) -> bool {
        matches!(self, Scheme::Https | Scheme::H2 | Scheme::Tls | Scheme::Gemini)
    }

    /// Whether requests have methods and headers, and answers a status.
    pub fn is_http(self) -> bool {
        matches!(self, Scheme::Http | Scheme::Https | Scheme::H2c | Scheme::H2)
    }

    /// Whether the server sends back what it gets.
    pub fn is_echo(self) -> bool {
        matches!(self, Scheme::Tcp | Scheme::Tls)
    }

    /// Whether several requests can be on one connection.
    pub fn keeps_connections(self) -> bool {
        !matches!(self, Scheme::Gopher | Scheme::Gemini)
    }
}

/// A URL: `[WEIGHT*]SCHEME://HOST[:PORT][/PATH]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// How often it is asked for, beside others.
    pub weight: u32,
    /// What is spoken.
    pub scheme: Scheme,
    /// The host: a name or an address, IPv6 without its brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Path and query, at least `/`.
    pub path: String,
    /// Host and port as they were typed.
    pub authority: String,
    /// All of it as typed, without the weight.
    pub text: String,
}

impl FromStr for Url {
    type Err = String;

    fn from_str(typed: &str) -> Result<Url, String> {
        let (weight, text) = match typed.split_once('*') {
            Some((weight, rest)) if weight.bytes().all(|byte| byte.is_ascii_digit()) => (weight, rest),
            _ => ("1", typed),
        };
        let weight = weight.parse().ok().filter(|weight| (1..=1_000_000).contains(weight));
        let weight = weight.ok_or("a weight is between 1 and 1000000, as in 3*http://127.0.0.1/")?;
        if text.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return Err("a URL has no blanks and no control characters".into());
        }
        let text = text.split('#').next().unwrap_or_default();
        let (scheme, rest) = text.split_once("://").ok_or("a URL begins with http:// or another scheme")?;
        let known = Scheme::ALL.iter().find(|(name, ..)| *name == scheme);
        let Some((_, scheme, port)) = known else {
            let names = Scheme::ALL.map(|(name, ..)| name).join(", ");
            return Err(format!("`{scheme}` is not known; there are {names}"));
        };
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            return Err("a URL for a load has no user and password; use --header".into());
        }
        let (host, typed_port) = divide(authority)?;
        let port = match typed_port {
            Some(port) => port.parse().ok().filter(|port| *port > 0).ok_or("a port is between 1 and 65535")?,
            None => port.ok_or("this scheme needs a port, as in tcp://127.0.0.1:7")?,
        };
        let path = if path.starts_with('/') { path.to_string() } else { format!("/{path}") };
        let (host, authority, text) = (host.to_string(), authority.to_string(), text.to_string());
        Ok(Url { weight, scheme: *scheme, host, port, path, authority, text })
    }
}

/// Host and port of an authority.
fn divide(authority: &str) -> Result<(&str, Option<&str>), String> {
    let (host, behind) = match authority.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or("an IPv6 address ends with `]`")?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    if host.is_empty() {
        return Err("a URL has a host".into());
    }
    match behind {
        "" => Ok((host, None)),
        _ => behind.strip_prefix(':').map(|port| (host, Some(port))).ok_or_else(|| "a port follows a colon".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_read_with_its_weight_port_and_path() {
        let url: Url = "3*https://[::1]:8443/a?b=c#d".parse().expect("a URL");
        assert_eq!((url.weight, url.scheme, url.port), (3, Scheme::Https, 8443));
        assert_eq!((url.host.as_str(), url.path.as_str()), ("::1", "/a?b=c"));
        assert_eq!((url.authority.as_str(), url.text.as_str()), ("[::1]:8443", "https://[::1]:8443/a?b=c"));
        let plain: Url = "http://localhost?x".parse().expect("a URL");
        assert_eq!((plain.port, plain.path.as_str()), (80, "/?x"));
    }

    #[test]
    fn what_is_no_url_is_refused() {
        let wrong = [
            "localhost",
            "ftp://a/",
            "tcp://a/",
            "http:///x",
            "http://a:0/",
            "http://a:x/",
            "0*http://a/",
            "http://[::1/",
            "http://a/\r\nX: y",
            "http://u:p@a/",
        ];
        for one in wrong {
            assert!(one.parse::<Url>().is_err(), "{one}");
        }
    }
}
