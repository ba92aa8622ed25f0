//! PHP 8: what a function and an instruction mean in the script.
//!
//! The kernel side reads the line itself, and digests of what function it was read: when a request ends, its functions are
//! freed, and others take their place.

use super::ScriptLine;
use super::memory::{LONGEST_TEXT, Memory, digest, word_of};
use rustc_hash::FxHashMap;

/// A PHP that was found in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interpreter {
    /// The address of `executor_globals`.
    pub globals: u64,
    layout: Layout,
}

/// Where the parts are, in bytes. What is the same in all of PHP 8 is below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    /// `current_execute_data` in the executor's globals.
    current: u32,
    /// `last` in `zend_op_array`: how many instructions there are.
    last: u32,
    /// `opcodes` in it.
    opcodes: u32,
    /// `filename` in it.
    filename: u32,
    /// `module` in `zend_internal_function`.
    module: u32,
}

/// Versions by the numbers of their interfaces for extensions (`ZEND_MODULE_API_NO`).
const VERSIONS: [(u32, (u8, u8)); 7] = [
    (20_190_902, (7, 4)),
    (20_200_930, (8, 0)),
    (20_210_902, (8, 1)),
    (20_220_829, (8, 2)),
    (20_230_831, (8, 3)),
    (20_240_924, (8, 4)),
    (20_250_925, (8, 5)),
];

/// `type` in `zend_function`: of a function written in C.
const INTERNAL: u8 = 1;
/// `function_name` in it.
const NAME: usize = 8;
/// `scope` in it: the class.
const SCOPE: usize = 16;
/// `name` in `zend_class_entry`.
const CLASS_NAME: u64 = 8;
/// `name` in `zend_module_entry`.
const MODULE_NAME: u64 = 32;
/// `h`, `len` and `val` in `zend_string`.
const TEXT_HASH: usize = 8;
const TEXT_LENGTH: usize = 16;
const TEXT_VALUE: u64 = 24;

/// So much of a function holds all that is looked at (`FRONT_BYTES` in `bpf/script_frames.bpf.h`).
const FRONT_BYTES: usize = 192;

/// The version that has an interface for extensions.
pub(super) fn version(interface: u32) -> Option<(u8, u8)> {
    VERSIONS.iter().find(|(number, _)| *number == interface).map(|(_, version)| *version)
}

/// The layout of a version: `offsetof` values, printed by a C program compiled against the headers of 8.1.2, 8.2.36, 8.3.6,
/// 8.4.27 and 8.5.4 (64-bit, without threads); a minor version keeps its layout, as it keeps its interface for extensions.
pub(super) fn known(interface: u32, globals: u64) -> Option<Interpreter> {
    let layout = |current, last, opcodes, filename, module| Layout { current, last, opcodes, filename, module };
    let layout = match version(interface)? {
        (8, 1) => layout(488, 68, 72, 144, 64),
        (8, 2) => layout(488, 80, 88, 152, 80),
        (8, 3) => layout(488, 76, 80, 144, 80),
        (8, 4) => layout(488, 96, 104, 168, 96),
        (8, 5) => layout(512, 96, 104, 168, 96),
        _ => return None,
    };
    Some(Interpreter { globals, layout })
}

impl Interpreter {
    /// As the kernel side has them (`struct php_offsets`).
    pub(super) fn words(&self) -> [u32; 4] {
        let Layout { current, last, opcodes, filename, .. } = self.layout;
        [current, last, opcodes, filename]
    }
}

/// Most functions that are remembered at once, over all processes: about 50 MB. Beyond it they are read again.
const MOST_FUNCTIONS: usize = 200_000;

/// A function as it was read.
#[derive(Clone, Debug)]
struct Function {
    digest: u32,
    file: String,
    name: String,
    module: String,
}

/// The functions of all watched processes.
#[derive(Default)]
pub(super) struct Functions {
    /// By process and address.
    known: FxHashMap<(u32, u64), Function>,
}

impl Functions {
    /// The line of an instruction: the digest of its function above, the line below.
    pub fn line(
        &mut self,
        (pid, memory): (u32, Memory<'_>),
        interpreter: &Interpreter,
        address: u64,
        instruction: u64,
    ) -> Option<ScriptLine> {
        let (digest, line) = ((instruction >> 32) as u32, instruction as u32);
        let is_known = self.known.get(&(pid, address)).is_some_and(|known| known.digest == digest);
        if !is_known {
            let read = Function::read(memory, interpreter, address).filter(|read| read.digest == digest)?;
            if self.known.len() >= MOST_FUNCTIONS {
                self.known.clear();
            }
            self.known.insert((pid, address), read);
        }
        let function = self.known.get(&(pid, address))?;
        let (file, module) = (function.file.clone(), function.module.clone());
        Some(ScriptLine { file, function: function.name.clone(), line, module })
    }

    /// The process ended, or executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.known.retain(|(owner, _), _| *owner != pid);
    }
}

impl Function {
    fn read(memory: Memory<'_>, interpreter: &Interpreter, address: u64) -> Option<Function> {
        let front: [u8; FRONT_BYTES] = memory.front(address)?;
        let layout = &interpreter.layout;
        let [name, scope] = [NAME, SCOPE].map(|offset| word_of(&front, offset));
        let written = match word_of(&front, SCOPE) {
            0 => String::new(),
            class => text(memory, memory.word(class.wrapping_add(CLASS_NAME))?)? + "::",
        };
        let is_internal = front[0] == INTERNAL;
        let (file, module, own) = if is_internal {
            (String::new(), module(memory, word_of(&front, layout.module as usize)).unwrap_or_default(), vec![])
        } else {
            let [opcodes, file] = [layout.opcodes, layout.filename].map(|offset| word_of(&front, offset as usize));
            (text(memory, file)?, String::new(), vec![opcodes, file])
        };
        let digest = digest(&[vec![name, scope], own].concat()) as u32;
        // What stands outside of all functions is called so in PHP's own traces.
        let name = if name == 0 { "{main}".to_string() } else { written + &text(memory, name)? };
        Some(Function { digest, file, name, module })
    }
}

/// The name of an extension; empty for functions of the program's own that are in none.
fn module(memory: Memory<'_>, address: u64) -> Option<String> {
    memory.text(memory.word(address.checked_add(MODULE_NAME)?)?)
}

/// A `zend_string`. Most know the hash of what they hold, which must be right then.
fn text(memory: Memory<'_>, address: u64) -> Option<String> {
    let header: [u8; TEXT_VALUE as usize] = memory.front(address)?;
    let length = usize::try_from(word_of(&header, TEXT_LENGTH)).ok().filter(|length| *length <= LONGEST_TEXT)?;
    let bytes = memory.bytes(address.checked_add(TEXT_VALUE)?, length)?;
    let known = word_of(&header, TEXT_HASH);
    // Times 33 (DJB); the top bit is set, so that no hash is 0.
    let times_33 = |hash: u64, byte: &u8| hash.wrapping_mul(33).wrapping_add(u64::from(*byte));
    let hash = bytes.iter().fold(5381, times_33) | 1 << 63;
    (known == 0 || known == hash).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// A door for fuzzers.
pub(super) fn fuzz(memory: Memory<'_>) {
    for (interface, _) in VERSIONS {
        let Some(interpreter) = known(interface, 0) else { continue };
        if let Some(read) = Function::read(memory, &interpreter, 0x1000) {
            Functions::default().line((1, memory), &interpreter, 0x1000, u64::from(read.digest) << 32);
        }
    }
}

#[cfg(test)]
mod tests;
