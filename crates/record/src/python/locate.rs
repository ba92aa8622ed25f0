//! Finding the CPython of a process: by the symbol `_PyRuntime` that its executable or its libpython exports.

use super::layout::{self, Interpreter};
use super::memory;
use crate::peer;
use crate::regular::open_image;
use broker::Place;
use object::read::ReadCache;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol};
use rustc_hash::FxHashMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Finds the interpreter of a process. `None` where it has none, or none mapped yet: the dynamic loader maps a libpython
/// some milliseconds after `exec`.
pub fn locate(pid: u32) -> Option<Interpreter> {
    candidates(pid).iter().find_map(|mapping| {
        let image = image(pid, mapping)?;
        let bias = mapping.start.wrapping_sub(image.first_address);
        interpreter(pid, &image, bias)
    })
}

/// Whether a mapped file may be an interpreter: only such are worth calling [`locate`] for again.
pub fn might_be(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with("libpython"))
}

/// The version of the process's interpreter, whether its frames can be read or not.
pub fn version(pid: u32) -> Option<(u8, u8)> {
    candidates(pid).iter().find_map(|mapping| {
        let image = image(pid, mapping)?;
        read_version(pid, &image, mapping.start.wrapping_sub(image.first_address))
    })
}

/// The first mapping of a file.
#[derive(Clone, Debug)]
struct Mapping {
    start: u64,
    device: String,
    inode: u64,
    path: String,
}

/// What an executable or library says about the interpreter in it. Addresses are as linked.
#[derive(Clone, Copy, Debug)]
struct Image {
    /// The address of the first byte of the file.
    first_address: u64,
    runtime: u64,
    /// `Py_Version` (3.11 on).
    version_symbol: Option<u64>,
    /// The version that its cache tag names, looked for only where the symbol is missing.
    version_tag: Option<(u8, u8)>,
}

/// Images by device and inode, `None` for files without an interpreter.
type Images = FxHashMap<(String, u64), Option<Image>>;

/// What was read: a file is read once, however many processes run it.
static IMAGES: LazyLock<Mutex<Images>> = LazyLock::new(Mutex::default);

/// Files remembered at most.
const MOST_IMAGES: usize = 4096;

/// The executable and each libpython, where mapped from their first byte.
fn candidates(pid: u32) -> Vec<Mapping> {
    let maps = peer::mappings(pid);
    let maps = String::from_utf8_lossy(&maps);
    let executable = peer::link(pid, Place::Executable).unwrap_or_default();
    let mappings = maps.lines().filter_map(mapping);
    mappings.filter(|mapping| might_be(&mapping.path) || Path::new(&mapping.path) == executable).collect()
}

/// A line of `/proc/PID/maps` that maps a file from its first byte.
fn mapping(line: &str) -> Option<Mapping> {
    let mut fields = line.splitn(6, ' ');
    let (range, _, offset) = (fields.next()?, fields.next()?, fields.next()?);
    let (device, inode, path) = (fields.next()?, fields.next()?.parse().ok()?, fields.next()?.trim_start());
    let is_first = u64::from_str_radix(offset, 16) == Ok(0);
    let start = u64::from_str_radix(range.split('-').next()?, 16).ok()?;
    (is_first && inode != 0).then(|| Mapping { start, device: device.to_string(), inode, path: path.to_string() })
}

fn image(pid: u32, mapping: &Mapping) -> Option<Image> {
    let key = (mapping.device.clone(), mapping.inode);
    if let Some(known) = IMAGES.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return *known;
    }
    let read = read_image(open(pid, mapping)?);
    let mut images = IMAGES.lock().unwrap_or_else(PoisonError::into_inner);
    if images.len() >= MOST_IMAGES {
        images.clear();
    }
    images.insert(key, read);
    read
}

/// Opens the mapped file itself, not another of its name: a container's paths are found under the process's root, those of a
/// chroot are given from ours.
fn open(pid: u32, mapping: &Mapping) -> Option<File> {
    let paths = [format!("/proc/{pid}/root{}", mapping.path), mapping.path.clone()];
    paths.iter().find_map(|path| {
        let file = open_image(path)?;
        (file.metadata().ok()?.ino() == mapping.inode).then_some(file)
    })
}

/// Reads a file's symbols; `None` where it exports no `_PyRuntime`.
fn read_image(file: File) -> Option<Image> {
    let cache = ReadCache::new(file);
    let file = object::File::parse(&cache).ok()?;
    let (mut runtime, mut version_symbol) = (None, None);
    for symbol in file.dynamic_symbols().filter(ObjectSymbol::is_definition) {
        match symbol.name_bytes() {
            Ok(b"_PyRuntime") => runtime = Some(symbol.address()),
            Ok(b"Py_Version") => version_symbol = Some(symbol.address()),
            _ => {}
        }
    }
    let runtime = runtime?;
    let first = file.segments().find(|segment| segment.file_range().0 == 0)?;
    let version_tag = if version_symbol.is_none() { version_tag(&file) } else { None };
    Some(Image { first_address: first.address() & !0xfff, runtime, version_symbol, version_tag })
}

/// The version that `sys.implementation.cache_tag` names, `cpython-39`: among the constants of every build.
fn version_tag<'data>(file: &impl Object<'data>) -> Option<(u8, u8)> {
    const TAG: &[u8] = b"cpython-3";
    let constants = file.section_by_name(".rodata")?;
    let bytes = constants.data().ok()?;
    bytes.windows(TAG.len() + 3).filter(|window| window.starts_with(TAG)).find_map(|window| {
        let rest = &window[TAG.len()..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let ends = rest.get(digits).is_some_and(|byte| matches!(byte, 0 | b'-' | b'.'));
        let minor = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
        ends.then_some((3, minor))
    })
}

fn interpreter(pid: u32, image: &Image, bias: u64) -> Option<Interpreter> {
    let runtime = image.runtime.wrapping_add(bias);
    let version = read_version(pid, image, bias)?;
    if version < (3, 13) {
        return layout::known(version, runtime);
    }
    layout::published(&memory::bytes(pid, runtime, layout::PUBLISHED_LENGTH)?, runtime)
}

fn read_version(pid: u32, image: &Image, bias: u64) -> Option<(u8, u8)> {
    let Some(symbol) = image.version_symbol else { return image.version_tag };
    let number = memory::word(pid, symbol.wrapping_add(bias))?;
    Some(((number >> 24) as u8, (number >> 16) as u8))
}
