//! Places in the code: the frames of a stack, their names, and a sample's call path from the outermost frame inwards.

use super::programs::base_name;
use crate::text::clean;
use case::tables::{Call, Location, Sample, kind};
use case::{Function, Recording};
use std::collections::BTreeMap;
use std::ops::Range;

/// The functions in which CPython, PHP, Perl and CRuby run a script: what is called from there stands below the script's
/// innermost line.
const EVALUATE_SCRIPTS: [&str; 4] = ["PyEval_EvalFrame", "execute_ex", "Perl_runops_standard", "rb_vm_exec"];

/// What V8 calls what it compiled itself when it was built. What else it runs is compiled in memory.
const BUILT_IN: &str = "Builtins_";

/// Index over a recording's stacks and locations.
pub(super) struct Code<'r> {
    recording: &'r Recording,
    stacks: BTreeMap<u32, Range<usize>>,
    locations: BTreeMap<u32, &'r Location>,
}

impl<'r> Code<'r> {
    /// Indexes a recording whose tables are in order.
    pub(super) fn of(recording: &'r Recording) -> Code<'r> {
        let mut stacks = BTreeMap::new();
        let mut start = 0;
        for frames in recording.stacks.chunk_by(|one, next| one.stack == next.stack) {
            stacks.insert(frames[0].stack, start..start + frames.len());
            start += frames.len();
        }
        let locations = recording.locations.iter().map(|location| (location.id, location)).collect();
        Code { recording, stacks, locations }
    }

    /// The frames of a stack, innermost first; none for stack 0.
    pub(super) fn frames(&self, stack: u32) -> Vec<&'r Location> {
        let rows = self.stacks.get(&stack).cloned().unwrap_or(0..0);
        let frames = self.recording.stacks[rows].iter();
        frames.filter_map(|frame| self.locations.get(&frame.location).copied()).collect()
    }

    /// Where a sample was, outermost first: the script's lines, the native code below them, the kernel's.
    pub(super) fn path(&self, sample: &Sample) -> Vec<&'r Location> {
        let mut inwards = self.frames(sample.kernel_stack);
        inwards.extend(self.below_script(sample.script_stack, sample.stack));
        inwards.reverse();
        inwards
    }

    /// The same for a call, as it entered the kernel.
    pub(super) fn path_of_call(&self, call: &Call) -> Vec<&'r Location> {
        let mut inwards = self.below_script(call.script_stack, call.stack);
        inwards.reverse();
        inwards
    }

    /// Native frames with the script's in the place of those that run it, innermost first.
    fn below_script(&self, script_stack: u32, stack: u32) -> Vec<&'r Location> {
        let (script, mut native) = (self.frames(script_stack), self.frames(stack));
        if !script.is_empty() {
            let evaluator =
                native.iter().position(|frame| EVALUATE_SCRIPTS.iter().any(|name| frame.function.contains(name)));
            let compiled = || {
                let is = |frame: &&Location| frame.kind == kind::GENERATED || frame.function.starts_with(BUILT_IN);
                native.iter().position(is)
            };
            native.truncate(evaluator.or_else(compiled).unwrap_or(native.len()));
        }
        native.extend(script);
        native
    }

    /// The line or function that made a call, and what of another file called that: of the script, else of native code
    /// without the C library.
    pub(super) fn cause(&self, call: &Call) -> Option<String> {
        let (script, native) = (self.frames(call.script_stack), self.frames(call.stack));
        let own = native.iter().copied().filter(|frame| !frame.is_libc).collect::<Vec<_>>();
        let frames = [script, own, native].into_iter().find(|frames| !frames.is_empty())?;
        let first = frames.first()?;
        let caller = frames.iter().find(|frame| (&frame.module, &frame.file) != (&first.module, &first.file));
        let called = caller.map(|caller| format!(", called at {}", place(caller)));
        Some(place(first) + &called.unwrap_or_default())
    }
}

/// A frame's name: the function, or the module and the offset of its first instruction.
pub(super) fn function(location: &Location) -> String {
    let module = base_name(&location.module);
    if !location.function.is_empty() {
        return clean(&location.function);
    }
    match (location.kind, location.function_offset) {
        (kind::NATIVE, 0) => clean(&Function::at(module, location.offset)),
        (kind::NATIVE, start) => clean(&Function::at(module, start)),
        _ => clean(module),
    }
}

/// A place as one would look it up: `client.py:26 in post`, `libcurl.so.4: easy_transfer`.
fn place(location: &Location) -> String {
    let function = function(location);
    match (location.file.is_empty(), location.line) {
        (false, line) if line > 0 => format!("{}:{line} in {function}", clean(base_name(&location.file))),
        _ if location.function.is_empty() => function,
        _ => format!("{function} ({})", clean(base_name(&location.module))),
    }
}
