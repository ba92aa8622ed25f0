//! P63: a file is written a few bytes at a time.

use super::debug_build::log_lines;
use super::tiny_reads::{Pieces, found, is_plain_file, pieces};
use super::{Found, detector};
use crate::analysis::Analysis;
use crate::syscall;
use case::tables::Call;
use std::collections::{BTreeMap, BTreeSet};

detector! {
    /// # tiny-writes
    ///
    /// ## What it is
    /// A program writes a file a byte, a number or a record at a time. Each write costs a system call.
    ///
    /// ## Evidence
    /// Fifty writes or more per request to a file, 1,024 bytes or fewer on average; the CPU time of these calls.
    ///
    /// ## What proves it
    /// A buffer. From outside nothing can be held back, since whoever else reads the file could miss it, so that this stays a
    /// suspicion: `whyslow compare` the program as it is with one that writes through a buffer.
    ///
    /// ## Remedy
    /// Write through a buffer of a few kilobytes (BufWriter, BufferedWriter, bufio.Writer, fwrite without setbuf), and flush it
    /// once, at the end.
    ///
    /// ## Not to be confused with
    /// A log, line by line (debug-build); writes at places of their own, as databases make them (pwrite); files that are synced
    /// (sync-disk); pieces of a message on a connection (split-writes).
    "P63" "tiny-writes",
    not_switched: "Whoever else reads the file could miss what is held back.",
    needs: &[Server, Calls]
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut known: BTreeMap<u32, bool> = BTreeMap::new();
    // Whoever wants each piece on the disk cannot keep it in a buffer.
    let calls = &analysis.recording.calls;
    let synced: BTreeSet<(u32, u32)> =
        calls.iter().filter(|call| syscall::is_sync(call.number)).map(|call| (call.pid, call.path)).collect();
    let is_meant = |call: &Call| {
        call.connection == 0
            && call.path != 0
            && syscall::is_write_in_order(call.number)
            && !synced.contains(&(call.pid, call.path))
            && *known.entry(call.path).or_insert_with(|| is_plain_file(analysis, call.path))
    };
    let logs = log_lines::written_by_lines(analysis);
    let pieces = pieces(analysis, is_meant).into_iter();
    let is_log = |&(pid, _, path): &(u32, u32, u32)| logs.contains(&(pid, path));
    let tiny: Vec<Pieces> =
        pieces.filter(|(key, pieces)| pieces.are_tiny() && !is_log(key)).map(|(_, pieces)| pieces).collect();
    let mut found = found(analysis, &tiny, ("A file is written", "writes"))?;
    found.remedy = "Write through a buffer of a few kilobytes, and flush it once at the end.".to_string();
    Some(found)
}

#[cfg(test)]
mod tests {
    use crate::detectors::debug_build::tests::writing;
    use crate::fixture::{SERVER, US};
    use crate::tests::names;
    use case::Recording;
    use case::tables::Call;

    const FSYNC: u16 = 74;
    const PWRITE: u16 = 18;

    fn is_found(recording: &Recording) -> bool {
        names(recording).contains(&"tiny-writes".to_string())
    }

    #[test]
    fn a_file_that_is_written_byte_by_byte_is_found() {
        assert_eq!(names(&writing(60, |_, call| call.result = 1).end()), ["tiny-writes"]);
        assert!(is_found(&writing(60, |_, call| call.result = 100).end()), "records of one length");
    }

    #[test]
    fn few_pieces_large_ones_and_lines_of_a_log_are_left_alone() {
        assert!(!is_found(&writing(40, |_, call| call.result = 1).end()));
        assert!(!is_found(&writing(60, |_, call| call.result = 4_096).end()));
        assert!(!is_found(&writing(60, |_, _| {}).end()), "debug output");
    }

    #[test]
    fn pieces_at_places_of_their_own_and_those_that_must_last_are_left_alone() {
        assert!(!is_found(&writing(60, |_, call| (call.number, call.result) = (PWRITE, 8)).end()));
        let mut synced = writing(60, |_, call| call.result = 8);
        synced.does(SERVER, US, FSYNC, |call: &mut Call| (call.fd, call.path) = (5, 1));
        assert!(!is_found(&synced.end()));
    }
}
