//! P42: a stream is read a few bytes at a time.

use super::{Found, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::number;
use crate::place;
use crate::syscall;
use crate::threads::{busy_part, call_end};
use case::facts::Observation;
use case::tables::{Call, transport};
use case::{Bytes, Nanos};
use std::collections::BTreeMap;

detector! {
    /// # tiny-reads
    ///
    /// ## What it is
    /// A program reads a byte, or some hundred, at a time although more is available. Each read costs a system call.
    ///
    /// ## Evidence
    /// Fifty reads or more per request from a connection or file, 1,024 bytes or fewer on average, of which at
    /// least four in five got as much as they asked for (the finding says how many); the CPU time of these calls.
    ///
    /// ## What proves it
    /// A buffer between program and kernel: calls and CPU time fall, the bytes stay the same.
    ///
    /// ## Remedy
    /// Read through a buffer of a few kilobytes (BufReader, BufferedReader, bufio.Reader, fread).
    ///
    /// ## Not to be confused with
    /// Short messages that arrive one at a time (the reads ask for more than they get); TLS records, whose 5-byte headers are
    /// read by themselves (tiny-tls-records).
    "P42" "tiny-reads",
    needs: &[Server, Calls]
}

/// A read that brings less than this costs more for the call than for the bytes: CPython takes 0.15 s to
/// read 100 MB over the loopback in such pieces, and 0.06 s in pieces of 4,096 bytes or more.
const TINY: u64 = 1_024;

/// Fewer small reads than this in an exchange cost next to nothing.
const MANY: u64 = 50;

/// Where there are no exchanges to count by.
const MANY_IN_ALL: u64 = 1_000;

/// The share of the reads that must get all they ask for: the last read of each message, and a large one between small
/// ones, may not.
const FILLED: f64 = 0.8;

/// What was read from one thing, or written to it, by one process.
#[derive(Default)]
pub(super) struct Pieces {
    count: u64,
    bytes: u64,
    filled: u64,
    cpu: u64,
    inside: u64,
    first: usize,
    /// CPU time by the stacks they were made from.
    stacks: BTreeMap<(u32, u32), u64>,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut known: BTreeMap<u32, bool> = BTreeMap::new();
    let is_stream = |call: &Call| match call.connection {
        _ if !syscall::is_read(call.number) => false,
        0 => call.path != 0 && *known.entry(call.path).or_insert_with(|| is_plain_file(analysis, call.path)),
        connection => is_plain_tcp(analysis, connection),
    };
    let is_filled = |reads: &Pieces| reads.filled as f64 >= FILLED * reads.count as f64;
    let tiny: Vec<Pieces> =
        pieces(analysis, is_stream).into_values().filter(|reads| reads.are_tiny() && is_filled(reads)).collect();
    let mut found = found(analysis, &tiny, ("Input is read", "reads"))?;
    let total = |of: fn(&Pieces) -> u64| tiny.iter().map(of).sum::<u64>();
    found.observed =
        vec![Observation::FilledReads { reads: total(|reads| reads.count), filled: total(|reads| reads.filled) }];
    found.remedy = "Read through a buffer of a few kilobytes.".to_string();
    Some(found)
}

/// What is found of bytes moved in so many pieces, each thing's together; what is done with them in words, and the calls. None where
/// there are few to a request.
pub(super) fn found(analysis: &Analysis, tiny: &[Pieces], (done, calls): (&str, &str)) -> Option<Found> {
    let total = |of: fn(&Pieces) -> u64| tiny.iter().map(of).sum::<u64>();
    let (count, cpu, inside) =
        (total(|pieces| pieces.count), total(|pieces| pieces.cpu), total(|pieces| pieces.inside));
    let exchanges = analysis.exchanges.len() as u64;
    let enough = if exchanges > 0 { MANY * exchanges } else { MANY_IN_ALL };
    if count < enough {
        return None;
    }
    let most = tiny.iter().max_by_key(|pieces| (pieces.count, std::cmp::Reverse(pieces.first)))?;
    let stacks = tiny.iter().flat_map(|pieces| pieces.stacks.iter().map(|(&stack, &cpu)| (stack, cpu)));
    let place = place::of_most(&analysis.code, stacks);
    let bytes = total(|pieces| pieces.bytes);
    let what = format!("{done} {:.1} bytes at a time", bytes as f64 / count as f64);
    Some(Found {
        title: format!(
            "{what}: {} of CPU in {} {calls} {}{}",
            Nanos(cpu / exchanges.max(1)),
            number::count(count / exchanges.max(1)),
            if exchanges > 0 { "per request" } else { "in all" },
            place.in_words(),
        ),
        what,
        mechanism: vec![format!(
            "{} calls of {} moved {}.",
            number::count(count),
            syscall::name(analysis.call(most.first).number),
            Bytes(bytes),
        )],
        saving: PotentialSaving {
            wall: inside,
            outside: cpu - inside.min(cpu),
            cpu,
            affected: exchanges.max(1).min(count),
        },
        place,
        rows: rows("calls", [most.first]),
        ..Found::default()
    })
}

impl Pieces {
    /// Whether there are many, and small ones.
    pub fn are_tiny(&self) -> bool {
        self.count >= MANY && self.bytes <= TINY * self.count
    }
}

/// The bytes that each process moved in some calls, by its connections and files.
pub(super) fn pieces(
    analysis: &Analysis,
    mut is_meant: impl FnMut(&Call) -> bool,
) -> BTreeMap<(u32, u32, u32), Pieces> {
    let mut pieces: BTreeMap<(u32, u32, u32), Pieces> = BTreeMap::new();
    for (row, call) in analysis.recording.calls.iter().enumerate() {
        if !(1..=syscall::MOST_BYTES).contains(&call.result) || !is_meant(call) {
            continue;
        }
        let entry =
            pieces.entry((call.pid, call.connection, call.path)).or_insert(Pieces { first: row, ..Pieces::default() });
        let cpu = busy_part(call);
        entry.count += 1;
        entry.bytes += call.result as u64;
        entry.filled += u64::from(asked(call) == call.result as u64);
        entry.cpu += cpu;
        *entry.stacks.entry((call.script_stack, call.stack)).or_default() += cpu;
        if call.result as u64 <= TINY {
            entry.inside += analysis.split(call.tid, call_end(call).saturating_sub(cpu), call_end(call)).0;
        }
    }
    pieces
}

/// The bytes that a read asked for; with a vector they stand in another argument.
fn asked(call: &Call) -> u64 {
    if syscall::class(call.number) == syscall::Class::ReadVector { call.argument_1 } else { call.argument_2 }
}

/// Whether it is a TCP connection without TLS: a TLS library reads the 5 bytes before each record by themselves, and how long
/// the records are is up to who wrote them.
fn is_plain_tcp(analysis: &Analysis, connection: u32) -> bool {
    analysis.connections.slot(connection).is_some_and(|slot| {
        analysis.connections.row(slot).transport == transport::TCP && analysis.connections.handshake(slot).is_none()
    })
}

/// Whether a path is a file's and not a pipe's, an event's or one of the kernel's own.
pub(super) fn is_plain_file(analysis: &Analysis, id: u32) -> bool {
    let paths = &analysis.recording.paths;
    let Ok(index) = paths.binary_search_by_key(&id, |row| row.id) else { return false };
    let path = &paths[index].path;
    path.starts_with('/') && !["/proc/", "/sys/", "/dev/"].iter().any(|kernel| path.starts_with(kernel))
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, READ, US, WRITE, keep_alive};
    use crate::tests::{answer, names};
    use case::Recording;
    use case::facts::Observation;

    /// Twenty replies, each read in 200 reads that get a byte; so many of each hundred ask for no more than that.
    fn filling(of_hundred: usize) -> Recording {
        let mut fixture = keep_alive(5, 50 * US);
        for _ in 0..20 {
            fixture.moves(CLIENT, 1, WRITE, 20);
            for number in 0..200 {
                let row = fixture.moves(CLIENT, 1, READ, 1);
                fixture.recording.calls[row].argument_2 = if number % 100 < of_hundred { 1 } else { 16_384 };
            }
        }
        fixture.end()
    }

    #[test]
    fn reading_byte_by_byte_is_found() {
        assert_eq!(names(&filling(100)), ["tiny-reads"]);
    }

    #[test]
    fn where_one_read_in_ten_asked_for_more_the_share_is_told_and_not_each() {
        let answer = answer(&filling(90));
        // Five replies of the kept connection are read at once, and are among the reads.
        assert_eq!(answer.findings[0].observed, [Observation::FilledReads { reads: 4_005, filled: 3_600 }]);
        assert!(!answer.findings[0].mechanism.join(" ").contains("Each"), "{:?}", answer.findings[0].mechanism);
    }

    #[test]
    fn where_three_reads_in_ten_asked_for_more_nothing_is_found() {
        assert_eq!(names(&filling(70)), Vec::<String>::new());
    }

    #[test]
    fn short_messages_read_with_a_large_buffer_are_left_alone() {
        assert_eq!(names(&filling(0)), Vec::<String>::new());
    }
}
