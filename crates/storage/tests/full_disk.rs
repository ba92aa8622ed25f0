//! A disk that is full, at every moment of recording and closing: the case opens, and what it lacks is said and counted.

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use std::fs;
use std::path::{Path, PathBuf};
use storage::tables::{Call, Process, Segment, Trial};
use storage::{Case, CaseWriter, Manifest, Nanos, SCHEMA};

/// The disk, in bytes.
const DISK: usize = 12 << 20;

/// A file system of its own in memory, that is gone when the test ends.
struct Disk(tempfile::TempDir);

impl Disk {
    /// None without the right to mount.
    fn new() -> Option<Disk> {
        if !testing::is_root() {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let size = format!("size={DISK}");
        let mounted = mount(Some("whyslow-test"), folder.path(), Some("tmpfs"), MsFlags::MS_NODEV, Some(size.as_str()));
        match mounted {
            Ok(()) => Some(Disk(folder)),
            Err(error) => {
                testing::skip(&format!("cannot mount: {error}"));
                None
            }
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Fills it up to so many bytes.
    fn leave(&self, bytes: u64) -> PathBuf {
        let filler = self.path().join("filler");
        let found = nix::sys::statvfs::statvfs(self.path()).expect("a file system");
        let free = found.blocks_free() * found.fragment_size();
        fs::write(&filler, vec![1; free.saturating_sub(bytes) as usize]).expect("filled");
        filler
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = umount2(self.0.path(), MntFlags::MNT_DETACH);
    }
}

/// Rows that do not compress.
fn calls(count: u64) -> impl Iterator<Item = Call> {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    (0..count).map(move |number| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        Call { start: Nanos(number), duration: Nanos(random), argument_1: random.rotate_left(17), ..Call::default() }
    })
}

/// What a case holds and what it says is missing, of two tables.
fn kept_and_missing(case: &Case) -> [(usize, u64); 2] {
    let said = |table: &str| {
        let line = case.manifest().missing.iter().find(|line| line.contains(&format!("rows of the table {table}:")));
        line.map_or(0, |line| line.split(' ').next().and_then(|rows| rows.parse::<u64>().ok()).expect("a number"))
    };
    [
        (case.read::<Call>().expect("calls").len(), said("calls")),
        (case.read::<Segment>().expect("segments").len(), said("segments")),
    ]
}

#[test]
fn wherever_the_disk_is_full_the_case_opens_and_counts_what_is_missing() {
    let Some(disk) = Disk::new() else { return };
    let (calls_written, segments_written) = (60_000, 20_000);
    let mut outcomes = [0; 3];
    // From no room at all to room for all: at 4096 bytes a page each step of closing is the first that fails.
    for left in (0..8_u64).map(|pages| pages * 4096).chain((0..14).map(|step| (step * 512) << 10)) {
        let folder = disk.path().join("case");
        let mut writer =
            CaseWriter::create(&folder, Manifest { schema: SCHEMA, ..Manifest::default() }).expect("a new case");
        let filler = disk.leave(left);
        let segment = |number| Segment { time: Nanos(number), ..Segment::default() };
        let written = [
            writer.append(calls(calls_written)),
            writer.append((0..segments_written).map(segment)),
            writer.append([Process { pid: 1, ..Process::default() }]),
        ];
        let has_failed = written.iter().any(Result::is_err);
        assert_eq!(has_failed, writer.failed_since().is_some(), "{left} bytes");
        drop(writer.close().unwrap_or_else(|error| panic!("{left} bytes: {error}")));
        let case = Case::open(&folder).unwrap_or_else(|error| panic!("{left} bytes: {error}"));
        assert!(case.manifest().closed, "{left} bytes");
        let [(calls, no_calls), (segments, no_segments)] = kept_and_missing(&case);
        assert_eq!(calls as u64 + no_calls, calls_written, "{left} bytes: {:?}", case.manifest().missing);
        assert_eq!(segments as u64 + no_segments, segments_written, "{left} bytes: {:?}", case.manifest().missing);
        let as_streams = case.manifest().missing.iter().any(|line| line.contains("kept as Arrow streams"));
        outcomes[match (no_calls > 0, as_streams) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        }] += 1;
        fs::remove_file(filler).expect("removed");
        fs::remove_dir_all(&folder).expect("removed");
    }
    assert!(outcomes.iter().all(|count| *count > 0), "rows lost, streams kept, all well: {outcomes:?}");
}

#[test]
fn trials_are_added_whole_or_not_at_all() {
    let Some(disk) = Disk::new() else { return };
    let folder = disk.path().join("case");
    let writer = CaseWriter::create(&folder, Manifest { schema: SCHEMA, ..Manifest::default() }).expect("a new case");
    let case = writer.close().expect("closed");
    let trials = || (0..20_000).map(|position| Trial { position, arm: format!("arm-{position}"), ..Trial::default() });
    for left in [0, 4096, 16_384, 65_536, 131_072] {
        let filler = disk.leave(left);
        assert!(case.add(trials()).is_err(), "{left} bytes");
        assert_eq!(case.read::<Trial>().expect("none").len(), 0, "{left} bytes");
        assert!(case.keep("answer.json", &vec![1_u64; 60_000]).is_err(), "{left} bytes");
        assert_eq!(case.kept::<Vec<u64>>("answer.json").expect("nothing is damaged"), None);
        fs::remove_file(filler).expect("removed");
    }
    case.add(trials()).expect("room for all");
    assert_eq!(case.read::<Trial>().expect("all").len(), 20_000);
}

#[test]
fn a_disk_that_is_full_from_the_beginning_holds_no_case() {
    let Some(disk) = Disk::new() else { return };
    disk.leave(8192);
    assert!(CaseWriter::create(&disk.path().join("case"), Manifest { schema: SCHEMA, ..Manifest::default() }).is_err());
}
