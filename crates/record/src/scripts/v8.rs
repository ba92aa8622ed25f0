//! V8 10 to 13, as Node 18 to 24 have it: what a function of JavaScript is called, and where it is written.
//!
//! V8 moves what is in its heap. The kernel side goes from a frame to what all closures of its function share, which stays
//! for long where it is, and digests of what function it was: only one that still matches is named.
//!
//! Lines are those on which functions begin. Where in a function a call is made, V8 does not keep: it compiles the function
//! again when it has to say.

mod object;
mod scope;
mod source;

use super::ScriptLine;
use super::memory::{Memory, digest};
use crate::resolver::V8;
use object::{Object, text};
use rustc_hash::FxHashMap;
use scope::{Scope, Shape};
use source::Sources;

/// A V8 that was found in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interpreter {
    /// The address of the first byte of its file.
    pub base: u64,
    layout: V8,
    shape: Shape,
    exit_frame: u32,
}

/// In the place of an instruction: the frame has bytecode (`V8_HAS_BYTECODE` in `bpf/v8.bpf.h`). Other frames have the address
/// there that they were at.
pub(super) const HAS_BYTECODE: u64 = 1 << 63;

/// So many bits of an address are used; those above hold the digest.
const ADDRESS_BITS: u32 = 48;

/// `instance_type` in `Map`, which the resolver has checked.
const INSTANCE_TYPE: u32 = 12;

/// What a function without a name is called, as in V8's own profiles.
const ANONYMOUS: &str = "(anonymous)";

/// What stands outside of all functions.
const TOP_LEVEL: &str = "(top level)";

/// What code is part of that is in no file, as that of `new Function`.
const EVALUATED: &str = "eval";

/// The layout of a version, most of which it says itself. What it does not say was read off the programs of Node 18.20, 20.20, 22.23 and
/// 24.21: where JavaScript calls C++ (`CEntry`), they keep the frame pointer in `c_entry_fp` of the isolate.
pub(super) fn known(layout: V8, base: u64) -> Option<Interpreter> {
    let shape = scope::shape(layout.version)?;
    let exit_frame = match layout.version {
        (10, 2) => 0x4538,
        (11, 3) => 0x180,
        (12, 4) => 0x110,
        (13, 6) => 0x140,
        _ => return None,
    };
    Some(Interpreter { base, layout, shape, exit_frame })
}

impl Interpreter {
    /// As the kernel side has them (`struct v8_offsets`).
    pub(super) fn words(&self) -> [u32; 8] {
        let V8 { image_bytes, isolate, shared, name, script, type_of_bytecode, .. } = self.layout;
        let bytecode = u32::from(type_of_bytecode);
        [image_bytes, shared, name, script, INSTANCE_TYPE, bytecode, isolate.unwrap_or(0), self.exit_frame]
    }
}

/// Most functions that are remembered at once, over all processes: about 50 MB. Beyond it they are read again.
const MOST_FUNCTIONS: usize = 200_000;

/// A function as it was read, and the digest of it.
#[derive(Clone, Debug)]
struct Function {
    digest: u64,
    line: Option<ScriptLine>,
}

/// The functions of all watched processes.
#[derive(Default)]
pub(super) struct Functions {
    /// By process and address.
    known: FxHashMap<(u32, u64), Function>,
    sources: Sources,
}

impl Functions {
    /// Where the function of a frame begins: its digest above, its address below.
    pub fn line(
        &mut self,
        (pid, memory): (u32, Memory<'_>),
        interpreter: &Interpreter,
        code: u64,
    ) -> Option<ScriptLine> {
        let (address, digest) = (code & ((1 << ADDRESS_BITS) - 1), code >> ADDRESS_BITS);
        let known = self.known.get(&(pid, address)).filter(|known| known.digest == digest);
        if let Some(known) = known {
            return known.line.clone();
        }
        let shared = Shared::read(memory, interpreter, address).filter(|shared| shared.digest() == digest)?;
        let line = shared.line((pid, memory), interpreter, &mut self.sources);
        if self.known.len() >= MOST_FUNCTIONS {
            self.known.clear();
        }
        self.known.insert((pid, address), Function { digest, line: line.clone() });
        line
    }

    /// The process ended, or executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.known.retain(|(owner, _), _| *owner != pid);
        self.sources.forget(pid);
    }
}

/// A `SharedFunctionInfo`: the pointers in it that are looked at.
#[derive(Clone, Copy, Debug)]
struct Shared {
    name: u64,
    script: u64,
}

impl Shared {
    fn read(memory: Memory<'_>, interpreter: &Interpreter, address: u64) -> Option<Shared> {
        let layout = &interpreter.layout;
        let object = Object::read(memory, address).filter(|object| object.is(layout.type_of_shared))?;
        Some(Shared { name: object.word(memory, layout.name)?, script: object.word(memory, layout.script)? })
    }

    fn digest(&self) -> u64 {
        digest(&[self.name, self.script]) & ((1 << (64 - ADDRESS_BITS)) - 1)
    }

    /// `None` for what is written in no script: what V8 brings along.
    fn line(&self, process: (u32, Memory<'_>), interpreter: &Interpreter, sources: &mut Sources) -> Option<ScriptLine> {
        /// `name`, `source` and `line_offset` in `Script`.
        const SOURCE: u32 = 8;
        const NAME: u32 = 16;
        const LINE_OFFSET: u32 = 24;
        let (memory, layout) = (process.1, &interpreter.layout);
        let script = Object::read(memory, self.script).filter(|script| script.is(layout.type_of_script))?;
        let own = Object::read(memory, self.name)?;
        let scope = if own.is(layout.type_of_scope) {
            Scope::read(memory, &interpreter.shape, &own)?
        } else {
            Scope { name: text(memory, self.name)?, start: None }
        };
        let file = script.word(memory, NAME).and_then(|name| text(memory, name)).unwrap_or_default();
        let line = scope.start.and_then(|start| {
            let before = sources.line((process.0, memory), script.word(memory, SOURCE)?, start)?;
            before.checked_add(object::small(script.word(memory, LINE_OFFSET)?)?)
        });
        Some(of_function(&file, scope, line))
    }
}

/// A function by its file, name, and how many lines there are before its own.
fn of_function(file: &str, scope: Scope, before: Option<u32>) -> ScriptLine {
    let is_top_level = scope.name.is_empty() && scope.start == Some(0);
    let function = match &*scope.name {
        "" if is_top_level => TOP_LEVEL.to_string(),
        "" => ANONYMOUS.to_string(),
        _ => scope.name,
    };
    // A file that computes at its top level does not do so on its first line.
    let line = before.filter(|_| !is_top_level).map_or(0, |before| before.saturating_add(1));
    let module = if file.is_empty() { EVALUATED.to_string() } else { String::new() };
    let file = file.strip_prefix("file://").unwrap_or(file).to_string();
    ScriptLine { file, function, line, module }
}

/// A door for fuzzers: what functions share, at the first address.
pub(super) fn fuzz(memory: Memory<'_>) {
    for version in [(10, 2), (13, 6)] {
        let layout = V8 {
            version,
            image_bytes: 1,
            isolate: None,
            shared: 24,
            name: 16,
            script: 32,
            type_of_shared: 257,
            type_of_script: 170,
            type_of_scope: 256,
            type_of_bytecode: 195,
        };
        let Some(interpreter) = known(layout, 0) else { continue };
        if let Some(shared) = Shared::read(memory, &interpreter, 0x1001) {
            let code = 0x1001 | shared.digest() << ADDRESS_BITS;
            Functions::default().line((1, memory), &interpreter, code);
        }
        let _ = text(memory, 0x1001);
    }
}

#[cfg(test)]
mod tests;
