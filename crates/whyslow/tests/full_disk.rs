//! A disk that fills up at whatever step of a run: while it records, while tables are closed, while trials, answer and page are kept.
//! The run ends with an answer or an error that says so; the case that it leaves opens, and says what it lacks.

use crate::stage::{Ran, Stage};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use std::fs;
use std::path::{Path, PathBuf};
use testing::{budget, is_root, skip};

/// The disk, in bytes.
const DISK: u64 = 32 << 20;
/// Its pages.
const PAGE: u64 = 4096;
/// What a case takes at its beginning for what it writes at its end.
const RESERVED: u64 = (1 << 20) + (64 << 10);

/// A file system of its own in memory, that is gone when the test ends.
struct Disk(PathBuf);

impl Disk {
    /// None where it cannot be mounted.
    fn new(stage: &Stage) -> Option<Disk> {
        let place = stage.path("disk");
        fs::create_dir(&place).expect("made");
        let size = format!("size={DISK}");
        match mount(Some("whyslow-test"), &place, Some("tmpfs"), MsFlags::MS_NODEV, Some(size.as_str())) {
            Ok(()) => Some(Disk(place)),
            Err(error) => {
                skip(&format!("cannot mount: {error}"));
                None
            }
        }
    }

    fn free(&self) -> u64 {
        let found = nix::sys::statvfs::statvfs(&self.0).expect("a file system");
        found.blocks_free() * found.fragment_size()
    }

    /// Empties it, and fills it up to so many bytes.
    fn leave(&self, bytes: u64) {
        for entry in fs::read_dir(&self.0).expect("there").flatten() {
            let path = entry.path();
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.expect("removed");
        }
        fs::write(self.0.join("filler"), vec![1; self.free().saturating_sub(bytes) as usize]).expect("filled");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = umount2(&self.0, MntFlags::MNT_DETACH);
    }
}

/// What came of a run on a disk with so much room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// There was no room for a case.
    NoCase,
    /// Its case lacks rows, and says which.
    RowsMissing,
    /// All was recorded, and something else could not be kept.
    SomethingNotKept,
    /// Nothing is missing.
    Whole,
}

/// Runs a program of many calls, and looks at what it leaves.
fn outcome(stage: &Stage, disk: &Disk, left: u64) -> Outcome {
    disk.leave(left);
    let seconds = budget(2);
    let client = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=60000", "status=none"];
    let ran = stage.run(&[&["run", "--all", "--budget", &seconds, "-o", "disk/case", "--"], &client[..]].concat());
    assert!([0, 1, 2, 3].contains(&ran.code) && !ran.stderr.contains("panicked"), "{left} bytes: {ran:?}");
    let case = stage.path("disk/case");
    let is_said = ran.stderr.contains("No space left");
    if !case.join("manifest.json").exists() {
        assert!(ran.code == 2 && is_said, "{left} bytes: {ran:?}");
        return Outcome::NoCase;
    }
    // Still full: whoever reads a case needs no room.
    let report = stage.run(&["report", "disk/case", "--json"]);
    assert!([0, 1, 3].contains(&report.code), "{left} bytes: the case does not open: {report:?} after {ran:?}");
    let opened = case::Case::open(&case).expect("a case");
    let is_missing = |words: &str| opened.manifest().missing.iter().any(|line| line.contains(words));
    if is_missing("rows of the table") || is_missing("not all rows could be written") {
        assert!(report.stdout.contains("rows of the table"), "{left} bytes: it is not said: {report:?}");
        return Outcome::RowsMissing;
    }
    if is_said || is_missing("kept as Arrow streams") {
        return Outcome::SomethingNotKept;
    }
    expect_whole(&case, &ran);
    Outcome::Whole
}

/// Where nothing was said to be missing, nothing is.
fn expect_whole(case: &Path, ran: &Ran) {
    for file in ["answer.json", "report.html"] {
        let text = fs::read_to_string(case.join(file)).unwrap_or_else(|error| panic!("{file}: {error}; {ran:?}"));
        let is_whole = text.trim_end().ends_with('}') || text.trim_end().ends_with("</html>");
        assert!(is_whole, "{file} is cut off: {ran:?}");
    }
    let calls = case::Case::open(case).and_then(|case| case.read::<case::tables::Call>()).expect("calls");
    assert!(calls.len() >= 120_000, "{} calls of 60,000 reads and 60,000 writes", calls.len());
    let left = fs::read_dir(case.join("tables")).expect("tables").flatten().map(|entry| entry.path());
    let streams = left.filter(|path| path.extension().is_some_and(|ending| ending == "arrows")).collect::<Vec<_>>();
    assert!(streams.is_empty(), "{streams:?}");
}

/// Runs with less and less room; how often each outcome was met.
fn expect_said(levels: impl Iterator<Item = u64>) -> std::collections::BTreeMap<Outcome, usize> {
    let stage = Stage::new();
    let mut met = std::collections::BTreeMap::new();
    if !is_root() || !stage.can_record() {
        return met;
    }
    let Some(disk) = Disk::new(&stage) else { return met };
    for left in levels {
        let outcome = outcome(&stage, &disk, left);
        println!("{left} bytes left: {outcome:?}");
        *met.entry(outcome).or_insert(0) += 1;
    }
    met
}

#[test]
fn a_disk_that_is_full_is_said_wherever_it_is_met() {
    let met = expect_said([2 * PAGE, RESERVED + 8 * PAGE, 24 << 20].into_iter());
    assert!(met.is_empty() || (met.contains_key(&Outcome::NoCase) && met.contains_key(&Outcome::Whole)), "{met:?}");
    assert!(met.is_empty() || met.contains_key(&Outcome::RowsMissing), "{met:?}");
}

#[test]
#[ignore = "long: make stories"]
fn a_disk_that_is_full_is_said_at_every_step() {
    // In steps that are smaller than most files of a case, from where there is none to where there is room for all.
    let met = expect_said((0..72).map(|step| RESERVED - 4 * PAGE + step * 8 * PAGE).chain([24 << 20]));
    println!("{met:?}");
    assert!(met.is_empty() || met.len() >= 3, "{met:?}");
}
