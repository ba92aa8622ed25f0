//! Programs that fetch and build, each in a group of its own, so that all of it ends with us.

use super::problem::Fault;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often it is seen whether a program has ended.
const TICK: Duration = Duration::from_millis(30);
/// What a group that is asked to end gets for it.
const PATIENCE: Duration = Duration::from_secs(3);
/// As much of a log's end is read.
const LAST_BYTES: u64 = 8 << 10;
/// Lines of a log that are shown.
const LAST_LINES: usize = 12;

/// Set when the user wants an end.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Wants an end.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether an end is wanted.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs a program to its end, what it says added to a log.
///
/// # Errors
/// Where it cannot be started, or the user wants an end: then nothing of its group is left.
pub fn run(command: &mut Command, log: &Path, stop: &Stop) -> Result<ExitStatus, Fault> {
    let lines = File::options().create(true).append(true).open(log).map_err(Fault::io(log))?;
    let errors = lines.try_clone().map_err(Fault::io(log))?;
    let name = command.get_program().to_string_lossy().into_owned();
    let started = command.process_group(0).stdin(Stdio::null()).stdout(lines).stderr(errors).spawn();
    let mut child = started.map_err(|error| Fault::building(format!("`{name}` cannot be started: {error}")))?;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if stop.is_set() => {
                end(&mut child);
                return Err(Fault::Interrupted);
            }
            Ok(None) => std::thread::sleep(TICK),
            Err(error) => return Err(Fault::building(format!("`{name}` cannot be waited for: {error}"))),
        }
    }
}

/// Ends a program and whatever it has started.
fn end(child: &mut Child) {
    let group = Pid::from_raw(child.id() as i32);
    // A group that has gone needs no signal.
    let _ = killpg(group, Signal::SIGTERM);
    let begun = Instant::now();
    while matches!(child.try_wait(), Ok(None)) && begun.elapsed() < PATIENCE {
        std::thread::sleep(TICK);
    }
    let _ = killpg(group, Signal::SIGKILL);
    let _ = child.wait();
}

/// The last lines of a log that say something.
pub fn last_lines(log: &Path) -> Vec<String> {
    let mut bytes = Vec::new();
    if let Ok(mut file) = File::open(log) {
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        // What cannot be read is not shown.
        let _ = file.seek(SeekFrom::Start(length.saturating_sub(LAST_BYTES)));
        let _ = file.take(LAST_BYTES).read_to_end(&mut bytes);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect::<Vec<_>>();
    lines[lines.len().saturating_sub(LAST_LINES)..].iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_says_is_in_the_log_and_its_end_is_shown() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log");
        let mut command = Command::new("sh");
        command.args(["-c", "seq 100; echo; echo broken >&2; exit 3"]);
        let status = run(&mut command, &log, &Stop::default()).expect("run");
        let lines = last_lines(&log);
        assert_eq!((status.code(), lines.len()), (Some(3), LAST_LINES));
        assert_eq!((lines[0].as_str(), lines[LAST_LINES - 1].as_str()), ("90", "broken"));
    }

    #[test]
    fn an_end_reaches_the_whole_group() {
        let folder = tempfile::tempdir().expect("a folder");
        let (log, stop) = (folder.path().join("log"), Stop::default());
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 1000 & echo $!; wait"]);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while last_lines(&log).is_empty() {
                    std::thread::sleep(TICK);
                }
                stop.set();
            });
            assert!(matches!(run(&mut command, &log, &stop), Err(Fault::Interrupted)));
        });
        let grandchild = format!("/proc/{}/stat", last_lines(&log)[0]);
        // It is gone, or waits for its new parent to look at it.
        let is_gone = || std::fs::read_to_string(&grandchild).map_or(true, |stat| stat.contains(") Z"));
        let begun = Instant::now();
        while !is_gone() && begun.elapsed() < PATIENCE {
            std::thread::sleep(TICK);
        }
        assert!(is_gone());
    }

    #[test]
    fn a_program_that_there_is_not_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let ran = run(&mut Command::new("no-such-program"), &folder.path().join("log"), &Stop::default());
        assert!(matches!(ran, Err(Fault::Failed(problem)) if problem.why.contains("no-such-program")));
    }
}
