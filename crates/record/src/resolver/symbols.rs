//! The names in one image's symbol tables, and the rule for when a name is certain: the symbol starts where the
//! function starts, or its size covers the address. The nearest export below an address is not its name.

use object::LittleEndian as Little;
use object::elf::{self, Rela64, Sym64};
use rustc_hash::FxHashMap;

use super::elf::{Elf, Section, rows, text_at};
use super::ifunc;

/// How many symbols before an address are tried for one whose size covers it.
const TRIED_BEFORE: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Symbol {
    address: u64,
    bytes: u64,
    name: u32,
    /// Whether the name is in the dynamic table's strings.
    dynamic: bool,
    binding: u8,
}

/// One image's function symbols and imports.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    /// By address.
    functions: Vec<Symbol>,
    local_names: Vec<u8>,
    dynamic_names: Vec<u8>,
    /// Slots of the global offset table, by address, with the offset of the name they are filled for.
    slots: FxHashMap<u64, u32>,
}

/// A name with where its symbol starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub text: String,
    pub start: u64,
}

impl Symbols {
    /// Reads both symbol tables and the relocations of the global offset table.
    pub fn read(elf: &Elf) -> Symbols {
        let mut symbols = Symbols::default();
        for (number, section) in elf.sections.iter().enumerate() {
            let dynamic = section.kind == elf::SHT_DYNSYM;
            if dynamic || section.kind == elf::SHT_SYMTAB {
                symbols.read_table(elf, section, dynamic, number);
            }
        }
        symbols.functions.sort_by_key(|symbol| symbol.address);
        symbols
    }

    fn read_table(&mut self, elf: &Elf, section: &Section, dynamic: bool, number: usize) -> Option<()> {
        let table: Vec<Sym64<Little>> = rows(&elf.bytes(section)?)?;
        let names = elf.bytes(elf.sections.get(section.link)?)?;
        let executable = |address: u64| {
            let holds = |section: &&Section| section.addresses().contains(&address);
            elf.sections.iter().find(holds).is_some_and(|section| section.flags & u64::from(elf::SHF_EXECINSTR) != 0)
        };
        for symbol in &table {
            let address = symbol.st_value.get(Little);
            let function = match symbol.st_type() {
                elf::STT_FUNC | elf::STT_GNU_IFUNC => true,
                // Assembly often does not say what its labels are.
                elf::STT_NOTYPE => symbol.st_shndx.get(Little) != elf::SHN_UNDEF && executable(address),
                _ => false,
            };
            if !function || symbol.st_shndx.get(Little) == elf::SHN_UNDEF || symbol.st_name.get(Little) == 0 {
                continue;
            }
            self.functions.push(Symbol {
                address,
                bytes: symbol.st_size.get(Little),
                name: symbol.st_name.get(Little),
                dynamic,
                binding: symbol.st_bind(),
            });
        }
        if dynamic {
            self.dynamic_names = names;
            self.read_slots(elf, &table, number);
        } else {
            self.local_names = names;
        }
        Some(())
    }

    fn read_slots(&mut self, elf: &Elf, table: &[Sym64<Little>], number: usize) {
        let chosen = ifunc::chosen_names(table, &self.dynamic_names);
        let relocations = elf.sections.iter().filter(|section| section.kind == elf::SHT_RELA && section.link == number);
        for section in relocations {
            let Some(relocations) = elf.bytes(section).and_then(|bytes| rows::<Rela64<Little>>(&bytes)) else {
                continue;
            };
            for relocation in &relocations {
                if let Some(name) = ifunc::name_of_slot(relocation, &chosen) {
                    self.slots.insert(relocation.r_offset.get(Little), name);
                }
                let kind = relocation.r_type(Little, false);
                let symbol = table.get(relocation.r_sym(Little, false) as usize);
                if matches!(kind, elf::R_X86_64_JUMP_SLOT | elf::R_X86_64_GLOB_DAT)
                    && let Some(symbol) = symbol
                {
                    self.slots.insert(relocation.r_offset.get(Little), symbol.st_name.get(Little));
                }
            }
        }
    }

    /// The certain name of the function at an address, given where unwind data says that the function starts.
    pub fn name(&self, address: u64, function_start: Option<u64>) -> Option<Name> {
        if let Some(start) = function_start {
            let first = self.functions.partition_point(|symbol| symbol.address < start);
            let starting = self.functions[first..].iter().take_while(|symbol| symbol.address == start);
            if let Some(name) = self.best(starting) {
                return Some(name);
            }
        }
        let after = self.functions.partition_point(|symbol| symbol.address <= address);
        let before = &self.functions[after.saturating_sub(TRIED_BEFORE)..after];
        let covering = before.iter().rev().filter(|symbol| address - symbol.address < symbol.bytes);
        // The innermost one: the last to start.
        let start = covering.clone().next()?.address;
        self.best(covering.filter(|symbol| symbol.address == start))
    }

    /// The name for what a slot of the global offset table points at.
    pub fn import(&self, slot: u64) -> Option<String> {
        text_at(&self.dynamic_names, *self.slots.get(&slot)?).filter(|name| !name.is_empty())
    }

    /// Where a function of exactly that name starts.
    pub fn start_of(&self, name: &str) -> Option<u64> {
        self.functions.iter().find(|symbol| self.text(symbol).as_deref() == Some(name)).map(|symbol| symbol.address)
    }

    /// Whether the image defines a function of that name for others.
    pub fn defines(&self, name: &str) -> bool {
        let wanted = name.as_bytes();
        self.functions.iter().filter(|symbol| symbol.dynamic).any(|symbol| {
            let rest = self.dynamic_names.get(symbol.name as usize..).unwrap_or_default();
            rest.starts_with(wanted) && rest.get(wanted.len()) == Some(&0)
        })
    }

    /// Of several names for one function the one a reader knows: without leading underscores, public, short.
    fn best<'a>(&self, symbols: impl Iterator<Item = &'a Symbol>) -> Option<Name> {
        let named = symbols.filter_map(|symbol| Some((symbol, self.text(symbol)?)));
        let rank = |(symbol, text): &(&Symbol, String)| {
            let underscores = text.len() - text.trim_start_matches('_').len();
            // Mangled names begin with an underscore by their nature.
            let mangled = text.starts_with("_Z") || text.starts_with("_R");
            (if mangled { 0 } else { underscores }, symbol.binding == elf::STB_LOCAL, text.len(), text.clone())
        };
        named.min_by_key(rank).map(|(symbol, text)| Name { text, start: symbol.address })
    }

    fn text(&self, symbol: &Symbol) -> Option<String> {
        let names = if symbol.dynamic { &self.dynamic_names } else { &self.local_names };
        let mut text = text_at(names, symbol.name)?;
        // Linkers append the version to a name in the full table: `memcpy@@GLIBC_2.14`.
        if let Some(at) = text.find('@').filter(|at| *at > 0) {
            text.truncate(at);
        }
        (!text.is_empty()).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(rows: &[(u64, u64, &str)]) -> Symbols {
        let mut symbols = Symbols { local_names: vec![0], ..Symbols::default() };
        for (address, bytes, name) in rows {
            let place = symbols.local_names.len() as u32;
            symbols.local_names.extend(name.bytes().chain([0]));
            let binding = elf::STB_GLOBAL;
            symbols.functions.push(Symbol { address: *address, bytes: *bytes, name: place, dynamic: false, binding });
        }
        symbols
    }

    fn text(name: Option<Name>) -> String {
        name.map(|name| name.text).unwrap_or_default()
    }

    #[test]
    fn the_nearest_export_is_not_the_name() {
        let symbols = symbols(&[(0x1000, 0x20, "exported"), (0x2000, 0, "unsized")]);
        assert_eq!(text(symbols.name(0x1010, Some(0x1000))), "exported");
        assert_eq!(text(symbols.name(0x1030, Some(0x1020))), "");
        assert_eq!(text(symbols.name(0x2008, Some(0x2000))), "unsized");
        assert_eq!(text(symbols.name(0x2008, Some(0x2004))), "");
        assert_eq!(text(symbols.name(0x2008, None)), "");
    }

    #[test]
    fn of_several_names_the_known_one_is_taken() {
        let symbols = symbols(&[(0x10, 8, "__libc_read"), (0x10, 8, "__read"), (0x10, 8, "read@@GLIBC_2.2.5")]);
        assert_eq!(text(symbols.name(0x12, None)), "read");
    }
}
