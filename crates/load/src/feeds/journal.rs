//! A journal beside the database: what was learnt since that was written last, a line of JSON a change.
//!
//! A transaction has to reach the disk, which takes too long to be made for each feed. A line reaches the kernel, and
//! survives whatever happens to this process; only where the machine loses power is it lost.

use super::change::Change;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Result, Write};
use std::path::Path;

/// The journal.
pub(crate) struct Journal {
    file: File,
}

impl Journal {
    /// Opens it for adding to it.
    pub(crate) fn open(file: &Path) -> Result<Journal> {
        Ok(Journal { file: OpenOptions::new().create(true).append(true).open(file)? })
    }

    /// Adds changes, in one call to the system.
    pub(crate) fn add(&mut self, changes: &[Change]) -> Result<()> {
        let mut lines = Vec::new();
        for change in changes {
            serde_json::to_writer(&mut lines, change)?;
            lines.push(b'\n');
        }
        self.file.write_all(&lines)
    }

    /// Empties it: its changes are in the database.
    pub(crate) fn clear(&mut self) -> Result<()> {
        self.file.set_len(0)
    }
}

/// The changes in a journal that was left behind; none where there is none. The last line may have been cut off.
pub(crate) fn read(file: &Path) -> Vec<Change> {
    let Ok(file) = File::open(file) else { return Vec::new() };
    let lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
    lines.filter_map(|line| serde_json::from_slice(&line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::state::FeedState;
    use super::*;

    #[test]
    fn changes_are_read_back_but_for_one_that_was_cut_off() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("journal");
        assert_eq!(read(&file), []);
        let change = |address: &str| Change::Feed {
            address: address.into(),
            round: 2,
            state: Some(FeedState { etag: "\"\u{e9}\"".into(), ..FeedState::default() }),
            seen: Some(vec![1, u64::MAX]),
        };
        let mut journal = Journal::open(&file).expect("a journal");
        journal.add(&[change("http://a/"), change("http://b/")]).expect("added");
        drop(journal);
        let whole = std::fs::read(&file).expect("read");
        std::fs::write(&file, &whole[..whole.len() - 5]).expect("written");
        assert_eq!(read(&file), [change("http://a/")]);
        Journal::open(&file).and_then(|mut journal| journal.clear()).expect("cleared");
        assert_eq!(read(&file), []);
    }
}
