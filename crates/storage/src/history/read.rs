//! Reading a history: the files of all watchers, and what they have not put into files yet.

use super::resolution::joined;
use super::{LOCK, MOST_WATCHERS, OPEN, Resolution, ServiceSample, folder_of, io};
use crate::error::CaseError;
use crate::folder::{parquet_rows, stream_rows};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The samples that end after `from_ms` and not after `to_ms` (since 1970), in order of service and time, joined to intervals of
/// at least `length_ms` (0 for as they are): no more than an hour is held as it was sampled. Two watchers of one service at a
/// time count it once.
///
/// # Errors
/// Where it is no history, or a file is damaged.
pub fn read_history(history: &Path, from_ms: u64, to_ms: u64, length_ms: u64) -> Result<Vec<ServiceSample>, CaseError> {
    let mut files: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let mut open: BTreeMap<String, Vec<ServiceSample>> = BTreeMap::new();
    let mut is_history = false;
    for watcher in 0..MOST_WATCHERS {
        let folder = folder_of(history, watcher);
        is_history |= folder.join(LOCK).is_file();
        for (path, step) in files_of(&folder)? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_string();
            if may_hold(&name, step, from_ms, to_ms) {
                files.entry(name).or_default().push(path);
            }
        }
        for row in open_rows(&folder.join(OPEN)) {
            open.entry(Resolution::Sampled.file_of(row.at_ms)).or_default().push(row);
        }
    }
    if !is_history {
        return Err(CaseError::NoHistory(history.to_path_buf()));
    }
    let names = files.keys().chain(open.keys()).cloned().collect::<BTreeSet<_>>();
    let is_wanted = |sample: &ServiceSample| sample.at_ms > from_ms && sample.at_ms <= to_ms;
    let mut found = Vec::new();
    for name in names {
        let mut rows = open.remove(&name).unwrap_or_default();
        for path in files.remove(&name).unwrap_or_default() {
            match rows_of(&path) {
                Ok(more) => rows.extend(more),
                // It was joined to a coarser one meanwhile, which is read as well.
                Err(CaseError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        rows.retain(is_wanted);
        found.extend(joined(once(rows), length_ms));
    }
    // What a file of another step tells once more, and intervals that two files share.
    Ok(joined(once(found), length_ms))
}

/// In order, and nothing twice: a file may have been joined to a coarser one while it was read.
pub(super) fn once(mut samples: Vec<ServiceSample>) -> Vec<ServiceSample> {
    samples
        .sort_by(|one, other| (&one.service, one.at_ms, one.length).cmp(&(&other.service, other.at_ms, other.length)));
    let mut kept: Vec<ServiceSample> = Vec::with_capacity(samples.len());
    for sample in samples {
        // What has begun before the last one's middle tells of the same time.
        let began = sample.at_ms.saturating_sub(sample.length.0 / 1_000_000);
        let is_same = kept.last().is_some_and(|last| {
            let half = last.length.0 / 2_000_000;
            last.service == sample.service && began < last.at_ms.saturating_sub(half)
        });
        if !is_same {
            kept.push(sample);
        }
    }
    kept
}

/// The files of a watcher, by name.
pub(super) fn files_of(folder: &Path) -> Result<Vec<(PathBuf, Resolution)>, CaseError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io(folder)(error)),
    };
    let named = entries.flatten().filter_map(|entry| {
        let step = Resolution::of_file(entry.file_name().to_str()?)?;
        Some((entry.path(), step))
    });
    let mut files = named.collect::<Vec<_>>();
    files.sort();
    Ok(files)
}

/// Whether a file can hold a part of a span, by its name. Names sort as their times do.
fn may_hold(name: &str, step: Resolution, from_ms: u64, to_ms: u64) -> bool {
    name >= step.file_of(from_ms).as_str() && name <= step.file_of(to_ms).as_str()
}

/// The rows of a closed file.
pub(super) fn rows_of(path: &Path) -> Result<Vec<ServiceSample>, CaseError> {
    let mut rows = Vec::new();
    let file = open(path).map_err(io(path))?;
    let read =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| parquet_rows(file, &mut |batch| rows.extend(batch))));
    let read = read.unwrap_or_else(|_| Err("it cannot be read".to_string()));
    read.map_err(|reason| CaseError::damaged(path, &reason))?;
    Ok(rows)
}

/// The whole rows of a stream that may be torn; none where there is none.
pub(super) fn open_rows(path: &Path) -> Vec<ServiceSample> {
    let mut rows = Vec::new();
    if let Ok(file) = open(path) {
        // What is whole was handed over; what follows a crash left.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            stream_rows(file, &mut |batch| rows.extend(batch))
        }));
    }
    rows
}

fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)
}
