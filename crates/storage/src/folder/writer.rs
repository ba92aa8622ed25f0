//! A case being recorded: a stream for each table, and what becomes of them when the disk is full.
//!
//! Where a table's stream cannot be written any more, its rows are counted and dropped, whatever else is recorded goes
//! on, and the manifest says in the end what is missing. The manifest itself has its place on the disk from the
//! beginning.

mod anew;
mod stream;

use super::thin::GivenUp;
use super::{BATCH_ROWS, Case, MANIFEST, TABLES, parquet_of, stream_of, whole, without_names};
use crate::beneath::Beneath;
use crate::error::CaseError;
use crate::manifest::Manifest;
use crate::names::Pseudonyms;
use crate::row::Row;
use crate::units::Nanos;
use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use std::collections::BTreeMap;
use std::io::{Seek, Write};
use std::path::Path;
use std::time::Instant;
use stream::{Stream, TypedStream, Unwritten};

/// Room for the manifest on a disk that is full by then: a long command line, and a line for each table.
const MANIFEST_BYTES: usize = 64 << 10;
/// The file that keeps it.
const MANIFEST_ROOM: &str = ".manifest";

/// Room for what is written last and names everything else: processes, stacks, places in the code. Most runs' take
/// less.
const LAST_ROWS_BYTES: usize = 1 << 20;
/// The file that keeps it.
const LAST_ROWS_ROOM: &str = ".room";

/// A case being recorded.
pub struct CaseWriter {
    folder: Beneath,
    manifest: Manifest,
    pseudonyms: Option<&'static Pseudonyms>,
    streams: BTreeMap<&'static str, Box<dyn Stream>>,
    /// Rows that were not written, by table, and why: what the disk said first.
    lost: BTreeMap<&'static str, (u64, String)>,
    /// When the first rows were handed over that were not written.
    failed_since: Option<Instant>,
}

impl CaseWriter {
    /// Makes the folder (mode 0700) and writes a first manifest into it.
    ///
    /// # Errors
    /// Where the folder is there already, or cannot be made or written.
    pub fn create(path: &Path, manifest: Manifest) -> Result<CaseWriter, CaseError> {
        let pseudonyms = Pseudonyms::wanted(manifest.names, path)?;
        let folder = Beneath::create(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => CaseError::Exists(path.to_path_buf()),
            _ => CaseError::io(path)(error),
        })?;
        let made = || {
            folder.new_folder(Path::new(TABLES))?;
            for (name, bytes) in [(MANIFEST_ROOM, MANIFEST_BYTES), (LAST_ROWS_ROOM, LAST_ROWS_BYTES)] {
                folder.create_new(Path::new(name))?.write_all(&vec![b' '; bytes])?;
            }
            Ok(())
        };
        made().map_err(CaseError::io(path))?;
        super::write_json(&folder, MANIFEST, &as_written(&manifest, pseudonyms))?;
        let (streams, lost) = (BTreeMap::new(), BTreeMap::new());
        Ok(CaseWriter { folder, manifest, pseudonyms, streams, lost, failed_since: None })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What will be written as the manifest when the case is closed.
    pub fn manifest(&mut self) -> &mut Manifest {
        &mut self.manifest
    }

    /// Since when rows are missing, where some could not be written.
    pub fn failed_since(&self) -> Option<Instant> {
        self.failed_since
    }

    /// Adds rows to their table.
    ///
    /// # Errors
    /// Where the disk refuses, or did so before for this table; rows written earlier stay readable, those that are not
    /// written are counted.
    pub fn append<R: Row>(&mut self, rows: impl IntoIterator<Item = R>) -> Result<(), CaseError> {
        if let Some((count, reason)) = self.lost.get_mut(R::TABLE) {
            let rows = rows.into_iter().count() as u64;
            *count += rows;
            let said = std::io::Error::other(reason.clone());
            return if rows == 0 { Ok(()) } else { Err(CaseError::io(&self.folder.path().join(TABLES))(said)) };
        }
        let pseudonyms = self.pseudonyms;
        let mut rows = rows.into_iter().map(|row| without_names(row, pseudonyms));
        let written = self.write(&mut rows);
        written.map_err(|mut unwritten| {
            unwritten.rows += rows.count() as u64;
            self.gave_up(R::TABLE, unwritten)
        })
    }

    /// Adds a table of which all rows are there, as a finished file at once: whoever has them can write them again, and
    /// nothing is gained by a stream that a crash leaves readable.
    ///
    /// # Errors
    /// Where the disk refuses; then the table is not there, and its rows are counted.
    pub fn append_whole<R: Row>(&mut self, rows: &[R]) -> Result<(), CaseError> {
        if rows.is_empty() {
            return Ok(());
        }
        let written = whole::write(&self.folder, rows, self.pseudonyms);
        written.map_err(|error| {
            let rows = rows.len() as u64;
            self.gave_up(R::TABLE, Unwritten { rows, since: Some(Instant::now()), error })
        })
    }

    fn write<R: Row>(&mut self, rows: &mut impl Iterator<Item = R>) -> Result<(), Unwritten> {
        let stream = match self.streams.entry(R::TABLE) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                let created = TypedStream::<R>::create(&self.folder);
                entry.insert(Box::new(created.map_err(|error| Unwritten {
                    rows: 0,
                    since: Some(Instant::now()),
                    error,
                })?))
            }
        };
        let stream = stream.as_any().downcast_mut::<TypedStream<R>>().expect("a table has one row type");
        for row in rows {
            stream.pending_since.get_or_insert_with(Instant::now);
            stream.pending.push(row);
            if stream.pending.len() >= BATCH_ROWS {
                stream.flush()?;
            }
        }
        Ok(())
    }

    /// Counts rows that are not written, of a table that gets no more.
    fn gave_up(&mut self, table: &'static str, unwritten: Unwritten) -> CaseError {
        let since = unwritten.since.unwrap_or_else(Instant::now);
        self.failed_since = Some(self.failed_since.map_or(since, |before| before.min(since)));
        let lost = self.lost.entry(table).or_insert_with(|| (0, reason(&unwritten.error)));
        lost.0 += unwritten.rows;
        unwritten.error
    }

    /// Writes what is pending, so that a crash from here on loses nothing older.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn flush(&mut self) -> Result<(), CaseError> {
        self.each_stream(|stream| stream.flush())
    }

    /// Does something with each stream that can still be written, whatever becomes of the others; the first error.
    fn each_stream(&mut self, act: impl Fn(&mut dyn Stream) -> Result<(), Unwritten>) -> Result<(), CaseError> {
        let mut first = Ok(());
        for table in self.streams.keys().copied().collect::<Vec<_>>() {
            let Some(stream) = self.streams.get_mut(table).filter(|stream| !stream.has_failed()) else { continue };
            if let Err(unwritten) = act(stream.as_mut()) {
                let error = self.gave_up(table, unwritten);
                first = first.and(Err(error));
            }
        }
        first
    }

    /// Gives up the rows that lie within some stretches of time, which are in order: of calls, switches, samples and
    /// segments, and of what calls' bytes told. What it was is counted. Every table is written anew, which takes about
    /// half a second for a million rows.
    ///
    /// # Errors
    /// Where the disk refuses; a table that cannot be written anew stays as it is.
    pub fn give_up(&mut self, stretches: &[(Nanos, Nanos)]) -> Result<GivenUp, CaseError> {
        let folder = self.folder.clone();
        let given_up = std::cell::RefCell::new(GivenUp::default());
        self.each_stream(|stream| {
            given_up.borrow_mut().add(stream.thin(&folder, stretches)?);
            Ok(())
        })?;
        Ok(given_up.into_inner())
    }

    /// Ends recording: turns every stream into Parquet and writes the manifest for good. On a full disk what was
    /// written stays as it is, and the manifest says what is missing.
    ///
    /// # Errors
    /// Where not even the manifest can be written; what was recorded stays readable as streams.
    pub fn close(mut self) -> Result<Case, CaseError> {
        // The room was for this; that it cannot be given back is no reason not to close.
        let _ = self.folder.remove(Path::new(LAST_ROWS_ROOM));
        let _ = self.each_stream(|stream| stream.finish());
        let tables = std::mem::take(&mut self.streams).into_keys().collect::<Vec<_>>();
        // What could not be turned for want of room may find it when other streams are gone.
        let left = tables.into_iter().filter(|table| to_parquet(&self.folder, table).is_err()).collect::<Vec<_>>();
        let left = left.into_iter().filter(|table| to_parquet(&self.folder, table).is_err()).count();
        if left > 0 {
            let what = format!("{left} tables as Parquet: there was no room; they are kept as Arrow streams");
            self.manifest.missing.push(what);
        }
        for (table, (rows, reason)) in self.lost.iter().filter(|(_, (rows, _))| *rows > 0) {
            self.manifest
                .missing
                .push(format!("{rows} rows of the table {table}: they could not be written ({reason})"));
        }
        self.manifest.closed = true;
        self.manifest = as_written(&self.manifest, self.pseudonyms);
        self.write_manifest()?;
        Ok(Case { folder: self.folder, manifest: self.manifest })
    }

    /// Writes the manifest over the room that was kept for it, and puts it in the place of the first one.
    fn write_manifest(&self) -> Result<(), CaseError> {
        let [name, room] = [MANIFEST, MANIFEST_ROOM].map(Path::new);
        let text = super::json_text(&self.folder.path().join(name), &self.manifest)?;
        let over_the_room = || {
            let mut file = self.folder.write_over(room)?;
            file.write_all(text.as_bytes())?;
            let length = file.stream_position()?;
            file.set_len(length)?;
            self.folder.rename(room, name)
        };
        let written = over_the_room();
        written
            .or_else(|_| self.folder.replace(name, text.as_bytes()))
            .map_err(CaseError::io(&self.folder.path().join(name)))
    }
}

/// A manifest as it is written.
fn as_written(manifest: &Manifest, pseudonyms: Option<&Pseudonyms>) -> Manifest {
    pseudonyms.map_or_else(|| manifest.clone(), |pseudonyms| manifest.without_names(pseudonyms))
}

/// What the disk said, without the path.
fn reason(error: &CaseError) -> String {
    match error {
        CaseError::Io { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}

/// Adds a table to a case whose recording is closed: all of it, or none.
///
/// # Errors
/// Where the table is there already, or the disk refuses.
pub(super) fn add<R: Row>(
    folder: &Beneath,
    rows: impl IntoIterator<Item = R>,
    pseudonyms: Option<&Pseudonyms>,
) -> Result<(), CaseError> {
    let parquet = parquet_of(R::TABLE);
    if folder.has(Path::new(&parquet)) {
        return Err(CaseError::Exists(folder.path().join(parquet)));
    }
    let mut stream = TypedStream::<R>::create(folder)?;
    stream.pending.extend(rows.into_iter().map(|row| without_names(row, pseudonyms)));
    let written = stream.finish().map_err(|unwritten| unwritten.error);
    drop(stream);
    let added = written.and_then(|()| to_parquet(folder, R::TABLE));
    // Half of the trials would prove something else than all of them.
    added.inspect_err(|_| drop(folder.remove(Path::new(&stream_of(R::TABLE)))))
}

/// Turns a finished stream into Parquet beside it. Where that fails, the stream is as it was.
fn to_parquet(folder: &Beneath, table: &str) -> Result<(), CaseError> {
    let [stream, parquet] = [stream_of(table), parquet_of(table)];
    let turned = stream_to_parquet(folder, &stream, &parquet);
    turned.inspect_err(|_| drop(folder.remove(Path::new(&parquet))))?;
    folder.remove(Path::new(&stream)).map_err(CaseError::io(&folder.path().join(&stream)))
}

fn stream_to_parquet(folder: &Beneath, stream: &str, parquet: &str) -> Result<(), CaseError> {
    let [from, to] = [stream, parquet].map(|name| folder.path().join(name));
    let file = folder.read(Path::new(stream)).map_err(CaseError::io(&from))?;
    let reader = StreamReader::try_new_buffered(file, None).map_err(|error| CaseError::damaged(&from, &error))?;
    let level = ZstdLevel::try_new(1).map_err(|error| CaseError::damaged(&to, &error))?;
    let properties = whole::without_statistics().set_compression(Compression::ZSTD(level)).build();
    let out = folder.create_new(Path::new(parquet)).map_err(CaseError::io(&to))?;
    let mut writer = ArrowWriter::try_new(out, reader.schema(), Some(properties))
        .map_err(|error| CaseError::damaged(&to, &error))?;
    for batch in reader {
        // What a full disk cut off is not there; all before it is good.
        let Ok(batch): Result<RecordBatch, _> = batch else { break };
        writer.write(&batch).map_err(|error| CaseError::damaged(&to, &error))?;
    }
    writer.close().map_err(|error| CaseError::damaged(&to, &error))?;
    Ok(())
}
