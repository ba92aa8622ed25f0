//! Mappings that the kernel reported as they were made. Programs that are gone before their maps are read have no others.

use std::ops::Range;

use super::Stacks;
use super::maps::{FileKey, MapLine};
use super::modules::{Module, Modules, UNKNOWN};
use super::process::Span;

/// Bits of the kernel's device numbers that hold the minor one.
const MINOR_BITS: u32 = 20;

/// Files are mapped in whole pages.
const PAGE: u64 = 4096;

/// A file that code was mapped from.
#[derive(Clone, Debug)]
pub struct CodeFile {
    /// The device, as the kernel numbers it inside.
    pub device: u32,
    /// The inode on it.
    pub inode: u64,
    /// The path, as the process named it; empty where that is not known.
    pub path: String,
}

impl Stacks {
    /// A process mapped code of a file to `addresses`.
    pub fn mapped(&mut self, pid: u32, file: &CodeFile, addresses: Range<u64>, file_offset: u64) {
        let module = self.modules.of_code(pid, file);
        if let Module::Image(image) = self.modules.get(module)
            && let Some(bias) = image.facts.segments.bias(addresses.start, file_offset)
        {
            let span = Span { start: addresses.start, end: addresses.end, module, bias };
            self.processes.entry(pid).or_default().mapped(span, &file.path, file_offset);
        }
    }

    /// A process is followed, or begins another program: its files are found by their paths even when it is gone.
    pub fn hold_root(&mut self, pid: u32) {
        self.modules.roots.hold(pid);
    }

    /// A process executed a program, whose code lies at `text`, and whose dynamic loader at `interpreter` (0: none).
    pub fn executed(&mut self, pid: u32, file: &CodeFile, text: Range<u64>, interpreter: u64) {
        let module = self.modules.of_code(pid, file);
        let Module::Image(image) = self.modules.get(module) else { return };
        let Some(first) = image.facts.segments.of_code().map(|segment| segment.address).min() else { return };
        let bias = text.start.wrapping_sub(first);
        let loader = image.facts.loader.clone();
        let span = Span { start: text.start - text.start % PAGE, end: text.end, module, bias };
        self.processes.entry(pid).or_default().mapped(span, &file.path, 0);
        if let Some(loader) = loader.filter(|_| interpreter > 0) {
            self.loader(pid, &loader, interpreter);
        }
    }

    fn loader(&mut self, pid: u32, path: &str, base: u64) {
        let module = self.modules.of_path(pid, path);
        let Module::Image(image) = self.modules.get(module) else { return };
        let process = self.processes.entry(pid).or_default();
        for segment in image.facts.segments.of_code() {
            let start = base.wrapping_add(segment.address);
            let span = Span { start, end: start.wrapping_add(segment.file_bytes), module, bias: base };
            process.mapped(span, path, segment.file_offset);
        }
    }
}

impl Modules {
    /// The module of a file that code was mapped from.
    fn of_code(&mut self, pid: u32, file: &CodeFile) -> u32 {
        let (major, minor) = (file.device >> MINOR_BITS, file.device & ((1 << MINOR_BITS) - 1));
        let key = FileKey { device: u64::from(major) << 32 | u64::from(minor), inode: file.inode };
        let line = MapLine { file: key, path: file.path.clone(), executable: true, ..MapLine::default() };
        self.image(pid, &line).unwrap_or(UNKNOWN)
    }

    /// The module of a path as a process sees it.
    fn of_path(&mut self, pid: u32, path: &str) -> u32 {
        self.key_of_path(pid, path)
            .and_then(|file| {
                let line = MapLine { file, path: path.to_string(), executable: true, ..MapLine::default() };
                self.image(pid, &line)
            })
            .unwrap_or(UNKNOWN)
    }
}
