//! Running a tool of the system's (mmdebstrap, apt-get) such that it can be watched and ended: what it says last is passed on,
//! and it does not outlive us.

use crate::LabError;
use record::{Ended, Output, Program, Tether};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Often enough to look alive.
const TURN: Duration = Duration::from_millis(100);
/// What a tool may take to clean up when it is asked to end.
const LONGEST_END: Duration = Duration::from_secs(5);

/// How often it is looked whether a tool gets on: that reads some folders.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Twice as long as apt takes over a package from a mirror that says nothing: of hundreds, it would wait for each.
const LONGEST_STANDSTILL: Duration = Duration::from_mins(2);
/// What a tool that was ended for that has said last: as apt says it.
const TIMED_OUT: &str = "E: Connection timed out: nothing has come for two minutes";

/// What came of it.
pub(super) struct Done {
    /// How it ended.
    pub ended: Ended,
    /// All that it said, on both its outputs.
    pub said: String,
}

impl Done {
    /// Whether it did what it was asked.
    pub fn is_well(&self) -> bool {
        self.ended.exit == Some(0)
    }

    /// The last lines that it said, in one.
    pub fn last_words(&self, lines: usize) -> String {
        let said = self.said.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>();
        said[said.len().saturating_sub(lines)..].join("; ")
    }
}

/// What is made of a tool while it runs.
pub(super) struct Watch<'a> {
    /// What is passed on of a line that it says, if anything.
    pub heard: &'a dyn Fn(&str) -> Option<String>,
    /// Something that differs from time to time while it gets on; where it does not for two minutes, the tool is ended.
    pub advance: Option<&'a dyn Fn() -> u64>,
}

impl Watch<'_> {
    /// Nothing is passed on, and it takes as long as it takes.
    pub const SILENT: Watch<'static> = Watch { heard: &|_| None, advance: None };
}

/// Runs a tool to its end. What it says goes to `log`.
pub(super) fn run(
    tool: Program,
    log: &Path,
    watch: &Watch,
    say: &dyn Fn(&str),
    wait: &mut dyn FnMut(Duration) -> bool,
) -> Result<Done, LabError> {
    // One file for both outputs, in the order in which they were written.
    let joined = ["/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"].map(String::from);
    let program = Program {
        arguments: joined.into_iter().chain(tool.arguments).collect(),
        output: Output::File(log.to_path_buf()),
        tether: Tether::ToUs,
        ..tool
    };
    let mut running = program.hold()?.release()?;
    let mut advanced = Advance::default();
    let ended = loop {
        if let Some(ended) = running.poll()? {
            break ended;
        }
        if let Some(words) = read(log).lines().rev().find_map(watch.heard) {
            say(&words);
        }
        if watch.advance.is_some_and(|advance| advanced.has_stopped(advance, LONGEST_STANDSTILL)) {
            end(&mut running)?;
            let said = format!("{}\n{TIMED_OUT}\n", read(log));
            return Ok(Done { ended: Ended::default(), said });
        }
        if wait(TURN) {
            end(&mut running)?;
            return Err(LabError::Interrupted);
        }
    };
    Ok(Done { ended, said: read(log) })
}

/// Whether a tool gets on.
#[derive(Default)]
struct Advance {
    last: Option<(u64, Instant)>,
    looked: Option<Instant>,
}

impl Advance {
    /// Whether it has come no further for so long. Looked at once a second.
    fn has_stopped(&mut self, advance: &dyn Fn() -> u64, longest: Duration) -> bool {
        if self.looked.is_some_and(|looked| looked.elapsed() < LOOK_AGAIN.min(longest)) {
            return false;
        }
        self.looked = Some(Instant::now());
        let now = advance();
        match self.last {
            Some((before, since)) if before == now => since.elapsed() > longest,
            _ => {
                self.last = Some((now, Instant::now()));
                false
            }
        }
    }
}

fn end(running: &mut record::Running) -> Result<(), LabError> {
    running.signal_group(libc::SIGTERM);
    let begun = Instant::now();
    while running.poll()?.is_none() {
        if begun.elapsed() > LONGEST_END {
            running.signal_group(libc::SIGKILL);
        }
        std::thread::sleep(TURN);
    }
    Ok(())
}

fn read(log: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(log).unwrap_or_default()).into_owned()
}

/// Where a tool is; root's folders are looked into for everybody.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_no_further_for_long_has_stopped_and_what_gets_on_has_not() {
        let longest = Duration::from_millis(100);
        let has_stopped = |figure: &mut dyn FnMut() -> u64| {
            let (mut advance, begun) = (Advance::default(), Instant::now());
            while begun.elapsed() < 4 * longest {
                let now = figure();
                if advance.has_stopped(&|| now, longest) {
                    return true;
                }
                std::thread::sleep(longest / 20);
            }
            false
        };
        assert!(has_stopped(&mut || 7));
        let mut bytes = 0;
        assert!(!has_stopped(&mut || {
            bytes += 1;
            bytes
        }));
    }
}
