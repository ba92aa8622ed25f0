//! All tables of a case in memory, each in the order its readers expect.

use crate::error::CaseError;
use crate::folder::{Case, CaseWriter};
use crate::manifest::Manifest;
use crate::names::Pseudonyms;
use crate::row::{Column, Row, Value};
use crate::tables::{
    Call, CallSum, Command, Connection, Counter, Handshake, HttpMessage, Location, Lookup, Loss, Path, Process, Sample,
    SchedulerSum, Segment, StackFrame, Switch, TcpEvent, Thinned, Thread, TlsRecord, Trial, Wait,
};
use std::collections::BTreeMap;
use std::thread;

/// No more than so many numbers that no row has for each row: beyond that, counting takes more room than the rows.
const SPARSE: usize = 4;

/// Deals rows out by a number (a connection's, a thread's), without changing the order of those of one number: what was
/// recorded is in order of time as a rule, and then there is nothing left to sort.
fn deal<R>(rows: &mut [R], number: fn(&R) -> u32) {
    let most = rows.iter().map(number).max().unwrap_or_default() as usize;
    if most > rows.len().saturating_mul(SPARSE) || u32::try_from(rows.len()).is_err() || rows.is_sorted_by_key(number) {
        return;
    }
    let mut next = vec![0_u32; most + 2];
    for row in rows.iter() {
        next[number(row) as usize + 1] += 1;
    }
    for number in 1..next.len() {
        next[number] += next[number - 1];
    }
    // Which row comes to which place.
    let mut from = vec![0_u32; rows.len()];
    for (at, row) in rows.iter().enumerate() {
        let place = &mut next[number(row) as usize];
        from[*place as usize] = at as u32;
        *place += 1;
    }
    // In place, one circle of places after the other: a second copy of all rows would be the most that a diagnosis takes.
    for start in 0..from.len() {
        let mut at = start;
        loop {
            let other = std::mem::replace(&mut from[at], at as u32) as usize;
            if other == start {
                break;
            }
            rows.swap(at, other);
            at = other;
        }
    }
}

/// Puts rows into the order of a key that begins with the number that they can be dealt out by, if any.
fn in_order<R, K: Ord, const NUMBERS: usize>(rows: &mut [R], numbers: [fn(&R) -> u32; NUMBERS], key: fn(&R) -> K) {
    if rows.is_sorted_by_key(key) {
        return;
    }
    for number in numbers {
        deal(rows, number);
    }
    if !rows.is_sorted_by_key(key) {
        // Rows are much larger than what they are sorted by.
        rows.sort_by_cached_key(key);
    }
}

/// So many numbers have lists of their own while rows are read: those of more are short, and take longer to find than to deal out.
const MOST_LISTS: usize = 256;

/// Bytes of a piece of a list: small beside a table, and large enough for the allocator to hand it back at once when it is freed.
const PIECE: usize = 1 << 20;

/// Rows in pieces, which neither are copied when more come nor have room for as many again: a table is the most that a diagnosis
/// holds.
struct Pieces<R>(Vec<Vec<R>>);

impl<R> Default for Pieces<R> {
    fn default() -> Pieces<R> {
        Pieces(vec![Vec::new()])
    }
}

impl<R> Pieces<R> {
    fn push(&mut self, row: R) {
        let most = PIECE / size_of::<R>().max(1);
        match self.0.last_mut() {
            Some(piece) if piece.len() < most => piece.push(row),
            _ => {
                let mut piece = Vec::with_capacity(most);
                piece.push(row);
                self.0.push(piece);
            }
        }
    }
}

/// The rows of a table, those of one number behind each other as far as that costs nothing: dealt out while they are read, and only
/// a piece of them at a time is there twice.
fn read<R: Row, const NUMBERS: usize>(case: &Case, numbers: [fn(&R) -> u32; NUMBERS]) -> Result<Vec<R>, CaseError> {
    let mut lists: BTreeMap<u32, Pieces<R>> = BTreeMap::new();
    let mut rest = Pieces::default();
    case.read_batches::<R>(&mut |batch| {
        for row in batch {
            let list = match numbers.first().map(|number| number(&row)) {
                Some(number) if lists.len() < MOST_LISTS => lists.entry(number).or_default(),
                Some(number) => lists.get_mut(&number).unwrap_or(&mut rest),
                None => &mut rest,
            };
            list.push(row);
        }
    })?;
    let pieces: Vec<Vec<R>> = lists.into_values().chain([rest]).flat_map(|list| list.0).collect();
    let mut rows = Vec::with_capacity(pieces.iter().map(Vec::len).sum());
    for piece in pieces {
        rows.extend(piece);
    }
    Ok(rows)
}

/// The rows of a table in their order.
fn load<R: Row, K: Ord, const NUMBERS: usize>(
    case: &Case,
    numbers: [fn(&R) -> u32; NUMBERS],
    key: fn(&R) -> K,
) -> Result<Vec<R>, CaseError> {
    let mut rows = read(case, numbers)?;
    in_order(&mut rows, numbers, key);
    Ok(rows)
}

/// Below so many rows a table is put into order sooner than a thread is started for it.
const MANY: usize = 10_000;

/// Lists every table once; everything that concerns all tables is made from this list.
macro_rules! recording {
    ($( $(#[doc = $doc:literal])+ $field:ident: $row:ident $(of $number:expr,)? sorted by $key:expr; )+) => {
        /// What was recorded: every table of a case, rows in the order named at each.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Recording {
            /// What the case is about.
            pub manifest: Manifest,
            $( $(#[doc = $doc])+ pub $field: Vec<$row>, )+
        }

        impl Recording {
            /// Reads all tables of a case, side by side.
            ///
            /// # Errors
            /// Where a table's file is damaged.
            pub fn load(case: &Case) -> Result<Recording, CaseError> {
                let mut recording = thread::scope(|scope| {
                    $( let $field = scope.spawn(|| load::<$row, _, _>(case, [$($number)?], $key)); )+
                    let manifest = case.manifest().clone();
                    Ok(Recording { manifest, $( $field: ended($field)?, )+ })
                })?;
                if !recording.manifest.closed {
                    recording.was_cut_off();
                }
                recording.call_files_as_started();
                Ok(recording)
            }

            /// Puts every table into its order. The sort is stable: rows with equal keys keep the order of recording.
            pub fn sort(&mut self) {
                thread::scope(|scope| {
                    $( let rows = &mut self.$field;
                    if rows.len() < MANY {
                        in_order(rows, [$($number)?], $key);
                    } else {
                        scope.spawn(|| in_order(rows, [$($number)?], $key));
                    } )+
                });
            }

            /// Puts names back where this process has written pseudonyms for them. Those of another's stay.
            pub fn reveal(&mut self, pseudonyms: &Pseudonyms) {
                $( for row in &mut self.$field {
                    row.rename(&mut |kind, text| pseudonyms.reveal(kind, text));
                } )+
            }

            /// Adds all tables to a case, each as a finished file. What a full disk refuses the case counts by itself.
            pub fn write(&self, writer: &mut CaseWriter) {
                $( let _ = writer.append_whole(&self.$field); )+
            }

            /// Writes all tables into a new case.
            ///
            /// # Errors
            /// Where the folder exists or the disk refuses.
            pub fn save(self, folder: &std::path::Path) -> Result<Case, CaseError> {
                let mut writer = CaseWriter::create(folder, self.manifest)?;
                $( writer.append(self.$field)?; )+
                writer.close()
            }

            /// One row of the table with this name, its values with the names of their columns; none where there is no
            /// such table or row.
            pub fn row(&self, table: &str, row: usize) -> Option<Vec<(&'static str, Value)>> {
                match table {
                    $( <$row>::TABLE => self.$field.get(row).map(Row::values), )+
                    _ => None,
                }
            }

            /// Every table's name, documentation and columns, in the order of declaration.
            pub fn tables() -> Vec<(&'static str, String, Vec<Column>)> {
                vec![ $( ($row::TABLE, $row::doc(), $row::columns()) ),+ ]
            }
        }
    };
}

recording! {
    /// Programs that ran.
    processes: Process sorted by |row| row.start;
    /// Their threads.
    threads: Thread sorted by |row| row.start;
    /// The scheduler's own sums for them.
    scheduler_sums: SchedulerSum sorted by |row| row.tid;
    /// System calls.
    calls: Call of |row| row.tid, sorted by |row| (row.tid, row.start);
    /// All of them, added up.
    call_sums: CallSum sorted by |row| (row.pid, row.number);
    /// Intervals off the processor.
    switches: Switch of |row| row.tid, sorted by |row| (row.tid, row.start);
    /// CPU samples.
    samples: Sample sorted by |row| (row.tid, row.time);
    /// Stacks, frame by frame.
    stacks: StackFrame sorted by |row| (row.stack, row.depth);
    /// Places in the code.
    locations: Location sorted by |row| row.id;
    /// Sockets.
    connections: Connection sorted by |row| row.id;
    /// TCP segments.
    segments: Segment of |row| row.connection, sorted by |row| (row.connection, row.time);
    /// Other things TCP did.
    tcp_events: TcpEvent sorted by |row| (row.connection, row.time);
    /// TLS handshakes.
    handshakes: Handshake sorted by |row| row.start;
    /// TLS records.
    tls_records: TlsRecord sorted by |row| (row.connection, row.time);
    /// HTTP/1 message heads.
    http_messages: HttpMessage of |row| row.connection, sorted by |row| (row.connection, row.time);
    /// Commands by their names.
    commands: Command sorted by |row| (row.connection, row.time);
    /// DNS messages.
    lookups: Lookup sorted by |row| row.time;
    /// Paths that calls name.
    paths: Path sorted by |row| row.id;
    /// Kernel counters.
    counters: Counter sorted by |row| (row.scope.clone(), row.name.clone());
    /// What was lost.
    losses: Loss sorted by |row| row.start;
    /// When there were no rows on purpose.
    thinned: Thinned sorted by |row| row.start;
    /// Waits and whoever ended them: derived, and not read to diagnose.
    waits: Wait sorted by |row| (row.start, row.tid);
    /// Trials of the lab.
    trials: Trial sorted by |row| row.position;
}

/// What a thread has done; what panicked there panics here.
fn ended<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Recording {
    /// Nobody wrote down when recording ended: it did with the last row that was kept.
    fn was_cut_off(&mut self) {
        let calls = self.calls.iter().map(|row| row.start + row.duration);
        let last = calls.chain(self.segments.iter().map(|row| row.time)).chain(self.samples.iter().map(|row| row.time));
        let manifest = &mut self.manifest;
        manifest.end = manifest.end.max(last.max().unwrap_or_default());
        let first = self.calls.iter().map(|row| row.start).min().unwrap_or_default();
        manifest.start = if manifest.start.0 == 0 { first } else { manifest.start };
        manifest.missing.push("the last rows, and what is written at the end: recording was cut off".to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Nanos, SCHEMA};

    #[test]
    fn rows_are_in_order_when_they_are_loaded_whatever_order_they_were_written_in() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("case");
        let manifest = Manifest { schema: SCHEMA, ..Manifest::default() };
        let mut writer = CaseWriter::create(&folder, manifest).expect("a case");
        let call = |tid, start| Call { tid, start: Nanos(start), ..Call::default() };
        writer.append([call(2, 10), call(1, 30), call(1, 20)]).expect("written");
        let recording = Recording::load(&writer.close().expect("closed")).expect("loaded");
        let order = recording.calls.iter().map(|row| (row.tid, row.start.0)).collect::<Vec<_>>();
        assert_eq!(order, [(1, 20), (1, 30), (2, 10)]);
    }

    #[test]
    fn rows_of_many_numbers_come_together_in_the_order_of_recording() {
        let place = tempfile::tempdir().expect("a folder");
        for connections in [1, 3, MOST_LISTS as u32 + 50] {
            let folder = place.path().join(connections.to_string());
            let mut writer =
                CaseWriter::create(&folder, Manifest { schema: SCHEMA, ..Manifest::default() }).expect("a case");
            let segment = |at: u32| {
                let connection = 1 + at.wrapping_mul(2_654_435_761) % connections;
                Segment { time: Nanos(u64::from(at / 5)), connection, sequence: at, ..Segment::default() }
            };
            let mut expected: Vec<Segment> = (0..20_000).map(segment).collect();
            writer.append(expected.clone()).expect("written");
            expected.sort_by_key(|row| row.connection);
            let recording = Recording::load(&writer.close().expect("closed")).expect("loaded");
            assert!(recording.segments == expected, "{connections}");
        }
    }

    #[test]
    fn dealing_rows_out_leaves_the_order_of_sorting() {
        for connections in [1, 7, 90, u32::MAX] {
            let row = |at: u32| {
                let (connection, time) = (at.wrapping_mul(2_654_435_761) % connections, u64::from(at / 3));
                Segment { time: Nanos(time), connection, sequence: at, ..Segment::default() }
            };
            let mut rows: Vec<Segment> = (1..100).map(row).collect();
            let mut sorted = rows.clone();
            sorted.sort_by_key(|row| row.connection);
            deal(&mut rows, |row| row.connection);
            assert_eq!(rows == sorted, connections < u32::MAX, "{connections}");
        }
    }
}
