//! What HotSpot says about itself to debuggers: where each field of its structures is, how large they are, and some numbers.

use crate::scripts::memory::Memory;
use rustc_hash::FxHashMap;

/// Entries of one table: JDK 25 has some 2,000 in all.
const MOST_ENTRIES: usize = 16_384;

/// The bytes of an entry of each table, in all versions.
const STRIDES: [u64; 3] = [48, 40, 16];

/// Names in the tables are no longer.
const LONGEST_NAME: usize = 128;

/// Memory that is mapped, is mapped by the page.
const PAGE: u64 = 4096;

/// Pages that are read for all names: they lie close together.
const MOST_PAGES: usize = 1024;

/// Where a field is, and how many bytes it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct At {
    pub offset: usize,
    pub bytes: usize,
}

impl At {
    /// The field in a structure that was read.
    pub fn of(self, structure: &[u8]) -> Option<u64> {
        let field = structure.get(self.offset..self.offset.checked_add(self.bytes)?)?;
        let mut word = [0; 8];
        word.get_mut(..self.bytes)?.copy_from_slice(field);
        Some(u64::from_le_bytes(word))
    }
}

/// The tables.
#[derive(Debug, Default)]
pub(super) struct Tables {
    fields: FxHashMap<(String, String), At>,
    variables: FxHashMap<(String, String), u64>,
    sizes: FxHashMap<String, u64>,
    constants: FxHashMap<String, u32>,
}

impl Tables {
    /// Reads those of fields, types and constants: by the variables that point at them, and those that hold their entries' sizes.
    pub fn read(memory: Memory<'_>, [tables, strides]: [[u64; 3]; 2]) -> Option<Tables> {
        if strides.map(|variable| memory.word(variable)) != STRIDES.map(Some) {
            return None;
        }
        let [fields, types, constants] = tables.map(|variable| memory.word(variable));
        let mut pages = Pages { memory, read: FxHashMap::default() };
        let mut tables = Tables::default();
        // Name of the type, of the field, of the field's type, whether it is a variable, offset, address.
        for [kind, name, of, is_variable, offset, address] in pages.entries(fields?) {
            let Some((kind, name)) = pages.text(kind).zip(pages.text(name)) else { continue };
            if is_variable & 0xffff_ffff != 0 {
                tables.variables.insert((kind, name), address);
            } else if let Ok(offset) = usize::try_from(offset) {
                let bytes = pages.text(of).map_or(8, |of| bytes_of(&of));
                tables.fields.insert((kind, name), At { offset, bytes });
            }
        }
        // Name, name of what it is derived from, two times two facts, size.
        for [name, _, _, _, size] in pages.entries(types?) {
            if let Some(name) = pages.text(name) {
                tables.sizes.insert(name, size);
            }
        }
        for [name, value] in pages.entries(constants?) {
            if let Some(name) = pages.text(name) {
                tables.constants.insert(name, value as u32);
            }
        }
        Some(tables)
    }

    /// Where a field is.
    pub fn field(&self, kind: &str, name: &str) -> Option<At> {
        self.fields.get(&(kind.to_string(), name.to_string())).copied()
    }

    /// The address of a variable.
    pub fn variable(&self, kind: &str, name: &str) -> Option<u64> {
        self.variables.get(&(kind.to_string(), name.to_string())).copied()
    }

    /// How large a structure is, where that can be believed.
    pub fn size(&self, kind: &str) -> Option<usize> {
        self.sizes.get(kind).and_then(|size| usize::try_from(*size).ok()).filter(|size| (1..=1024).contains(size))
    }

    /// A number.
    pub fn constant(&self, name: &str) -> Option<u32> {
        self.constants.get(name).copied()
    }
}

/// The bytes of a field of a type: the types of those that are read here.
fn bytes_of(kind: &str) -> usize {
    match kind {
        "bool" | "u1" | "CodeBlobKind" => 1,
        "u2" | "int16_t" | "unsigned short" => 2,
        "int" | "u4" | "uint32_t" => 4,
        _ => 8,
    }
}

/// Pages of another process's memory, each of which is read once.
struct Pages<'a> {
    memory: Memory<'a>,
    read: FxHashMap<u64, Option<Box<[u8; PAGE as usize]>>>,
}

impl Pages<'_> {
    /// The entries of a table, of so many words each, up to the one whose first word is 0.
    fn entries<const WORDS: usize>(&mut self, table: u64) -> Vec<[u64; WORDS]> {
        let mut entries = Vec::new();
        let mut at = table;
        while entries.len() < MOST_ENTRIES {
            let mut entry = [0; WORDS];
            for word in &mut entry {
                let mut bytes = [0; 8];
                for (byte, distance) in bytes.iter_mut().zip(0..) {
                    let Some(read) = self.byte(at.wrapping_add(distance)) else { return entries };
                    *byte = read;
                }
                *word = u64::from_le_bytes(bytes);
                at = at.wrapping_add(8);
            }
            if entry[0] == 0 {
                break;
            }
            entries.push(entry);
        }
        entries
    }

    fn text(&mut self, address: u64) -> Option<String> {
        let mut text = Vec::new();
        let end = address.checked_add(LONGEST_NAME as u64).filter(|_| address != 0)?;
        for at in address..end {
            match self.byte(at)? {
                0 => return String::from_utf8(text).ok(),
                byte => text.push(byte),
            }
        }
        None
    }

    fn byte(&mut self, address: u64) -> Option<u8> {
        let page = address - address % PAGE;
        if !self.read.contains_key(&page) {
            if self.read.len() >= MOST_PAGES {
                return None;
            }
            let bytes = self.memory.front::<{ PAGE as usize }>(page).map(Box::new);
            self.read.insert(page, bytes);
        }
        self.read.get(&page)?.as_ref().map(|bytes| bytes[(address % PAGE) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripts::tests::Arena;

    /// Three tables: two fields, a type, a constant.
    fn arena() -> Arena {
        let mut arena = Arena::new();
        arena.words(&[(0x1000, 0x1100), (0x1008, 0x1300), (0x1010, 0x1400)]);
        arena.words(&[(0x1018, 48), (0x1020, 40), (0x1028, 16)]);
        arena.words(&[(0x1100, 0x1800), (0x1108, 0x1810), (0x1110, 0x1820), (0x1120, 12)]);
        arena.words(&[(0x1130, 0x1800), (0x1138, 0x1830), (0x1140, 0x1840), (0x1148, 1), (0x1158, 0x7777)]);
        arena.words(&[(0x1300, 0x1800), (0x1320, 88)]);
        arena.words(&[(0x1400, 0x1850), (0x1408, 0xffff_ffff_0000_0007)]);
        for (address, text) in
            [(0x1800, "Method"), (0x1810, "_size"), (0x1820, "u2"), (0x1830, "_all"), (0x1840, "X*"), (0x1850, "flag")]
        {
            arena.bytes(address, text.as_bytes());
        }
        arena
    }

    const VARIABLES: [[u64; 3]; 2] = [[0x1000, 0x1008, 0x1010], [0x1018, 0x1020, 0x1028]];

    #[test]
    fn fields_variables_sizes_and_numbers_are_found_by_their_names() {
        let tables = Tables::read(arena().memory(), VARIABLES).expect("tables");
        assert_eq!(tables.field("Method", "_size"), Some(At { offset: 12, bytes: 2 }));
        assert_eq!(tables.variable("Method", "_all"), Some(0x7777));
        assert_eq!((tables.field("Method", "_all"), tables.variable("Method", "_size")), (None, None));
        assert_eq!((tables.size("Method"), tables.constant("flag")), (Some(88), Some(7)));
    }

    #[test]
    fn tables_that_are_not_there_or_lead_nowhere_give_nothing() {
        assert!(Tables::read(Arena::new().memory(), VARIABLES).is_none(), "no sizes");
        let mut arena = arena();
        arena.words(&[(0x1020, 48)]);
        assert!(Tables::read(arena.memory(), VARIABLES).is_none(), "another form");
        arena.words(&[(0x1020, 40), (0x1000, 0x9_0000)]);
        let tables = Tables::read(arena.memory(), VARIABLES).expect("tables");
        assert_eq!((tables.field("Method", "_size"), tables.constant("flag")), (None, Some(7)));
        arena.words(&[(0x1000, u64::MAX - 3), (0x1008, u64::MAX), (0x1010, u64::MAX - 8)]);
        assert!(Tables::read(arena.memory(), VARIABLES).is_some_and(|tables| tables.constant("flag").is_none()));
    }

    #[test]
    fn a_field_beyond_its_structure_is_none() {
        let at = At { offset: 4, bytes: 4 };
        assert_eq!((at.of(&[1, 0, 0, 0, 2, 1, 0, 0]), at.of(&[0; 7])), (Some(258), None));
        assert_eq!(At { offset: usize::MAX, bytes: 8 }.of(&[0; 64]), None);
    }
}
