//! Directories that each request reads from end to end.

use super::{File, is_felt};
use crate::analysis::{Analysis, PotentialSaving};
use crate::detectors::{Found, costly_call, path_name, rows};
use case::{Bytes, Nanos};
use std::collections::BTreeMap;

/// Who reads so many bytes of entries for a request has some two thousand names before it.
const LISTED: u64 = 64 << 10;

/// Directories whose entries each request reads again; none where that is little.
pub(super) fn of_directories(analysis: &Analysis, files: &BTreeMap<u32, File>) -> Option<Found> {
    let count = analysis.exchanges.len() as u64;
    let directories = files.iter().filter(|(_, file)| file.listed >= LISTED * count);
    let (&path, _) = directories.clone().max_by_key(|(path, file)| (file.listed, std::cmp::Reverse(**path)))?;
    let calls: Vec<(usize, u64)> = directories.clone().flat_map(|(_, file)| file.calls.iter().copied()).collect();
    let wall: u64 = calls.iter().map(|(_, inside)| inside).sum();
    if !is_felt(analysis, wall) {
        return None;
    }
    let (listed, number): (u64, u64) =
        directories.clone().fold((0, 0), |(sum, number), (_, file)| (sum + file.listed, number + 1));
    let place = costly_call(analysis, calls.iter().copied());
    let what = match number {
        1 => "Each request reads the same directory from end to end again".to_string(),
        _ => format!("Each request reads the same {number} directories from end to end again"),
    };
    let each = Nanos(analysis.exchange_wall() / count);
    Some(Found {
        title: format!("{what}: {} of every {each} request{}", Nanos(wall / count), place.in_words()),
        what,
        mechanism: vec![
            format!(
                "Each time, the kernel hands over {} of entries; what the program does with them comes on top of that.",
                Bytes(listed / count)
            ),
            format!("The directory with most of them is {}.", path_name(analysis, path)),
        ],
        saving: PotentialSaving {
            wall,
            outside: 0,
            cpu: directories.map(|(_, file)| file.cpu).sum(),
            affected: count,
        },
        place,
        remedy: "Ask for the file by its name instead of looking for it, keep the list between requests, or spread the files over \
                 several directories."
            .to_string(),
        rows: rows("calls", calls.iter().map(|(row, _)| *row)),
        ..Found::default()
    })
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, SERVER, US};
    use crate::tests::{answer, names};
    use case::Recording;
    use case::tables::Call;

    /// `openat` and `getdents64`.
    const OPEN: u16 = 257;
    const LIST: u16 = 217;

    /// Twenty requests of 8 ms, for each of which a server reads so many bytes of a directory's entries in so many milliseconds.
    fn listing(bytes: i64, work: u64) -> Recording {
        let mut fixture = Fixture::new();
        fixture.path(1, "/srv/spool");
        fixture.connect(1, CLIENT);
        for _ in 0..20 {
            fixture.served(|fixture| {
                let named = |call: &mut Call| (call.fd, call.path, call.result) = (-1, 1, 9);
                fixture.does(SERVER, 20 * US, OPEN, named);
                fixture.does(SERVER, work * MS, LIST, |call| (call.fd, call.path, call.result) = (9, 1, bytes));
                fixture.now += (8 - work) * MS;
            });
        }
        fixture.end()
    }

    fn is_found(recording: &Recording) -> bool {
        names(recording).contains(&"files-per-request".to_string())
    }

    #[test]
    fn a_directory_that_each_request_reads_is_found_with_its_size() {
        let answer = answer(&listing(900_000, 5));
        let finding = answer.findings.iter().find(|finding| finding.name == "files-per-request").expect("found");
        assert!(finding.title.starts_with("Each request reads the same directory from end to end again: 5.0"));
        assert!(finding.mechanism[0].contains("900 kB") && finding.mechanism[1].contains("/srv/spool"), "{finding:?}");
    }

    #[test]
    fn a_small_directory_or_one_that_takes_no_time_is_left_alone() {
        assert!(!is_found(&listing(4_000, 5)));
        assert!(!is_found(&listing(900_000, 0)));
    }
}
