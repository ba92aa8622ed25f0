//! Reading tables, which may be a stranger's: within bounds, and whatever is wrong is said to be damage.

use super::bounds::{self, Budget};
use crate::beneath::Beneath;
use crate::error::CaseError;
use crate::row::Row;
use arrow_ipc::reader::StreamReader;
use arrow_schema::Schema;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use std::cell::Cell;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// Why a file could not be opened: a link, a pipe or a device in its place is damage.
pub(super) fn opening(path: &Path, error: std::io::Error) -> CaseError {
    match error.raw_os_error() {
        None => CaseError::damaged(path, &error),
        Some(libc::ELOOP | libc::EXDEV) => CaseError::damaged(path, &"it is a link"),
        Some(libc::ENXIO | libc::EISDIR) => CaseError::damaged(path, &"it is not a regular file"),
        Some(_) => CaseError::io(path)(error),
    }
}

/// Reads a table of a closed case.
pub(super) fn read_parquet<R: Row>(
    folder: &Beneath,
    name: &str,
    take: &mut dyn FnMut(Vec<R>),
) -> Result<(), CaseError> {
    let path = folder.path().join(name);
    let file = folder.read(Path::new(name)).map_err(|error| opening(&path, error))?;
    parquet_rows(file, take).map_err(|reason| CaseError::damaged(&path, &reason))
}

/// Reads a table of a case that is not closed.
pub(super) fn read_stream<R: Row>(folder: &Beneath, name: &str, take: &mut dyn FnMut(Vec<R>)) -> Result<(), CaseError> {
    let path = folder.path().join(name);
    let file = folder.read(Path::new(name)).map_err(|error| opening(&path, error))?;
    stream_rows(file, take).map_err(|reason| CaseError::damaged(&path, &reason))
}

/// Calls the formats' readers, which are other people's, and files may be made to break them: one that panics has found damage.
fn theirs<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let before = IN_THEIRS.replace(true);
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
    IN_THEIRS.set(before);
    done.unwrap_or_else(|_| Err("it cannot be read".to_string()))
}

thread_local! {
    /// Whether a reader of somebody else's is at work on this thread.
    static IN_THEIRS: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread is a reader's that has found damage, which is reported: nothing need be said of the panic.
pub fn is_damage_found() -> bool {
    IN_THEIRS.get()
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// The rows of a Parquet file.
pub(crate) fn parquet_rows<R: Row>(file: File, take: &mut dyn FnMut(Vec<R>)) -> Result<(), String> {
    let budget = Budget::of(&file).map_err(text)?;
    parquet_rows_within(file, budget, take)
}

/// The rows of a Parquet file that may take so much.
pub(crate) fn parquet_rows_within<R: Row>(
    file: File,
    mut budget: Budget,
    take: &mut dyn FnMut(Vec<R>),
) -> Result<(), String> {
    bounds::check_footer(&file)?;
    // Types as the file's own schema has them: the one of Arrow in it could ask for anything.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = theirs(|| ArrowReaderMetadata::load(&file, options).map_err(text))?;
    let columns = known_columns::<R>(metadata.schema())?;
    let rows = bounds::rows_at_a_time(&file, metadata.metadata(), size_of::<R>(), &budget)?;
    let mut reader = theirs(|| {
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
        let mask = ProjectionMask::roots(reader.parquet_schema(), columns);
        reader.with_projection(mask).with_batch_size(rows).build().map_err(text)
    })?;
    while let Some(batch) = theirs(|| reader.next().transpose().map_err(text))? {
        let rows = R::from_batch(&batch)?;
        budget.take(&rows)?;
        take(rows);
    }
    Ok(())
}

/// The file's columns that rows are made of, which have the types that they were declared with.
fn known_columns<R: Row>(schema: &Schema) -> Result<Vec<usize>, String> {
    let columns = R::columns();
    let known = |(index, field): (usize, &std::sync::Arc<arrow_schema::Field>)| {
        let column = columns.iter().find(|column| column.name == field.name())?;
        Some(if column.data_type == *field.data_type() { Ok(index) } else { Err(other_type(column.name)) })
    };
    schema.fields().iter().enumerate().filter_map(known).collect()
}

fn other_type(column: &str) -> String {
    format!("column {column} has another type")
}

/// The rows of an Arrow stream, up to where it was cut off.
pub(crate) fn stream_rows<R: Row>(mut file: File, take: &mut dyn FnMut(Vec<R>)) -> Result<(), String> {
    let mut budget = Budget::of(&file).map_err(text)?;
    let whole = bounds::whole_part(&mut file, &budget)?;
    file.seek(SeekFrom::Start(0)).map_err(text)?;
    // A crash cuts the stream anywhere: what is whole is good, what follows is gone.
    let begun = theirs(|| Ok(StreamReader::try_new(BufReader::new(file.take(whole)), None).ok()))?;
    let Some(mut reader) = begun else { return Ok(()) };
    known_columns::<R>(&reader.schema())?;
    while let Some(batch) = theirs(|| reader.next().transpose().map_err(text))? {
        let rows = R::from_batch(&batch)?;
        budget.take(&rows)?;
        take(rows);
    }
    Ok(())
}
