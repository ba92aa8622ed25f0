//! The database: what is known of feeds and origins, which entries were seen, and the rounds.
//!
//! redb, since it is pure Rust, small, and whole after a kill at any moment: a transaction is there or it is not.

use super::change::Change;
use super::digest;
use super::done::{self, DONE};
use super::failure::FeedsFailure;
use super::journal::{self, Journal};
use super::state::{FeedState, OriginState, RoundState};
use redb::{Database, DatabaseError, ReadableDatabase, ReadableTable, TableDefinition};
use rustc_hash::FxHashSet;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

type Values = TableDefinition<'static, &'static str, &'static [u8]>;
/// By address.
const FEEDS: Values = TableDefinition::new("feeds");
/// By address: digests of the entries that were seen, oldest first.
const SEEN: Values = TableDefinition::new("seen");
/// By scheme, host and port.
const ORIGINS: Values = TableDefinition::new("origins");
/// By number.
const ROUNDS: TableDefinition<'static, u64, &'static [u8]> = TableDefinition::new("rounds");

/// Pages that are kept in memory: the database of 100,000 feeds has some 50 MiB, and each is read once a round.
const CACHE: usize = 32 << 20;
/// Of a feed so many entries are remembered besides those that it has: servers leave out and put back a few.
const MOST_REMEMBERED: usize = 200;
/// A round that was not finished within this time is not gone on with: its first feeds would wait for the next one.
const STALE_S: i64 = 86_400;

/// The database of one file.
pub(crate) struct Store {
    file: PathBuf,
    database: Database,
}

/// A round that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Begun {
    pub number: u64,
    pub began_s: i64,
    /// One that was not finished is gone on with.
    pub is_continued: bool,
}

impl Store {
    /// Opens it, or makes it.
    pub(crate) fn open(file: &Path) -> Result<Store, FeedsFailure> {
        let failed = |error: String| FeedsFailure::Database { file: file.to_path_buf(), error };
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(|error| failed(error.to_string()))?;
        }
        let opened = Database::builder().set_cache_size(CACHE).create(file);
        let database = opened.map_err(|error| match error {
            DatabaseError::DatabaseAlreadyOpen => FeedsFailure::Busy(file.to_path_buf()),
            error => failed(error.to_string()),
        })?;
        let store = Store { file: file.to_path_buf(), database };
        // What a process that was killed has left behind.
        store.write(&journal::read(&store.journal_file()))?;
        store.journal()?.clear().map_err(|error| store.unwritten(&error))?;
        Ok(store)
    }

    fn journal_file(&self) -> PathBuf {
        let mut name = self.file.clone().into_os_string();
        name.push(".journal");
        name.into()
    }

    /// Its journal, for what is to be written later.
    pub(crate) fn journal(&self) -> Result<Journal, FeedsFailure> {
        Journal::open(&self.journal_file()).map_err(|error| self.unwritten(&error))
    }

    /// That something could not be written beside it.
    pub(crate) fn unwritten(&self, error: &io::Error) -> FeedsFailure {
        FeedsFailure::Database { file: self.journal_file(), error: error.to_string() }
    }

    fn failed(&self, error: impl Into<redb::Error>) -> FeedsFailure {
        FeedsFailure::Database { file: self.file.clone(), error: error.into().to_string() }
    }

    pub(crate) fn origin(&self, name: &str) -> Result<OriginState, FeedsFailure> {
        Ok(self.value(ORIGINS, name)?.and_then(|bytes| read(&bytes)).unwrap_or_default())
    }

    pub(crate) fn seen(&self, address: &str) -> Result<Vec<u64>, FeedsFailure> {
        let bytes = self.value(SEEN, address)?.unwrap_or_default();
        Ok(digest::of_bytes(&bytes).collect())
    }

    /// The states of many feeds, in their order.
    pub(crate) fn feeds<'a>(&self, addresses: impl Iterator<Item = &'a str>) -> Result<Vec<FeedState>, FeedsFailure> {
        let transaction = self.database.begin_read().map_err(|error| self.failed(error))?;
        let table = transaction.open_table(FEEDS).map_err(|error| self.failed(error))?;
        let one = |address: &str| {
            let found = table.get(address).map_err(|error| self.failed(error))?;
            Ok(found.and_then(|found| read(found.value())).unwrap_or_default())
        };
        addresses.map(one).collect()
    }

    /// Digests of the addresses that a round has seen to already.
    pub(crate) fn done(&self, round: u64) -> Result<FxHashSet<u64>, FeedsFailure> {
        let transaction = self.database.begin_read().map_err(|error| self.failed(error))?;
        let table = transaction.open_table(DONE).map_err(|error| self.failed(error))?;
        done::read(&table, round).map_err(|error| self.failed(error))
    }

    fn value(&self, table: Values, key: &str) -> Result<Option<Vec<u8>>, FeedsFailure> {
        let transaction = self.database.begin_read().map_err(|error| self.failed(error))?;
        let table = transaction.open_table(table).map_err(|error| self.failed(error))?;
        let found = table.get(key).map_err(|error| self.failed(error))?;
        Ok(found.map(|found| found.value().to_vec()))
    }

    /// Writes changes, all or none of them; they are on the disk when this returns.
    pub(crate) fn write(&self, changes: &[Change]) -> Result<(), FeedsFailure> {
        let transaction = self.database.begin_write().map_err(|error| self.failed(error))?;
        {
            let mut feeds = transaction.open_table(FEEDS).map_err(|error| self.failed(error))?;
            let mut seen_of = transaction.open_table(SEEN).map_err(|error| self.failed(error))?;
            let mut origins = transaction.open_table(ORIGINS).map_err(|error| self.failed(error))?;
            let mut rounds = transaction.open_table(ROUNDS).map_err(|error| self.failed(error))?;
            let mut done = transaction.open_table(DONE).map_err(|error| self.failed(error))?;
            let mut seen_to: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
            for change in changes {
                let written = match change {
                    Change::Feed { address, round, state, seen } => {
                        seen_to.entry(*round).or_default().push(digest::digest(address));
                        let digests = seen.as_ref().map(|seen| digest::to_bytes(seen));
                        let kept = digests.map(|bytes| seen_of.insert(address.as_str(), bytes.as_slice()).map(drop));
                        let state = state.as_ref().map(written);
                        let state = state.map(|bytes| feeds.insert(address.as_str(), bytes.as_slice()).map(drop));
                        kept.unwrap_or(Ok(())).and(state.unwrap_or(Ok(())))
                    }
                    Change::Origin { name, state } => {
                        origins.insert(name.as_str(), written(state).as_slice()).map(drop)
                    }
                    Change::Round(round) => {
                        let forgotten = round.is_finished.then(|| done::forget(&mut done, round.past.number));
                        let kept = rounds.insert(round.past.number, written(round).as_slice()).map(drop);
                        forgotten.unwrap_or(Ok(())).and(kept)
                    }
                };
                written.map_err(|error| self.failed(error))?;
            }
            for (round, addresses) in seen_to {
                done::add(&mut done, round, &addresses).map_err(|error| self.failed(error))?;
            }
        }
        transaction.commit().map_err(|error| self.failed(error))
    }

    /// Begins a round over a list, or goes on with the one that was not finished.
    pub(crate) fn begin(&self, list: &str, now_s: i64) -> Result<Begun, FeedsFailure> {
        let rounds = self.rounds()?;
        let open = rounds.iter().rev().find(|round| round.list == list);
        let open = open.filter(|round| !round.is_finished && now_s - round.past.began_s < STALE_S);
        let next = rounds.last().map_or(1, |round| round.past.number + 1);
        let new = Begun { number: next, began_s: now_s, is_continued: false };
        let begun = open.map_or(new, |round| Begun {
            number: round.past.number,
            began_s: round.past.began_s,
            is_continued: true,
        });
        let mut round = RoundState { list: list.into(), ..RoundState::default() };
        (round.past.number, round.past.began_s, round.past.interrupted) =
            (begun.number, begun.began_s, begun.is_continued);
        self.write(&[Change::Round(round)])?;
        let given_up = rounds.iter().filter(|round| round.list == list && !round.is_finished);
        self.forget(given_up.map(|round| round.past.number).filter(|number| *number != begun.number))?;
        Ok(begun)
    }

    /// Forgets what rounds have seen to that nobody goes on with.
    fn forget(&self, rounds: impl Iterator<Item = u64>) -> Result<(), FeedsFailure> {
        let transaction = self.database.begin_write().map_err(|error| self.failed(error))?;
        {
            let mut done = transaction.open_table(DONE).map_err(|error| self.failed(error))?;
            for round in rounds {
                done::forget(&mut done, round).map_err(|error| self.failed(error))?;
            }
        }
        transaction.commit().map_err(|error| self.failed(error))
    }

    /// All rounds, in their order.
    pub(crate) fn rounds(&self) -> Result<Vec<RoundState>, FeedsFailure> {
        let transaction = self.database.begin_read().map_err(|error| self.failed(error))?;
        let table = transaction.open_table(ROUNDS).map_err(|error| self.failed(error))?;
        let all = table.iter().map_err(|error| self.failed(error))?;
        let mut rounds = Vec::new();
        for round in all {
            let (_, value) = round.map_err(|error| self.failed(error))?;
            rounds.extend(read::<RoundState>(value.value()));
        }
        Ok(rounds)
    }
}

/// The entries that are to be remembered of a feed which now has `entries`, and how many of those are new.
pub(crate) fn remember(seen: &[u64], entries: &[u64]) -> (Vec<u64>, u64) {
    let before = seen.iter().copied().collect::<rustc_hash::FxHashSet<u64>>();
    let now = entries.iter().copied().collect::<rustc_hash::FxHashSet<u64>>();
    let new = now.difference(&before).count() as u64;
    let old = seen.iter().filter(|one| !now.contains(one)).copied().collect::<Vec<_>>();
    let kept = old.iter().skip(old.len().saturating_sub(MOST_REMEMBERED)).copied();
    let mut listed = rustc_hash::FxHashSet::default();
    (kept.chain(entries.iter().copied().filter(|one| listed.insert(*one))).collect(), new)
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}

fn written(value: &impl Serialize) -> Vec<u8> {
    // Strings and numbers have a form in JSON always.
    serde_json::to_vec(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("below").join("feeds.redb")).expect("a store");
        (folder, store)
    }

    #[test]
    fn what_is_written_is_there_after_opening_again() {
        let (_folder, store) = store();
        let state = FeedState { etag: "\"x\"".into(), is_gone: true, ..FeedState::default() };
        let (address, seen) = ("http://a/".to_string(), Some(vec![1, u64::MAX]));
        let change = Change::Feed { address, round: 3, state: Some(state.clone()), seen };
        store.write(&[change]).expect("written");
        let file = store.file.clone();
        assert!(matches!(Store::open(&file), Err(FeedsFailure::Busy(_))));
        drop(store);
        let store = Store::open(&file).expect("a store");
        assert_eq!(store.seen("http://a/").expect("read"), [1, u64::MAX]);
        assert_eq!(store.feeds(["http://b/", "http://a/"].into_iter()).expect("read"), [FeedState::default(), state]);
    }

    #[test]
    fn what_a_killed_process_has_left_in_the_journal_is_in_the_database_at_the_next_opening() {
        let (_folder, store) = store();
        let state = FeedState { not_before_s: 7, ..FeedState::default() };
        let change = Change::Feed { address: "http://a/".into(), round: 7, state: Some(state.clone()), seen: None };
        store.journal().expect("a journal").add(&[change]).expect("added");
        let file = store.file.clone();
        drop(store);
        let store = Store::open(&file).expect("a store");
        assert_eq!(store.feeds(["http://a/"].into_iter()).expect("read"), vec![state]);
        assert_eq!(journal::read(&store.journal_file()), []);
    }

    #[test]
    fn a_round_that_was_not_finished_is_gone_on_with_for_a_day() {
        let (_folder, store) = store();
        let begin = |list: &str, now| store.begin(list, now).expect("begun");
        assert_eq!(begin("a", 100), Begun { number: 1, began_s: 100, is_continued: false });
        assert_eq!(begin("b", 150), Begun { number: 2, began_s: 150, is_continued: false });
        assert_eq!(begin("a", 200), Begun { number: 1, began_s: 100, is_continued: true });
        let mut round = store.rounds().expect("read").remove(0);
        round.is_finished = true;
        store.write(&[Change::Round(round)]).expect("written");
        assert_eq!(begin("a", 300), Begun { number: 3, began_s: 300, is_continued: false });
        assert_eq!(begin("a", 300 + STALE_S).number, 4);
    }

    #[test]
    fn a_round_knows_what_it_has_seen_to_until_it_is_finished() {
        let (_folder, store) = store();
        let seen_to = |address: &str, round| Change::Feed { address: address.into(), round, state: None, seen: None };
        let number = store.begin("a", 100).expect("begun").number;
        store.write(&[seen_to("http://a/", number), seen_to("http://b/", number)]).expect("written");
        store.write(&[seen_to("http://c/", number), seen_to("http://c/", number + 1)]).expect("written");
        let of = |addresses: &[&str]| addresses.iter().map(|one| digest::digest(one)).collect::<FxHashSet<_>>();
        assert_eq!(store.done(number).expect("read"), of(&["http://a/", "http://b/", "http://c/"]));
        let mut round = store.rounds().expect("read").remove(0);
        round.is_finished = true;
        store.write(&[Change::Round(round)]).expect("written");
        assert_eq!(store.done(number).expect("read"), of(&[]));
        assert_eq!(store.done(number + 1).expect("read"), of(&["http://c/"]));
    }

    #[test]
    fn entries_that_come_back_are_not_new() {
        let (kept, new) = remember(&[], &[1, 2, 2]);
        assert_eq!((kept.as_slice(), new), ([1, 2].as_slice(), 2));
        let (kept, new) = remember(&kept, &[2, 3]);
        assert_eq!((kept.as_slice(), new), ([1, 2, 3].as_slice(), 1));
        assert_eq!(remember(&kept, &[1, 2]).1, 0);
        let many = (0..10_000).collect::<Vec<u64>>();
        assert_eq!(remember(&many, &[7]).0.len(), MOST_REMEMBERED + 1);
    }

    #[test]
    fn a_file_that_is_no_database_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("feeds.redb");
        std::fs::write(&file, vec![b'x'; 8192]).expect("written");
        assert!(matches!(Store::open(&file), Err(FeedsFailure::Database { .. })));
    }
}
