//! Finding the interpreter of a process: by the symbols that its executable or its library exports.

use super::memory::{Memory, half_of};
use super::{Interpreter, perl, php, python, ruby, v8};
use crate::peer;
use crate::regular::open_image;
use crate::resolver::{Resolver, ScriptImage, ScriptImageOf};
use broker::Place;
use rustc_hash::FxHashMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// What interpreters' libraries are called; a server's module for PHP is one.
const LIBRARIES: [&str; 5] = ["libpython", "libphp", "libperl", "libruby", "libnode"];

/// What HotSpot's library is called.
const VIRTUAL_MACHINE: &str = "libjvm.so";

/// What glibc is called.
const C_LIBRARY: &str = "libc.so.6";

/// Finds the interpreter of a process. `None` where it has none whose layout is known, or none mapped yet: the dynamic loader
/// maps a library some milliseconds after `exec`.
pub fn locate(resolver: &Resolver, pid: u32) -> Option<Interpreter> {
    let mappings = mappings(pid);
    candidates(pid, &mappings).find_map(|mapping| {
        let image = image(resolver, pid, mapping)?;
        interpreter(pid, &image, mapping.bias(&image), || thread_values(resolver, pid, &mappings))
    })
}

/// What interprets the process's script, with its version, whether its frames can be read or not: `cpython 3.11`, `php 8.2`.
pub fn runtime(resolver: &Resolver, pid: u32) -> Option<String> {
    candidates(pid, &mappings(pid)).find_map(|mapping| {
        let image = image(resolver, pid, mapping)?;
        let (name, (major, minor)) = match image.of {
            ScriptImageOf::Python { .. } => ("cpython", python_version(pid, &image.of, mapping.bias(&image))?),
            ScriptImageOf::Php { interface, .. } => match interface.and_then(php::version) {
                Some(version) => ("php", version),
                None => return Some("php".to_string()),
            },
            ScriptImageOf::Perl { version, .. } => ("perl", version),
            ScriptImageOf::Ruby { version, .. } => ("ruby", version),
            // Node and Java are told by their names before this is asked.
            ScriptImageOf::V8(_) | ScriptImageOf::ThreadValues { .. } | ScriptImageOf::HotSpot { .. } => return None,
        };
        Some(format!("{name} {major}.{minor}"))
    })
}

/// Where a process's HotSpot has the variables that point at its tables of fields, types and constants, and those with the sizes
/// of their entries; none where it has none.
pub(crate) fn hotspot(resolver: &Resolver, pid: u32) -> Option<[[u64; 3]; 2]> {
    let mappings = mappings(pid);
    let mapping = mappings.iter().find(|mapping| mapping.name().starts_with(VIRTUAL_MACHINE))?;
    let image = image(resolver, pid, mapping)?;
    let ScriptImageOf::HotSpot { tables, strides } = image.of else { return None };
    Some([tables, strides].map(|all| all.map(|address| address.wrapping_add(mapping.bias(&image)))))
}

/// The first mapping of a file.
#[derive(Clone, Debug)]
struct Mapping {
    start: u64,
    device: String,
    inode: u64,
    path: String,
}

impl Mapping {
    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// What to add to an address as linked.
    fn bias(&self, image: &ScriptImage) -> u64 {
        self.start.wrapping_sub(image.first_address)
    }
}

/// Images by device and inode, `None` for files without an interpreter.
type Images = FxHashMap<(String, u64), Option<ScriptImage>>;

/// What was read: a file is read once, however many processes run it.
static IMAGES: LazyLock<Mutex<Images>> = LazyLock::new(Mutex::default);

/// Files remembered at most.
const MOST_IMAGES: usize = 4096;

/// All files that are mapped from their first byte.
fn mappings(pid: u32) -> Vec<Mapping> {
    String::from_utf8_lossy(&peer::mappings(pid)).lines().filter_map(mapping).collect()
}

/// The executable and each library of an interpreter.
fn candidates(pid: u32, mappings: &[Mapping]) -> impl Iterator<Item = &Mapping> {
    let executable = peer::link(pid, Place::Executable).unwrap_or_default();
    let is_library = |mapping: &Mapping| LIBRARIES.iter().any(|library| mapping.name().starts_with(library));
    mappings.iter().filter(move |mapping| is_library(mapping) || Path::new(&mapping.path) == executable)
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

fn image(resolver: &Resolver, pid: u32, mapping: &Mapping) -> Option<ScriptImage> {
    let key = (mapping.device.clone(), mapping.inode);
    if let Some(known) = IMAGES.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return *known;
    }
    let read = resolver.interpreter(&Arc::new(open(pid, mapping)?)).ok()?;
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

/// `thread_values` is where the C library keeps a thread's values by key, if it says so.
fn interpreter(
    pid: u32,
    image: &ScriptImage,
    bias: u64,
    thread_values: impl Fn() -> Option<u32>,
) -> Option<Interpreter> {
    let at = |address: u64| address.wrapping_add(bias);
    match image.of {
        ScriptImageOf::Python { runtime, .. } => {
            let (runtime, version) = (at(runtime), python_version(pid, &image.of, bias)?);
            let found = if version < (3, 13) {
                python::known(version, runtime)
            } else {
                let table = Memory::Process(pid).bytes(runtime, python::PUBLISHED_LENGTH)?;
                python::published(&table, runtime)
            };
            found.map(Interpreter::Python)
        }
        ScriptImageOf::Php { globals, interface } => php::known(interface?, at(globals?)).map(Interpreter::Php),
        ScriptImageOf::Perl { key, version } => perl::known(version, at(key?), thread_values()?).map(Interpreter::Perl),
        ScriptImageOf::Ruby { machine, version } => {
            let found = ruby::known(version, at(machine?))?;
            ruby::runs(&found, Memory::Process(pid)).then_some(Interpreter::Ruby(found))
        }
        ScriptImageOf::V8(found) => v8::known(found, at(image.first_address)).map(Interpreter::V8),
        ScriptImageOf::ThreadValues { .. } | ScriptImageOf::HotSpot { .. } => None,
    }
}

fn python_version(pid: u32, image: &ScriptImageOf, bias: u64) -> Option<(u8, u8)> {
    let ScriptImageOf::Python { version_symbol, version_tag, .. } = image else { return None };
    let Some(symbol) = version_symbol else { return *version_tag };
    let number = Memory::Process(pid).word(symbol.wrapping_add(bias))?;
    Some(((number >> 24) as u8, (number >> 16) as u8))
}

/// In how many blocks glibc keeps a thread's values by key: 32 of 32.
const BLOCKS: u32 = 32;

/// Where glibc has the pointers to a thread's blocks of values, from the thread's control block on: it describes them to
/// debuggers (`nptl_db`), by their bits, the number of arrays, and the offset.
fn thread_values(resolver: &Resolver, pid: u32, mappings: &[Mapping]) -> Option<u32> {
    let library = mappings.iter().find(|mapping| mapping.name() == C_LIBRARY)?;
    let image = image(resolver, pid, library)?;
    let ScriptImageOf::ThreadValues { description } = image.of else { return None };
    let described = Memory::Process(pid).front::<12>(description.wrapping_add(library.bias(&image)))?;
    let [bits, _, offset] = [0, 4, 8].map(|at| half_of(&described, at));
    // A control block has some thousand bytes.
    (bits == BLOCKS * 64 && offset < 1 << 16).then_some(offset)
}
