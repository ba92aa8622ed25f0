//! All modules seen: files shared between processes, the vdso, each process's generated code.

use crate::peer;
use crate::scripts::memory;
use broker::OpenOf;
use case::tables::{Location, kind, module};
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::debug_files;
use super::frame::Frame;
use super::generated_name;
use super::maps::{self, Backing, FileKey, MapLine};
use super::roots::{self, Roots};
use crate::regular::open_regular;
use crate::resolver::{Facts, Named, Place, Resolver};

/// Modules beyond this are not opened: each holds a file descriptor. A desktop's programs together map about 1,500.
const MOST_MODULES: usize = 16_384;

/// The number of the module that stands for addresses in no known mapping.
pub(super) const UNKNOWN: u32 = 0;

/// The number of the module that stands for the methods of all Java programs. Addresses in it are numbers of lines.
pub(super) const JAVA: u32 = 1;

/// Something that code is in.
pub(super) enum Module {
    /// No known mapping.
    Unknown,
    /// Methods of Java programs.
    Java,
    /// A file, or the vdso.
    Image(Box<Image>),
    /// A file that could not be read as an image: its path.
    Unreadable(String),
    /// Memory that a process filled with code itself.
    Generated(Generated),
}

/// An executable or library that the resolver has read.
pub(super) struct Image {
    /// Path, as the process's maps give it.
    pub path: String,
    /// What it is.
    pub facts: Facts,
    /// Held open: its inode stays its own, and the file readable, after its process and its name are gone.
    file: Arc<File>,
}

impl Image {
    /// Machine code as the file has it; None where it has not so much.
    pub fn code(&self, address: u64, bytes: u64) -> Option<Vec<u8>> {
        let (offset, bytes) = self.facts.segments.in_file(address, bytes)?;
        let mut code = vec![0; usize::try_from(bytes).ok()?];
        self.file.read_exact_at(&mut code, offset).ok()?;
        Some(code)
    }
}

/// One process's generated code: the file in which its runtime wrote down the names.
#[derive(Default)]
pub(super) struct Generated {
    file: Option<Arc<File>>,
}

impl Generated {
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
        self.file = open_regular(format!("/proc/{pid}/root/tmp/perf-{own}.map")).filter(is_believed).map(Arc::new);
    }
}

/// The modules, by number.
pub(super) struct Modules {
    all: Vec<Module>,
    by_file: FxHashMap<FileKey, u32>,
    unreadable: FxHashMap<String, u32>,
    vdso: Option<u32>,
    resolver: Resolver,
    /// Where files are looked for whose process is gone.
    pub roots: Roots,
}

impl Modules {
    /// None seen yet.
    pub fn new(resolver: &Resolver) -> Modules {
        Modules {
            all: vec![Module::Unknown, Module::Java],
            by_file: FxHashMap::default(),
            unreadable: FxHashMap::default(),
            vdso: None,
            resolver: resolver.clone(),
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
        let file = open_mapped(pid, line, &self.roots)?;
        let number = self.load(line.path.clone(), file)?;
        self.by_file.insert(line.file, number);
        Some(number)
    }

    /// Opens what is new of all mappings of a process before it may be gone, and has it read at once.
    pub fn open(&mut self, pid: u32, lines: &[MapLine]) {
        let mut opened: Vec<(&MapLine, (u32, Arc<File>))> = Vec::new();
        for line in lines.iter().filter(|line| line.executable && line.backing() == Backing::File) {
            let number = self.all.len() + opened.len();
            let is_known = self.by_file.contains_key(&line.file) || self.unreadable.contains_key(&line.path);
            let is_opened = opened.iter().any(|(other, _)| other.file == line.file || other.path == line.path);
            if !is_known
                && !is_opened
                && number < MOST_MODULES
                && let Some(file) = open_mapped(pid, line, &self.roots)
            {
                opened.push((line, (number as u32, Arc::new(file))));
            }
        }
        let (lines, images): (Vec<_>, Vec<_>) = opened.into_iter().unzip();
        for ((line, facts), (_, file)) in lines.into_iter().zip(self.resolver.load(&images)).zip(images) {
            let path = line.path.clone();
            let Some(facts) = facts else {
                let number = self.add(Module::Unreadable(path.clone()));
                self.unreadable.insert(path, number);
                continue;
            };
            let number = self.add(Module::Image(Box::new(Image { path, facts, file })));
            self.by_file.insert(line.file, number);
        }
    }

    /// Has a file read as an image; its number is the module's.
    fn load(&mut self, path: String, file: File) -> Option<u32> {
        let (number, file) = (self.all.len() as u32, Arc::new(file));
        let facts = self.resolver.load(&[(number, Arc::clone(&file))]).pop()??;
        Some(self.add(Module::Image(Box::new(Image { path, facts, file }))))
    }

    /// What a frame is without its names.
    pub fn location(&self, frame: Frame) -> Location {
        let (kind, module, is_libc) = match self.get(frame.image) {
            Module::Image(image) => (kind::NATIVE, image.path.as_str(), image.facts.is_c_library),
            Module::Unreadable(path) => (kind::NATIVE, path.as_str(), false),
            Module::Generated(_) => (kind::GENERATED, "[jit]", false),
            Module::Unknown => (kind::UNKNOWN, "[unknown]", false),
            Module::Java => (kind::GENERATED, module::JAVA, false),
        };
        Location { kind, module: module.to_owned(), offset: frame.address, is_libc, ..Location::default() }
    }

    /// What places in a module are, as far as its file says.
    pub fn names(&self, module: u32, places: &[Place]) -> Vec<Named> {
        match self.get(module) {
            Module::Image(image) => {
                if let Some(link) = &image.facts.debug {
                    debug_files::give(&self.resolver, module, &image.path, link);
                }
                self.resolver.names(module, places)
            }
            Module::Generated(Generated { file: Some(file) }) => {
                let addresses = places.iter().map(|place| place.address).collect::<Vec<_>>();
                let found = self.resolver.generated(file, &addresses).into_iter().map(Option::unwrap_or_default);
                found.map(|(function_offset, name)| generated_name::parsed(name, function_offset)).collect()
            }
            Module::Generated(_) | Module::Unreadable(_) | Module::Unknown | Module::Java => Vec::new(),
        }
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
        let number = own_vdso().and_then(|file| self.load("[vdso]".to_owned(), file)).unwrap_or(UNKNOWN);
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

fn own_vdso() -> Option<File> {
    let lines = maps::parse(&std::fs::read("/proc/self/maps").ok()?);
    let line = lines.iter().find(|line| line.backing() == Backing::Vdso)?;
    let mut bytes = vec![0; usize::try_from(line.end - line.start).ok()?];
    // Not by way of /proc/self/mem, which is root's where this process has been.
    memory::read(std::process::id(), line.start, &mut bytes).then_some(())?;
    let mut file = File::from(memfd_create(c"vdso", MFdFlags::MFD_CLOEXEC).ok()?);
    file.write_all(&bytes).ok()?;
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::chown;
    use std::os::unix::process::CommandExt;
    use std::path::PathBuf;
    use std::process::Command;

    #[test]
    fn names_of_generated_code_are_believed_of_the_process_itself_and_of_root() {
        if !testing::is_root() {
            return;
        }
        let mut process = Command::new("sleep").arg("60").uid(65_534).gid(65_534).spawn().expect("sleep");
        let map = PathBuf::from(format!("/tmp/perf-{}.map", process.id()));
        std::fs::write(&map, "1000 10 name\n").expect("written");
        let believed = [65_534, 0, 7].map(|owner| {
            chown(&map, Some(owner), Some(owner)).expect("root's right");
            let mut generated = Generated::default();
            generated.open_names(process.id());
            generated.file.is_some()
        });
        std::fs::remove_file(&map).expect("removed");
        process.kill().and_then(|()| process.wait()).expect("ended");
        assert_eq!(believed, [true, true, false]);
    }
}
