//! HotSpot's heaps of code: which blob an address is in, and which methods a compiled one is of.

use super::layout::{CodeLayout, Layout, Place, ScopesLayout};
use super::tables::At;
use crate::resolver::lines::number;
use crate::scripts::memory::{Memory, half_of};
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// Heaps of a process: three, unless somebody asks for more.
const MOST_HEAPS: u64 = 16;

/// A larger blob is none: code of 8 MB is compiled by nobody.
const LARGEST_BLOB: u64 = 64 << 20;

/// From a place in a blob to its beginning the map of segments leads in so many steps, each of up to 254 segments.
const MOST_STEPS: usize = 4096;

/// A free segment in that map.
const FREE: u8 = 0xff;

/// How often heaps are looked for where an address is in none: they are made as the machine starts.
const PAUSE: Duration = Duration::from_millis(10);

/// Descriptions of places in one method, of 16 bytes each, the distance of the code first, then where their scope is written.
const MOST_PLACES: u64 = 1 << 16;
const PLACE_BYTES: usize = 16;

/// Methods that are inlined into each other: HotSpot stops at 15 unless told otherwise.
const MOST_INLINED: usize = 64;

/// Methods that one compiled method names.
const MOST_METHODS: u64 = 1 << 16;

/// Three numbers of five bytes: the outer scope, the method, the bytecode.
const SCOPE_BYTES: usize = 15;

/// What is in a blob.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A compiled method, or the way into a native one.
    Compiled,
    /// The interpreter.
    Interpreter,
    /// Anything else: ways in and out, copying of arrays.
    #[default]
    Stub,
}

/// A piece of generated code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Blob {
    /// What it is.
    pub kind: Kind,
    /// How many bytes of stack its frame takes, up to and with the return address; 0 where that is not the same everywhere.
    pub frame_bytes: u64,
    /// From which address on its frame is complete.
    pub complete: u64,
    start: u64,
    code: u64,
    /// Of a compiled method: the outermost one, and the number of the compilation.
    method: u64,
    number: u64,
    name: u64,
}

/// A method and a bytecode in it, where that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InMethod {
    pub method: u64,
    pub bytecode: Option<u32>,
}

/// A reserved range, of which code is in the lower part.
#[derive(Clone, Copy, Debug)]
struct Heap {
    first: u64,
    end: u64,
    low: u64,
    segments: u64,
    shift: u32,
}

/// The heaps of one process.
#[derive(Default)]
pub(super) struct Code {
    heaps: Vec<Heap>,
    next_look: Option<Instant>,
    kinds: FxHashMap<u64, Kind>,
}

impl Code {
    /// The blob that an address is in.
    pub fn blob(&mut self, memory: Memory<'_>, layout: &Layout, address: u64) -> Option<Blob> {
        let holds = |heap: &&Heap| (heap.first..heap.end).contains(&address);
        if !self.heaps.iter().any(|heap| holds(&heap)) && self.next_look.is_none_or(|next| Instant::now() >= next) {
            self.heaps = heaps(memory, &layout.code).unwrap_or_default();
            self.next_look = Some(Instant::now() + PAUSE);
        }
        let heap = self.heaps.iter().find(holds)?;
        let start = blob_start(memory, &layout.code, heap, address)?;
        self.read(memory, layout, start).filter(|blob| address >= blob.code)
    }

    /// What blobs of a name are.
    fn kind(&mut self, memory: Memory<'_>, name: u64) -> Option<Kind> {
        if let Some(kind) = self.kinds.get(&name) {
            return Some(*kind);
        }
        let kind = by_name(&memory.text(name)?);
        // Few names, all of them constants of the machine's.
        if self.kinds.len() < usize::from(u16::MAX) {
            self.kinds.insert(name, kind);
        }
        Some(kind)
    }

    fn read(&mut self, memory: Memory<'_>, layout: &Layout, start: u64) -> Option<Blob> {
        let of = &layout.code;
        // The last blob of a heap may be shorter than a compiled method's head.
        let head = memory.bytes(start, layout.compiled.bytes).or_else(|| memory.bytes(start, of.blob_bytes))?;
        let name = of.blob_name.of(&head)?;
        let kind = self.kind(memory, name)?;
        let is_compiled = kind == Kind::Compiled;
        let of_method = |at: At| if is_compiled { at.of(&head) } else { Some(0) };
        let code = of.code_begin.of(start, &head)?;
        let size = of.blob_size.of(&head).filter(|size| *size <= LARGEST_BLOB)?;
        if !(start..start.checked_add(size)?).contains(&code) {
            return None;
        }
        // Signed, and negative where it never is.
        let complete = of.frame_complete.of(&head).filter(|distance| *distance <= size).unwrap_or(size);
        let words = of.frame_words.of(&head).filter(|words| *words <= 1 << 16).unwrap_or_default();
        Some(Blob {
            kind,
            frame_bytes: words * 8,
            complete: code.checked_add(complete)?,
            start,
            code,
            method: of_method(layout.compiled.method)?,
            number: of_method(layout.compiled.number)?,
            name,
        })
    }
}

/// By HotSpot's own name.
fn by_name(name: &str) -> Kind {
    match name {
        "nmethod" | "native nmethod" => Kind::Compiled,
        "Interpreter" => Kind::Interpreter,
        _ => Kind::Stub,
    }
}

fn heaps(memory: Memory<'_>, layout: &CodeLayout) -> Option<Vec<Heap>> {
    let list = memory.word(layout.heaps)?;
    let field = |structure: u64, at: At| {
        let mut bytes = [0; 8];
        let read = memory.read(structure.checked_add(at.offset as u64)?, bytes.get_mut(..at.bytes)?);
        read.then(|| u64::from_le_bytes(bytes))
    };
    let length = field(list, layout.list_length)?.min(MOST_HEAPS);
    let data = field(list, layout.list_data)?;
    let heap = |index: u64| {
        let heap = memory.word(data.checked_add(index * 8)?)?;
        let space = |offset: usize, at| field(heap.checked_add(offset as u64)?, at);
        Some(Heap {
            first: space(layout.memory, layout.space_first)?,
            end: space(layout.memory, layout.space_end)?,
            low: space(layout.memory, layout.space_low)?,
            segments: space(layout.segments, layout.space_low)?,
            // From one byte to as many as make sense.
            shift: field(heap, layout.segment_shift)
                .and_then(|shift| u32::try_from(shift).ok())
                .filter(|it| *it < 24)?,
        })
    };
    Some((0..length).filter_map(heap).collect())
}

/// Where the blob begins that an address is in: each byte of the map of segments says how far back at least that is.
fn blob_start(memory: Memory<'_>, layout: &CodeLayout, heap: &Heap, address: u64) -> Option<u64> {
    let mut segment = address.checked_sub(heap.low)? >> heap.shift;
    let mut steps = 0;
    loop {
        let [back] = memory.front::<1>(heap.segments.checked_add(segment)?)?;
        match back {
            0 => break,
            FREE => return None,
            back => segment = segment.checked_sub(u64::from(back))?,
        }
        steps += 1;
        if steps > MOST_STEPS {
            return None;
        }
    }
    let block = heap.low.checked_add(segment << heap.shift)?;
    let header = memory.bytes(block, layout.block_bytes)?;
    (layout.block_used.of(&header)? != 0).then(|| block.checked_add(layout.block_bytes as u64))?
}

/// The methods that a place in a compiled one is in, the innermost first: `address` is where a call returns to, or, `at_instruction`,
/// where the thread is. The outermost alone where no more is known.
pub(super) fn scopes(
    memory: Memory<'_>,
    layout: &Layout,
    blob: &Blob,
    address: u64,
    at_instruction: bool,
) -> Vec<InMethod> {
    let inlined = layout.compiled.scopes.and_then(|scopes| {
        let head = memory.bytes(blob.start, layout.compiled.bytes)?;
        let scope = scope(memory, &scopes, blob, &head, (address, at_instruction))?;
        inlined(memory, layout, &scopes, (blob.start, &head), scope)
    });
    // A scope whose outermost method is another was read while it changed.
    let sound = inlined.filter(|all| all.last().is_some_and(|outermost| outermost.method == blob.method));
    sound.unwrap_or_else(|| vec![InMethod { method: blob.method, bytecode: None }])
}

/// Where the scope of a place is written. Calls have a description each; of another instruction, that of the next place counts,
/// for there the machine can say what it has done.
fn scope(
    memory: Memory<'_>,
    layout: &ScopesLayout,
    blob: &Blob,
    head: &[u8],
    (address, at_instruction): (u64, bool),
) -> Option<u32> {
    let of = |place: Place| place.of(blob.start, head);
    let (first, end) = (of(layout.places)?, of(layout.places_end)?);
    let count = (end.checked_sub(first)? / PLACE_BYTES as u64).min(MOST_PLACES);
    let table = memory.bytes(first, count as usize * PLACE_BYTES)?;
    let distance = u32::try_from(address.checked_sub(blob.code)?).ok()?;
    let places = table.as_chunks::<PLACE_BYTES>().0;
    let is_wanted = |place: &&[u8; PLACE_BYTES]| {
        let at = half_of(*place, 0);
        // The first and the last are marks: -1, and the largest number.
        at < i32::MAX as u32 && (at == distance || at_instruction && at >= distance)
    };
    let place = places.iter().find(is_wanted)?;
    Some(half_of(place, 4)).filter(|scope| *scope != 0)
}

fn inlined(
    memory: Memory<'_>,
    layout: &Layout,
    scopes: &ScopesLayout,
    (start, head): (u64, &[u8]),
    innermost: u32,
) -> Option<Vec<InMethod>> {
    let (written, methods) = (scopes.scopes.of(start, head)?, scopes.methods.of(start, head)?);
    let (mut all, mut scope) = (Vec::new(), innermost);
    while scope != 0 && all.len() < MOST_INLINED {
        let bytes: [u8; SCOPE_BYTES] = memory.front(written.checked_add(u64::from(scope))?)?;
        let mut rest = &bytes[..];
        let mut next = || number(&mut rest, layout.numbers);
        let (outer, method, bytecode) = (next()?, next()?, next()?);
        // Numbers of methods begin at 1, those of bytecodes are one more than they are.
        let method = u64::from(method.checked_sub(1)?);
        let method = memory.word(methods.checked_add(method * 8).filter(|_| method < MOST_METHODS)?)?;
        all.push(InMethod { method, bytecode: bytecode.checked_sub(1) });
        // The outer one was written before.
        if outer >= scope {
            return None;
        }
        scope = outer;
    }
    (scope == 0).then_some(all)
}
