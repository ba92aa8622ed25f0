//! What files are: libraries by their names, the same by their bytes.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{BufReader, Read};
use std::path::Path;

/// How much of two files is compared at a time.
const PIECE_BYTES: usize = 1 << 16;

/// Whether two files, or two links, are the same byte for byte.
pub(super) fn same(one: (&Path, &Metadata), other: (&Path, &Metadata)) -> bool {
    if one.1.is_symlink() || other.1.is_symlink() {
        let target = |path: &Path| std::fs::read_link(path).ok();
        return target(one.0).is_some_and(|target_of_one| Some(target_of_one) == target(other.0));
    }
    let is_like = one.1.is_file() && other.1.is_file() && one.1.len() == other.1.len();
    is_like && (one.0 == other.0 || same_content(one.0, other.0).unwrap_or(false))
}

fn same_content(one: &Path, other: &Path) -> std::io::Result<bool> {
    let open = |path: &Path| File::open(path).map(|file| BufReader::with_capacity(PIECE_BYTES, file));
    let (mut one, mut other) = (open(one)?, open(other)?);
    let (mut left, mut right) = (vec![0; PIECE_BYTES], vec![0; PIECE_BYTES]);
    loop {
        let read = one.read(&mut left)?;
        if read == 0 {
            return Ok(true);
        }
        other.read_exact(&mut right[..read])?;
        if left[..read] != right[..read] {
            return Ok(false);
        }
    }
}

/// Whether a name is that of a shared library: `libx.so`, `libx.so.1.2`.
pub(super) fn is_library_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.ends_with(".so") || name.contains(".so.")
}
