//! Families of agents, by the shape of how they call themselves: no list of names decides what is a crawler.

use serde::{Deserialize, Serialize};

/// What kind of program an agent says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AgentKind {
    /// It says so (bot, crawler, spider), or leaves an address for complaints.
    Crawler,
    /// It has the shape of a browser.
    Browser,
    /// A program or a library: `curl/8.5.0`.
    Tool,
    /// It says nothing.
    Silent,
}

/// Words in the names of crawlers.
const CRAWLING: [&str; 6] = ["bot", "crawl", "spider", "slurp", "scrape", "archiver"];
/// Browsers by what only they write, those first that write what others do, too.
const BROWSERS: [(&str, &str); 8] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
];
/// Longer names are no names.
const LONGEST: usize = 40;

/// The family that an agent belongs to, and its kind.
pub fn family(agent: &[u8]) -> (String, AgentKind) {
    let text = String::from_utf8_lossy(agent);
    let text = text.trim();
    if text.is_empty() || text == "-" {
        return ("no agent".into(), AgentKind::Silent);
    }
    if let Some(name) = crawler(text) {
        return (shown(name), AgentKind::Crawler);
    }
    if text.starts_with("Mozilla/") || text.starts_with("Opera/") {
        let found = BROWSERS.iter().find(|(mark, _)| text.contains(mark));
        return (found.map_or("other browsers", |(_, name)| name).into(), AgentKind::Browser);
    }
    (shown(products(text).next().unwrap_or(text)), AgentKind::Tool)
}

/// The name of a crawler: the product whose name says so, else that of who leaves an address.
fn crawler(text: &str) -> Option<&str> {
    let says_so = |name: &&str| {
        let lower = name.to_ascii_lowercase();
        CRAWLING.iter().any(|word| lower.contains(word))
    };
    if let Some(name) = products(text).find(says_so) {
        return Some(name);
    }
    let leaves_address = text.contains("+http") || text.contains("compatible; ") && text.contains("http");
    if !leaves_address {
        return None;
    }
    let piece = text.split_once("compatible; ").and_then(|(_, rest)| rest.split([';', ')']).next());
    let named = piece.map(|piece| products(piece).next().unwrap_or(piece.trim())).filter(|name| !name.is_empty());
    named.or_else(|| products(text).find(|name| *name != "Mozilla"))
}

/// Names of products: words before a version, and what stands alone between semicolons or brackets. Addresses of sites are
/// none, and neither is the first word of several, as in the model of a telephone.
fn products(text: &str) -> impl Iterator<Item = &str> {
    let pieces = text.split([';', '(', ')', ',', '"']).map(str::trim).filter(|piece| !piece.is_empty());
    pieces.flat_map(|piece| {
        let is_only_words = !piece.contains('/');
        let words = piece.split_whitespace().filter(|word| !word.contains("://") && !word.contains('@'));
        let alone = is_only_words && piece.split_whitespace().count() == 1;
        words.filter_map(move |word| match word.split_once('/') {
            Some((name, _)) => Some(name),
            None if alone => Some(word),
            None => None,
        })
    })
}

fn shown(name: &str) -> String {
    let name: String = name.chars().filter(|letter| !letter.is_control()).take(LONGEST).collect();
    if name.trim().is_empty() { "no agent".into() } else { name.trim().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use AgentKind::{Browser, Crawler, Silent, Tool};

    #[test]
    fn agents_have_families_by_their_shape() {
        for (agent, name, kind) in [
            ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot", Crawler),
            (
                "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
                "GPTBot",
                Crawler,
            ),
            (
                "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
                "facebookexternalhit",
                Crawler,
            ),
            (
                "Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)",
                "Yahoo! Slurp",
                Crawler,
            ),
            ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox", Browser),
            (
                "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36 Edg/126.0",
                "Edge",
                Browser,
            ),
            (
                "Mozilla/5.0 (Linux; Android 9; CUBOT X19) AppleWebKit/537.36 Chrome/126.0 Mobile Safari/537.36",
                "Chrome",
                Browser,
            ),
            ("python-requests/2.31.0", "python-requests", Tool),
            ("curl/8.5.0", "curl", Tool),
            ("-", "no agent", Silent),
        ] {
            assert_eq!(family(agent.as_bytes()), (name.to_string(), kind), "{agent}");
        }
    }
}
