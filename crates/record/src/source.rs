//! Sources of rows. What records, and with which privileges, is behind this seam: a second way of recording (without
//! privileges, say) is one file and one line here.

use crate::error::RecordError;
use crate::kernel_source::KernelSource;
use crate::recorder::{Options, Progress, Role};
use case::{CaseWriter, Manifest};
use std::path::Path;

/// Something that fills a case.
pub trait Source {
    /// Follows a process that has not begun its program yet, and all its children to be.
    fn follow(&self, pid: u32, role: Role) -> Result<(), RecordError>;

    /// Follows a process that runs already, with its threads and descendants, and all their children to be.
    fn attach(&self, pid: u32, role: Role) -> Result<(), RecordError>;

    /// How far it has got.
    fn progress(&self) -> Progress;

    /// Whether rows can no longer be written.
    fn has_failed(&self) -> bool;

    /// Stops, writes what is known only at the end, and hands back the case for closing.
    fn finish(self: Box<Self>) -> Result<CaseWriter, RecordError>;
}

/// Makes a case and begins to fill it; an error says why this source does not work here.
type Begin = fn(&Path, &Manifest, &Options) -> Result<Box<dyn Source>, RecordError>;

/// All sources, the one that sees most first.
pub const SOURCES: &[Begin] = &[KernelSource::begin];
