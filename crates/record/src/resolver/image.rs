//! One executable or library: its file held open, its unwind information, its names, its debug information.

use std::cell::OnceCell;

use gimli::UnwindContext;
use object::elf;
use object::elf::Dyn64;

use super::debug_info::{self, DebugInfo};
use super::elf::{Contents, Elf, Room, rows, text_at};
use super::frame_table::FrameTable;
use super::go_table::GoTable;
use super::question::{Facts, Link};
use super::row::Row;
use super::symbols::Symbols;

/// The longest path that a program may have its loader at (`PATH_MAX`).
const LONGEST_PATH: u64 = 4096;

/// An opened image. All addresses are those of its own address space, as the file's headers give them.
#[derive(Debug)]
pub(super) struct Image {
    pub elf: Elf,
    pub go: Option<GoTable>,
    frames: Option<FrameTable>,
    symbols: OnceCell<Symbols>,
    /// Read when first asked for, or from the file that it was put in.
    debug: OnceCell<Option<DebugInfo>>,
}

impl Image {
    /// Reads headers and unwind information; None where this is not an x86-64 ELF file, or there is no room for its tables.
    pub fn open(contents: Contents, room: &mut Room) -> Option<Image> {
        let elf = Elf::open(contents)?;
        room.take(&elf)?;
        let frames = FrameTable::read(&elf);
        let mut image = Image { elf, go: None, frames, symbols: OnceCell::new(), debug: OnceCell::new() };
        let has_go_table = image.elf.sections.iter().any(|section| section.name.ends_with("gopclntab"));
        if has_go_table {
            image.go = GoTable::read(&image.elf, image.symbols().start_of("runtime.text"));
        }
        Some(image)
    }

    /// What others need to know of it.
    pub fn facts(&self) -> Facts {
        let loader = self.elf.section(".interp").filter(|section| section.bytes <= LONGEST_PATH);
        let loader = loader.and_then(|section| self.elf.bytes(section));
        Facts {
            entry: self.elf.entry,
            segments: self.elf.segments.clone(),
            is_c_library: shared_name(&self.elf).is_some_and(|name| names_c_library(&name)),
            loader: loader.map(|name| String::from_utf8_lossy(&name).trim_end_matches('\0').to_string()),
            debug: debug_info::link(&self.elf),
        }
    }

    /// The debug information: its own, or that of the file that was given for it.
    pub fn debug(&self) -> Option<&DebugInfo> {
        self.debug.get_or_init(|| DebugInfo::read(&self.elf)).as_ref()
    }

    /// Takes the debug information from another file, where that belongs to it: the link to what it shares with others.
    pub fn take_debug(&mut self, file: Contents) -> Option<Link> {
        let wanted = debug_info::link(&self.elf)?;
        let other = Elf::open(file)?;
        if debug_info::build(&other)? != wanted.build {
            return None;
        }
        let (found, shared) = DebugInfo::read_from(other)?;
        self.debug = OnceCell::from(Some(found));
        shared
    }

    /// Takes what that shares with others.
    pub fn take_shared(&mut self, file: Contents) -> Option<()> {
        self.debug.get_mut()?.as_mut()?.take_shared(file)
    }

    /// How to get from an address to its caller.
    pub fn row(&self, address: u64, context: &mut UnwindContext<usize>) -> Option<Row> {
        let row = self.frames.as_ref().and_then(|frames| Row::decode(frames, address, context));
        row.or_else(|| self.go.as_ref()?.row(address))
    }

    /// The address of the first instruction of the function that an address is in, from unwind data.
    pub fn function_start(&self, address: u64) -> Option<u64> {
        let entry = self.frames.as_ref().and_then(|frames| frames.entry(address));
        entry
            .map(|entry| entry.initial_address())
            .or_else(|| self.go.as_ref()?.function(address).map(|function| function.start))
    }

    /// Machine code as the file has it; shorter than asked for at the end of a segment.
    pub fn code(&self, address: u64, bytes: u64) -> Option<Vec<u8>> {
        self.elf.bytes_at(address, bytes)
    }

    /// The symbol tables, read when first asked for.
    pub fn symbols(&self) -> &Symbols {
        self.symbols.get_or_init(|| Symbols::read(&self.elf))
    }
}

/// The name that a library gives itself (SONAME).
fn shared_name(elf: &Elf) -> Option<String> {
    let section = elf.sections.iter().find(|section| section.kind == elf::SHT_DYNAMIC)?;
    let table: Vec<Dyn64<object::LittleEndian>> = rows(&elf.bytes(section)?)?;
    let row = table.iter().find(|row| row.d_tag.get(object::LittleEndian) == u64::from(elf::DT_SONAME))?;
    let names = elf.bytes(elf.sections.get(section.link)?)?;
    text_at(&names, u32::try_from(row.d_val.get(object::LittleEndian)).ok()?)
}

/// The C library, its former part for threads, and the loader that comes with it: glibc's and musl's names.
fn names_c_library(shared_name: &str) -> bool {
    ["libc.so", "libc.musl", "libpthread.so", "ld-linux", "ld-musl"].iter().any(|name| shared_name.starts_with(name))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use super::*;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    static LIBRARY: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let maps = std::fs::read("/proc/self/maps").unwrap();
        let maps = String::from_utf8_lossy(&maps);
        let is_it = |line: &&str| line.contains("/libc.so") || line.contains("/ld-");
        let path = maps.lines().find(is_it).and_then(|line| line.split_whitespace().last()).unwrap();
        std::fs::read(path).unwrap()
    });

    /// Asks an image everything that can be asked about an address.
    fn interrogate(bytes: Vec<u8>, address: u64) {
        let Some(image) = Image::open(Contents::Memory(bytes), &mut Room::default()) else { return };
        let mut context = UnwindContext::new();
        for address in [address, image.elf.entry] {
            image.row(address, &mut context);
            let start = image.function_start(address);
            image.symbols().name(address, start);
            super::super::call_site::imported_name(&image, address);
            image.elf.segments.bias(address, address);
        }
    }

    #[test]
    fn the_c_library_is_known_by_the_name_it_gives_itself() {
        let image = Image::open(Contents::Memory(LIBRARY.clone()), &mut Room::default()).unwrap();
        assert!(image.facts().is_c_library);
        assert!(!names_c_library("libcurl.so.4") && !names_c_library("libcrypto.so.3"));
    }

    #[test]
    fn a_library_cut_off_anywhere_is_taken() {
        let whole = &*LIBRARY;
        let step = whole.len() / 200 + 1;
        for length in (0..whole.len()).step_by(step).chain(0..200) {
            interrogate(whole[..length].to_vec(), 0x30000);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_library_with_random_bytes_in_its_headers_is_taken(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
            place in any::<prop::sample::Index>(),
        ) {
            let mut bytes = LIBRARY.clone();
            let sections = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
            let frames = Elf::open(Contents::Memory(bytes.clone())).unwrap();
            let at = |name: &str| frames.section(name).map_or(0, |section| section.file_offset as usize);
            let (header, table) = (at(".eh_frame_hdr"), at(".eh_frame"));
            for (number, (index, value)) in changes.iter().enumerate() {
                let (base, length) = match number % 4 {
                    0 => (16, 800),
                    1 => (sections, bytes.len() - sections),
                    2 => (header, 64),
                    _ => (table, 4000),
                };
                if length > 0 {
                    bytes[base + index.index(length)] = *value;
                }
            }
            let address = place.index(0x20_0000) as u64;
            interrogate(bytes, address);
        }

        #[test]
        fn random_bytes_behind_the_magic_number_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..3000), address in any::<u64>()) {
            let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 62, 0];
            file.extend(bytes);
            interrogate(file, address);
        }
    }
}
