//! Running a tool of the system's (make, curl, mmdebstrap, apt-get) such that it can be ended, and nothing of it outlives us:
//! neither when the user wants an end nor when we are killed.

mod keeper;

use crate::LabError;
use keeper::Keeper;
use record::{Ended, Output, ParentDeathSignal, Program};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

/// How often it is seen whether a tool has ended.
const TURN: Duration = Duration::from_millis(30);
/// As much of a log's end is read.
const LAST_BYTES: u64 = 8 << 10;

/// Runs a tool to its end, what it says on both its outputs added to a log. `wait` waits for at most so long and tells whether
/// the user wants an end. The tool is tied to the thread that calls, which stays in here until it has ended.
///
/// # Errors
/// Where it cannot be started; [`LabError::Interrupted`]: then nothing of its process group is left.
pub(crate) fn run(tool: Program, log: &Path, wait: &mut dyn FnMut(Duration) -> bool) -> Result<Ended, LabError> {
    // Each is written at the end of the one file, and so in the order in which they were said.
    let [output, errors] = [(); 2].map(|()| Output::Added(log.to_path_buf()));
    let program = Program { output, errors, parent_death_signal: ParentDeathSignal::Terminate, ..tool };
    let mut keeper = Keeper::start()?;
    let held = program.hold()?;
    keeper.keep(held.pid())?;
    let mut running = held.release()?;
    loop {
        if let Some(ended) = running.poll()? {
            keeper.let_go();
            return Ok(ended);
        }
        if wait(TURN) {
            keeper.end(&mut || {
                std::thread::sleep(TURN);
                !is_there(running.pid())
            });
            // Should somebody have ended the keeper, it is up to us.
            while running.poll()?.is_none() {
                running.signal_group(libc::SIGKILL);
                std::thread::sleep(TURN);
            }
            return Err(LabError::Interrupted);
        }
    }
}

/// Whether anything of a tool runs: it has a session of its own.
fn is_there(tool: u32) -> bool {
    record::processes().iter().any(|process| process.session == tool && !process.is_zombie())
}

/// The last lines of a log that say something, at most so many.
pub(crate) fn last_lines(log: &Path, most: usize) -> Vec<String> {
    let mut bytes = Vec::new();
    if let Ok(mut file) = File::open(log) {
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        // What cannot be read is not shown.
        let _ = file.seek(SeekFrom::Start(length.saturating_sub(LAST_BYTES)));
        let _ = file.take(LAST_BYTES).read_to_end(&mut bytes);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect::<Vec<_>>();
    lines[lines.len().saturating_sub(most)..].iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests;
