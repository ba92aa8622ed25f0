//! What is known from round to round.

use case::PastRound;
use serde::{Deserialize, Serialize};

/// What is known of a feed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct FeedState {
    /// Where it has moved for good.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub moved_to: String,
    /// It is gone for good.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_gone: bool,
    /// Its server does not want to be asked for it before, in seconds since 1970.
    #[serde(skip_serializing_if = "is_past")]
    pub not_before_s: i64,
    /// Whose the validators are.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub validated: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub etag: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_modified: String,
}

impl FeedState {
    /// Whether it was ever read.
    pub(crate) fn has_validators(&self) -> bool {
        !self.etag.is_empty() || !self.last_modified.is_empty()
    }
}

// What serde asks gets a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_past(seconds: &i64) -> bool {
    *seconds == 0
}

/// What is known of an origin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct OriginState {
    /// Its server does not want to be asked before, in seconds since 1970.
    pub not_before_s: i64,
    /// When its robots.txt was read, in seconds since 1970; 0 for never.
    pub robots_read_s: i64,
    /// What that says for us.
    pub robots: Vec<super::robots::Rule>,
}

/// A round as the database keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RoundState {
    /// The list it is over.
    pub list: String,
    pub is_finished: bool,
    pub past: PastRound,
}
