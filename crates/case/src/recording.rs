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
use crate::units::Nanos;

/// Deals rows that are in order of time out to their connections, which leaves nothing to sort; others stay as they are.
fn deal<R: Default>(rows: &mut Vec<R>, connection: fn(&R) -> u32, time: fn(&R) -> Nanos) {
    let most = rows.iter().map(connection).max().unwrap_or_default() as usize;
    // Numbers that nobody gave one after another would take more room than the rows.
    if most > rows.len() * 4 || !rows.is_sorted_by_key(time) {
        return;
    }
    let mut next = vec![0; most + 2];
    for row in rows.iter() {
        next[connection(row) as usize + 1] += 1;
    }
    for connection in 1..next.len() {
        next[connection] += next[connection - 1];
    }
    let mut order = vec![0; rows.len()];
    for (at, row) in rows.iter().enumerate() {
        let place = &mut next[connection(row) as usize];
        order[*place] = at;
        *place += 1;
    }
    *rows = order.into_iter().map(|at| std::mem::take(&mut rows[at])).collect();
}

/// Lists every table once; everything that concerns all tables is made from this list.
macro_rules! recording {
    ($( $(#[doc = $doc:literal])+ $field:ident: $row:ident sorted by $key:expr; )+) => {
        /// What was recorded: every table of a case, rows in the order named at each.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Recording {
            /// What the case is about.
            pub manifest: Manifest,
            $( $(#[doc = $doc])+ pub $field: Vec<$row>, )+
        }

        impl Recording {
            /// Reads all tables of a case.
            ///
            /// # Errors
            /// Where a table's file is damaged.
            pub fn load(case: &Case) -> Result<Recording, CaseError> {
                let mut recording = Recording { manifest: case.manifest().clone(), $( $field: case.read()?, )+ };
                recording.sort();
                if !recording.manifest.closed {
                    recording.was_cut_off();
                }
                Ok(recording)
            }

            /// Puts every table into its order. The sort is stable: rows with equal keys keep the order of recording.
            pub fn sort(&mut self) {
                deal(&mut self.segments, |row| row.connection, |row| row.time);
                deal(&mut self.http_messages, |row| row.connection, |row| row.time);
                $( let key: fn(&$row) -> _ = $key;
                   if !self.$field.is_sorted_by_key(key) {
                       // Rows are much larger than what they are sorted by.
                       self.$field.sort_by_cached_key(key);
                   } )+
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
    calls: Call sorted by |row| (row.tid, row.start);
    /// All of them, added up.
    call_sums: CallSum sorted by |row| (row.pid, row.number);
    /// Intervals off the processor.
    switches: Switch sorted by |row| (row.tid, row.start);
    /// CPU samples.
    samples: Sample sorted by |row| (row.tid, row.time);
    /// Stacks, frame by frame.
    stacks: StackFrame sorted by |row| (row.stack, row.depth);
    /// Places in the code.
    locations: Location sorted by |row| row.id;
    /// Sockets.
    connections: Connection sorted by |row| row.id;
    /// TCP segments.
    segments: Segment sorted by |row| (row.connection, row.time);
    /// Other things TCP did.
    tcp_events: TcpEvent sorted by |row| (row.connection, row.time);
    /// TLS handshakes.
    handshakes: Handshake sorted by |row| row.start;
    /// TLS records.
    tls_records: TlsRecord sorted by |row| (row.connection, row.time);
    /// HTTP/1 message heads.
    http_messages: HttpMessage sorted by |row| (row.connection, row.time);
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
    use crate::SCHEMA;

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
    fn dealing_rows_out_leaves_the_order_of_sorting() {
        for connections in [1, 7, 90, u32::MAX] {
            let row = |at: u32| {
                let (connection, time) = (at.wrapping_mul(2_654_435_761) % connections, u64::from(at / 3));
                Segment { time: Nanos(time), connection, sequence: at, ..Segment::default() }
            };
            let mut rows: Vec<Segment> = (1..100).map(row).collect();
            let mut sorted = rows.clone();
            sorted.sort_by_key(|row| (row.connection, row.time));
            deal(&mut rows, |row| row.connection, |row| row.time);
            assert_eq!(rows == sorted, connections < u32::MAX, "{connections}");
            rows.swap(3, 70);
            let before = rows.clone();
            deal(&mut rows, |row| row.connection, |row| row.time);
            assert_eq!(rows, before);
        }
    }
}
