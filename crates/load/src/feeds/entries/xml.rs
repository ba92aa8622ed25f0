//! RSS (0.9 to 2.0) and Atom, event by event. Entities are never expanded.

use super::super::digest::digest;
use super::{LONGEST_IDENTITY, MOST_ENTRIES};
use case::ContentFault;
use quick_xml::Reader;
use quick_xml::errors::{Error, IllFormedError, SyntaxError};
use quick_xml::events::{BytesStart, Event};
use std::io::BufRead;

/// Elements within elements: real feeds have some ten, of markup within entries.
const DEEPEST: usize = 256;

/// What an entry can be told by; the best of what it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// RSS's guid, Atom's id, RDF's about.
    Id,
    Link,
    Title,
}

const PARTS: usize = 3;

/// An entry that is being read.
struct Entry {
    /// The depth of its element, and the prefix of its name: its parts have the same.
    depth: usize,
    prefix: String,
    /// What was found of each part.
    found: [String; PARTS],
    /// The part that is being read.
    open: Option<Part>,
}

/// A feed that is being read.
#[derive(Default)]
struct Feed {
    depth: usize,
    has_begun: bool,
    entry: Option<Entry>,
    identities: Vec<u64>,
}

pub(super) fn read(text: &mut impl BufRead) -> Result<Vec<u64>, ContentFault> {
    let mut reader = Reader::from_reader(text);
    reader.config_mut().trim_text(false);
    let mut feed = Feed::default();
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer).map_err(|error| named(&error, &feed))? {
            Event::Start(element) => feed.begin(&element)?,
            Event::Empty(element) => {
                feed.begin(&element)?;
                feed.end()?;
            }
            Event::End(_) => feed.end()?,
            Event::Text(text) => feed.text(&text),
            Event::CData(text) => feed.text(&text),
            Event::GeneralRef(reference) => feed.text(&character(&reference)),
            Event::DocType(declaration) => doctype(&declaration)?,
            Event::Eof if feed.has_begun => return Err(ContentFault::TruncatedXml),
            Event::Eof => return Err(ContentFault::NotAFeed),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
        }
        // What stands behind the end of the feed is no part of it.
        if feed.has_begun && feed.depth == 0 {
            return Ok(feed.identities);
        }
    }
}

fn named(error: &Error, feed: &Feed) -> ContentFault {
    match error {
        // The end of the text came first.
        Error::Syntax(error) if *error != SyntaxError::InvalidBangMarkup => ContentFault::TruncatedXml,
        Error::IllFormed(IllFormedError::MissingEndTag(_)) => ContentFault::TruncatedXml,
        _ if !feed.has_begun => ContentFault::NotAFeed,
        _ => ContentFault::BadXml,
    }
}

fn doctype(declaration: &str) -> Result<(), ContentFault> {
    if declaration.trim_start().get(..4).is_some_and(|name| name.eq_ignore_ascii_case("html")) {
        return Err(ContentFault::Html);
    }
    if declaration.contains("<!ENTITY") { Err(ContentFault::OwnEntities) } else { Ok(()) }
}

/// One of the five that XML knows, or else the reference as it stands: equal entries stay equal.
fn character(reference: &str) -> String {
    match reference {
        "amp" => "&".into(),
        "lt" => "<".into(),
        "gt" => ">".into(),
        "quot" => "\"".into(),
        "apos" => "'".into(),
        other => format!("&{other};"),
    }
}

impl Feed {
    fn begin(&mut self, element: &BytesStart) -> Result<(), ContentFault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(ContentFault::TooDeep);
        }
        let (full, local) = (element.name(), element.local_name());
        let (full, local) = (full.as_ref(), local.as_ref());
        if !self.has_begun {
            self.has_begun = true;
            return match local {
                "rss" | "RDF" | "feed" => Ok(()),
                _ if local.eq_ignore_ascii_case("html") => Err(ContentFault::Html),
                _ => Err(ContentFault::NotAFeed),
            };
        }
        let prefix = full.strip_suffix(local).unwrap_or_default();
        match &mut self.entry {
            Some(entry) if entry.depth + 1 == self.depth && entry.prefix == prefix => entry.begin(local, element),
            Some(entry) => entry.open = entry.open.filter(|_| self.depth > entry.depth + 1),
            None if matches!(local, "item" | "entry") => {
                let mut entry =
                    Entry { depth: self.depth, prefix: prefix.into(), found: Default::default(), open: None };
                if let Some(about) = attribute(element, "rdf:about") {
                    entry.add(Part::Id, &about);
                }
                self.entry = Some(entry);
            }
            None => {}
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), ContentFault> {
        if let Some(entry) = &mut self.entry {
            if self.depth == entry.depth + 1 {
                entry.open = None;
            }
            if self.depth == entry.depth {
                let identity = self.entry.take().and_then(Entry::identity);
                self.identities.extend(identity.map(|identity| digest(&identity)));
                if self.identities.len() > MOST_ENTRIES {
                    return Err(ContentFault::TooManyEntries);
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn text(&mut self, text: &str) {
        if let Some(entry) = &mut self.entry
            && let Some(part) = entry.open
        {
            entry.add(part, text);
        }
    }
}

impl Entry {
    fn begin(&mut self, name: &str, element: &BytesStart) {
        self.open = match name {
            "guid" | "id" => Some(Part::Id),
            "link" => Some(Part::Link),
            "title" => Some(Part::Title),
            _ => None,
        };
        if self.open == Some(Part::Link)
            && attribute(element, "rel").is_none_or(|kind| kind == "alternate")
            && let Some(target) = attribute(element, "href")
        {
            self.add(Part::Link, &target);
        }
    }

    fn add(&mut self, part: Part, text: &str) {
        let found = &mut self.found[part as usize];
        let room = LONGEST_IDENTITY.saturating_sub(found.len());
        found.extend(text.chars().take(room));
    }

    fn identity(self) -> Option<String> {
        let trimmed = self.found.iter().map(|text| text.trim());
        trimmed.into_iter().find(|text| !text.is_empty()).map(String::from)
    }
}

fn attribute(element: &BytesStart, name: &str) -> Option<String> {
    let found = element.try_get_attribute(name).ok()??;
    Some(found.value.trim().to_string())
}
