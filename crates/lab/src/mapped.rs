//! Which files a trial's programs had mapped: what proves that a library was really loaded.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// When the maps are read first. Programs load their libraries before they do anything else, and short ones are over soon.
const FIRST: Duration = Duration::from_millis(4);
/// Each further reading is so many times as late as the one before: libraries loaded later are seen, and a long trial is
/// read a dozen times in all.
const FACTOR: u32 = 2;

/// Reads maps from time to time.
#[derive(Debug)]
pub(crate) struct Mapped {
    next: Duration,
    found: BTreeSet<PathBuf>,
}

impl Mapped {
    pub fn new() -> Mapped {
        Mapped { next: FIRST, found: BTreeSet::new() }
    }

    /// Reads the maps of these processes, if it is time. `pids` is asked only then.
    pub fn look(&mut self, elapsed: Duration, pids: impl FnOnce() -> Vec<u32>) {
        if elapsed < self.next {
            return;
        }
        self.next = elapsed * FACTOR;
        self.read(&pids());
    }

    /// Reads them now.
    pub fn read(&mut self, pids: &[u32]) {
        for pid in pids {
            // A process that has gone has no maps any more.
            let maps = record::mappings(*pid);
            self.found.extend(files(&String::from_utf8_lossy(&maps)));
        }
    }

    pub fn take(self) -> BTreeSet<PathBuf> {
        self.found
    }
}

/// The files in the text of /proc/PID/maps.
fn files(maps: &str) -> impl Iterator<Item = PathBuf> {
    let path = |line: &str| line.find('/').map(|place| line[place..].trim_end_matches(" (deleted)").to_string());
    maps.lines().filter_map(path).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_files_are_read_again_and_again_but_seldom() {
        let mut mapped = Mapped::new();
        let mut asked = 0;
        for milliseconds in 0..4_000 {
            mapped.look(Duration::from_millis(milliseconds), || {
                asked += 1;
                vec![std::process::id()]
            });
        }
        assert_eq!(asked, 10);
        let own = std::env::current_exe().expect("a path");
        assert!(mapped.take().contains(&own));
    }

    #[test]
    fn a_path_with_blanks_is_one_path() {
        let text = "7f0-7f1 r-xp 00000000 00:28 99 /opt/a b/lib.so\n7f1-7f2 rw-p 0 00:00 0 [heap]\n";
        assert_eq!(files(text).collect::<Vec<_>>(), [PathBuf::from("/opt/a b/lib.so")]);
    }
}
