//! A table written anew, without the rows that are given up.

use super::super::thin::{GivenUp, is_thinned, take_away};
use super::super::{BATCH_ROWS, reader};
use super::stream::{Stream, TypedStream, Unwritten};
use crate::beneath::Beneath;
use crate::error::CaseError;
use crate::row::Row;
use crate::units::Nanos;
use std::path::Path;

impl<R: Row> TypedStream<R> {
    /// Gives up what lies within some stretches; where that fails, all rows are where they were.
    pub(super) fn thin_out(&mut self, folder: &Beneath, stretches: &[(Nanos, Nanos)]) -> Result<GivenUp, Unwritten> {
        if !is_thinned::<R>() {
            return Ok(GivenUp::default());
        }
        self.flush()?;
        let Ok((thinner, given_up)) = self.without(folder, stretches) else {
            // All rows are where they were.
            let _ = folder.remove(Path::new(&format!("{}.thinner", self.name)));
            return Ok(GivenUp::default());
        };
        let renamed = folder.rename(Path::new(&thinner.name), Path::new(&self.name));
        if renamed.is_err() {
            let _ = folder.remove(Path::new(&thinner.name));
            return Ok(GivenUp::default());
        }
        self.writer = thinner.writer;
        Ok(given_up)
    }

    /// Writes what stays of a table into another file.
    fn without(&self, folder: &Beneath, stretches: &[(Nanos, Nanos)]) -> Result<(TypedStream<R>, GivenUp), CaseError> {
        let mut given_up = GivenUp::default();
        let mut thinner = TypedStream::<R>::create_as(folder, format!("{}.thinner", self.name))?;
        let mut written = Ok(());
        reader::read_stream::<R>(folder, &self.name, &mut |mut rows| {
            take_away(&mut rows, stretches, &mut given_up);
            thinner.pending.append(&mut rows);
            if written.is_ok() && thinner.pending.len() >= BATCH_ROWS {
                written = thinner.flush();
            }
        })?;
        written.and_then(|()| thinner.flush()).map_err(|unwritten| unwritten.error)?;
        Ok((thinner, given_up))
    }
}
