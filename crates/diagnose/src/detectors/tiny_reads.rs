//! P42: a stream is read a few bytes at a time.

use super::{Found, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::place;
use crate::syscall;
use crate::threads::{busy_part, call_end};
use case::Nanos;
use case::tables::{Call, transport};
use std::collections::BTreeMap;

detector! {
    /// # tiny-reads
    ///
    /// ## What it is
    /// A program reads a byte, or a few, at a time although more is available. Each read costs a syscall.
    ///
    /// ## Evidence
    /// Fifty reads or more per exchange from a connection or file, 64 bytes or fewer on average, nearly all of which
    /// got as much as they asked for; the CPU time of these calls.
    ///
    /// ## What proves it
    /// A buffer between program and kernel: calls and CPU time fall, the bytes stay the same.
    ///
    /// ## Remedy
    /// Read through a buffer of a few kilobytes (BufReader, BufferedReader, bufio.Reader, fread).
    ///
    /// ## Not to be confused with
    /// Short messages that arrive one at a time (the reads ask for more than they get); the 5-byte headers of TLS
    /// records (their bodies are large).
    "P42" "tiny-reads"
}

/// A read that brings less than this costs more for the call than for the bytes.
const TINY: u64 = 64;

/// Fewer small reads than this in an exchange cost next to nothing.
const MANY: u64 = 50;

/// Where there are no exchanges to count by.
const MANY_IN_ALL: u64 = 1_000;

/// The reads from one thing.
#[derive(Default)]
struct Reads {
    count: u64,
    bytes: u64,
    filled: u64,
    cpu: u64,
    inside: u64,
    first: usize,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let tiny: Vec<Reads> = reads(analysis).into_values().filter(is_tiny).collect();
    let total = |of: fn(&Reads) -> u64| tiny.iter().map(of).sum::<u64>();
    let (count, cpu, inside) = (total(|reads| reads.count), total(|reads| reads.cpu), total(|reads| reads.inside));
    let exchanges = analysis.exchanges.len() as u64;
    let enough = if exchanges > 0 { MANY * exchanges } else { MANY_IN_ALL };
    if count < enough {
        return None;
    }
    let most = tiny.iter().max_by_key(|reads| (reads.count, std::cmp::Reverse(reads.first)))?;
    let example = analysis.call(most.first);
    let place = place::of_call(&analysis.code, example);
    let saving =
        PotentialSaving { wall: inside, outside: cpu - inside.min(cpu), cpu, affected: exchanges.max(1).min(count) };
    let mean = total(|reads| reads.bytes) as f64 / count as f64;
    let title = format!(
        "Input is read {mean:.1} bytes at a time: {} of CPU in {} reads {}{}",
        Nanos(cpu / exchanges.max(1)),
        count / exchanges.max(1),
        if exchanges > 0 { "per request" } else { "in all" },
        place::in_words(&place),
    );
    let mechanism = vec![
        format!("{count} calls of {} returned {} bytes.", syscall::name(example.number), total(|reads| reads.bytes)),
        "Each got all it asked for, so a larger read would have got more.".to_string(),
    ];
    let remedy = "Read through a buffer of a few kilobytes.".to_string();
    Some(Found { title, mechanism, saving, place, remedy, rows: rows("calls", [most.first]), explains: Vec::new() })
}

fn is_tiny(reads: &Reads) -> bool {
    reads.count >= MANY && reads.bytes <= TINY * reads.count && reads.filled * 5 >= reads.count * 4
}

/// The reads of each process from each connection and file, those within exchanges where there are any.
fn reads(analysis: &Analysis) -> BTreeMap<(u32, u32, u32), Reads> {
    let mut reads: BTreeMap<(u32, u32, u32), Reads> = BTreeMap::new();
    let mut known: BTreeMap<u32, bool> = BTreeMap::new();
    for (row, call) in analysis.recording.calls.iter().enumerate() {
        if !syscall::is_read(call.number) || !(1..=syscall::MOST_BYTES).contains(&call.result) {
            continue;
        }
        let is_stream = match call.connection {
            0 => call.path != 0 && *known.entry(call.path).or_insert_with(|| is_plain_file(analysis, call.path)),
            connection => is_tcp(analysis, connection),
        };
        if !is_stream {
            continue;
        }
        let entry =
            reads.entry((call.pid, call.connection, call.path)).or_insert(Reads { first: row, ..Reads::default() });
        let cpu = busy_part(call);
        entry.count += 1;
        entry.bytes += call.result as u64;
        entry.filled += u64::from(asked(call) == call.result as u64);
        entry.cpu += cpu;
        if call.result as u64 <= TINY {
            entry.inside += analysis.split(call.tid, call_end(call).saturating_sub(cpu), call_end(call)).0;
        }
    }
    reads
}

/// The bytes that a read asked for; with a vector they stand in another argument.
fn asked(call: &Call) -> u64 {
    if syscall::class(call.number) == syscall::Class::ReadVector { call.argument_1 } else { call.argument_2 }
}

fn is_tcp(analysis: &Analysis, connection: u32) -> bool {
    analysis.connections.slot(connection).is_some_and(|slot| analysis.connections.row(slot).transport == transport::TCP)
}

/// Whether a path is a file's and not a pipe's, an event's or one of the kernel's own.
fn is_plain_file(analysis: &Analysis, id: u32) -> bool {
    let paths = &analysis.recording.paths;
    let Ok(index) = paths.binary_search_by_key(&id, |row| row.id) else { return false };
    let path = &paths[index].path;
    path.starts_with('/') && !["/proc/", "/sys/", "/dev/"].iter().any(|kernel| path.starts_with(kernel))
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, READ, US, WRITE, keep_alive};
    use crate::tests::names;

    fn reading(asked: u64) -> Vec<String> {
        let mut fixture = keep_alive(5, 50 * US);
        for _ in 0..20 {
            fixture.moves(CLIENT, 1, WRITE, 20);
            for _ in 0..200 {
                let row = fixture.moves(CLIENT, 1, READ, 1);
                fixture.recording.calls[row].argument_2 = asked;
            }
        }
        names(&fixture.end())
    }

    #[test]
    fn reading_byte_by_byte_is_found() {
        assert_eq!(reading(1), ["tiny-reads"]);
    }

    #[test]
    fn short_messages_read_with_a_large_buffer_are_left_alone() {
        assert_eq!(reading(16_384), Vec::<String>::new());
    }
}
