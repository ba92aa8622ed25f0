//! One image's call frame information: `.eh_frame`, searched through the table of `.eh_frame_hdr`, or through an
//! index built once where that is missing.

use std::cell::OnceCell;

use gimli::{
    BaseAddresses, CieOrFde, EhFrame, EhFrameHdr, EndianSlice, FrameDescriptionEntry, LittleEndian, UnwindSection,
};

use super::elf::Elf;

pub(super) type Bytes<'a> = EndianSlice<'a, LittleEndian>;
pub(super) type Entry<'a> = FrameDescriptionEntry<Bytes<'a>>;

/// An index is not built over more entries than this; the largest programs have about two million.
const MOST_ENTRIES: usize = 4_000_000;

/// Where the search table's header says how the number of its rows is written, and how every linker writes it.
const COUNT_ENCODING: usize = 2;
const UNSIGNED_4_BYTES: u8 = 0x03;

/// `.eh_frame` with what is needed to search it.
#[derive(Debug)]
pub(super) struct FrameTable {
    frames: Vec<u8>,
    header: Vec<u8>,
    pub bases: BaseAddresses,
    /// Start, end and offset of every entry, by start; filled only where there is no search table.
    index: OnceCell<Vec<(u64, u64, usize)>>,
}

impl FrameTable {
    /// Reads the sections; None where the image has no `.eh_frame`.
    pub fn read(elf: &Elf) -> Option<FrameTable> {
        let frames = elf.section(".eh_frame")?;
        let header = elf.section(".eh_frame_hdr");
        let address = |name| elf.section(name).map_or(0, |section| section.address);
        let bases = BaseAddresses::default()
            .set_eh_frame(frames.address)
            .set_eh_frame_hdr(header.map_or(0, |section| section.address))
            .set_text(address(".text"))
            .set_got(address(".got"));
        Some(FrameTable {
            frames: elf.bytes(frames)?,
            header: header.and_then(|section| elf.bytes(section)).unwrap_or_default(),
            bases,
            index: OnceCell::new(),
        })
    }

    /// The section as the DWARF reader wants it.
    pub fn section(&self) -> EhFrame<Bytes<'_>> {
        EhFrame::new(&self.frames, LittleEndian)
    }

    /// The entry of the function that an address of the image is in.
    pub fn entry(&self, address: u64) -> Option<Entry<'_>> {
        let section = self.section();
        // A count of another width can be one that overflows where gimli multiplies it.
        if self.header.get(COUNT_ENCODING) == Some(&UNSIGNED_4_BYTES)
            && let Ok(header) = EhFrameHdr::new(&self.header, LittleEndian).parse(&self.bases, 8)
            && let Some(table) = header.table()
        {
            let found = table.lookup(address, &self.bases).and_then(gimli::Pointer::direct).ok()?;
            let offset = found.checked_sub(header.eh_frame_ptr().direct().ok()?)?;
            let entry =
                section.fde_from_offset(&self.bases, (offset as usize).into(), EhFrame::cie_from_offset).ok()?;
            return entry.contains(address).then_some(entry);
        }
        let index = self.index.get_or_init(|| self.build_index());
        let after = index.partition_point(|(start, ..)| *start <= address);
        let (_, end, offset) = *index.get(after.checked_sub(1)?)?;
        if address >= end {
            return None;
        }
        section.fde_from_offset(&self.bases, offset.into(), EhFrame::cie_from_offset).ok()
    }

    fn build_index(&self) -> Vec<(u64, u64, usize)> {
        let section = self.section();
        let mut entries = section.entries(&self.bases);
        let mut index = Vec::new();
        while let Ok(Some(entry)) = entries.next() {
            if let CieOrFde::Fde(partial) = entry
                && let Ok(entry) = partial.parse(EhFrame::cie_from_offset)
            {
                index.push((entry.initial_address(), entry.end_address(), entry.offset()));
            }
            if index.len() >= MOST_ENTRIES {
                break;
            }
        }
        index.sort_unstable();
        index
    }
}
