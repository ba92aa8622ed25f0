//! The cube: what access logs come down to, as one Parquet file of bounded size. Cubes of parts of a log, merged, make the cube
//! of the whole, and any engine that reads Parquet answers questions over many of them in place.
//!
//! A cube may be a stranger's: reading one takes bounded memory, and whatever is wrong with it is said to be damage.

use crate::error::CaseError;
use crate::folder::{Budget, parquet_rows_within, write_parquet};
use crate::row::table;
use crate::units::Nanos;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// What the rows of a cube may take whatever its file's size: 200,000 buckets of time, 65,000 networks and as many routes, at
/// 300 bytes each.
const FREE_BYTES: u64 = 128 << 20;

/// zstd's level: what is merged and queried often may take its time once.
const LEVEL: i32 = 9;

table! {
    /// A figure of a cube of access logs. `part` says which it is; the rows of one part add up, those of several tell the same
    /// requests more than once.
    pub struct TrafficRow in "traffic" {
        /// What the row counts: `all` (one row), `file`, `malformed` (an example of a line), `agent` (a family of agents), `status`
        /// (its answers by the first digit of their status), `time` (its requests in a bucket of time), `network` and `route`
        /// (its requests from one, for one), `other-networks` and `other-routes` (one row each: of those that are not listed).
        pub part: String,
        /// The family of agents; empty where the row is not about one.
        pub agent: String as Program,
        /// What kind of program it says it is: `crawler`, `browser`, `tool` or `silent`.
        pub kind: String,
        /// Whether it is that: `unchecked`, `verified` or `forged`.
        pub claim: String,
        /// A file's path, a network, or a route.
        pub name: String as Target,
        /// A file's format, or what a malformed line begins with.
        pub text: String as Sentence,
        /// What kept a file from being read to its end; empty for nothing.
        pub problem: String as Sentence,
        /// Whether a file was left out because it is no log.
        pub skipped: bool,
        /// The first digit of answers' status; 0 for those without, and where the row is not about one.
        pub status: u8,
        /// When a bucket begins, or the earliest time in a file, in seconds since 1970, UTC.
        pub first_s: i64,
        /// The last second of a bucket, or the latest time in a file; less than `first_s` where there is none.
        pub last_s: i64,
        /// Requests.
        pub requests: u64,
        /// Bytes sent in answer.
        pub bytes: u64,
        /// Time from request to answer, summed up.
        pub took: Nanos,
        /// Requests whose time is known, of all.
        pub timed: u64,
        /// Lines of a file that could not be read.
        pub malformed: u64,
        /// Requests that may be missing from the row, of a network or a route; of those not listed, what one may have at most.
        pub missed: u64,
        /// How many addresses they came from, nearly: of all, and of a family.
        pub addresses: u64,
        /// What that is drawn from: registers of a HyperLogLog, one sign each from `0` up; that of two sets together is the
        /// greater of each sign.
        pub sketch: String,
    }
}

/// Writes a cube, with the folders above it; one that is there already is replaced at once, or stays as it was.
///
/// # Errors
/// Where the disk refuses.
pub fn write_cube(path: &Path, rows: &[TrafficRow]) -> Result<(), CaseError> {
    let io = |error| CaseError::io(path)(error);
    if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
        fs::create_dir_all(above).map_err(io)?;
    }
    let name = path.file_name().ok_or_else(|| io(std::io::ErrorKind::InvalidInput.into()))?;
    let new = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    let written = || {
        let file = OpenOptions::new().write(true).create_new(true).open(&new).map_err(io)?;
        let mut file = write_parquet(file, path, rows, LEVEL)?;
        file.flush().and_then(|()| fs::rename(&new, path)).map_err(io)
    };
    written().inspect_err(|_| drop(fs::remove_file(&new)))
}

/// Hands over the rows of a cube, some thousands at a time.
///
/// # Errors
/// Where it cannot be read, is no cube, or holds more than its size allows.
pub fn read_cube(path: &Path, take: &mut dyn FnMut(Vec<TrafficRow>)) -> Result<(), CaseError> {
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    let file: File = opened.map_err(CaseError::io(path))?;
    let found = file.metadata().map_err(CaseError::io(path))?;
    if !found.is_file() {
        return Err(CaseError::damaged(path, &"it is not a regular file"));
    }
    let budget = Budget::beyond(FREE_BYTES, &file).map_err(CaseError::io(path))?;
    parquet_rows_within(file, budget, take).map_err(|reason| CaseError::damaged(path, &reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: u64) -> Vec<TrafficRow> {
        let row =
            |at| TrafficRow { part: "route".into(), name: format!("/a/{at}"), requests: at, ..TrafficRow::default() };
        (0..count).map(row).collect()
    }

    fn read(path: &Path) -> Result<Vec<TrafficRow>, CaseError> {
        let mut all = Vec::new();
        read_cube(path, &mut |rows| all.extend(rows))?;
        Ok(all)
    }

    #[test]
    fn rows_come_back_as_they_were_written_and_a_cube_is_replaced() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("host=a/day=2024-05-01/cube.parquet");
        write_cube(&path, &rows(3)).expect("written");
        write_cube(&path, &rows(70_000)).expect("replaced");
        assert_eq!(read(&path).expect("rows"), rows(70_000));
        assert_eq!(fs::read_dir(path.parent().expect("a folder")).expect("read").count(), 1);
    }

    #[test]
    fn what_is_no_cube_is_damaged_whatever_it_is() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("cube.parquet");
        write_cube(&path, &rows(100)).expect("written");
        let sound = fs::read(&path).expect("bytes");
        let mut broken = vec![b"no table".to_vec(), Vec::new(), sound[..sound.len() - 9].to_vec()];
        for at in (4..sound.len()).step_by(11) {
            let mut changed = sound.clone();
            changed[at] ^= 0xff;
            broken.push(changed);
        }
        for bytes in broken {
            fs::write(&path, bytes).expect("written");
            assert!(
                matches!(read(&path), Ok(_) | Err(CaseError::Damaged { .. })),
                "{:?}",
                read(&path).map(|rows| rows.len())
            );
        }
        assert!(matches!(read(home.path()), Err(CaseError::Damaged { .. })));
        assert!(matches!(read(&home.path().join("missing")), Err(CaseError::Io { .. })));
    }
}
