//! The entries of a feed: what tells each from the others. Nothing else of a feed is kept.

mod json;
mod xml;

use super::coding::Plain;
use super::text::Text;
use case::ContentFault;
use std::io::BufRead;

/// A feed with more entries than this is none: those that people read have some hundred.
const MOST_ENTRIES: usize = 50_000;
/// Of an identity so much counts; the rest of it would only cost memory.
const LONGEST_IDENTITY: usize = 4 << 10;

/// The identities of the entries of a feed, as they are in it; digests of 64 bits, since nothing else is done with them
/// but to compare them.
///
/// # Errors
/// What is wrong with the feed.
pub(crate) fn read(plain: &mut Plain) -> Result<Vec<u64>, ContentFault> {
    let mut text = Text::of(&mut *plain);
    let found = sniffed(&mut text);
    let is_wide = text.is_wide;
    drop(text);
    match (plain.fault, is_wide) {
        (Some(fault), _) => Err(fault),
        (None, true) => Err(ContentFault::WideText),
        (None, false) => found,
    }
}

fn sniffed(text: &mut Text<&mut Plain>) -> Result<Vec<u64>, ContentFault> {
    loop {
        // What is wrong with the bytes is known to who gave them.
        let piece = text.fill_buf().map_err(|_| ContentFault::BadCoding)?;
        if piece.is_empty() {
            return Err(ContentFault::Empty);
        }
        match piece.iter().position(|byte| !byte.is_ascii_whitespace()) {
            None => {
                let count = piece.len();
                text.consume(count);
            }
            Some(at) => {
                let first = piece[at];
                text.consume(at);
                return match first {
                    b'<' => xml::read(text),
                    b'{' => json::read(text),
                    _ => Err(ContentFault::NotAFeed),
                };
            }
        }
    }
}

/// Reads any bytes as a feed: the first says in which coding.
pub(crate) fn fuzz(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let coding = ["", "gzip", "br", "zstd"][usize::from(*first) % 4];
    let _ = Plain::of(coding, rest, 1 << 20).map(|mut plain| read(&mut plain));
}

#[cfg(test)]
mod tests {
    use super::super::digest::digest;
    use super::*;

    fn of(body: &[u8]) -> Result<Vec<u64>, ContentFault> {
        read(&mut Plain::of("", body, 1 << 20).expect("plain"))
    }

    fn digests(identities: &[&str]) -> Vec<u64> {
        identities.iter().map(|one| digest(one)).collect()
    }

    #[test]
    fn every_kind_of_feed_is_read() {
        let rss = b"<?xml version='1.0' encoding='windows-1251'?><!DOCTYPE rss PUBLIC 'x' 'y'>\n<rss version='2.0'><channel>\
            <title>T</title><link>http://h/</link><guid>none</guid>\
            <item><guid isPermaLink='false'> 1 </guid><link>http://h/1</link></item>\
            <item><title>A &amp; B &nbsp;</title><link><![CDATA[http://h/2?a&b]]></link><media:guid>x</media:guid></item>\
            <item><title>\xe9</title></item><item><description>nothing to tell it by</description></item></channel></rss>";
        assert_eq!(of(rss), Ok(digests(&["1", "http://h/2?a&b", "\u{e9}"])));
        let atom = b"<feed xmlns='http://www.w3.org/2005/Atom'><id>feed</id><entry><id>a</id><link href='/1'/></entry>\
            <entry><link rel='self' href='/s'/><link href='/2'/><author><id>x</id></author></entry></feed>";
        assert_eq!(of(atom), Ok(digests(&["a", "/2"])));
        let prefixed = b"<a:feed xmlns:a='x'><a:entry><id>other</id><a:id>b</a:id></a:entry></a:feed>";
        assert_eq!(of(prefixed), Ok(digests(&["b"])));
        let rdf = b"<rdf:RDF xmlns:rdf='x'><channel/><item rdf:about='http://h/3'><link>l</link></item></rdf:RDF>";
        assert_eq!(of(rdf), Ok(digests(&["http://h/3"])));
        let json = br#"  {"version": "https://jsonfeed.org/version/1.1", "title": "T", "items":
            [{"id": "1", "url": "u"}, {"id": 2}, {"url": "http://h/3"}, {"title": "no identity"}]}"#;
        assert_eq!(of(json), Ok(digests(&["1", "2", "http://h/3"])));
    }

    #[test]
    fn what_is_no_feed_is_named() {
        let billion = b"<!DOCTYPE rss [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]><rss><channel><item><guid>&b;</guid></item></channel></rss>";
        let deep = format!("<rss>{}", "<a>".repeat(1000));
        let deep_json = format!("{{\"version\":\"https://jsonfeed.org/version/1\",\"x\":{}", "[".repeat(1000));
        let many = format!("<rss>{}</rss>", "<item><guid>1</guid></item>".repeat(MOST_ENTRIES + 1));
        let named = |body: &[u8]| read(&mut Plain::of("", body, 10 << 20).expect("plain"));
        let wrong: [(&[u8], ContentFault); 16] = [
            (b"", ContentFault::Empty),
            (b" \n ", ContentFault::Empty),
            (b"<!doctype html><html><body></body></html>", ContentFault::Html),
            (b"<html><p>no end", ContentFault::Html),
            (b"<svg></svg>", ContentFault::NotAFeed),
            (b"hello", ContentFault::NotAFeed),
            (b"{\"items\": []}", ContentFault::NotAFeed),
            (b"{\"version\": \"https://jsonfeed.org/version/1\", \"items\": [", ContentFault::BadJson),
            (deep_json.as_bytes(), ContentFault::BadJson),
            (b"<rss><channel></rss>", ContentFault::BadXml),
            (b"<rss><channel><item><guid>1</guid>", ContentFault::TruncatedXml),
            (b"<rss><channel><item attribute='", ContentFault::TruncatedXml),
            (b"\xff\xfe<\0r\0s\0s\0>\0", ContentFault::WideText),
            (billion, ContentFault::OwnEntities),
            (deep.as_bytes(), ContentFault::TooDeep),
            (many.as_bytes(), ContentFault::TooManyEntries),
        ];
        for (body, fault) in wrong {
            assert_eq!(named(body), Err(fault), "{}", String::from_utf8_lossy(&body[..body.len().min(80)]));
        }
    }

    #[test]
    fn whatever_comes_nothing_panics() {
        let mut random = fastrand::Rng::with_seed(7);
        let seed = b"<rss><channel><item><guid>1</guid><link href='x'/>&amp;<![CDATA[y]]></item></channel></rss>";
        for _ in 0..20_000 {
            let mut bytes = seed.to_vec();
            for _ in 0..random.usize(1..6) {
                let at = random.usize(..bytes.len());
                bytes[at] = random.u8(..);
            }
            let _ = of(&bytes[..random.usize(..=bytes.len())]);
        }
    }
}
