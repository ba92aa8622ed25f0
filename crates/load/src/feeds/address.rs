//! Addresses of feeds: as lists have them, and as redirects name them.

use crate::address::{Scheme, Url};

/// The address of a feed; none where it is no address of HTTP.
pub(crate) fn read(text: &str) -> Option<Url> {
    let text = text.trim();
    // Browsers once used that scheme to say that a link leads to a feed.
    let text = text.strip_prefix("feed:").map_or_else(|| text.to_string(), |rest| rest.trim_start_matches("//").into());
    let text = if text.contains("://") { text } else { format!("http://{text}") };
    let (scheme, rest) = text.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let url: Url = format!("{}://{}{}", scheme.to_ascii_lowercase(), authority.to_ascii_lowercase(), escaped(path))
        .parse()
        .ok()?;
    let is_plain = url.host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte));
    (matches!(url.scheme, Scheme::Http | Scheme::Https) && is_plain).then_some(url)
}

/// Where a redirect leads (RFC 3986, 5.2).
pub(crate) fn join(base: &Url, location: &str) -> Option<Url> {
    let location = location.trim();
    if location.is_empty() {
        return None;
    }
    let scheme = if base.scheme == Scheme::Https { "https" } else { "http" };
    let colon = location.find(':').filter(|colon| !location[..*colon].contains(['/', '?', '#']));
    if colon.is_some() {
        // Of another scheme, or without a host.
        return if location.contains("://") { read(location) } else { None };
    }
    if location.starts_with("//") {
        return read(&format!("{scheme}:{location}"));
    }
    let (path, query) =
        base.path.split_once('?').map_or((base.path.as_str(), None), |(path, query)| (path, Some(query)));
    let target = match location.as_bytes()[0] {
        b'/' => location.to_string(),
        b'?' => format!("{path}{location}"),
        b'#' => format!("{path}{}", query.map(|query| format!("?{query}")).unwrap_or_default()),
        _ => format!("{}{location}", &path[..=path.rfind('/').unwrap_or(0)]),
    };
    read(&format!("{scheme}://{}{}", base.authority, without_dots(&target)))
}

/// A path without `.` and `..` (RFC 3986, 5.2.4).
fn without_dots(target: &str) -> String {
    let end = target.find(['?', '#']).unwrap_or(target.len());
    let (path, rest) = target.split_at(end);
    let mut kept: Vec<&str> = Vec::new();
    let parts = path.split('/').skip(1).collect::<Vec<_>>();
    for (index, part) in parts.iter().enumerate() {
        let is_last = index + 1 == parts.len();
        match *part {
            ".." => drop(kept.pop()),
            "." => {}
            part => kept.push(part),
        }
        if is_last && matches!(*part, "." | "..") {
            kept.push("");
        }
    }
    format!("/{}{rest}", kept.join("/"))
}

/// A path as it can be sent: what is no visible ASCII is written in hexadecimal.
fn escaped(path: &str) -> String {
    let one = |byte: u8| if (0x21..0x7f).contains(&byte) { (byte as char).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(one).collect()
}

/// The name of an origin: scheme, host and port.
pub(crate) fn origin(url: &Url) -> String {
    let scheme = if url.scheme == Scheme::Https { "https" } else { "http" };
    let host = if url.host.contains(':') { format!("[{}]", url.host) } else { url.host.clone() };
    format!("{scheme}://{host}:{}", url.port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(url: Option<Url>) -> String {
        url.map(|url| url.text).unwrap_or_default()
    }

    #[test]
    fn addresses_are_read_as_people_write_them() {
        assert_eq!(text(read(" HTTPS://Example.ORG/A b#c ")), "https://example.org/A%20b");
        assert_eq!(text(read("feed://example.org/x")), "http://example.org/x");
        assert_eq!(text(read("feed:https://example.org/x")), "https://example.org/x");
        assert_eq!(text(read("http://example.org/\u{e9}")), "http://example.org/%C3%A9");
        for wrong in ["", "ftp://example.org/", "http://", "http://u:p@example.org/", "http://a b/", "tcp://a:1"] {
            assert_eq!(text(read(wrong)), "", "{wrong}");
        }
    }

    #[test]
    fn redirects_lead_where_the_standard_says() {
        let base = read("https://example.org:8443/a/b?c").expect("an address");
        let to = |location: &str| text(join(&base, location));
        assert_eq!(to("http://other.org"), "http://other.org");
        assert_eq!(to("//other.org/x"), "https://other.org/x");
        assert_eq!(to("/x?y"), "https://example.org:8443/x?y");
        assert_eq!(to("x"), "https://example.org:8443/a/x");
        assert_eq!(to("?d"), "https://example.org:8443/a/b?d");
        assert_eq!(to("../../x/./y/.."), "https://example.org:8443/x/");
        assert_eq!(to("#d"), "https://example.org:8443/a/b?c");
        assert_eq!([to(""), to("javascript:alert(1)"), to("ftp://a/")], ["", "", ""]);
    }

    #[test]
    fn an_origin_has_its_port_always() {
        assert_eq!(origin(&read("http://[::1]/x").expect("an address")), "http://[::1]:80");
        assert_eq!(origin(&read("https://a/x").expect("an address")), "https://a:443");
    }
}
