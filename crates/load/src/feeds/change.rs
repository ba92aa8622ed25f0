//! What is learnt of feeds, origins and rounds, on its way into the database.

use super::state::{FeedState, OriginState, RoundState};
use serde::{Deserialize, Serialize};

/// A change of what is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Change {
    Feed { address: String, state: FeedState, seen: Option<Vec<u64>> },
    Origin { name: String, state: OriginState },
    Round(RoundState),
}
