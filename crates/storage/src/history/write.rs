//! Writing a history: one stream for what came in the last hour, closed files for what came before.

use super::read::{files_of, once, open_rows, rows_of};
use super::resolution::joined;
use super::{LOCK, MOST_WATCHERS, OPEN, Resolution, ServiceSample, folder_of, io};
use crate::error::CaseError;
use crate::folder::write_parquet;
use crate::row::Row;
use arrow_ipc::writer::StreamWriter;
use nix::fcntl::{Flock, FlockArg};
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// zstd's level: what is written once an hour may take its time.
const LEVEL: i32 = 9;

/// A watcher's own part of a history.
pub struct HistoryWriter {
    folder: PathBuf,
    stream: Option<StreamWriter<File>>,
    /// The file that the rows of the stream belong to.
    hour: Option<String>,
    /// Held as long as we live.
    _lock: Flock<File>,
}

impl HistoryWriter {
    /// Goes on with the first part of a history in which no living watcher writes. What a watcher that was killed had left open
    /// is put into files first.
    ///
    /// # Errors
    /// Where the folder cannot be made or written, or there are too many watchers.
    pub fn open(history: &Path) -> Result<HistoryWriter, CaseError> {
        for watcher in 0..MOST_WATCHERS {
            let folder = folder_of(history, watcher);
            DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(io(&folder))?;
            let path = folder.join(LOCK);
            let file = private().write(true).create(true).truncate(false).open(&path).map_err(io(&path))?;
            let Ok(lock) = Flock::lock(file, FlockArg::LockExclusiveNonblock) else { continue };
            let mut writer = HistoryWriter { folder, stream: None, hour: None, _lock: lock };
            writer.close_stream()?;
            return Ok(writer);
        }
        Err(io(history)(std::io::Error::other(format!("{MOST_WATCHERS} watchers write to it already"))))
    }

    /// Appends the samples of one interval. They are the kernel's when this returns: whatever becomes of us, they are there.
    ///
    /// # Errors
    /// Where the disk refuses. What was appended before stays.
    pub fn append(&mut self, samples: &[ServiceSample]) -> Result<(), CaseError> {
        let Some(at_ms) = samples.first().map(|sample| sample.at_ms) else { return Ok(()) };
        let hour = Resolution::Sampled.file_of(at_ms);
        if self.hour.as_ref().is_some_and(|open| *open != hour) {
            self.close_stream()?;
            self.thin(at_ms)?;
        }
        self.hour = Some(hour);
        let path = self.folder.join(OPEN);
        let damaged = |error: arrow_schema::ArrowError| CaseError::damaged(&path, &error);
        if self.stream.is_none() {
            let file = private().write(true).create_new(true).open(&path).map_err(io(&path))?;
            self.stream = Some(StreamWriter::try_new(file, &ServiceSample::schema()).map_err(damaged)?);
        }
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let written = stream.write(&ServiceSample::to_batch(samples)).and_then(|()| stream.flush());
        if let Err(error) = written {
            // Nothing can follow a batch that is not whole: what is whole goes to its file, and a new stream begins.
            self.close_stream()?;
            return Err(damaged(error));
        }
        Ok(())
    }

    /// Puts what is in the stream into the files of its hours, and begins a new one.
    fn close_stream(&mut self) -> Result<(), CaseError> {
        self.stream = None;
        let path = self.folder.join(OPEN);
        let mut hours: BTreeMap<String, Vec<ServiceSample>> = BTreeMap::new();
        for row in open_rows(&path) {
            hours.entry(Resolution::Sampled.file_of(row.at_ms)).or_default().push(row);
        }
        for (name, rows) in hours {
            self.add(&name, rows)?;
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(&path)(error)),
            _ => Ok(()),
        }
    }

    /// Joins what is old enough to longer intervals.
    ///
    /// # Errors
    /// Where the disk refuses; then it stays as it was.
    pub fn thin(&mut self, now_ms: u64) -> Result<(), CaseError> {
        for step in Resolution::ALL {
            for (path, _) in files_of(&self.folder)?.into_iter().filter(|(_, of)| *of == step) {
                self.thin_file(&path, step, now_ms)?;
            }
        }
        Ok(())
    }

    fn thin_file(&self, path: &Path, step: Resolution, now_ms: u64) -> Result<(), CaseError> {
        let Some(next) = step.next() else { return Ok(()) };
        let last = step.file_of(now_ms.saturating_sub(step.kept_ms()));
        if path.file_name().and_then(|name| name.to_str()).is_none_or(|name| name >= last.as_str()) {
            return Ok(());
        }
        let mut files: BTreeMap<String, Vec<ServiceSample>> = BTreeMap::new();
        for row in joined(rows_of(path)?, next.length_ms()) {
            files.entry(next.file_of(row.at_ms)).or_default().push(row);
        }
        for (name, rows) in files {
            self.add(&name, rows)?;
        }
        fs::remove_file(path).map_err(io(path))
    }

    /// Adds rows to a closed file, which is replaced at once or stays as it was.
    fn add(&self, name: &str, rows: Vec<ServiceSample>) -> Result<(), CaseError> {
        let path = self.folder.join(name);
        let mut all = if path.exists() { rows_of(&path)? } else { Vec::new() };
        all.extend(rows);
        // A crash between two steps leaves rows in both files.
        let rows = once(all);
        let new = self.folder.join(format!("{name}.new"));
        write(&new, &rows)?;
        fs::rename(&new, &path).map_err(io(&path))
    }
}

impl Drop for HistoryWriter {
    fn drop(&mut self) {
        // Where that fails, the next watcher does it.
        let _ = self.close_stream();
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600).custom_flags(libc::O_NOFOLLOW);
    options
}

fn write(path: &Path, rows: &[ServiceSample]) -> Result<(), CaseError> {
    let file = private().write(true).create(true).truncate(true).open(path).map_err(io(path))?;
    let mut file = write_parquet(file, path, rows, LEVEL)?;
    file.flush().and_then(|()| file.sync_all()).map_err(io(path))
}
