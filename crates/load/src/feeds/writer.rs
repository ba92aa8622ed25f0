//! Writes what workers have learnt, on a thread of its own: all that has come since the last time in one transaction.

use super::failure::FeedsFailure;
use super::store::{Change, Store};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Changes are gathered for so long: what a kill loses is asked for again.
const GATHERING: Duration = Duration::from_millis(50);
/// So many changes are gathered at most.
const MOST: usize = 4096;

/// Writes until all senders are gone.
pub(crate) fn write(store: &Store, changes: &Receiver<Change>) -> Result<(), FeedsFailure> {
    while let Ok(first) = changes.recv() {
        let mut gathered = vec![first];
        let until = Instant::now() + GATHERING;
        let mut goes_on = true;
        while goes_on && gathered.len() < MOST {
            match changes.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(change) => gathered.push(change),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => goes_on = false,
            }
        }
        store.write(&gathered)?;
    }
    Ok(())
}
