//! All modules seen: files shared between processes, the vdso, each process's generated code.

use crate::peer;
use crate::python::memory;
use broker::OpenOf;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

use rustc_hash::FxHashMap;

use super::elf::{Contents, Room};
use super::image::Image;
use super::maps::{self, Backing, FileKey, MapLine};
use super::perf_map::PerfMap;
use super::roots::{self, Roots};
use crate::regular::open_regular;

/// Modules beyond this are not opened: each holds a file descriptor. A desktop's programs together map about 1,500.
const MOST_MODULES: usize = 16_384;

/// A map file is read again so many times where it grows: names are looked up at the end, when most have ended.
const MOST_READINGS: u32 = 16;

/// The number of the module that stands for addresses in no known mapping.
pub(super) const UNKNOWN: u32 = 0;

/// Something that code is in.
pub(super) enum Module {
    /// No known mapping.
    Unknown,
    /// A file, or the vdso.
    Image(Box<Image>),
    /// A file that could not be read as an image: its path.
    Unreadable(String),
    /// Memory that a process filled with code itself.
    Generated(Generated),
}

/// One process's generated code, with the names that its runtime wrote down.
#[derive(Default)]
pub(super) struct Generated {
    file: Option<File>,
    names: PerfMap,
    read_bytes: u64,
    readings: u32,
}

impl Generated {
    /// Start and name of the function at an address. Reads the map file (again) where it has grown.
    pub fn function(&mut self, address: u64) -> Option<(u64, &str)> {
        let file = self.file.as_mut()?;
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        let has_grown = length > self.read_bytes && self.readings < MOST_READINGS;
        if has_grown && file.seek(SeekFrom::Start(0)).is_ok() {
            self.names = PerfMap::read(file);
            self.read_bytes = length;
            self.readings += 1;
        }
        self.names.function(address)
    }

    /// Opens the map file of a process, if there is one by now.
    pub fn open_names(&mut self, pid: u32) {
        if self.file.is_some() {
            return;
        }
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        // The process names the file by its id in its own namespace: the last of the line.
        let line = status.lines().find(|line| line.starts_with("NSpid:")).unwrap_or_default();
        let own = line.split_ascii_whitespace().next_back().unwrap_or_default();
        let owner = std::fs::metadata(format!("/proc/{pid}")).map(|found| found.uid()).ok();
        // Anybody can put a file there; only the process itself, or root, knows what its code is.
        let is_believed =
            |file: &File| file.metadata().is_ok_and(|found| found.uid() == 0 || Some(found.uid()) == owner);
        self.file = open_regular(format!("/proc/{pid}/root/tmp/perf-{own}.map")).filter(is_believed);
    }
}

/// The modules, by number.
pub(super) struct Modules {
    all: Vec<Module>,
    by_file: FxHashMap<FileKey, u32>,
    unreadable: FxHashMap<String, u32>,
    vdso: Option<u32>,
    /// What may still be kept of images.
    room: Room,
    /// Where files are looked for whose process is gone.
    pub roots: Roots,
}

impl Modules {
    /// None seen yet.
    pub fn new() -> Modules {
        Modules {
            all: vec![Module::Unknown],
            by_file: FxHashMap::default(),
            unreadable: FxHashMap::default(),
            vdso: None,
            room: Room::default(),
            roots: Roots::default(),
        }
    }

    /// The module of that number.
    pub fn get(&self, number: u32) -> &Module {
        self.all.get(number as usize).unwrap_or(&Module::Unknown)
    }

    /// The same, to read its names.
    pub fn generated(&mut self, number: u32) -> Option<&mut Generated> {
        match self.all.get_mut(number as usize) {
            Some(Module::Generated(generated)) => Some(generated),
            _ => None,
        }
    }

    /// A new module for a process's generated code.
    pub fn add_generated(&mut self) -> u32 {
        self.add(Module::Generated(Generated::default()))
    }

    /// Paths of the files that could not be read as images.
    pub fn unreadable(&self) -> Vec<String> {
        let mut paths: Vec<_> = self.unreadable.keys().cloned().collect();
        paths.sort_unstable();
        paths
    }

    /// The module behind a mapping of a process; None for memory that has no file.
    pub fn of_mapping(&mut self, pid: u32, line: &MapLine) -> Option<u32> {
        match line.backing() {
            Backing::Vdso => Some(self.vdso()),
            Backing::Other => Some(UNKNOWN),
            Backing::File => Some(self.file(pid, line)),
            // A program may have been started from memory; a just-in-time compiler's memory is no image.
            Backing::Memory if line.path.starts_with("/memfd:") => self.image(pid, line),
            Backing::Memory => None,
        }
    }

    fn file(&mut self, pid: u32, line: &MapLine) -> u32 {
        if let Some(number) = self.image(pid, line) {
            return number;
        }
        // Not remembered by its inode: the process may be gone, and the file be readable through the next one.
        if let Some(number) = self.unreadable.get(&line.path) {
            return *number;
        }
        if self.all.len() >= MOST_MODULES {
            return UNKNOWN;
        }
        let number = self.add(Module::Unreadable(line.path.clone()));
        self.unreadable.insert(line.path.clone(), number);
        number
    }

    /// The image behind a mapping, opened where it is new.
    pub fn image(&mut self, pid: u32, line: &MapLine) -> Option<u32> {
        if let Some(number) = self.by_file.get(&line.file) {
            return Some(*number);
        }
        if self.all.len() >= MOST_MODULES {
            return None;
        }
        let contents = Contents::of_file(open_mapped(pid, line, &self.roots)?)?;
        let image = Image::open(line.path.clone(), contents, &mut self.room)?;
        let number = self.add(Module::Image(Box::new(image)));
        self.by_file.insert(line.file, number);
        Some(number)
    }

    /// What names the file at a path: as a process sees it, else as those see it that are held, else as we see it.
    pub fn key_of_path(&self, pid: u32, path: &str) -> Option<FileKey> {
        let theirs = open_regular(format!("/proc/{pid}/root{path}"));
        let held = || self.roots.open(path).next();
        theirs.or_else(held).or_else(|| open_regular(path)).as_ref().and_then(roots::key)
    }

    /// The kernel maps the same one into every 64-bit process, ours included.
    fn vdso(&mut self) -> u32 {
        if let Some(number) = self.vdso {
            return number;
        }
        let image = own_vdso()
            .and_then(|bytes| Image::open("[vdso]".to_owned(), Contents::Memory(bytes), &mut Room::default()));
        let number = image.map_or(UNKNOWN, |image| self.add(Module::Image(Box::new(image))));
        self.vdso = Some(number);
        number
    }

    fn add(&mut self, module: Module) -> u32 {
        self.all.push(module);
        self.all.len() as u32 - 1
    }
}

/// Opens the file behind a mapping: by its path as the process sees it, else as those see it whose trees are held, else as
/// we see it (which is how the kernel tells the path of a process with another root in our mount namespace), else by the
/// mapping, which takes more privilege. A path that leads to another file by now is not followed.
fn open_mapped(pid: u32, line: &MapLine, roots: &Roots) -> Option<File> {
    let by_path = |root: &str| (!line.deleted).then(|| open_regular(format!("{root}{}", line.path))).flatten();
    let is_inode = |file: &File| roots::key(file).is_some_and(|key| key.inode == line.file.inode);
    let is_file = |file: &File| roots::key(file) == Some(line.file);
    let theirs = by_path(&format!("/proc/{pid}/root"));
    if theirs.as_ref().is_some_and(is_inode) {
        return theirs;
    }
    let held = (!line.deleted).then(|| roots.open(&line.path).find(is_inode)).flatten();
    held.or_else(|| by_path("").filter(is_file))
        .or_else(|| open_mapping(pid, line.start, line.end))
        // On an overlay the maps of older kernels tell the lower file's inode: the path is right all the same.
        .or(theirs)
}

/// Opens the file behind a mapping by the mapping itself.
fn open_mapping(pid: u32, start: u64, end: u64) -> Option<File> {
    let path = format!("/proc/{pid}/map_files/{start:x}-{end:x}");
    let ours = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path);
    let file = peer::opened(ours, OpenOf::Mapped { pid, start, end })?;
    file.metadata().ok()?.is_file().then_some(file)
}

fn own_vdso() -> Option<Vec<u8>> {
    let lines = maps::parse(&std::fs::read("/proc/self/maps").ok()?);
    let line = lines.iter().find(|line| line.backing() == Backing::Vdso)?;
    let mut bytes = vec![0; usize::try_from(line.end - line.start).ok()?];
    // Not by way of /proc/self/mem, which is root's where this process has been.
    memory::read(std::process::id(), line.start, &mut bytes).then_some(bytes)
}
