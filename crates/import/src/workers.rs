//! Reads files with a few threads: each takes the next file, or the next part of a large plain one, and counts for itself;
//! in the end the counts are merged.

use crate::chunks::{Part, lines};
use crate::counts::Counts;
use crate::files::{LogFile, Opened, open};
use crate::format::Format;
use crate::ranges::Ranges;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Plain files are read in parts of this length.
const PART: u64 = 32 * 1024 * 1024;
/// So much of a file is looked at for its format.
pub(crate) const BEGINNING: usize = 64 * 1024;

/// How logs are read.
#[derive(Debug, Default)]
pub struct Options {
    /// The format; none to detect it for each file.
    pub format: Option<Format>,
    /// Addresses that crawlers publish as theirs.
    pub ranges: Ranges,
    /// Threads; 0 for as many as there are processors.
    pub threads: usize,
}

/// What reading has come to.
pub struct Done {
    /// The files.
    pub files: Vec<LogFile>,
    /// The counts of all files.
    pub counts: Counts,
    /// By file.
    pub outcomes: Vec<Outcome>,
}

impl Done {
    /// Takes in what reading other files has come to.
    #[must_use]
    pub fn join(mut self, mut other: Done) -> Done {
        let (mine, all) = (self.files.len(), self.files.len() + other.files.len());
        self.counts.place_files(0, all);
        other.counts.place_files(mine, all);
        self.counts.merge(other.counts);
        self.files.extend(other.files);
        self.outcomes.extend(other.outcomes);
        self
    }
}

/// What became of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The name of its format; empty where none was recognised.
    pub format: String,
    /// What kept it from being read to its end; empty for nothing.
    pub problem: String,
    /// Whether it was left out: it was found in a folder, and is no log.
    pub is_skipped: bool,
}

/// A piece of work.
enum Job {
    /// A file as a whole.
    File(usize),
    /// A part of a plain one.
    Part { file: usize, opened: Arc<File>, start: u64, end: u64, format: Arc<Format> },
}

/// Reads files into counts. A file that cannot be read to its end, or is of no known format, is said to be so, and hinders
/// nothing else.
pub fn read(files: &[LogFile], options: &Options) -> Done {
    let outcomes = Mutex::new(vec![Outcome::default(); files.len()]);
    let jobs = plan(files, options, &outcomes);
    let next = AtomicUsize::new(0);
    let seed = seed();
    let cores = || thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = if options.threads == 0 { cores() } else { options.threads };
    let work = || {
        let mut counts = Counts::new(files.len(), seed);
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            carry_out(job, files, options, &mut counts, &outcomes);
        }
        counts.settle();
        counts
    };
    let counts = thread::scope(|scope| {
        let others = (1..threads.min(jobs.len())).map(|_| scope.spawn(work)).collect::<Vec<_>>();
        let mut counts = work();
        for other in others {
            match other.join() {
                Ok(other) => counts.merge(other),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        counts
    });
    Done { files: files.to_vec(), counts, outcomes: outcomes.into_inner().unwrap_or_else(PoisonError::into_inner) }
}

/// A seed for maps whose keys others choose.
pub(crate) fn seed() -> usize {
    RandomState::new().hash_one(0) as usize
}

/// Large plain files are divided, all others are taken as they are.
fn plan(files: &[LogFile], options: &Options, outcomes: &Mutex<Vec<Outcome>>) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (file, named) in files.iter().enumerate() {
        match divided(file, named, options, outcomes) {
            Some(parts) => jobs.extend(parts),
            None => jobs.push(Job::File(file)),
        }
    }
    jobs
}

/// The parts of a file that is plain and large; none for others, and where anything about it is odd.
fn divided(file: usize, named: &LogFile, options: &Options, outcomes: &Mutex<Vec<Outcome>>) -> Option<Vec<Job>> {
    if named.is_stdin() {
        return None;
    }
    let Ok(Opened::Plain(opened, length)) = open(named) else { return None };
    if length < 2 * PART {
        return None;
    }
    let mut beginning = vec![0; BEGINNING];
    let read = std::os::unix::fs::FileExt::read_at(&opened, &mut beginning, 0).ok()?;
    let format = Arc::new(format_of(&beginning[..read], options)?);
    note(outcomes, file, |outcome| outcome.format.clone_from(&format.name));
    let opened = Arc::new(opened);
    let part = |start: u64| {
        let (opened, format) = (Arc::clone(&opened), Arc::clone(&format));
        Job::Part { file, opened, start, end: (start + PART).min(length), format }
    };
    Some((0..length).step_by(PART as usize).map(part).collect())
}

fn carry_out(job: &Job, files: &[LogFile], options: &Options, counts: &mut Counts, outcomes: &Mutex<Vec<Outcome>>) {
    let (file, read) = match job {
        Job::File(file) => (*file, whole(*file, &files[*file], options, counts, outcomes)),
        Job::Part { file, opened, start, end, format } => {
            let part = Part::new(opened, *start, *end);
            (*file, part.and_then(|part| count(part, *file, Some(format), options, counts)))
        }
    };
    if let Err(error) = read {
        note(outcomes, file, |outcome| outcome.problem = error.to_string());
    }
}

/// Reads a file from its beginning to its end.
fn whole(
    file: usize,
    named: &LogFile,
    options: &Options,
    counts: &mut Counts,
    outcomes: &Mutex<Vec<Outcome>>,
) -> io::Result<()> {
    let mut stream: Box<dyn Read + Send> = match open(named)? {
        Opened::Plain(opened, _) => Box::new(opened),
        Opened::Stream(stream) => stream,
    };
    let mut beginning = Vec::with_capacity(BEGINNING);
    // What is read before an error counts as well; the error comes again.
    let first = stream.by_ref().take(BEGINNING as u64).read_to_end(&mut beginning);
    let format = format_of(&beginning, options);
    note(outcomes, file, |outcome| {
        outcome.format = format.as_ref().map(|format| format.name.clone()).unwrap_or_default();
        outcome.is_skipped = format.is_none() && !named.is_named;
    });
    if format.is_none() && !named.is_named {
        return Ok(());
    }
    count(beginning.chain(stream), file, format.as_ref(), options, counts)?;
    first.map(drop)
}

fn count(
    from: impl Read,
    file: usize,
    format: Option<&Format>,
    options: &Options,
    counts: &mut Counts,
) -> io::Result<()> {
    lines(from, |line| {
        let is_read = format.is_some_and(|format| format.parse(line, |entry| counts.add(file, entry, &options.ranges)));
        if !is_read {
            counts.add_malformed(file, line);
        }
    })
}

/// The format that was asked for, or that of the lines a file begins with.
pub(crate) fn format_of(beginning: &[u8], options: &Options) -> Option<Format> {
    options.format.clone().or_else(|| {
        let lines = beginning.split(|byte| *byte == b'\n');
        Format::detect(&lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect::<Vec<_>>())
    })
}

fn note(outcomes: &Mutex<Vec<Outcome>>, file: usize, change: impl FnOnce(&mut Outcome)) {
    change(&mut outcomes.lock().unwrap_or_else(PoisonError::into_inner)[file]);
}

#[cfg(test)]
mod tests;
