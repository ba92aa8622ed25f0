//! Doors for fuzzers: each takes any bytes, gives no answer, and must come back.

use crate::folder::{parquet_rows, stream_rows};
use crate::tables::{Call, HttpMessage, Path, Process};
use crate::{Manifest, redact_arguments, redact_target};
use std::fs::File;
use std::io::{Seek, Write};

/// What takes any bytes.
pub type Target = fn(&[u8]);

/// The bytes as a file without a name.
fn file(bytes: &[u8]) -> Option<File> {
    let flags = nix::sys::memfd::MFdFlags::MFD_CLOEXEC;
    let mut file = File::from(nix::sys::memfd::memfd_create(c"fuzz", flags).ok()?);
    file.write_all(bytes).and_then(|()| file.rewind()).ok()?;
    Some(file)
}

/// A table of a closed case, taken for each of several.
pub fn parquet(bytes: &[u8]) {
    let Some(file) = file(bytes) else { return };
    let again = || file.try_clone().ok();
    let _ = again().map(|file| parquet_rows::<Path>(file, &mut |_| {}));
    let _ = again().map(|file| parquet_rows::<Call>(file, &mut |_| {}));
    let _ = again().map(|file| parquet_rows::<HttpMessage>(file, &mut |_| {}));
    let _ = again().map(|file| parquet_rows::<Process>(file, &mut |_| {}));
}

/// A table of a case that was cut off.
pub fn stream(bytes: &[u8]) {
    let Some(file) = file(bytes) else { return };
    let again = || file.try_clone().ok();
    let _ = again().map(|file| stream_rows::<Path>(file, &mut |_| {}));
    let _ = again().map(|file| stream_rows::<Call>(file, &mut |_| {}));
    let _ = again().map(|file| stream_rows::<Process>(file, &mut |_| {}));
}

/// The head of a case.
pub fn manifest(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = serde_json::from_str::<Manifest>(text);
}

/// A command line, a word a line, and a request's target.
pub fn secrets(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    redact_arguments(&text.lines().map(str::to_string).collect::<Vec<_>>());
    redact_target(&text);
}
