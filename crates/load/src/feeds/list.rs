//! Lists of feeds: OPML, or an address a line.

use super::address;
use super::failure::FeedsFailure;
use quick_xml::events::Event;
use quick_xml::{Reader, XmlVersion};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A list of feeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// The file, as an absolute path.
    pub file: PathBuf,
    /// Addresses, each once, in the order of the file, as they are written there.
    pub addresses: Vec<String>,
}

/// Reads a list.
///
/// # Errors
/// Where the file cannot be read, or names no feed.
pub fn read(file: &Path) -> Result<List, FeedsFailure> {
    let unread = |error: String| FeedsFailure::Unread { file: file.to_path_buf(), error };
    let bytes = std::fs::read(file).map_err(|error| unread(error.to_string()))?;
    let text = String::from_utf8_lossy(&bytes);
    let found = addresses(&text).map_err(unread)?;
    let mut seen = HashSet::new();
    let addresses = found.into_iter().filter(|one| seen.insert(one.clone())).collect::<Vec<_>>();
    if addresses.is_empty() {
        return Err(FeedsFailure::NoFeeds(file.to_path_buf()));
    }
    let file = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    Ok(List { file, addresses })
}

fn addresses(text: &str) -> Result<Vec<String>, String> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('<') {
        return opml(text);
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(lines.map(String::from).collect())
}

/// Reads any bytes as a list.
pub(crate) fn fuzz(bytes: &[u8]) {
    let _ =
        addresses(&String::from_utf8_lossy(bytes)).map(|all| all.iter().filter_map(|one| address::read(one)).count());
}

/// What the outlines of an OPML file name as `xmlUrl`.
fn opml(text: &str) -> Result<Vec<String>, String> {
    let mut reader = Reader::from_str(text);
    let mut found = Vec::new();
    loop {
        let event = reader.read_event().map_err(|error| format!("it is not OPML: {error}"))?;
        let (Event::Start(element) | Event::Empty(element)) = event else {
            if matches!(event, Event::Eof) {
                return Ok(found);
            }
            continue;
        };
        for attribute in element.attributes().flatten() {
            if attribute.key.as_ref().eq_ignore_ascii_case("xmlUrl") {
                let value = attribute
                    .normalized_value(XmlVersion::Implicit1_0)
                    .map_err(|error| format!("it is not OPML: {error}"))?;
                found.push(value.trim().to_string());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_at_any_depth_are_feeds() {
        let text = "<?xml version='1.0'?><opml version='2.0'><body><outline text='News'>\
            <outline type='rss' xmlUrl='http://a/?x=1&amp;y=2'/></outline><outline xmlurl=\"http://b/\" text='B'>\
            </outline><outline text='no feed' htmlUrl='http://c/'/></body></opml>";
        assert_eq!(addresses(text), Ok(vec!["http://a/?x=1&y=2".into(), "http://b/".into()]));
        assert!(addresses("<opml><a></b>").is_err());
    }

    #[test]
    fn lines_are_feeds_but_for_comments() {
        assert_eq!(
            addresses("\u{feff}# mine\nhttp://a/\n\n  http://b/ \r\n"),
            Ok(vec!["http://a/".into(), "http://b/".into()])
        );
    }

    #[test]
    fn each_address_counts_once_and_an_empty_list_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("list.txt");
        std::fs::write(&file, "http://a/\nhttp://a/\n").expect("written");
        assert_eq!(read(&file).expect("a list").addresses, ["http://a/"]);
        std::fs::write(&file, "# nothing\n").expect("written");
        assert!(matches!(read(&file), Err(FeedsFailure::NoFeeds(_))));
        assert!(matches!(read(folder.path()), Err(FeedsFailure::Unread { .. })));
    }
}
