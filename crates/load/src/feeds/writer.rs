//! Writes what workers have learnt, on a thread of its own: into the journal at once, and into the database now and then.

use super::change::Change;
use super::failure::FeedsFailure;
use super::store::Store;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// The database is written this often: each time costs a few pages for every feed, and a wait for the disk.
const INTERVAL: Duration = Duration::from_secs(1);
/// Once there are so many changes, they are written.
const MOST: usize = 8192;

/// Writes until all senders are gone.
pub(crate) fn write(store: &Store, changes: &Receiver<Vec<Change>>) -> Result<(), FeedsFailure> {
    let mut journal = store.journal()?;
    let mut gathered = Vec::new();
    while let Ok(first) = changes.recv() {
        let until = Instant::now() + INTERVAL;
        let mut next = Some(first);
        while let Some(change) = next {
            let begin = gathered.len();
            gathered.extend(change);
            while let Some(more) = (gathered.len() < MOST).then(|| changes.try_recv().ok()).flatten() {
                gathered.extend(more);
            }
            journal.add(&gathered[begin..]).map_err(|error| store.unwritten(&error))?;
            let left = until.saturating_duration_since(Instant::now());
            let is_full = left.is_zero() || gathered.len() >= MOST;
            next = if is_full { None } else { changes.recv_timeout(left).ok() };
        }
        store.write(&gathered)?;
        gathered.clear();
        journal.clear().map_err(|error| store.unwritten(&error))?;
    }
    Ok(())
}
