//! JSON Feed (jsonfeed.org, versions 1 and 1.1).

use super::super::digest::digest;
use super::{LONGEST_IDENTITY, MOST_ENTRIES};
use case::ContentFault;
use serde::Deserialize;
use std::io::Read;

/// What all of them name as their version.
const VERSION: &str = "jsonfeed.org/version/";

#[derive(Deserialize)]
struct Feed {
    #[serde(default)]
    version: String,
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    id: serde_json::Value,
    #[serde(default)]
    url: serde_json::Value,
}

pub(super) fn read(text: &mut impl Read) -> Result<Vec<u64>, ContentFault> {
    let feed: Feed = serde_json::from_reader(text).map_err(|_| ContentFault::BadJson)?;
    if !feed.version.contains(VERSION) {
        return Err(ContentFault::NotAFeed);
    }
    if feed.items.len() > MOST_ENTRIES {
        return Err(ContentFault::TooManyEntries);
    }
    let identity = |item: &Item| said(&item.id).or_else(|| said(&item.url));
    Ok(feed.items.iter().filter_map(identity).map(|identity| digest(&identity)).collect())
}

/// Ids are to be strings, and often are numbers.
fn said(value: &serde_json::Value) -> Option<String> {
    let text = match value {
        serde_json::Value::String(text) => text.trim().to_string(),
        serde_json::Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    (!text.is_empty()).then(|| text.chars().take(LONGEST_IDENTITY).collect())
}
