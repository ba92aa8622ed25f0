//! CRuby 3: what an instruction sequence and an instruction mean in the script.

use super::ScriptLine;
use super::memory::{LONGEST_TEXT, Memory, half_of, word_of};
use crate::resolver::lines::{Lines, line_at};
use crate::resolver::{Form, Resolver};
use rustc_hash::FxHashMap;

/// A CRuby that was found in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interpreter {
    /// The address of `ruby_current_vm_ptr`.
    pub machine: u64,
    layout: Layout,
}

/// Where the parts are, in bytes. What is the same from 3.0 to 3.3 is below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    /// `threads.set` in `rb_ractor_t`.
    threads: u32,
    /// `nt` in `rb_thread_t`; 0 where that has the thread's id itself.
    thread_native: u32,
    /// `thread_id` in one or the other.
    thread_id: u32,
    /// `ec` in `rb_thread_t`.
    thread_context: u32,
    /// The size of `rb_control_frame_t`.
    frame_size: u32,
    /// `insns_info.body` in `rb_iseq_constant_body`.
    entries: u32,
    /// The size of an entry.
    entry_bytes: u32,
    /// Whether strings keep their length where it always is (3.2 on), instead of among their flags where they are short.
    has_plain_length: bool,
}

/// `ractor.main_ractor` in `rb_vm_t`.
const MAIN_RACTOR: u32 = 32;
/// The type of an object, in its flags: what the interpreter keeps for itself, of which sort, arrays and strings.
const TYPE: u64 = 31;
const TYPE_OF_INTERNAL: u64 = 26;
const TYPE_OF_STRING: u64 = 5;
const TYPE_OF_ARRAY: u64 = 7;
const SORT_SHIFT: u32 = 12;
const SORT: u64 = 15;
const SORT_OF_SEQUENCE: u64 = 7;
/// A string that is too long for its object, an array that is not (`RSTRING_NOEMBED`, `RARRAY_EMBED_FLAG`).
const IS_ELSEWHERE: u64 = 0x2000;
const IS_EMBEDDED: u64 = 0x2000;
/// The length of a short string among its flags.
const LENGTH_SHIFT: u32 = 14;
const LENGTH: u64 = 31;
/// `body` in `rb_iseq_t`.
const BODY: usize = 16;
/// `iseq_size`, `iseq_encoded`, `location.pathobj` and `location.label` in its body.
const WORDS: usize = 4;
const CODE: usize = 8;
const PATH: usize = 64;
const LABEL: usize = 80;
/// From the entries on: their number and the table of their positions.
const ENTRY_COUNT: usize = 16;
const POSITIONS: usize = 24;
/// So much of the body is read.
const BODY_BYTES: usize = 160;

/// The layout of a version: `offsetof` values, printed by a C program compiled against the sources of 3.0.2, 3.1.2, 3.2.3 and
/// 3.3.8 with the configuration of their packages (64-bit); a minor version keeps its layout.
pub(super) fn known(version: (u8, u8), machine: u64) -> Option<Interpreter> {
    let first = Layout {
        threads: 304,
        thread_native: 0,
        thread_id: 80,
        thread_context: 40,
        frame_size: 56,
        entries: 120,
        entry_bytes: 8,
        has_plain_length: false,
    };
    let with_native = Layout {
        thread_native: 40,
        thread_id: 8,
        thread_context: 48,
        frame_size: 64,
        entries: 112,
        entry_bytes: 12,
        has_plain_length: true,
        ..first
    };
    let layout = match version {
        (3, 0) => first,
        (3, 1) => Layout { frame_size: 64, entry_bytes: 12, ..first },
        (3, 2) => with_native,
        (3, 3) => Layout { threads: 256, thread_id: 16, frame_size: 56, ..with_native },
        _ => return None,
    };
    Some(Interpreter { machine, layout })
}

/// Whether an interpreter is where it was looked for, and has begun: its first thread is in the ring of its threads, and is in a
/// frame of its own stack.
pub(super) fn runs(interpreter: &Interpreter, memory: Memory<'_>) -> bool {
    let at = |address: u64, offset: u32| memory.word(address.wrapping_add(u64::from(offset)));
    let layout = &interpreter.layout;
    let frame = || {
        let ractor = at(memory.word(interpreter.machine)?, MAIN_RACTOR)?;
        let ring = ractor.wrapping_add(u64::from(layout.threads));
        let thread = memory.word(ring).filter(|thread| at(*thread, 8) == Some(ring))?;
        let context: [u8; 24] = memory.front(at(thread, layout.thread_context)?)?;
        let [stack, words, frame] = [0, 8, 16].map(|offset| word_of(&context, offset));
        let end = words.checked_mul(8).and_then(|bytes| stack.checked_add(bytes))?;
        Some((stack..end).contains(&frame))
    };
    frame().unwrap_or(false)
}

impl Interpreter {
    /// As the kernel side has them (`struct ruby_offsets`).
    pub(super) fn words(&self) -> [u32; 6] {
        let Layout { threads, thread_native, thread_id, thread_context, frame_size, .. } = self.layout;
        [MAIN_RACTOR, threads, thread_native, thread_id, thread_context, frame_size]
    }
}

/// Most sequences that are remembered at once, over all processes: about 100 MB. Beyond it they are read again.
const MOST_SEQUENCES: usize = 100_000;

/// An instruction sequence as it was read: a method, a block, a file's top level.
#[derive(Clone, Debug)]
struct Sequence {
    /// Its pointers and numbers when it was read: another one at the same address differs.
    identity: [u64; 4],
    file: String,
    label: String,
    lines: Lines,
}

/// The instruction sequences of all watched processes.
pub(super) struct Sequences {
    resolver: Resolver,
    /// By process and address.
    known: FxHashMap<(u32, u64), Sequence>,
}

impl Sequences {
    /// None known yet.
    pub fn new(resolver: &Resolver) -> Sequences {
        Sequences { resolver: resolver.clone(), known: FxHashMap::default() }
    }

    /// The line of an instruction of a sequence, which is read again where another one took its address.
    pub fn line(
        &mut self,
        (pid, memory): (u32, Memory<'_>),
        interpreter: &Interpreter,
        address: u64,
        instruction: u64,
    ) -> Option<ScriptLine> {
        if let Some(body) = body(memory, address) {
            let identity = identity(&body);
            if self.known.get(&(pid, address)).is_none_or(|known| known.identity != identity) {
                let read = Sequence::read(&self.resolver, memory, interpreter, &body);
                if self.known.len() >= MOST_SEQUENCES {
                    self.known.clear();
                }
                match read {
                    Some(read) => self.known.insert((pid, address), read),
                    None => self.known.remove(&(pid, address)),
                };
            }
        }
        let sequence = self.known.get(&(pid, address))?;
        // Beneath the program's first frame Ruby has one of its own, which is on no line.
        let line = Some(sequence.line(instruction)).filter(|line| *line > 0)?;
        Some(ScriptLine {
            file: sequence.file.clone(),
            function: sequence.label.clone(),
            line,
            ..ScriptLine::default()
        })
    }

    /// The process ended, or executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.known.retain(|(owner, _), _| *owner != pid);
    }
}

/// The body of a sequence, where there is one at the address.
fn body(memory: Memory<'_>, address: u64) -> Option<[u8; BODY_BYTES]> {
    let head: [u8; 24] = memory.front(address)?;
    let flags = word_of(&head, 0);
    let is_sequence = flags & TYPE == TYPE_OF_INTERNAL && flags >> SORT_SHIFT & SORT == SORT_OF_SEQUENCE;
    is_sequence.then(|| memory.front(word_of(&head, BODY)))?
}

fn identity(body: &[u8]) -> [u64; 4] {
    [WORDS, CODE, PATH, LABEL].map(|offset| word_of(body, offset))
}

impl Sequence {
    fn read(resolver: &Resolver, memory: Memory<'_>, interpreter: &Interpreter, body: &[u8]) -> Option<Sequence> {
        let layout = &interpreter.layout;
        Some(Sequence {
            identity: identity(body),
            file: path(memory, layout, word_of(body, PATH))?,
            label: text(memory, layout, word_of(body, LABEL))?,
            // Without its lines the method is still named.
            lines: lines(resolver, memory, layout, body).unwrap_or_default(),
        })
    }

    /// An instruction counts as begun when its words were taken: the one before is where the frame is.
    fn line(&self, instruction: u64) -> u32 {
        let [_, code, ..] = self.identity;
        let words = u64::from(half_of(&self.identity[0].to_le_bytes(), 0));
        match instruction.checked_sub(code).map(|bytes| bytes / 8) {
            Some(word) if word <= words => line_at(&self.lines, word.saturating_sub(1) as u32),
            _ => 0,
        }
    }
}

/// On which lines the words of a sequence are.
fn lines(resolver: &Resolver, memory: Memory<'_>, layout: &Layout, body: &[u8]) -> Option<Lines> {
    /// Ranks of the first words: seven bits each, nine of them a word; beyond, blocks of 80 bytes for 512 words each.
    const FIRST: u32 = 54;
    let words = half_of(body, WORDS);
    let at = layout.entries as usize;
    let (entries, count) = (word_of(body, at), half_of(body, at + ENTRY_COUNT));
    let positions = word_of(body, at + POSITIONS);
    let first = if words < FIRST { words.checked_add(8)? } else { FIRST } / 9 * 8;
    let blocks = words.checked_sub(FIRST).map_or(0, |beyond| beyond.div_ceil(512));
    let length = first as usize + blocks as usize * 80;
    let mut table = memory.bytes(entries, (count as usize).checked_mul(layout.entry_bytes as usize)?)?;
    table.extend(memory.bytes(positions, length)?);
    let form = Form::Ranks { entries: count, entry_bytes: layout.entry_bytes, words };
    resolver.lines(form, &table, 0)
}

/// The file of a sequence: a string, or an array of the path and the file that it led to.
fn path(memory: Memory<'_>, layout: &Layout, address: u64) -> Option<String> {
    let head: [u8; 40] = memory.front(address)?;
    let flags = word_of(&head, 0);
    if flags & TYPE != TYPE_OF_ARRAY {
        return text(memory, layout, address);
    }
    let first = if flags & IS_EMBEDDED != 0 { word_of(&head, 16) } else { memory.word(word_of(&head, 32))? };
    text(memory, layout, first)
}

/// A string.
fn text(memory: Memory<'_>, layout: &Layout, address: u64) -> Option<String> {
    let head: [u8; 32] = memory.front(address)?;
    let flags = word_of(&head, 0);
    if flags & TYPE != TYPE_OF_STRING {
        return None;
    }
    let is_elsewhere = flags & IS_ELSEWHERE != 0;
    let length =
        if is_elsewhere || layout.has_plain_length { word_of(&head, 16) } else { flags >> LENGTH_SHIFT & LENGTH };
    let within = if layout.has_plain_length { 24 } else { 16 };
    let at = if is_elsewhere { word_of(&head, 24) } else { address.checked_add(within)? };
    let length = usize::try_from(length).ok().filter(|length| *length <= LONGEST_TEXT)?;
    Some(String::from_utf8_lossy(&memory.bytes(at, length)?).into_owned())
}

/// A door for fuzzers: a sequence, and its body wherever it says.
pub(super) fn fuzz(memory: Memory<'_>) {
    let resolver = Resolver::new();
    for minor in 0..4 {
        let Some(interpreter) = known((3, minor), 0) else { continue };
        let mut sequences = Sequences::new(&resolver);
        for instruction in [0x1000, 0x1100] {
            sequences.line((1, memory), &interpreter, 0x1000, instruction);
        }
        let _ = text(memory, &interpreter.layout, 0x1000);
        let _ = runs(&Interpreter { machine: 0x1000, ..interpreter }, memory);
    }
}

#[cfg(test)]
mod tests;
