//! The files of a log: plain, gzip and zstd, by what they begin with and not by their names; those of a folder, too.

use crate::error::ImportError;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Bytes that are read at a time. Larger ones leave the processor's second cache.
pub const BLOCK: usize = 256 * 1024;

/// Cubes lie so deep in a folder: by host, by day, and by whatever else somebody divides them.
const DEEPEST: usize = 8;

/// A file of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// Its path; `-` is standard input.
    pub path: PathBuf,
    /// Whether it was named, or found in a folder: there may be others in it than logs.
    pub is_named: bool,
}

impl LogFile {
    /// Whether it is standard input.
    pub fn is_stdin(&self) -> bool {
        self.path == Path::new("-")
    }
}

/// The files that paths name: themselves, or those of a folder, by their names.
///
/// # Errors
/// Where one cannot be read, or there is none.
pub fn find(paths: &[PathBuf]) -> Result<Vec<LogFile>, ImportError> {
    let mut found: Vec<LogFile> = Vec::new();
    for path in paths {
        if path == Path::new("-") {
            found.push(LogFile { path: path.clone(), is_named: true });
            continue;
        }
        let is_folder = std::fs::metadata(path).map_err(ImportError::io(path))?.is_dir();
        let files = if is_folder { of_folder(path)? } else { vec![path.clone()] };
        found.extend(files.into_iter().map(|path| LogFile { path, is_named: !is_folder }));
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|file| seen.insert(file.path.clone()));
    if found.is_empty() { Err(ImportError::NoFiles(paths.to_vec())) } else { Ok(found) }
}

/// The cubes that paths name: themselves, or all below a folder, by their names. Links are not followed there.
///
/// # Errors
/// Where a folder cannot be read, or there is none.
pub fn find_cubes(paths: &[PathBuf]) -> Result<Vec<PathBuf>, ImportError> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() { cubes_below(path, 0, &mut found)? } else { found.push(path.clone()) }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|path| seen.insert(path.clone()));
    if found.is_empty() { Err(ImportError::NoFiles(paths.to_vec())) } else { Ok(found) }
}

fn cubes_below(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), ImportError> {
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut entries = entries.map_err(ImportError::io(folder))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type().map_err(ImportError::io(entry.path()))?;
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if kind.is_dir() && depth < DEEPEST {
            cubes_below(&entry.path(), depth + 1, found)?;
        } else if kind.is_file() && !is_hidden && entry.path().extension().is_some_and(|ending| ending == "parquet") {
            found.push(entry.path());
        }
    }
    Ok(())
}

fn of_folder(folder: &Path) -> Result<Vec<PathBuf>, ImportError> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(ImportError::io(folder))? {
        let path = entry.map_err(ImportError::io(folder))?.path();
        let is_hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
        if !is_hidden && path.metadata().is_ok_and(|found| found.is_file() && found.len() > 0) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// What a file holds, unpacked.
pub enum Opened {
    /// A plain file, which can be read in parts; its length.
    Plain(File, u64),
    /// Anything else.
    Stream(Box<dyn Read + Send>),
}

/// Opens a file.
pub fn open(file: &LogFile) -> io::Result<Opened> {
    if file.is_stdin() {
        return Ok(Opened::Stream(unpacked(BufReader::with_capacity(BLOCK, io::stdin()))?));
    }
    let opened = File::open(&file.path)?;
    let found = opened.metadata()?;
    let mut begin = [0; 4];
    let length = if found.is_file() { std::os::unix::fs::FileExt::read_at(&opened, &mut begin, 0)? } else { 0 };
    if found.is_file() && packing(&begin[..length]) == Packing::None {
        return Ok(Opened::Plain(opened, found.len()));
    }
    Ok(Opened::Stream(unpacked(BufReader::with_capacity(BLOCK, opened))?))
}

/// Whether what begins so is packed.
pub fn is_packed(begin: &[u8]) -> bool {
    packing(begin) != Packing::None
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Packing {
    None,
    Gzip,
    Zstd,
}

fn packing(begin: &[u8]) -> Packing {
    match begin {
        [0x1f, 0x8b, ..] => Packing::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
        _ => Packing::None,
    }
}

fn unpacked(mut packed: impl BufRead + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    Ok(match packing(packed.fill_buf()?) {
        Packing::None => Box::new(packed),
        Packing::Gzip => Box::new(MultiGzDecoder::new(packed)),
        Packing::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(packed)?),
    })
}
