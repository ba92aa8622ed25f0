//! Names for functions of which a library holds several variants and takes one when it is loaded (IFUNC): glibc's
//! `memcpy`, `strlen`, `rawmemchr`. The variants' own names are in no table of a stripped library, but the name that
//! stands for them is, at the address of what chooses; and the slot that the library's own calls go through is
//! relocated by a call of that address (IRELATIVE). So the call tells the name, from the file alone.

use object::LittleEndian as Little;
use object::elf::{self, Rela64, Sym64};
use rustc_hash::FxHashMap;

use super::elf::text_at;

/// The names of what is chosen when loaded, by the address of what chooses: for each its place among the names. Of
/// several the one by which the library calls itself, which is the one that begins with underscores.
pub(super) fn chosen_names(symbols: &[Sym64<Little>], names: &[u8]) -> FxHashMap<u64, u32> {
    let mut chosen: FxHashMap<u64, u32> = FxHashMap::default();
    let rank = |name: u32| {
        let text = text_at(names, name).unwrap_or_default();
        (text.len() - text.trim_start_matches('_').len(), std::cmp::Reverse(text))
    };
    for symbol in symbols {
        let defined = symbol.st_shndx.get(Little) != elf::SHN_UNDEF && symbol.st_name.get(Little) != 0;
        if defined && symbol.st_type() == elf::STT_GNU_IFUNC {
            let name = symbol.st_name.get(Little);
            let known = chosen.entry(symbol.st_value.get(Little)).or_insert(name);
            if rank(name) > rank(*known) {
                *known = name;
            }
        }
    }
    chosen
}

/// The name that a slot is filled for when the library is loaded, where what it points at is chosen then.
pub(super) fn name_of_slot(relocation: &Rela64<Little>, chosen: &FxHashMap<u64, u32>) -> Option<u32> {
    let is_chosen = relocation.r_type(Little, false) == elf::R_X86_64_IRELATIVE;
    let chooser = u64::try_from(relocation.r_addend.get(Little)).ok().filter(|_| is_chosen)?;
    chosen.get(&chooser).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::endian::{I64, U16, U32, U64};

    fn symbol(name: u32, kind: u8, address: u64) -> Sym64<Little> {
        Sym64 {
            st_name: U32::new(Little, name),
            st_info: kind,
            st_other: 0,
            st_shndx: U16::new(Little, 1),
            st_value: U64::new(Little, address),
            st_size: U64::new(Little, 8),
        }
    }

    fn relocation(kind: u32, addend: i64) -> Rela64<Little> {
        Rela64 {
            r_offset: U64::new(Little, 0x3008),
            r_info: U64::new(Little, u64::from(kind)),
            r_addend: I64::new(Little, addend),
        }
    }

    #[test]
    fn a_slot_filled_by_a_choice_has_the_name_of_what_chooses() {
        let names = b"\0rawmemchr\0__rawmemchr\0read\0";
        let symbols = [
            symbol(1, elf::STT_GNU_IFUNC, 0x9c940),
            symbol(11, elf::STT_GNU_IFUNC, 0x9c940),
            symbol(23, elf::STT_FUNC, 0x5000),
        ];
        let chosen = chosen_names(&symbols, names);
        assert_eq!(name_of_slot(&relocation(elf::R_X86_64_IRELATIVE, 0x9c940), &chosen), Some(11));
        assert_eq!(name_of_slot(&relocation(elf::R_X86_64_IRELATIVE, 0x5000), &chosen), None);
        assert_eq!(name_of_slot(&relocation(elf::R_X86_64_IRELATIVE, -1), &chosen), None);
        assert_eq!(name_of_slot(&relocation(elf::R_X86_64_RELATIVE, 0x9c940), &chosen), None);
    }
}
