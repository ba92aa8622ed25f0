//! Rounds that were made.

use super::failure::FeedsFailure;
use super::store::Store;
use case::PastRound;
use std::path::Path;

/// The finished rounds over one list.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// What the list is called.
    pub list: String,
    /// The rounds, in their order.
    pub rounds: Vec<PastRound>,
}

/// The finished rounds over a list, or where none is named, over the list of the last of them.
///
/// # Errors
/// Where there is no such database, it cannot be read, or it has no such round.
pub fn past(database: &Path, list: Option<&str>) -> Result<Past, FeedsFailure> {
    // A database is not made in order to be read.
    if !database.exists() {
        return Err(FeedsFailure::NoRounds(database.to_path_buf()));
    }
    let rounds = Store::open(database)?.rounds()?;
    let finished = rounds.into_iter().filter(|round| round.is_finished).collect::<Vec<_>>();
    let of_last = finished.last().map(|round| round.list.clone());
    let list = list.map(String::from).or(of_last).unwrap_or_default();
    let rounds = finished.into_iter().filter(|round| round.list == list).map(|round| round.past).collect::<Vec<_>>();
    if rounds.is_empty() {
        return Err(FeedsFailure::NoRounds(database.to_path_buf()));
    }
    Ok(Past { list, rounds })
}
