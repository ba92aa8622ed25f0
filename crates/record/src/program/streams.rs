//! A program's standard input, output and errors: what can be asked for, and the descriptors that the child puts in
//! place. Files are opened by the parent, so that a file that cannot be is an error before there is a process.

use super::ParentDeathSignal;
use crate::RecordError;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

/// Where a program's standard input comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// From ours; nothing, where the program has a session of its own ([`ParentDeathSignal::Terminate`]).
    #[default]
    Inherited,
    /// From nowhere: it ends at once.
    Nothing,
    /// From a file.
    File(PathBuf),
}

/// Where what a program prints goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// To the same of ours.
    #[default]
    Inherited,
    /// To our standard error.
    ToStandardError,
    /// To a file, which is made, or emptied where it is there. Each stream needs a file of its own.
    File(PathBuf),
    /// To the end of a file, which is made where it is not there. Streams can share it.
    Added(PathBuf),
}

/// The descriptors that become 0, 1 and 2 of the child; none stays as it is.
pub(super) struct Streams {
    pub files: [Option<OwnedFd>; 3],
    pub is_output_to_errors: bool,
}

impl Streams {
    /// Opens what is to be opened.
    pub fn open(
        input: &Input,
        output: &Output,
        errors: &Output,
        parent_death_signal: ParentDeathSignal,
    ) -> Result<Streams, RecordError> {
        let nothing = Path::new("/dev/null");
        let input = match (input, parent_death_signal) {
            (Input::File(path), _) => Some(path.as_path()),
            (Input::Nothing, _) | (Input::Inherited, ParentDeathSignal::Terminate) => Some(nothing),
            (Input::Inherited, ParentDeathSignal::None) => None,
        };
        let read = |path: &Path| {
            File::open(path).map_err(RecordError::io(format!("opening the program's input {}", path.display())))
        };
        let files = [input.map(read).transpose()?.map(OwnedFd::from), make(output)?, make(errors)?];
        Ok(Streams { files, is_output_to_errors: *output == Output::ToStandardError })
    }

    /// Puts them in place; the copies survive the exec that closes the originals.
    ///
    /// SAFETY: for the child after the fork: makes async-signal-safe calls only.
    pub unsafe fn arrange(&self) -> bool {
        // SAFETY: numbers only. Output first where it follows our standard error, which may be replaced next.
        unsafe {
            (!self.is_output_to_errors || libc::dup2(2, 1) >= 0)
                && self.files.iter().enumerate().all(|(number, file)| {
                    file.as_ref().is_none_or(|file| libc::dup2(file.as_raw_fd(), number as RawFd) >= 0)
                })
        }
    }
}

fn make(output: &Output) -> Result<Option<OwnedFd>, RecordError> {
    let (path, made) = match output {
        Output::Inherited | Output::ToStandardError => return Ok(None),
        Output::File(path) => (path, File::create(path)),
        Output::Added(path) => (path, File::options().create(true).append(true).open(path)),
    };
    let made = made.map_err(RecordError::io(format!("making {} for the program's output", path.display())))?;
    Ok(Some(made.into()))
}
