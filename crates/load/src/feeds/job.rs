//! A request to be made.

use super::state::FeedState;
use crate::address::Url;
use std::time::Instant;

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A feed, by its place on the list.
    Feed(usize),
    /// The robots.txt of the origin.
    Robots,
}

/// A request to be made.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub purpose: Purpose,
    pub url: Url,
    /// What was known of the feed when the round began.
    pub state: FeedState,
    /// Where redirects have come from.
    pub hops: Vec<String>,
    /// All of those redirects are for good.
    pub is_permanent: bool,
    /// When the first request for it began.
    pub begun: Option<Instant>,
    /// It was asked for on a connection that was closed meanwhile, once.
    pub is_retried: bool,
}

impl Job {
    pub(crate) fn of(purpose: Purpose, url: Url, state: FeedState) -> Job {
        Job { purpose, url, state, hops: Vec::new(), is_permanent: true, begun: None, is_retried: false }
    }
}
