//! Code objects: read once from a process's memory, then asked for lines.

use super::layout::{BYTES_VALUE, Interpreter, OBJECT_SIZE, OBJECT_TYPE, TEXT_LENGTH, TEXT_STATE, TYPE_NAME};
use crate::resolver::lines::{Lines, line_at};
use crate::resolver::{Form, Resolver};
use crate::scripts::ScriptLine;
use crate::scripts::memory::{self, word_of as word};
use rustc_hash::FxHashMap;

/// Most code objects that are remembered at once, over all processes: about 100 MB. Beyond it a process's are read again.
const MOST_CODE_OBJECTS: usize = 200_000;

/// What all of them may take: a table of lines can have a megabyte. Beyond it a process's are read again as well.
const MOST_CODE_BYTES: usize = 128 << 20;

/// The lowest bits of a pointer to an object are tags in 3.14; objects are aligned to more.
const TAGS: u64 = 7;

/// So much of a code object holds all that is looked at; see the layouts.
const HEADER_LENGTH: usize = 208;

/// Longest name or path that is believed, in characters.
const LONGEST_TEXT: usize = 4096;

/// What was read of one code object.
#[derive(Clone, Debug)]
struct Code {
    /// Its pointers and numbers when it was read: another object at the same address differs.
    identity: [u64; 4],
    file: String,
    function: String,
    first_line: u32,
    lines: Lines,
    /// How many code units it has (3.11 on).
    units: u64,
}

/// The code objects of all watched processes.
pub struct CodeObjects {
    resolver: Resolver,
    /// By process and address; `None` for what is no code object of a script.
    known: FxHashMap<(u32, u64), Option<Code>>,
    /// By process, the address of the type of code objects, once its name was checked.
    types: FxHashMap<u32, u64>,
    /// What those that are known take.
    bytes: usize,
}

impl CodeObjects {
    /// None known yet.
    pub fn new(resolver: &Resolver) -> CodeObjects {
        let (known, types) = (FxHashMap::default(), FxHashMap::default());
        CodeObjects { resolver: resolver.clone(), known, types, bytes: 0 }
    }

    /// The line of an instruction of a code object, read again where it can be; what was learned before where not. `None`
    /// where it is no code object of a script, or was never read.
    pub fn line(&mut self, pid: u32, interpreter: &Interpreter, code: u64, instruction: u64) -> Option<ScriptLine> {
        let address = code & !TAGS;
        self.learn(pid, interpreter, code);
        let code = self.known.get(&(pid, address))?.as_ref()?;
        let line = code.line(interpreter, address, instruction);
        let (file, function) = (code.file.clone(), code.function.clone());
        Some(ScriptLine { file, function, line, ..ScriptLine::default() })
    }

    /// Reads a code object now, while the process lives; again where another one took its address.
    pub fn learn(&mut self, pid: u32, interpreter: &Interpreter, code: u64) {
        let address = code & !TAGS;
        let mut header = [0; HEADER_LENGTH];
        if address == 0 || !memory::read(pid, address, &mut header) {
            return;
        }
        let identity = identity(interpreter, &header);
        let is_code = self.is_code(pid, &header);
        let is_known = match self.known.get(&(pid, address)) {
            Some(Some(code)) => is_code && code.identity == identity,
            Some(None) => !is_code,
            None => false,
        };
        if is_known {
            return;
        }
        let read = if is_code { Code::read(&self.resolver, pid, interpreter, &header, identity) } else { None };
        self.bytes += read.as_ref().map_or(0, Code::bytes);
        if self.known.len() >= MOST_CODE_OBJECTS || self.bytes > MOST_CODE_BYTES {
            self.known.clear();
            self.bytes = read.as_ref().map_or(0, Code::bytes);
        }
        self.known.insert((pid, address), read);
    }

    /// The process ended, or executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.known.retain(|(owner, _), _| *owner != pid);
        self.types.remove(&pid);
    }

    /// Whether the object's type is `code`.
    fn is_code(&mut self, pid: u32, header: &[u8]) -> bool {
        let object_type = word(header, OBJECT_TYPE as usize);
        if let Some(known) = self.types.get(&pid) {
            return *known == object_type;
        }
        let name = memory::word(pid, object_type.wrapping_add(TYPE_NAME));
        let is_code = name.and_then(|name| memory::bytes(pid, name, 5)).is_some_and(|name| name == b"code\0");
        if is_code {
            self.types.insert(pid, object_type);
        }
        is_code
    }
}

impl Code {
    fn read(
        resolver: &Resolver,
        pid: u32,
        interpreter: &Interpreter,
        header: &[u8],
        identity: [u64; 4],
    ) -> Option<Code> {
        let [file, function, table, first_line] = identity;
        let function = text(pid, interpreter, function)?;
        // Not of any script: what the interpreter puts between its own C frames.
        if matches!(function.as_str(), "<shim>" | "<interpreter trampoline>") {
            return None;
        }
        let table_length = usize::try_from(memory::word(pid, table.wrapping_add(OBJECT_SIZE))?).ok()?;
        let table = memory::bytes(pid, table.wrapping_add(BYTES_VALUE), table_length)?;
        let form = match interpreter.version {
            (3, 9) => Form::Increments,
            (3, 10) => Form::Ranges,
            _ => Form::Locations,
        };
        Some(Code {
            identity,
            file: text(pid, interpreter, file)?,
            function,
            first_line: first_line as u32,
            // Without its lines the function is still named.
            lines: resolver.lines(form, &table, first_line as u32).unwrap_or_default(),
            units: word(header, OBJECT_SIZE as usize),
        })
    }

    /// The memory that it takes.
    fn bytes(&self) -> usize {
        self.file.len() + self.function.len() + size_of_val(self.lines.as_slice())
    }

    fn line(&self, interpreter: &Interpreter, address: u64, instruction: u64) -> u32 {
        if interpreter.offsets.instruction_is_index == 1 {
            return match (u32::try_from(instruction as u32 as i32), interpreter.version) {
                (Err(_), _) => self.first_line,
                (Ok(index), (3, 9)) => line_at(&self.lines, index),
                // 3.10 counts in code units, its table in bytes.
                (Ok(index), _) => line_at(&self.lines, index.saturating_mul(2)),
            };
        }
        let first = address.wrapping_add(u64::from(interpreter.code.instructions));
        match instruction.checked_sub(first).map(|bytes| bytes / 2) {
            Some(unit) if unit < self.units => line_at(&self.lines, unit as u32),
            // Just before the first instruction: the function was entered and has done nothing.
            None if instruction + 2 == first => self.first_line,
            _ => 0,
        }
    }
}

/// File, function, line table and first line, as the object has them.
fn identity(interpreter: &Interpreter, header: &[u8]) -> [u64; 4] {
    let layout = &interpreter.code;
    let pointers = [layout.filename, layout.function, layout.line_table].map(|offset| word(header, offset as usize));
    let first_line = word(header, layout.first_line as usize) & u64::from(u32::MAX);
    [pointers[0], pointers[1], pointers[2], first_line]
}

/// A Python string.
fn text(pid: u32, interpreter: &Interpreter, address: u64) -> Option<String> {
    let mut header = [0; TEXT_STATE + 8];
    if address == 0 || !memory::read(pid, address, &mut header) {
        return None;
    }
    let length = usize::try_from(word(&header, TEXT_LENGTH)).ok().filter(|length| *length <= LONGEST_TEXT)?;
    let (width, is_ascii) = text_state(word(&header, TEXT_STATE) as u32)?;
    let size = if is_ascii { interpreter.code.ascii_size } else { interpreter.code.compact_size };
    let bytes = memory::bytes(pid, address.wrapping_add(u64::from(size)), length * width)?;
    Some(match width {
        1 => bytes.iter().map(|&byte| char::from(byte)).collect(),
        2 => {
            let units = bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
            char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        }
        _ => {
            let scalars = bytes.chunks_exact(4).map(|unit| u32::from_le_bytes([unit[0], unit[1], unit[2], unit[3]]));
            scalars.map(|scalar| char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        }
    })
}

/// Bytes a character and whether all are ASCII, from a string's state: `interned`, then three bits of width, one that the
/// characters follow the header, one for ASCII. `interned` has two bits in most versions and more in some of 3.14; a wrong
/// position shows as an impossible width.
fn text_state(state: u32) -> Option<(usize, bool)> {
    [2, 8, 16].into_iter().find_map(|shift| {
        let (width, is_compact, is_ascii) = (state >> shift & 7, state >> (shift + 3) & 1, state >> (shift + 4) & 1);
        (matches!(width, 1 | 2 | 4) && is_compact == 1).then_some((width as usize, is_ascii == 1))
    })
}
