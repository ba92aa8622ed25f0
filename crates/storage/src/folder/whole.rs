//! Tables of which all rows are there, written as Parquet at once.

use super::{BATCH_ROWS, parquet_of, without_names};
use crate::beneath::Beneath;
use crate::error::CaseError;
use crate::names::Pseudonyms;
use crate::row::{Column, Row};
use arrow_array::RecordBatch;
use arrow_schema::DataType;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::path::Path;

/// zstd's level for a case: what takes longer is not much smaller.
const LEVEL: i32 = 1;

/// Writes a table of a case: all of it, or none.
pub(super) fn write<R: Row>(folder: &Beneath, rows: &[R], pseudonyms: Option<&Pseudonyms>) -> Result<(), CaseError> {
    let name = parquet_of(R::TABLE);
    let path = folder.path().join(&name);
    let file = folder.create_new(Path::new(&name)).map_err(CaseError::io(&path))?;
    let builder = R::columns().iter().fold(without_statistics(), in_differences);
    let batch = |rows: &[R]| match pseudonyms {
        None => R::to_batch(rows),
        some => R::to_batch(&rows.iter().cloned().map(|row| without_names(row, some)).collect::<Vec<R>>()),
    };
    let written = write_rows(file, rows, builder, LEVEL, batch);
    let written = written.map(drop).map_err(|error| CaseError::damaged(&path, &error));
    written.inspect_err(|_| drop(folder.remove(Path::new(&name))))
}

/// A case's tables are read whole: the least and the greatest value of each page would be looked for in vain, a third of the time
/// that writing takes.
pub(super) fn without_statistics() -> WriterPropertiesBuilder {
    WriterProperties::builder().set_statistics_enabled(EnabledStatistics::None)
}

/// Numbers of 64 bits are times and positions that grow from row to row: the differences are small, and a dictionary of them would
/// only be built in vain.
fn in_differences(builder: WriterPropertiesBuilder, column: &Column) -> WriterPropertiesBuilder {
    if !matches!(column.data_type, DataType::UInt64 | DataType::Int64 | DataType::UInt32) {
        return builder;
    }
    let path = || ColumnPath::from(column.name);
    builder.set_column_dictionary_enabled(path(), false).set_column_encoding(path(), Encoding::DELTA_BINARY_PACKED)
}

/// Writes rows as a Parquet file, and hands it back to be synced or renamed; errors name `path`.
pub(crate) fn write_parquet<R: Row>(file: File, path: &Path, rows: &[R], level: i32) -> Result<File, CaseError> {
    let written = write_rows(file, rows, WriterProperties::builder(), level, R::to_batch);
    written.map_err(|error| CaseError::damaged(path, &error))
}

fn write_rows<R: Row>(
    file: File,
    rows: &[R],
    builder: WriterPropertiesBuilder,
    level: i32,
    batch: impl Fn(&[R]) -> RecordBatch,
) -> Result<File, ParquetError> {
    let properties = builder.set_compression(Compression::ZSTD(ZstdLevel::try_new(level)?)).build();
    let mut writer = ArrowWriter::try_new(file, R::schema(), Some(properties))?;
    for rows in rows.chunks(BATCH_ROWS) {
        writer.write(&batch(rows))?;
    }
    writer.into_inner()
}
