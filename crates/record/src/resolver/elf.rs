//! The parts of an ELF file that walking and naming need, read piece by piece from a file or from memory.
//!
//! Files are read with `pread`, not mapped: a mapped file that somebody truncates kills the reader with SIGBUS, and
//! only a few sections of a large file are needed. Every length is checked against the file before memory is taken.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::FileExt;

use object::LittleEndian as Little;
use object::elf::{self, FileHeader64, ProgramHeader64, SectionHeader64};
use object::pod::{self, Pod};

use super::question::{Segment, Segments};

/// A section larger than this is not read. The largest symbol table of a Debian package is about 100 MB.
const LARGEST_SECTION_BYTES: u64 = 256 << 20;

/// The names of sections have so many bytes in all at most, and each so many: toolchains' have some thousand in all, of twenty
/// letters; 65,535 names that all are one of 256 MiB would take all memory.
const LARGEST_NAMES_BYTES: u64 = 16 << 20;
const LONGEST_SECTION_NAME: usize = 256;

/// What all images together may keep in memory of unwind tables and symbols. A browser with its libraries takes 150 MB.
const MOST_KEPT_BYTES: u64 = 512 << 20;

/// What may still be kept of images: programs can map any number of files that are all tables.
#[derive(Debug)]
pub(super) struct Room(u64);

impl Default for Room {
    fn default() -> Self {
        Room(MOST_KEPT_BYTES)
    }
}

impl Room {
    /// Takes what an image's tables need; None where there is not so much left.
    pub fn take(&mut self, elf: &Elf) -> Option<()> {
        let kept = |section: &&Section| {
            let is_table = matches!(section.kind, elf::SHT_SYMTAB | elf::SHT_DYNSYM | elf::SHT_STRTAB | elf::SHT_RELA);
            is_table || section.name.starts_with(".eh_frame") || section.name.ends_with("gopclntab")
        };
        // What is not read for its size takes none.
        let sizes = elf.sections.iter().filter(kept).map(|section| section.bytes);
        let bytes = sizes.filter(|bytes| *bytes <= LARGEST_SECTION_BYTES).fold(0_u64, u64::saturating_add);
        self.0 = self.0.checked_sub(bytes)?;
        Some(())
    }
}

/// Where an image's bytes are.
#[derive(Debug)]
pub(super) enum Contents {
    /// A file, held open: its inode stays its own, and the file readable, after its process and its name are gone.
    File(File, u64),
    /// Memory of our own process.
    Memory(Vec<u8>),
}

impl Contents {
    /// A file with its length as it is now.
    pub fn of_file(mut file: File) -> Option<Contents> {
        // Not by its metadata: who is shut in cannot ask for those.
        let length = file.seek(SeekFrom::End(0)).ok()?;
        Some(Contents::File(file, length))
    }

    /// Copies `length` bytes out; None where the file does not have them all.
    pub fn read(&self, offset: u64, length: u64) -> Option<Vec<u8>> {
        let end = offset.checked_add(length)?;
        match self {
            Contents::File(file, size) => {
                if end > *size || length > LARGEST_SECTION_BYTES {
                    return None;
                }
                let mut bytes = vec![0; usize::try_from(length).ok()?];
                file.read_exact_at(&mut bytes, offset).ok()?;
                Some(bytes)
            }
            Contents::Memory(bytes) => {
                Some(bytes.get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)?.to_vec())
            }
        }
    }

    fn read_rows<T: Pod>(&self, offset: u64, count: u64) -> Option<Vec<T>> {
        let bytes = self.read(offset, count.checked_mul(size_of::<T>() as u64)?)?;
        rows(&bytes)
    }
}

/// Copies a table's bytes into rows; bytes after the last whole row are left out.
pub(super) fn rows<T: Pod>(bytes: &[u8]) -> Option<Vec<T>> {
    let (rows, _) = pod::slice_from_bytes::<T>(bytes, bytes.len() / size_of::<T>()).ok()?;
    Some(rows.to_vec())
}

/// One section's header, its name resolved.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub name: String,
    pub kind: u32,
    pub flags: u64,
    pub address: u64,
    pub file_offset: u64,
    pub bytes: u64,
    /// Number of the section it refers to: a symbol table's strings, a relocation table's symbols.
    pub link: usize,
}

impl Section {
    /// The addresses it occupies.
    pub fn addresses(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.bytes)
    }
}

/// An opened 64-bit x86 ELF file.
#[derive(Debug)]
pub(super) struct Elf {
    pub contents: Contents,
    pub entry: u64,
    pub segments: Segments,
    pub sections: Vec<Section>,
}

impl Elf {
    /// Reads the headers; None where this is not a little-endian x86-64 ELF file.
    pub fn open(contents: Contents) -> Option<Elf> {
        let header = contents.read_rows::<FileHeader64<Little>>(0, 1)?;
        let header = header.first()?;
        let little = Little;
        let identity = &header.e_ident;
        let right_kind = identity.magic == elf::ELFMAG
            && identity.class == elf::ELFCLASS64
            && identity.data == elf::ELFDATA2LSB
            && header.e_machine.get(little) == elf::EM_X86_64;
        if !right_kind {
            return None;
        }
        let programs = contents
            .read_rows::<ProgramHeader64<Little>>(header.e_phoff.get(little), header.e_phnum.get(little).into())?;
        let segments = programs.iter().filter(|row| row.p_type.get(little) == elf::PT_LOAD).map(segment).collect();
        // Section headers may be missing (a stripped file); walking then goes by frame pointers.
        let sections = read_sections(&contents, header).unwrap_or_default();
        Some(Elf { entry: header.e_entry.get(little), contents, segments: Segments(segments), sections })
    }

    /// The section of that name.
    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// A section's bytes; None where it occupies none in the file, is compressed, or is too large.
    pub fn bytes(&self, section: &Section) -> Option<Vec<u8>> {
        if section.kind == elf::SHT_NOBITS || section.flags & u64::from(elf::SHF_COMPRESSED) != 0 {
            return None;
        }
        self.contents.read(section.file_offset, section.bytes)
    }

    /// Bytes that the loader puts at an address; as many of `length` as there are in its segment.
    pub fn bytes_at(&self, address: u64, length: u64) -> Option<Vec<u8>> {
        let (offset, available) = self.segments.in_file(address, length)?;
        self.contents.read(offset, available)
    }
}

fn segment(row: &ProgramHeader64<Little>) -> Segment {
    Segment {
        address: row.p_vaddr.get(Little),
        file_offset: row.p_offset.get(Little),
        file_bytes: row.p_filesz.get(Little),
        executable: row.p_flags.get(Little) & elf::PF_X != 0,
    }
}

fn read_sections(contents: &Contents, header: &FileHeader64<Little>) -> Option<Vec<Section>> {
    let (offset, count) = (header.e_shoff.get(Little), header.e_shnum.get(Little));
    if offset == 0 {
        return None;
    }
    let rows = contents.read_rows::<SectionHeader64<Little>>(offset, count.into())?;
    let names = rows.get(usize::from(header.e_shstrndx.get(Little)))?;
    let size = Some(names.sh_size.get(Little)).filter(|size| *size <= LARGEST_NAMES_BYTES)?;
    let names = contents.read(names.sh_offset.get(Little), size)?;
    let section = |row: &SectionHeader64<Little>| Section {
        name: short_text_at(&names, row.sh_name.get(Little)).unwrap_or_default(),
        kind: row.sh_type.get(Little),
        flags: row.sh_flags.get(Little),
        address: row.sh_addr.get(Little),
        file_offset: row.sh_offset.get(Little),
        bytes: row.sh_size.get(Little),
        link: row.sh_link.get(Little) as usize,
    };
    Some(rows.iter().map(section).collect())
}

/// The same, unless it is longer than any section's name.
fn short_text_at(table: &[u8], offset: u32) -> Option<String> {
    let rest = table.get(offset as usize..)?;
    text_at(&rest[..rest.len().min(LONGEST_SECTION_NAME)], 0)
}

/// The text that ends with a zero byte at an offset of a string table.
pub(super) fn text_at(table: &[u8], offset: u32) -> Option<String> {
    let rest = table.get(offset as usize..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    Some(String::from_utf8_lossy(&rest[..end]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_tables(sizes: &[u64]) -> Elf {
        let table = |bytes: &u64| Section {
            name: ".symtab".to_string(),
            kind: elf::SHT_SYMTAB,
            flags: 0,
            address: 0,
            file_offset: 0,
            bytes: *bytes,
            link: 0,
        };
        let sections = sizes.iter().map(table).collect();
        let contents = Contents::Memory(Vec::new());
        Elf { contents, entry: 0, segments: Segments::default(), sections }
    }

    #[test]
    fn images_have_room_for_so_many_tables_and_no_more() {
        let mut room = Room::default();
        assert!(room.take(&with_tables(&[200 << 20, 200 << 20])).is_some());
        assert!(room.take(&with_tables(&[200 << 20])).is_none(), "there is no room left");
        assert!(room.take(&with_tables(&[100 << 20])).is_some(), "smaller ones find some");
        assert!(room.take(&with_tables(&[u64::MAX, 1 << 40])).is_some(), "what is never read takes none");
        assert!(room.take(&with_tables(&[13 << 20])).is_none());
    }
}
