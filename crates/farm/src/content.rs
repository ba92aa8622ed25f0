//! What feeds say: a body for each size, version and coding, made once.

use crate::coding::{brotli, gzip, zstd};
use fastrand::Rng;
use std::fmt::Write;

/// Sizes of feeds, in entries: as in the world, most are small and some are not.
const SIZES: [usize; 6] = [8, 12, 20, 30, 60, 150];
/// So many versions of each are made; a feed that changes more often begins again.
const VERSIONS: usize = 4;
/// So many words there are: with fewer, feeds would be compressed more than real ones, which become a fifth.
const VOCABULARY: usize = 600;
const SYLLABLES: [&str; 16] =
    ["ba", "cor", "de", "fin", "gu", "ha", "jor", "kel", "la", "mo", "nir", "o", "pra", "ri", "su", "ten"];
/// Words of an entry.
const LENGTH: usize = 320;

/// The coding of a feed's answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
    Brotli,
    Zstd,
}

impl Coding {
    /// Most servers send gzip, and none sends what the one who asks does not take (`Accept-Encoding`).
    pub(crate) fn of(feed: usize, accepted: &str) -> Coding {
        let (coding, name) = match feed % 20 {
            0 => (Coding::Identity, "identity"),
            1..=3 => (Coding::Brotli, "br"),
            4 => (Coding::Zstd, "zstd"),
            _ => (Coding::Gzip, "gzip"),
        };
        let is_accepted = accepted.split(',').any(|one| one.split(';').next().unwrap_or_default().trim() == name);
        if is_accepted { coding } else { Coding::Identity }
    }

    pub(crate) fn header(self) -> &'static str {
        match self {
            Coding::Identity => "",
            Coding::Gzip => "Content-Encoding: gzip\r\n",
            Coding::Brotli => "Content-Encoding: br\r\n",
            Coding::Zstd => "Content-Encoding: zstd\r\n",
        }
    }
}

/// All bodies.
pub(crate) struct Content {
    bodies: Vec<[Vec<u8>; 4]>,
    /// Gzip of a feed that unfolds to 8 MiB, a thousand times its length.
    pub bomb: Vec<u8>,
}

impl Content {
    pub(crate) fn make(seed: u64) -> Content {
        let mut random = Rng::with_seed(seed);
        let word = |random: &mut Rng| {
            let syllables = random.usize(1..5);
            (0..syllables).map(|_| SYLLABLES[random.usize(..SYLLABLES.len())]).collect::<String>()
        };
        let words = (0..VOCABULARY).map(|_| word(&mut random)).collect::<Vec<_>>();
        let mut bodies = Vec::new();
        for (index, size) in SIZES.into_iter().enumerate() {
            for version in 0..VERSIONS {
                let text = feed(index, size, version, &words, &mut random);
                bodies.push([
                    text.clone().into_bytes(),
                    gzip(text.as_bytes()),
                    brotli(text.as_bytes()),
                    zstd(text.as_bytes()),
                ]);
            }
        }
        let blanks = vec![b' '; 8 << 20];
        Content { bodies, bomb: gzip(&[b"<rss><channel>".as_slice(), &blanks].concat()) }
    }

    /// How many entries a feed has.
    pub(crate) fn entries(feed: usize) -> u64 {
        SIZES[feed / 7 % SIZES.len()] as u64
    }

    pub(crate) fn body(&self, feed: usize, version: usize, coding: Coding) -> &[u8] {
        let size = feed / 7 % SIZES.len();
        let place = match coding {
            Coding::Identity => 0,
            Coding::Gzip => 1,
            Coding::Brotli => 2,
            Coding::Zstd => 3,
        };
        &self.bodies[size * VERSIONS + version % VERSIONS][place]
    }
}

/// RSS or Atom; each version has one new entry at the top, and has lost the last.
fn feed(index: usize, entries: usize, version: usize, vocabulary: &[String], random: &mut Rng) -> String {
    let is_atom = index % 2 == 1;
    let mut text = if is_atom {
        "<?xml version=\"1.0\"?><feed xmlns=\"http://www.w3.org/2005/Atom\"><title>Farm</title><id>farm</id>"
            .to_string()
    } else {
        "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>Farm</title><link>http://feeds.test/</link>"
            .to_string()
    };
    for entry in (version..version + entries).rev() {
        let words = (0..LENGTH).map(|_| vocabulary[random.usize(..VOCABULARY)].as_str()).collect::<Vec<_>>().join(" ");
        // Writing to a string does not fail.
        let _ = if is_atom {
            writeln!(
                text,
                "<entry><id>urn:{index}:{entry}</id><title>Entry {entry}</title><link href=\"http://feeds.test/{entry}\"/>\
                 <content type=\"html\">&lt;p&gt;{words} {}&lt;/p&gt;</content></entry>",
                random.u64(..)
            )
        } else {
            writeln!(
                text,
                "<item><title>Entry {entry}</title><link>http://feeds.test/{entry}</link>\
                 <guid isPermaLink=\"false\">{index}-{entry}</guid>\
                 <description><![CDATA[<p>{words} {}</p>]]></description></item>",
                random.u64(..)
            )
        };
    }
    text + if is_atom { "</feed>" } else { "</channel></rss>" }
}
