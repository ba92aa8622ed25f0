//! Watching a tool of the system's (mmdebstrap, apt-get) while it runs: what it says last is passed on, and one that gets no
//! further is ended.

use crate::{LabError, tool};
use record::{Ended, Program, RecordError, executable};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Often enough to look alive.
const TURN: Duration = Duration::from_millis(100);
/// How often it is looked whether a tool gets on: that reads some folders.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Twice as long as apt takes over a package from a mirror that says nothing: of hundreds, it would wait for each.
const LONGEST_STANDSTILL: Duration = Duration::from_mins(2);
/// What a tool that was ended for that has said last: as apt says it.
const TIMED_OUT: &str = "E: Connection timed out: no data for two minutes";

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

/// What is passed on of a line, if anything.
type Heard<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What is made of a tool while it runs.
pub(super) struct Watch<'a> {
    /// What is passed on of the lines that it says; none for nothing.
    pub heard: Option<Heard<'a>>,
    /// Something that differs from time to time while it gets on; where it does not for two minutes, the tool is ended.
    pub advance: Option<&'a dyn Fn() -> u64>,
}

impl Watch<'_> {
    /// Nothing is passed on, and it takes as long as it takes.
    pub const SILENT: Watch<'static> = Watch { heard: None, advance: None };
}

/// Runs a tool to its end. What it says goes to `log`, in the place of what there is. One that is not there has said so.
pub(super) fn run(
    program: Program,
    log: &Path,
    watch: &Watch,
    say: &dyn Fn(&str),
    wait: &mut dyn FnMut(Duration) -> bool,
) -> Result<Done, LabError> {
    File::create(log).map_err(LabError::io(log))?;
    let (mut advanced, mut has_stopped) = (Advance::default(), false);
    let ran = tool::run(program, log, &mut |turn| {
        if let Some(words) = watch.heard.and_then(|heard| read(log).lines().rev().find_map(heard)) {
            say(&words);
        }
        has_stopped = watch.advance.is_some_and(|advance| advanced.has_stopped(advance, LONGEST_STANDSTILL));
        has_stopped || wait(turn.max(TURN))
    });
    let failed = |why: String| Ok(Done { ended: Ended::default(), said: format!("{}\n{why}\n", read(log)) });
    match ran {
        Ok(ended) => Ok(Done { ended, said: read(log) }),
        Err(LabError::Interrupted) if has_stopped => failed(TIMED_OUT.to_string()),
        Err(LabError::Record(error @ (RecordError::NotFound(_) | RecordError::NotExecutable { .. }))) => {
            failed(error.to_string())
        }
        Err(error) => Err(error),
    }
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

fn read(log: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(log).unwrap_or_default()).into_owned()
}

/// Where a tool is; root's folders are looked into for everybody.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    let of_root = || executable::candidates(name, Path::new("/"), Some("/usr/sbin:/usr/bin:/sbin:/bin".into()));
    executable::find(name, Path::new("")).or_else(|| of_root().into_iter().find(|path| path.is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_says_what_it_says_this_time_and_one_that_is_not_there_says_so() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log");
        let done = |words: &[&str]| {
            let arguments = words.iter().map(ToString::to_string).collect();
            let program = Program { arguments, ..Program::default() };
            run(program, &log, &Watch::SILENT, &|_| (), &mut |turn| {
                std::thread::sleep(turn);
                false
            })
            .expect("run")
        };
        let fails = done(&["sh", "-c", "echo first; exit 1"]);
        assert_eq!((fails.is_well(), fails.said.as_str()), (false, "first\n"));
        let works = done(&["echo", "second"]);
        assert_eq!((works.is_well(), works.said.as_str()), (true, "second\n"));
        let lacks = done(&["no-such-tool"]);
        assert_eq!((lacks.is_well(), lacks.last_words(1).as_str()), (false, "command not found: no-such-tool"));
    }

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
