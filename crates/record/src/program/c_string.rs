//! Text in the form in which the kernel takes it.

use crate::RecordError;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;

/// Ended by a null byte; an error where it holds one.
pub(super) fn c_string(text: &OsStr) -> Result<CString, RecordError> {
    CString::new(text.as_bytes()).map_err(|error| RecordError::io("reading the command line")(error.into()))
}
