//! What is learnt of feeds, origins and rounds, on its way into the database.

use super::state::{FeedState, OriginState, RoundState};
use serde::{Deserialize, Serialize};

/// A change of what is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Change {
    /// A round has seen to a feed, and what it has learnt of it, where that is something new.
    Feed {
        address: String,
        round: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<FeedState>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<Vec<u64>>,
    },
    Origin {
        name: String,
        state: OriginState,
    },
    Round(RoundState),
}
