//! The recorder as its user sees it: start it, tell it whom to follow, finish it.

use crate::error::RecordError;
use crate::host;
use crate::kernel_source::KernelSource;
use crate::running;
use crate::source::{Options, Progress, Role, Source};
use case::{Case, Manifest, SCHEMA};
use std::path::Path;

/// Makes a case and begins to fill it; an error says why this source does not work here.
type Begin = fn(&Path, &Manifest, &Options) -> Result<Box<dyn Source>, RecordError>;

/// All sources, the one that sees most first.
const SOURCES: &[Begin] = &[KernelSource::begin];

/// A recording under way.
pub struct Recorder {
    source: Box<dyn Source>,
}

impl Recorder {
    /// Makes the case, with the first source of rows that works here. Nothing is followed yet.
    ///
    /// # Errors
    /// Where no source works, why the best one does not; or where the case cannot be made.
    pub fn start(folder: &Path, mut manifest: Manifest, options: &Options) -> Result<Recorder, RecordError> {
        running::in_the_first_pid_namespace()?;
        manifest.schema = SCHEMA;
        manifest.host = host::describe();
        manifest.sampling_hertz = options.sampling_hertz;
        let mut best = None;
        for begin in SOURCES {
            match begin(folder, &manifest, options) {
                Ok(source) => return Ok(Recorder { source }),
                Err(error) => best = best.or(Some(error)),
            }
        }
        Err(best.unwrap_or(RecordError::Refused { program: "recorder".into(), reason: "there is no source".into() }))
    }

    /// Follows a process that has not begun its program yet, and all its children to be.
    ///
    /// # Errors
    /// Where the table of watched threads is full, or recording has stopped.
    pub fn follow(&self, pid: u32, role: Role) -> Result<(), RecordError> {
        self.source.follow(pid, role)
    }

    /// Follows a process that runs already, with all its threads and descendants, and all their children to be. It is
    /// neither stopped nor changed, and runs on when recording ends. What the run is about begins when this returns.
    ///
    /// # Errors
    /// Where the process is not there, is part of the kernel, is whyslow or holds it, or may not be looked into; where the
    /// table of watched threads is full, or recording has stopped.
    pub fn attach(&self, pid: u32, role: Role) -> Result<(), RecordError> {
        self.source.attach(pid, role)
    }

    /// How far it has got.
    pub fn progress(&self) -> Progress {
        self.source.progress()
    }

    /// Whether rows can no longer be written (a full disk, say); the case will say which.
    pub fn has_failed(&self) -> bool {
        self.source.has_failed()
    }

    /// Stops recording, resolves symbols, lets `complete` fill in the manifest, and closes the case. On a full disk the manifest says
    /// what is missing.
    ///
    /// # Errors
    /// Where recording was refused, or not even the manifest could be written; the rows written before stay readable.
    pub fn finish(self, complete: impl FnOnce(&mut Manifest)) -> Result<Case, RecordError> {
        let mut writer = self.source.finish()?;
        complete(writer.manifest());
        Ok(writer.close()?)
    }
}
