//! Programs that fetch and build, until the user wants an end.

use super::problem::Fault;
use crate::{LabError, tool};
use record::Program;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};

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
pub fn run(program: Program, log: &Path, stop: &Stop) -> Result<ExitStatus, Fault> {
    let name = program.arguments.first().cloned().unwrap_or_default();
    let ran = tool::run(program, log, &mut |turn| {
        std::thread::sleep(turn);
        stop.is_set()
    });
    match ran {
        // As `wait` reports it: the status in the upper byte, a signal in the lower one.
        Ok(ended) => Ok(ExitStatus::from_raw(ended.exit.unwrap_or(0) << 8 | ended.signal.unwrap_or(0))),
        Err(LabError::Interrupted) => Err(Fault::Interrupted),
        Err(error) => Err(Fault::building(format!("`{name}` cannot be started: {error}"))),
    }
}

/// The last lines of a log that say something.
pub fn last_lines(log: &Path) -> Vec<String> {
    tool::last_lines(log, LAST_LINES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// How often is looked whether something has happened.
    const TICK: Duration = Duration::from_millis(30);
    /// What a group that is asked to end gets for it.
    const PATIENCE: Duration = Duration::from_secs(3);

    fn program(words: &[&str]) -> Program {
        Program { arguments: words.iter().map(ToString::to_string).collect(), ..Program::default() }
    }

    #[test]
    fn what_a_program_says_is_in_the_log_and_its_end_is_shown() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log");
        let command = program(&["sh", "-c", "seq 100; echo; echo broken >&2; exit 3"]);
        let status = run(command, &log, &Stop::default()).expect("run");
        let lines = last_lines(&log);
        assert_eq!((status.code(), lines.len()), (Some(3), LAST_LINES));
        assert_eq!((lines[0].as_str(), lines[LAST_LINES - 1].as_str()), ("90", "broken"));
        let status = run(program(&["sh", "-c", "kill -9 $$"]), &log, &Stop::default()).expect("run");
        assert_eq!(status.to_string(), "signal: 9 (SIGKILL)");
    }

    #[test]
    fn an_end_reaches_the_whole_group() {
        let folder = tempfile::tempdir().expect("a folder");
        let (log, stop) = (folder.path().join("log"), Stop::default());
        let command = program(&["sh", "-c", "sleep 1000 & echo $!; wait"]);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while last_lines(&log).is_empty() {
                    std::thread::sleep(TICK);
                }
                stop.set();
            });
            assert!(matches!(run(command, &log, &stop), Err(Fault::Interrupted)));
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
        let ran = run(program(&["no-such-program"]), &folder.path().join("log"), &Stop::default());
        assert!(matches!(ran, Err(Fault::Failed(problem)) if problem.why.contains("no-such-program")));
    }
}
