//! One table while it is written: rows of a type, streamed to a file that takes nothing more once the disk refused.

use super::super::thin::GivenUp;
use super::super::{stream_of, table_error};
use crate::beneath::Beneath;
use crate::error::CaseError;
use crate::row::Row;
use crate::units::Nanos;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

/// A table being written, whatever its row type.
pub(super) trait Stream: Send {
    fn as_any(&mut self) -> &mut dyn std::any::Any;
    fn flush(&mut self) -> Result<(), Unwritten>;
    fn finish(&mut self) -> Result<(), Unwritten>;
    /// Gives up what lies within some stretches; what it was.
    fn thin(&mut self, folder: &Beneath, stretches: &[(Nanos, Nanos)]) -> Result<GivenUp, Unwritten>;
    /// Whether a batch could not be written whole: nothing can follow it.
    fn has_failed(&self) -> bool;
}

/// Rows that could not be written.
pub(super) struct Unwritten {
    pub rows: u64,
    pub since: Option<Instant>,
    pub error: CaseError,
}

/// The rows of one table.
pub(super) struct TypedStream<R: Row> {
    pub name: String,
    pub pending: Vec<R>,
    pub pending_since: Option<Instant>,
    pub writer: StreamWriter<BufWriter<UntilRefused>>,
    pub failed: bool,
}

/// A file that takes nothing more once the disk refused something: what follows a gap would only look like rows.
pub(super) struct UntilRefused {
    file: File,
    refused: bool,
}

impl Write for UntilRefused {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.refused {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        let written = self.file.write(bytes);
        self.refused = written.as_ref().is_err_and(|error| error.kind() != std::io::ErrorKind::Interrupted);
        written
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

impl<R: Row> TypedStream<R> {
    pub fn create(folder: &Beneath) -> Result<TypedStream<R>, CaseError> {
        TypedStream::create_as(folder, stream_of(R::TABLE))
    }

    pub fn create_as(folder: &Beneath, name: String) -> Result<TypedStream<R>, CaseError> {
        let path = folder.path().join(&name);
        let file = folder.create_new(Path::new(&name)).map_err(CaseError::io(&path))?;
        let file = BufWriter::with_capacity(1 << 18, UntilRefused { file, refused: false });
        let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME));
        let options = options.map_err(|error| CaseError::damaged(&path, &error))?;
        let writer = StreamWriter::try_new_with_options(file, &R::schema(), options);
        let writer = writer.map_err(|error| table_error(&path, error))?;
        Ok(TypedStream { name, pending: Vec::new(), pending_since: None, writer, failed: false })
    }

    /// Remembers that no more can be written after what is there.
    fn check(&mut self, rows: usize, written: Result<(), arrow_schema::ArrowError>) -> Result<(), Unwritten> {
        let since = self.pending_since.take();
        written.map_err(|error| {
            self.failed = true;
            Unwritten { rows: rows as u64, since, error: table_error(Path::new(&self.name), error) }
        })
    }
}

impl<R: Row> Stream for TypedStream<R> {
    fn as_any(&mut self) -> &mut dyn std::any::Any {
        self
    }

    fn flush(&mut self) -> Result<(), Unwritten> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let (rows, batch) = (self.pending.len(), R::to_batch(&self.pending));
        self.pending.clear();
        let written = self.writer.write(&batch).and_then(|()| self.writer.flush());
        self.check(rows, written)
    }

    fn finish(&mut self) -> Result<(), Unwritten> {
        self.flush()?;
        let written = self.writer.finish();
        self.check(0, written)
    }

    fn thin(&mut self, folder: &Beneath, stretches: &[(Nanos, Nanos)]) -> Result<GivenUp, Unwritten> {
        self.thin_out(folder, stretches)
    }

    fn has_failed(&self) -> bool {
        self.failed
    }
}
