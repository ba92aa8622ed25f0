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

/// Runs a tool to its end. What it says goes to `log`; `heard` makes what is passed on of a line, if anything.
pub(super) fn run(
    tool: Program,
    log: &Path,
    heard: &dyn Fn(&str) -> Option<String>,
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
    let ended = loop {
        if let Some(ended) = running.poll()? {
            break ended;
        }
        if let Some(words) = read(log).lines().rev().find_map(heard) {
            say(&words);
        }
        if wait(TURN) {
            end(&mut running)?;
            return Err(LabError::Interrupted);
        }
    };
    Ok(Done { ended, said: read(log) })
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
