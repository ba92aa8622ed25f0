//! What a table may unfold to. Both formats compress, and say themselves how large what follows is: some kilobytes can ask for all
//! memory. Everything that a file says about sizes is looked at before the readers of the formats believe it.

mod pages;
mod stream;
mod thrift;

pub(super) use pages::{check_footer, rows_at_a_time};
pub(super) use stream::whole_part;

use crate::row::Row;
use std::fs::File;

/// What a table's rows may take whatever its file's size: with all nineteen tables less than a gigabyte.
const FREE_BYTES: u64 = 24 << 20;

/// How many times its file a table's rows may take beyond that. Recorded calls take up to thirty times as much.
const MOST_TIMES: u64 = 100;

/// Memory that the rows of one table may take.
pub(crate) struct Budget {
    bytes: u64,
}

impl Budget {
    /// That of a file of this size.
    pub(super) fn of(file: &File) -> std::io::Result<Budget> {
        Budget::beyond(FREE_BYTES, file)
    }

    /// That of a file of this size whose rows may take so much whatever it is.
    pub(crate) fn beyond(free_bytes: u64, file: &File) -> std::io::Result<Budget> {
        Ok(Budget { bytes: free_bytes + file.metadata()?.len().saturating_mul(MOST_TIMES) })
    }

    /// Takes what these rows need.
    pub(super) fn take<R: Row>(&mut self, rows: &[R]) -> Result<(), String> {
        let bytes = rows.iter().map(|row| row.bytes() as u64).sum::<u64>();
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(too_much)?;
        Ok(())
    }

    /// Whether so much can be there at all.
    fn allows(&self, bytes: u64) -> Result<(), String> {
        if bytes <= self.bytes { Ok(()) } else { Err(too_much()) }
    }
}

fn too_much() -> String {
    format!("it unfolds to more than {MOST_TIMES} times its size")
}
