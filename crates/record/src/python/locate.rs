//! Finding the CPython of a process: by the symbol `_PyRuntime` that its executable or its libpython exports.

use super::layout::{self, Interpreter};
use super::memory;
use crate::peer;
use crate::regular::open_image;
use crate::resolver::{PythonImage, Resolver};
use broker::Place;
use rustc_hash::FxHashMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Finds the interpreter of a process. `None` where it has none, or none mapped yet: the dynamic loader maps a libpython
/// some milliseconds after `exec`.
pub fn locate(resolver: &Resolver, pid: u32) -> Option<Interpreter> {
    candidates(pid).iter().find_map(|mapping| {
        let image = image(resolver, pid, mapping)?;
        let bias = mapping.start.wrapping_sub(image.first_address);
        interpreter(pid, &image, bias)
    })
}

/// Whether a mapped file may be an interpreter: only such are worth calling [`locate`] for again.
pub fn might_be(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with("libpython"))
}

/// The version of the process's interpreter, whether its frames can be read or not.
pub fn version(resolver: &Resolver, pid: u32) -> Option<(u8, u8)> {
    candidates(pid).iter().find_map(|mapping| {
        let image = image(resolver, pid, mapping)?;
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

/// Images by device and inode, `None` for files without an interpreter.
type Images = FxHashMap<(String, u64), Option<PythonImage>>;

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

fn image(resolver: &Resolver, pid: u32, mapping: &Mapping) -> Option<PythonImage> {
    let key = (mapping.device.clone(), mapping.inode);
    if let Some(known) = IMAGES.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return *known;
    }
    let read = resolver.python(&Arc::new(open(pid, mapping)?)).ok()?;
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

fn interpreter(pid: u32, image: &PythonImage, bias: u64) -> Option<Interpreter> {
    let runtime = image.runtime.wrapping_add(bias);
    let version = read_version(pid, image, bias)?;
    if version < (3, 13) {
        return layout::known(version, runtime);
    }
    layout::published(&memory::bytes(pid, runtime, layout::PUBLISHED_LENGTH)?, runtime)
}

fn read_version(pid: u32, image: &PythonImage, bias: u64) -> Option<(u8, u8)> {
    let Some(symbol) = image.version_symbol else { return image.version_tag };
    let number = memory::word(pid, symbol.wrapping_add(bias))?;
    Some(((number >> 24) as u8, (number >> 16) as u8))
}
