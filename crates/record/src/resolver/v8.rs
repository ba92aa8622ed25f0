//! What V8 exports for debuggers that look at a process which has ended: where the parts of its objects are.
//!
//! Most of it has been the same since V8 10, and is expected to be: a build that says anything else is not read.

use super::constants::constants;
use object::read::ReadRef;
use object::read::elf::ProgramHeader;
use object::{Object, ObjectSegment, elf, read};
use serde::{Deserialize, Serialize};

/// What differs from version to version. Offsets are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct V8 {
    /// V8's version, not Node's.
    pub version: (u8, u8),
    /// The bytes from the image's first one to its last.
    pub image_bytes: u32,
    /// How far below its control block a thread has its isolate, where the file says that.
    pub isolate: Option<u32>,
    /// `shared` in `JSFunction`.
    pub shared: u32,
    /// `name_or_scope_info` in `SharedFunctionInfo`.
    pub name: u32,
    /// `script`, or `script_or_debug_info`, in it.
    pub script: u32,
    /// Instance types.
    pub type_of_shared: u16,
    pub type_of_script: u16,
    pub type_of_scope: u16,
    pub type_of_bytecode: u16,
}

/// V8 exports some hundred.
const MOST_SYMBOLS: usize = 4096;

/// What all of them begin with.
const PREFIX: &[u8] = b"v8dbg_";

/// What must be so. Where a symbol's name goes on with a type, that is left out: it has changed.
const EXPECTED: [(&str, i32); 25] = [
    ("off_fp_context", -8),
    ("off_fp_function", -16),
    ("off_fp_bytecode_array", -32),
    ("HeapObjectTag", 1),
    ("HeapObjectTagMask", 3),
    ("SmiShiftSize", 31),
    ("SmiValueShift", 1),
    ("TaggedSize", 8),
    ("FirstNonstringType", 128),
    ("StringEncodingMask", 8),
    ("OneByteStringTag", 8),
    ("StringRepresentationMask", 7),
    ("ConsStringTag", 1),
    ("ExternalStringTag", 2),
    ("SlicedStringTag", 3),
    ("ThinStringTag", 5),
    ("class_String__length__", 12),
    ("class_SeqOneByteString__chars__", 16),
    ("class_SeqTwoByteString__chars__", 16),
    ("class_ConsString__first__", 16),
    ("class_SlicedString__parent__", 16),
    ("class_SlicedString__offset__", 24),
    ("class_Map__instance_type__", 12),
    ("class_Script__source__", 8),
    ("class_Script__name__", 16),
];

/// What a file says; `None` where it says nothing, or what is not known.
pub(super) fn exported<'data, R: ReadRef<'data>>(file: &read::File<'data, R>, symbols: &Exported) -> Option<V8> {
    let at = |name: &str| symbols.value(file, name);
    if EXPECTED.iter().any(|(name, expected)| at(name) != Some(*expected)) {
        return None;
    }
    let offset =
        |name: &str| at(name).and_then(|value| u32::try_from(value).ok()).filter(|value| *value <= MOST_OFFSET);
    let instance = |name: &str| at(name).and_then(|value| u16::try_from(value).ok());
    let number = |address: Option<u64>| constants::<4>(file, address?).and_then(|bytes| bytes.first().copied());
    let first = file.segments().map(|segment| segment.address()).min()?;
    let end = file.segments().map(|segment| segment.address().saturating_add(segment.size())).max()?;
    Some(V8 {
        version: (number(symbols.major)?, number(symbols.minor)?),
        image_bytes: u32::try_from(end - first).ok()?,
        isolate: isolate(file, symbols),
        shared: offset("class_JSFunction__shared__")?,
        name: offset("class_SharedFunctionInfo__name_or_scope_info__")?,
        script: offset("class_SharedFunctionInfo__script")?,
        type_of_shared: instance("type_SharedFunctionInfo__")?,
        type_of_script: instance("type_Script__")?,
        type_of_scope: instance("type_ScopeInfo__")?,
        type_of_bytecode: instance("type_BytecodeArray__")?,
    })
}

/// No offset is larger: what is looked at is in the first bytes of objects (`V8_SHARED_BYTES` in `bpf/v8.bpf.h`).
const MOST_OFFSET: u32 = 48;

/// The symbols by name, without what they begin with, and the version's.
#[derive(Default)]
pub(super) struct Exported {
    addresses: Vec<(String, u64)>,
    major: Option<u64>,
    minor: Option<u64>,
    /// In the threads' own memory (`Isolate::g_current_isolate_`).
    isolate: Option<u64>,
    /// A function that answers with it (`Isolate::GetCurrent`).
    current: Option<u64>,
}

impl Exported {
    /// Takes a symbol, if it is one of these.
    pub fn take(&mut self, name: &[u8], address: u64) {
        match name {
            b"_ZN2v88internal7Version6major_E" => self.major = Some(address),
            b"_ZN2v88internal7Version6minor_E" => self.minor = Some(address),
            b"_ZN2v88internal18g_current_isolate_E" => self.isolate = Some(address),
            b"_ZN2v87Isolate10GetCurrentEv" => self.current = Some(address),
            _ => {
                if let Some(rest) = name.strip_prefix(PREFIX).filter(|_| self.addresses.len() < MOST_SYMBOLS) {
                    self.addresses.push((String::from_utf8_lossy(rest).into_owned(), address));
                }
            }
        }
    }

    /// The number that a symbol stands for: of the only one that begins with `name`, or is called just so.
    fn value<'data>(&self, file: &impl Object<'data>, name: &str) -> Option<i32> {
        let mut those = self.addresses.iter().filter(|(found, _)| found.starts_with(name));
        let exact = self.addresses.iter().find(|(found, _)| found == name);
        let (_, address) = exact.or_else(|| those.next())?;
        constants(file, *address).map(i32::from_le_bytes)
    }
}

/// Where threads of an executable have the isolate that they are in: by the symbol of it, or by the code of a function that
/// answers with it. A library's threads have it in a place that only the dynamic loader knows.
fn isolate<'data, R: ReadRef<'data>>(file: &read::File<'data, R>, symbols: &Exported) -> Option<u32> {
    let (length, align) = thread_memory(file)?;
    // The executable's part ends at the control block (variant II of "ELF Handling For Thread-Local Storage").
    let by_symbol = || length.checked_next_multiple_of(align)?.checked_sub(symbols.isolate?);
    let by_code = || first_of_thread(&constants::<CODE_BYTES>(file, symbols.current?)?);
    let below = by_symbol().or_else(by_code).filter(|below| *below > 0 && below.is_multiple_of(8))?;
    u32::try_from(below).ok().filter(|below| u64::from(*below) <= length)
}

/// So much of a function is looked at.
const CODE_BYTES: usize = 64;

/// How far below the control block the word is that code loads first: `MOV r64, FS:[disp32]`.
fn first_of_thread(code: &[u8; CODE_BYTES]) -> Option<u64> {
    const LOAD: [u8; 5] = [0x64, 0x48, 0x8b, 0x04, 0x25];
    let at = code.windows(LOAD.len()).position(|window| window == LOAD)?;
    let distance = i32::from_le_bytes(*code.get(at + LOAD.len()..)?.first_chunk()?);
    u64::try_from(-i64::from(distance)).ok()
}

/// Length and alignment of an executable's part of its threads' own memory.
fn thread_memory<'data, R: ReadRef<'data>>(file: &read::File<'data, R>) -> Option<(u64, u64)> {
    let read::File::Elf64(file) = file else { return None };
    let endian = file.endian();
    let is_program = file.elf_program_headers().iter().any(|header| header.p_type(endian) == elf::PT_INTERP);
    let own = file.elf_program_headers().iter().find(|header| header.p_type(endian) == elf::PT_TLS)?;
    is_program.then(|| (own.p_memsz(endian), own.p_align(endian).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::ObjectSymbol;
    use std::fs::File;

    #[test]
    fn the_isolate_is_where_the_code_that_answers_with_it_loads_it_from() {
        // As Node 24 has it: a test for hooks, and on either branch `mov rax, fs:[-0xa0]`.
        let mut code = [0x90; CODE_BYTES];
        code[16..25].copy_from_slice(&[0x64, 0x48, 0x8b, 0x04, 0x25, 0x60, 0xff, 0xff, 0xff]);
        assert_eq!(first_of_thread(&code), Some(0xa0));
        code[24] = 0x7f;
        assert_eq!(first_of_thread(&code), None, "above the control block is nothing of a program's");
        assert_eq!(first_of_thread(&[0x90; CODE_BYTES]), None);
    }

    #[test]
    fn an_installed_node_says_where_its_parts_are_and_other_programs_say_nothing() {
        let read = |path: &str| {
            let cache = read::ReadCache::new(File::open(path).ok()?);
            let file = read::File::parse(&cache).ok()?;
            let mut symbols = Exported::default();
            for symbol in file.dynamic_symbols().filter(|symbol| !symbol.is_undefined()) {
                symbols.take(symbol.name_bytes().unwrap_or_default(), symbol.address());
            }
            exported(&file, &symbols)
        };
        assert_eq!(read("/proc/self/exe"), None);
        match read("/usr/bin/node") {
            Some(found) => {
                assert!(found.version.0 >= 10 && found.shared >= 24 && found.script > found.name, "{found:?}");
                let types = [found.type_of_shared, found.type_of_script, found.type_of_scope, found.type_of_bytecode];
                assert!(types.iter().all(|instance| *instance > 128), "{found:?}");
            }
            None => testing::skip("node is not installed, or says nothing"),
        }
    }
}
