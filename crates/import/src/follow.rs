//! Logs that are still written to: what comes is read where it was left off, whether a file is renamed, replaced or cut to
//! nothing meanwhile.
//!
//! inotify says that something was written; where it cannot (a file system over the network), files are looked at every few
//! seconds all the same. A file that was rotated away is read to its end, and for a while longer: its server writes to it until
//! it is told to open the new one. Of a file that is copied and then cut to nothing, what was written within the last quarter of a
//! second before is not seen: it is in the copy alone.

use crate::chunks::LONGEST_LINE;
use crate::counts::Counts;
use crate::error::ImportError;
use crate::files::{BLOCK, LogFile};
use crate::format::Format;
use crate::workers::{BEGINNING, Options, Outcome, format_of, seed};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use std::collections::BTreeSet;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// Files are looked at so often whatever inotify says.
const REGARDLESS: Duration = Duration::from_secs(5);
/// A file that was rotated away is let go when nothing has come for so long.
const ROTATED: Duration = Duration::from_mins(1);
/// So much is read of a file at a time, so that whoever waits for a signal is not kept waiting.
const AT_A_TIME: u64 = 64 << 20;

/// Files that are followed from their ends on.
pub struct Follower {
    files: Vec<LogFile>,
    followed: Vec<Followed>,
    options: Options,
    inotify: Option<Inotify>,
    looked: Instant,
    seed: usize,
}

/// A path, and the files that have or had it.
struct Followed {
    format: Option<Format>,
    /// The oldest first; the last has the path now.
    tails: Vec<Tail>,
}

/// A file that is read as it grows.
struct Tail {
    file: File,
    /// Its device and its number on it.
    id: (u64, u64),
    at: u64,
    /// The beginning of a line that does not end yet.
    held: Vec<u8>,
    /// Whether the rest of a line is passed over, of which the beginning was not seen, or was too long.
    is_rest: bool,
    grown: Instant,
}

impl Follower {
    /// Follows plain files from their present ends on.
    ///
    /// # Errors
    /// Where one cannot be opened, or is packed: nothing is appended to such.
    pub fn new(files: Vec<LogFile>, options: Options) -> Result<Follower, ImportError> {
        let mut followed = Vec::new();
        for file in &files {
            let opened = opened(&file.path).map_err(ImportError::io(&file.path))?;
            let (opened, found) = opened.ok_or_else(|| ImportError::NotFollowed(file.path.clone()))?;
            let mut beginning = vec![0; BEGINNING];
            let read = opened.read_at(&mut beginning, 0).map_err(ImportError::io(&file.path))?;
            if crate::files::is_packed(&beginning[..read]) {
                return Err(ImportError::NotFollowed(file.path.clone()));
            }
            let format = format_of(&beginning[..read], &options);
            let tail = Tail::at_end(opened, &found).map_err(ImportError::io(&file.path))?;
            followed.push(Followed { format, tails: vec![tail] });
        }
        let inotify = watched(&files);
        Ok(Follower { files, followed, options, inotify, looked: Instant::now(), seed: seed() })
    }

    /// The files.
    pub fn files(&self) -> &[LogFile] {
        &self.files
    }

    /// What is known of each file by now.
    pub fn outcomes(&self) -> Vec<Outcome> {
        let name = |one: &Followed| one.format.as_ref().map(|format| format.name.clone()).unwrap_or_default();
        self.followed.iter().map(|one| Outcome { format: name(one), ..Outcome::default() }).collect()
    }

    /// Empty counts for these files.
    pub fn counts(&self) -> Counts {
        Counts::new(self.files.len(), self.seed)
    }

    /// Reads what has come since the last time, if anything may have. A file that cannot be read is tried again the next time.
    pub fn look(&mut self, counts: &mut Counts) {
        // All that inotify has to say is taken, so that the next thing is news.
        let has_changed = self.inotify.as_ref().is_none_or(|inotify| inotify.read_events().is_ok());
        if !has_changed && self.looked.elapsed() < REGARDLESS {
            return;
        }
        self.looked = Instant::now();
        for (place, (file, followed)) in self.files.iter().zip(&mut self.followed).enumerate() {
            followed.look(&file.path, &self.options, |format, line| {
                let ranges = &self.options.ranges;
                if !format.is_some_and(|format| format.parse(line, |entry| counts.add(place, entry, ranges))) {
                    counts.add_malformed(place, line);
                }
            });
        }
        counts.settle();
    }
}

/// A watch on the folders of the files; none where the kernel has none to give.
fn watched(files: &[LogFile]) -> Option<Inotify> {
    let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC).ok()?;
    let changes = AddWatchFlags::IN_MODIFY | AddWatchFlags::IN_CREATE | AddWatchFlags::IN_MOVED_TO;
    let folder = |file: &LogFile| match file.path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_path_buf(),
        _ => ".".into(),
    };
    for folder in files.iter().map(folder).collect::<BTreeSet<_>>() {
        inotify.add_watch(&folder, changes).ok()?;
    }
    Some(inotify)
}

/// A regular file, opened without waiting for anybody; none where it is something else.
fn opened(path: &Path) -> io::Result<Option<(File, Metadata)>> {
    let file = OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).open(path)?;
    let found = file.metadata()?;
    Ok(found.is_file().then_some((file, found)))
}

fn id(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

impl Followed {
    /// Hands on the lines that have come, each with the format that is known by then.
    fn look(&mut self, path: &Path, options: &Options, mut to: impl FnMut(Option<&Format>, &[u8])) {
        let format = &mut self.format;
        let mut take = |block: &[u8]| {
            if format.is_none() {
                *format = format_of(&block[..block.len().min(BEGINNING)], options);
            }
            let lines = block.split(|byte| *byte == b'\n');
            let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).filter(|line| !line.is_empty());
            lines.for_each(|line| to(format.as_ref(), line));
        };
        for tail in &mut self.tails {
            tail.read(&mut take);
        }
        // The path is looked at after its file was read: what was written before it was renamed is not missed.
        if let Ok(found) = std::fs::metadata(path)
            && self.tails.last().is_none_or(|last| last.id != id(&found))
            && let Ok(Some((file, found))) = opened(path)
        {
            let mut tail = Tail::at_beginning(file, &found);
            tail.read(&mut take);
            self.tails.push(tail);
        }
        let newest = self.tails.last().map(|last| last.id);
        self.tails.retain(|tail| Some(tail.id) == newest || tail.grown.elapsed() < ROTATED);
    }
}

impl Tail {
    fn at_beginning(file: File, found: &Metadata) -> Tail {
        Tail { file, id: id(found), at: 0, held: Vec::new(), is_rest: false, grown: Instant::now() }
    }

    /// What is there already is passed over, and so is the rest of a line that is being written.
    fn at_end(file: File, found: &Metadata) -> io::Result<Tail> {
        let mut last = [b'\n'];
        if found.len() > 0 {
            file.read_at(&mut last, found.len() - 1)?;
        }
        Ok(Tail { at: found.len(), is_rest: last[0] != b'\n', ..Tail::at_beginning(file, found) })
    }

    /// Hands on the whole lines that have come, in blocks.
    fn read(&mut self, to: &mut impl FnMut(&[u8])) {
        let Ok(found) = self.file.metadata() else { return };
        if found.len() < self.at {
            // It was cut to nothing and is written anew.
            (self.at, self.is_rest) = (0, false);
            self.held.clear();
        }
        let end = found.len().min(self.at.saturating_add(AT_A_TIME));
        let mut buffer = vec![0; BLOCK];
        while self.at < end {
            let read = match self.file.read_at(&mut buffer, self.at) {
                Ok(read) if read > 0 => read,
                _ => return,
            };
            self.at += read as u64;
            self.grown = Instant::now();
            self.take(&buffer[..read], to);
        }
    }

    fn take(&mut self, mut block: &[u8], to: &mut impl FnMut(&[u8])) {
        if self.is_rest {
            let Some(end) = memchr::memchr(b'\n', block) else { return };
            (block, self.is_rest) = (&block[end + 1..], false);
        }
        let whole = memchr::memrchr(b'\n', block).map_or(0, |end| end + 1);
        if whole > 0 {
            self.held.extend_from_slice(&block[..whole]);
            to(&self.held);
            self.held.clear();
        }
        self.held.extend_from_slice(&block[whole..]);
        if self.held.len() >= LONGEST_LINE {
            to(&self.held);
            self.held.clear();
            self.is_rest = true;
        }
    }
}

#[cfg(test)]
mod tests;
