//! Perl 5: what a sub and a statement mean in the script.
//!
//! Code that a program makes as it runs (`eval`) is freed, and other code takes its place: the kernel side digests of what
//! statement a pair was read.

use super::ScriptLine;
use super::memory::{Memory, digest, half_of, word_of};
use rustc_hash::FxHashMap;

/// A Perl that was found in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interpreter {
    /// The address of `PL_thr_key`.
    pub key: u64,
    /// Where the C library keeps a thread's values by key, from its control block on.
    specific: u32,
    has_aux_in_body: bool,
}

/// `Icurcop` and `Icurstackinfo` in the interpreter's struct.
const CURRENT: u32 = 208;
const STACK: u32 = 224;
/// `cop_line` and `cop_file` in `COP`.
const LINE: usize = 36;
const FILE: usize = 48;
/// So much of it is read.
const STATEMENT_BYTES: usize = 56;
/// What a value is of: `sv_any`, the type in the lowest byte of `sv_flags`, `sv_u`.
const BODY: usize = 0;
const FLAGS: usize = 12;
const VALUE: usize = 16;
const TYPE_OF_GLOB: u8 = 9;
const TYPE_OF_HASH: u8 = 12;
const TYPE_OF_CODE: u8 = 13;
/// A hash that has a name (`SVphv_HasAUX`).
const HAS_AUX: u32 = 0x0200_0000;
/// `xcv_stash`, `xcv_gv_u` and `xcv_flags` in `XPVCV`.
const CODE_PACKAGE: usize = 32;
const CODE_GLOB: usize = 56;
const CODE_FLAGS: usize = 92;
/// The code has its name itself, without a glob (`CVf_NAMED`).
const IS_NAMED: u32 = 0x8000;
/// `xivu_namehek` and `xgv_stash` in `XPVGV`.
const GLOB_NAME: usize = 32;
const GLOB_PACKAGE: usize = 40;
/// `xhv_max` in `XPVHV`; what has the name follows the body from 5.36 on, and the array of the elements before.
const HASH_MOST: usize = 24;
const HASH_BODY_BYTES: u64 = 32;
/// `xhv_name_count` in `xpvhv_aux`: where it is not 0, the name is the first of a list.
const NAME_COUNT: u64 = 28;
/// `hek_len` and `hek_key` in `HEK`.
const KEY_LENGTH: usize = 4;
const KEY_VALUE: u64 = 8;

/// Longest name that is believed.
const LONGEST_NAME: u32 = 1024;

/// The layout of a version: all that is read here and in `bpf/perl.bpf.h` is where `offsetof` has it, printed by a C program
/// compiled against the headers of 5.34.0, 5.36.0, 5.38.2, 5.40.1 and 5.42.3 (64-bit, with threads). Odd versions are for
/// Perl's own developers.
pub(super) fn known(version: (u8, u8), key: u64, specific: u32) -> Option<Interpreter> {
    let is_known = matches!(version, (5, 34 | 36 | 38 | 40 | 42));
    is_known.then_some(Interpreter { key, specific, has_aux_in_body: version >= (5, 36) })
}

impl Interpreter {
    /// As the kernel side has them (`struct perl_offsets`).
    pub(super) fn words(&self) -> [u32; 3] {
        [self.specific, CURRENT, STACK]
    }
}

/// Most statements that are remembered at once, over all processes: about 50 MB. Beyond it they are read again.
const MOST_STATEMENTS: usize = 200_000;

/// A statement as it was read.
#[derive(Clone, Debug)]
struct Statement {
    file: String,
    line: u32,
    function: String,
}

/// The statements of all watched processes.
#[derive(Default)]
pub(super) struct Statements {
    /// By process and instruction: digest and address.
    known: FxHashMap<(u32, u64), Statement>,
}

impl Statements {
    /// The line of a statement: a digest in the 16 bits above, its address below.
    pub fn line(
        &mut self,
        (pid, memory): (u32, Memory<'_>),
        interpreter: &Interpreter,
        code: u64,
        instruction: u64,
    ) -> Option<ScriptLine> {
        if !self.known.contains_key(&(pid, instruction)) {
            let read = Statement::read(memory, interpreter, code, instruction)?;
            if self.known.len() >= MOST_STATEMENTS {
                self.known.clear();
            }
            self.known.insert((pid, instruction), read);
        }
        let Statement { file, line, function } = self.known.get(&(pid, instruction))?.clone();
        Some(ScriptLine { file, function, line, ..ScriptLine::default() })
    }

    /// The process ended, or executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.known.retain(|(owner, _), _| *owner != pid);
    }
}

impl Statement {
    fn read(memory: Memory<'_>, interpreter: &Interpreter, code: u64, instruction: u64) -> Option<Statement> {
        const ADDRESS: u64 = (1 << 48) - 1;
        let front: [u8; STATEMENT_BYTES] = memory.front(instruction & ADDRESS)?;
        let (line, file) = (half_of(&front, LINE), word_of(&front, FILE));
        if digest(&[u64::from(line), file]) << 48 != instruction & !ADDRESS {
            return None;
        }
        let file = memory.text(file)?;
        let function = match code {
            0 => "(top level)".to_string(),
            _ => sub(memory, interpreter, code).unwrap_or_default(),
        };
        Some(Statement { file, line, function })
    }
}

/// The name of a sub, with its package: `Shop::Cart::fetch`, `main::__ANON__`.
fn sub(memory: Memory<'_>, interpreter: &Interpreter, code: u64) -> Option<String> {
    let (_, body) = value::<96>(memory, code, TYPE_OF_CODE)?;
    let glob = word_of(&body, CODE_GLOB);
    let (package, name) = if half_of(&body, CODE_FLAGS) & IS_NAMED != 0 {
        (word_of(&body, CODE_PACKAGE), glob)
    } else {
        let (_, body) = value::<48>(memory, glob, TYPE_OF_GLOB)?;
        (word_of(&body, GLOB_PACKAGE), word_of(&body, GLOB_NAME))
    };
    let name = key(memory, name)?;
    Some(match package_name(memory, interpreter, package) {
        Some(package) => format!("{package}::{name}"),
        None => name,
    })
}

/// The head of a value of a type, and its body.
fn value<const N: usize>(memory: Memory<'_>, address: u64, of_type: u8) -> Option<([u8; 24], [u8; N])> {
    let head: [u8; 24] = memory.front(address)?;
    if head[FLAGS] != of_type {
        return None;
    }
    Some((head, memory.front(word_of(&head, BODY))?))
}

/// The name of a package, which is a hash.
fn package_name(memory: Memory<'_>, interpreter: &Interpreter, address: u64) -> Option<String> {
    let (head, body) = value::<32>(memory, address, TYPE_OF_HASH)?;
    if half_of(&head, FLAGS) & HAS_AUX == 0 {
        return None;
    }
    let aux = if interpreter.has_aux_in_body {
        word_of(&head, BODY).checked_add(HASH_BODY_BYTES)?
    } else {
        let elements = word_of(&body, HASH_MOST).checked_add(1)?.checked_mul(8)?;
        word_of(&head, VALUE).checked_add(elements)?
    };
    let names = memory.word(aux)?;
    let count = memory.front::<4>(aux.checked_add(NAME_COUNT)?)?;
    key(memory, if u32::from_le_bytes(count) == 0 { names } else { memory.word(names)? })
}

/// A key of a hash (`HEK`), as which names are kept.
fn key(memory: Memory<'_>, address: u64) -> Option<String> {
    let header: [u8; KEY_VALUE as usize] = memory.front(address)?;
    let length = Some(half_of(&header, KEY_LENGTH)).filter(|length| (1..=LONGEST_NAME).contains(length))?;
    let bytes = memory.bytes(address.checked_add(KEY_VALUE)?, length as usize)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A door for fuzzers: the statement comes first, then its sub.
pub(super) fn fuzz(memory: Memory<'_>) {
    for version in [(5, 34), (5, 36)] {
        let Some(interpreter) = known(version, 0, 0) else { continue };
        let front = memory.front::<STATEMENT_BYTES>(0x1000).unwrap_or([0; STATEMENT_BYTES]);
        let digest = digest(&[u64::from(half_of(&front, LINE)), word_of(&front, FILE)]) << 48;
        Statements::default().line((1, memory), &interpreter, 0x1040, digest | 0x1000);
        let _ = sub(memory, &interpreter, 0x1000);
    }
}

#[cfg(test)]
mod tests;
