//! The folder: made once, filled while recording, closed, then only read.
//!
//! While recording, each table is an Arrow IPC stream (`tables/NAME.arrows`), so that a crash loses a batch and not the
//! case. Closing turns each into Parquet (`tables/NAME.parquet`), which is what other programs read in place.
//!
//! All files are touched with the caller's rights ([`as_caller`]), and no link in the place of one is written through: a table is
//! a new file, and a document is written beside its place and moved there.

use crate::caller::as_caller;
use crate::error::CaseError;
use crate::manifest::{Manifest, SCHEMA};
use crate::row::Row;
use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Rows gathered before a batch is written: large enough for the columns to compress, small enough to lose.
const BATCH_ROWS: usize = 16_384;

/// Rows a Parquet reader hands over at a time.
const READ_ROWS: usize = 65_536;

/// A case being recorded.
pub struct CaseWriter {
    folder: PathBuf,
    manifest: Manifest,
    streams: BTreeMap<&'static str, Box<dyn Stream>>,
}

/// A table being written, whatever its row type.
trait Stream: Send {
    fn as_any(&mut self) -> &mut dyn std::any::Any;
    fn finish(&mut self) -> Result<(), CaseError>;
    fn flush(&mut self) -> Result<(), CaseError>;
}

struct TypedStream<R: Row> {
    path: PathBuf,
    pending: Vec<R>,
    writer: StreamWriter<BufWriter<File>>,
}

impl CaseWriter {
    /// Makes the folder (mode 0700) and writes a first manifest into it.
    ///
    /// # Errors
    /// Where the folder is there already, or cannot be made or written.
    pub fn create(folder: &Path, manifest: Manifest) -> Result<CaseWriter, CaseError> {
        as_caller(|| {
            if folder.symlink_metadata().is_ok() {
                return Err(CaseError::Exists(folder.to_path_buf()));
            }
            let tables = folder.join("tables");
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&tables).map_err(CaseError::io(&tables))
        })?;
        let writer = CaseWriter { folder: folder.to_path_buf(), manifest, streams: BTreeMap::new() };
        write_json(&writer.folder.join("manifest.json"), &writer.manifest)?;
        Ok(writer)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What will be written as the manifest when the case is closed.
    pub fn manifest(&mut self) -> &mut Manifest {
        &mut self.manifest
    }

    /// Adds rows to their table.
    ///
    /// # Errors
    /// Where the disk refuses; rows written earlier stay readable.
    pub fn append<R: Row>(&mut self, rows: impl IntoIterator<Item = R>) -> Result<(), CaseError> {
        let stream = match self.streams.entry(R::TABLE) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                let path = self.folder.join("tables").join(format!("{}.arrows", R::TABLE));
                entry.insert(Box::new(TypedStream::<R>::create(path)?))
            }
        };
        let stream = stream.as_any().downcast_mut::<TypedStream<R>>().expect("a table has one row type");
        for row in rows {
            stream.pending.push(row);
            if stream.pending.len() >= BATCH_ROWS {
                stream.flush()?;
            }
        }
        Ok(())
    }

    /// Writes what is pending, so that a crash from here on loses nothing older.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn flush(&mut self) -> Result<(), CaseError> {
        self.streams.values_mut().try_for_each(|stream| stream.flush())
    }

    /// Ends recording: turns every stream into Parquet and writes the manifest for good.
    ///
    /// # Errors
    /// Where the disk refuses; what was recorded stays readable as streams.
    pub fn close(mut self) -> Result<Case, CaseError> {
        for (table, stream) in &mut self.streams {
            stream.finish()?;
            to_parquet(&self.folder.join("tables").join(format!("{table}.arrows")))?;
        }
        self.manifest.closed = true;
        write_json(&self.folder.join("manifest.json"), &self.manifest)?;
        Case::open(&self.folder)
    }
}

impl<R: Row> TypedStream<R> {
    fn create(path: PathBuf) -> Result<TypedStream<R>, CaseError> {
        let file = BufWriter::with_capacity(1 << 18, as_caller(|| new_file(&path))?);
        let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME));
        let options = options.map_err(|error| CaseError::damaged(&path, &error))?;
        let writer = StreamWriter::try_new_with_options(file, &R::schema(), options);
        let writer = writer.map_err(|error| CaseError::damaged(&path, &error))?;
        Ok(TypedStream { path, pending: Vec::new(), writer })
    }
}

impl<R: Row> Stream for TypedStream<R> {
    fn as_any(&mut self) -> &mut dyn std::any::Any {
        self
    }

    fn flush(&mut self) -> Result<(), CaseError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let batch = R::to_batch(&self.pending);
        self.pending.clear();
        self.writer.write(&batch).and_then(|()| self.writer.flush()).map_err(|error| disk_error(&self.path, error))
    }

    fn finish(&mut self) -> Result<(), CaseError> {
        self.flush()?;
        self.writer.finish().map_err(|error| disk_error(&self.path, error))
    }
}

/// A closed case, or one that a crash left open, for reading.
#[derive(Clone, Debug)]
pub struct Case {
    folder: PathBuf,
    manifest: Manifest,
}

impl Case {
    /// Opens a case.
    ///
    /// # Errors
    /// Where the folder is no case, has another schema, or its manifest is damaged.
    pub fn open(folder: &Path) -> Result<Case, CaseError> {
        let path = folder.join("manifest.json");
        if !as_caller(|| path.is_file()) {
            return Err(CaseError::NotACase(folder.to_path_buf()));
        }
        let manifest: Manifest = read_json(&path)?;
        if manifest.schema != SCHEMA {
            return Err(CaseError::Schema { path: folder.to_path_buf(), found: manifest.schema, expected: SCHEMA });
        }
        Ok(Case { folder: folder.to_path_buf(), manifest })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What the case is about.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// All rows of a table, in the order of recording; empty where the table was never written.
    ///
    /// # Errors
    /// Where the file is damaged. A stream that a crash cut short is read up to its last whole batch.
    pub fn read<R: Row>(&self) -> Result<Vec<R>, CaseError> {
        let mut rows = Vec::new();
        self.read_batches::<R>(&mut |batch| {
            rows.extend(batch);
        })?;
        Ok(rows)
    }

    /// Hands over a table batch by batch, for tables that are not to be held whole.
    ///
    /// # Errors
    /// As [`Case::read`].
    pub fn read_batches<R: Row>(&self, take: &mut dyn FnMut(Vec<R>)) -> Result<(), CaseError> {
        let stream_path = self.folder.join("tables").join(format!("{}.arrows", R::TABLE));
        let parquet_path = stream_path.with_extension("parquet");
        let [is_stream, is_parquet] = as_caller(|| [&stream_path, &parquet_path].map(|path| path.exists()));
        if is_parquet && !is_stream {
            read_parquet(&parquet_path, take)
        } else if is_stream {
            read_stream(&stream_path, take)
        } else {
            Ok(())
        }
    }

    /// Adds the lab's table to a case whose recording is closed: once, and nothing of the recording changes.
    ///
    /// # Errors
    /// Where the table is there already, or the disk refuses.
    pub fn add<R: Row>(&self, rows: impl IntoIterator<Item = R>) -> Result<(), CaseError> {
        let stream_path = self.folder.join("tables").join(format!("{}.arrows", R::TABLE));
        let parquet_path = stream_path.with_extension("parquet");
        if as_caller(|| parquet_path.exists()) {
            return Err(CaseError::Exists(parquet_path));
        }
        let mut stream = TypedStream::<R>::create(stream_path.clone())?;
        stream.pending.extend(rows);
        stream.finish()?;
        drop(stream);
        to_parquet(&stream_path)
    }

    /// Keeps a document (the answer, say) beside the tables.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn keep<T: serde::Serialize>(&self, name: &str, document: &T) -> Result<(), CaseError> {
        write_json(&self.folder.join(name), document)
    }

    /// Reads a document that was kept; none where there is none of that name.
    ///
    /// # Errors
    /// Where it is damaged.
    pub fn kept<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<Option<T>, CaseError> {
        let path = self.folder.join(name);
        if as_caller(|| path.is_file()) { read_json(&path).map(Some) } else { Ok(None) }
    }
}

fn read_parquet<R: Row>(path: &Path, take: &mut dyn FnMut(Vec<R>)) -> Result<(), CaseError> {
    let damaged = |reason: &dyn std::fmt::Display| CaseError::damaged(path, reason);
    let file = as_caller(|| File::open(path)).map_err(CaseError::io(path))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| damaged(&error))?;
    for batch in reader.with_batch_size(READ_ROWS).build().map_err(|error| damaged(&error))? {
        let batch = batch.map_err(|error| damaged(&error))?;
        take(R::from_batch(&batch).map_err(|error| damaged(&error))?);
    }
    Ok(())
}

fn read_stream<R: Row>(path: &Path, take: &mut dyn FnMut(Vec<R>)) -> Result<(), CaseError> {
    let file = as_caller(|| File::open(path)).map_err(CaseError::io(path))?;
    let Ok(reader) = StreamReader::try_new_buffered(file, None) else { return Ok(()) };
    for batch in reader {
        // A crash cuts the stream anywhere: what is whole is good, what follows is gone.
        let Ok(batch) = batch else { break };
        take(R::from_batch(&batch).map_err(|error| CaseError::damaged(path, &error))?);
    }
    Ok(())
}

/// Turns a finished stream into Parquet beside it.
fn to_parquet(stream: &Path) -> Result<(), CaseError> {
    let parquet = stream.with_extension("parquet");
    as_caller(|| {
        stream_to_parquet(stream, &parquet)?;
        fs::remove_file(stream).map_err(CaseError::io(stream))
    })
}

/// A file that was not there, nor a link in its place.
fn new_file(path: &Path) -> Result<File, CaseError> {
    File::create_new(path).map_err(CaseError::io(path))
}

fn stream_to_parquet(stream: &Path, parquet: &Path) -> Result<(), CaseError> {
    let file = File::open(stream).map_err(CaseError::io(stream))?;
    let reader = StreamReader::try_new_buffered(file, None).map_err(|error| CaseError::damaged(stream, &error))?;
    let level = ZstdLevel::try_new(1).map_err(|error| CaseError::damaged(parquet, &error))?;
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(level)).build();
    let out = new_file(parquet)?;
    let mut writer = ArrowWriter::try_new(out, reader.schema(), Some(properties))
        .map_err(|error| CaseError::damaged(parquet, &error))?;
    for batch in reader {
        let batch: RecordBatch = batch.map_err(|error| CaseError::damaged(stream, &error))?;
        writer.write(&batch).map_err(|error| CaseError::damaged(parquet, &error))?;
    }
    writer.close().map_err(|error| CaseError::damaged(parquet, &error))?;
    Ok(())
}

fn disk_error(path: &Path, error: arrow_schema::ArrowError) -> CaseError {
    match error {
        arrow_schema::ArrowError::IoError(_, source) => CaseError::Io { path: path.to_path_buf(), source },
        other => CaseError::damaged(path, &other),
    }
}

fn write_json<T: serde::Serialize>(path: &Path, document: &T) -> Result<(), CaseError> {
    let text = serde_json::to_string_pretty(document).map_err(|error| CaseError::damaged(path, &error))?;
    as_caller(|| replace(path, (text + "\n").as_bytes())).map_err(CaseError::io(path))
}

/// Writes a file beside its place and moves it there: it is there whole or not at all, and what was there before, a link say, is
/// gone and was not written through.
fn replace(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = File::create_new(&beside).and_then(|mut file| file.write_all(contents));
    let moved = written.and_then(|()| fs::rename(&beside, path));
    // What is incomplete is in nobody's way where it cannot be removed.
    moved.inspect_err(|_| drop(fs::remove_file(&beside)))
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, CaseError> {
    let text = as_caller(|| fs::read_to_string(path)).map_err(CaseError::io(path))?;
    serde_json::from_str(&text).map_err(|error| CaseError::damaged(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{Call, Path as PathRow};
    use crate::units::Nanos;

    fn call(number: u64) -> Call {
        Call { start: Nanos(number), tid: 7, result: -11, ..Call::default() }
    }

    fn new_case(folder: &Path) -> CaseWriter {
        CaseWriter::create(folder, Manifest { schema: SCHEMA, ..Manifest::default() }).expect("a new case")
    }

    #[test]
    fn rows_come_back_as_they_were_written() {
        let home = tempfile::tempdir().expect("a folder");
        let mut writer = new_case(&home.path().join("c"));
        writer.append((0..40_000).map(call)).expect("rows");
        writer.append([PathRow { id: 1, path: "/etc/hosts".into() }]).expect("rows");
        let case = writer.close().expect("closed");
        let calls: Vec<Call> = case.read().expect("calls");
        assert_eq!(calls.len(), 40_000);
        assert_eq!(calls[39_999], call(39_999));
        assert_eq!(case.read::<PathRow>().expect("paths")[0].path, "/etc/hosts");
        assert!(case.manifest().closed);
    }

    #[test]
    fn a_crash_loses_only_the_last_batch() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("c");
        let mut writer = new_case(&folder);
        writer.append((0..BATCH_ROWS as u64 + 5).map(call)).expect("rows");
        std::mem::forget(writer);
        let stream = folder.join("tables/calls.arrows");
        let whole = fs::read(&stream).expect("a stream");
        fs::write(&stream, [&whole[..], &[0xff, 0xff, 0xff, 0xff, 9]].concat()).expect("a torn tail");
        let case = Case::open(&folder).expect("a case");
        assert!(!case.manifest().closed);
        assert_eq!(case.read::<Call>().expect("calls").len(), BATCH_ROWS);
    }

    #[test]
    fn a_case_is_never_overwritten() {
        let home = tempfile::tempdir().expect("a folder");
        let again = CaseWriter::create(home.path(), Manifest::default());
        assert!(matches!(again, Err(CaseError::Exists(_))));
    }

    #[test]
    fn a_foreign_or_damaged_folder_is_refused_by_name() {
        let home = tempfile::tempdir().expect("a folder");
        assert!(matches!(Case::open(home.path()), Err(CaseError::NotACase(_))));
        fs::write(home.path().join("manifest.json"), "{").expect("a file");
        assert!(matches!(Case::open(home.path()), Err(CaseError::Damaged { .. })));
        fs::write(home.path().join("manifest.json"), "{\"schema\":99}").expect("a file");
        let error = Case::open(home.path()).expect_err("another schema").to_string();
        assert!(error.contains("schema") || error.contains("missing field"), "{error}");
        let mut writer = new_case(&home.path().join("c"));
        writer.append([call(1)]).expect("rows");
        let case = writer.close().expect("closed");
        fs::write(case.folder().join("tables/calls.parquet"), b"PAR1 torn").expect("a file");
        assert!(matches!(case.read::<Call>(), Err(CaseError::Damaged { .. })));
    }
}
