//! One executable or library: its file held open, its unwind information, its names.

use std::cell::OnceCell;

use gimli::UnwindContext;
use object::elf;
use object::elf::Dyn64;

use super::elf::{Contents, Elf, Room, rows, text_at};
use super::frame_table::FrameTable;
use super::go_table::GoTable;
use super::row::{Expressions, Row};
use super::symbols::Symbols;

/// How far from the entry point a program's hand-written first function reaches, where unwind data does not say.
const ENTRY_BYTES: u64 = 64;

/// An opened image. All addresses are those of its own address space, as the file's headers give them.
#[derive(Debug)]
pub(super) struct Image {
    /// Path, as the process's maps give it.
    pub path: String,
    /// Whether it is a C library or dynamic loader.
    pub is_c_library: bool,
    pub elf: Elf,
    pub go: Option<GoTable>,
    frames: Option<FrameTable>,
    symbols: OnceCell<Symbols>,
}

impl Image {
    /// Reads headers and unwind information; None where this is not an x86-64 ELF file, or there is no room for its tables.
    pub fn open(path: String, contents: Contents, room: &mut Room) -> Option<Image> {
        let elf = Elf::open(contents)?;
        room.take(&elf)?;
        let frames = FrameTable::read(&elf);
        let is_c_library = shared_name(&elf).is_some_and(|name| names_c_library(&name));
        let mut image = Image { path, is_c_library, elf, go: None, frames, symbols: OnceCell::new() };
        let has_go_table = image.elf.sections.iter().any(|section| section.name.ends_with("gopclntab"));
        if has_go_table {
            image.go = GoTable::read(&image.elf, image.symbols().start_of("runtime.text"));
        }
        Some(image)
    }

    /// How to get from an address to its caller.
    pub fn row(&self, address: u64, context: &mut UnwindContext<usize>, expressions: &mut Expressions) -> Option<Row> {
        let row = self.frames.as_ref().and_then(|frames| Row::decode(frames, address, context, expressions));
        row.or_else(|| self.go.as_ref()?.row(address))
    }

    /// The address of the first instruction of the function that an address is in, from unwind data.
    pub fn function_start(&self, address: u64) -> Option<u64> {
        let entry = self.frames.as_ref().and_then(|frames| frames.entry(address));
        entry
            .map(|entry| entry.initial_address())
            .or_else(|| self.go.as_ref()?.function(address).map(|function| function.start))
    }

    /// Whether an address is in the code at the entry point, which nobody calls.
    pub fn is_entry(&self, address: u64) -> bool {
        self.elf.entry != 0 && address.checked_sub(self.elf.entry).is_some_and(|distance| distance < ENTRY_BYTES)
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
        let lines = super::super::maps::parse(&maps);
        let path =
            &lines.iter().find(|line| line.path.contains("/libc.so") || line.path.contains("/ld-")).unwrap().path;
        std::fs::read(path).unwrap()
    });

    /// Asks an image everything that can be asked about an address.
    fn interrogate(bytes: Vec<u8>, address: u64) {
        let Some(image) = Image::open("x".into(), Contents::Memory(bytes), &mut Room::default()) else { return };
        let mut context = UnwindContext::new();
        let mut expressions = Expressions::default();
        for address in [address, image.elf.entry] {
            image.row(address, &mut context, &mut expressions);
            let start = image.function_start(address);
            image.symbols().name(address, start);
            super::super::call_site::imported_name(&image, address);
            image.elf.bias(address, address);
        }
    }

    #[test]
    fn the_c_library_is_known_by_the_name_it_gives_itself() {
        let image = Image::open("any".into(), Contents::Memory(LIBRARY.clone()), &mut Room::default()).unwrap();
        assert!(image.is_c_library);
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
