//! Which feeds a round has seen to already, for a process that goes on with it: digests of their addresses, as many in a row of
//! the table as were written at once.
//!
//! Of most feeds a round learns nothing but that it has seen to them. A row for each would cost some pages of the tree.

use super::digest;
use redb::{ReadableTable, StorageError, Table, TableDefinition};
use rustc_hash::FxHashSet;

/// By the number of the round, and counted within it.
pub(crate) const DONE: TableDefinition<'static, (u64, u64), &'static [u8]> = TableDefinition::new("done");

/// Adds what has been seen to.
pub(crate) fn add(
    table: &mut Table<'_, (u64, u64), &'static [u8]>,
    round: u64,
    addresses: &[u64],
) -> Result<(), StorageError> {
    let last = table.range((round, 0)..=(round, u64::MAX))?.next_back().transpose()?.map(|(key, _)| key.value().1);
    table.insert((round, last.map_or(0, |last| last + 1)), digest::to_bytes(addresses).as_slice()).map(drop)
}

/// Nobody goes on with a round any more.
pub(crate) fn forget(table: &mut Table<'_, (u64, u64), &'static [u8]>, round: u64) -> Result<(), StorageError> {
    table.retain_in((round, 0)..=(round, u64::MAX), |_, _| false)
}

/// All that a round has seen to.
pub(crate) fn read(
    table: &impl ReadableTable<(u64, u64), &'static [u8]>,
    round: u64,
) -> Result<FxHashSet<u64>, StorageError> {
    let mut all = FxHashSet::default();
    for row in table.range((round, 0)..=(round, u64::MAX))? {
        all.extend(digest::of_bytes(row?.1.value()));
    }
    Ok(all)
}
