//! Connections as a table.

use crate::evidence::Evidence;
use case::exhibits::{ConnectionExhibit, Rest};

/// Connections, those with most of the time first, and what found no place.
pub fn sheet(_evidence: &Evidence) -> (Vec<ConnectionExhibit>, Rest) {
    (Vec::new(), Rest::default())
}
