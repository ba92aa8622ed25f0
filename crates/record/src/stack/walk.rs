//! Walking one stack, frame by frame.

use super::frame::{Frame, Registers, Walk};
use super::modules::{Image, JAVA, Module, Modules, UNKNOWN};
use super::process::{Process, Span, find};
use super::row_cache::RowCache;
use super::unwind::{Machine, Unwound};
use crate::java::{Kind, Machines};
use crate::resolver::call_site;

/// A walk ends after this many frames, incomplete: 16 KB of stack hold fewer of any but the smallest.
const MOST_FRAMES: usize = 1024;

/// Bytes before a return address that show whether there is a call.
const CALL_BYTES: u64 = 7;

/// What a walk reads and fills on its way.
pub(super) struct Known<'a> {
    pub modules: &'a mut Modules,
    pub rows: &'a mut RowCache,
    pub java: &'a mut Machines,
}

/// Walks one copied stack of a process.
pub(super) fn walk(pid: u32, process: &mut Process, known: Known<'_>, registers: &Registers, stack: &[u8]) -> Walk {
    let Known { modules, rows, java } = known;
    let mut walk = Walk { frames: Vec::with_capacity(32), complete: false };
    let mut machine = Machine::new(registers, stack);
    let mut at_instruction = true;
    let mut spans = process.spans();
    while walk.frames.len() < MOST_FRAMES {
        // A call that never returns may be its function's last instruction: look up the call, not what follows it.
        let address = machine.instruction_pointer().wrapping_sub(u64::from(!at_instruction));
        if find(&spans, address).is_none() {
            process.learn_of_unknown(pid, modules);
            spans = process.spans();
        }
        let span = find(&spans, address);
        let (image, address) = span.map_or((UNKNOWN, address), |span| (span.module, address.wrapping_sub(span.bias)));
        let frame = Frame { image, at_instruction, address };
        let in_java = match modules.get(image) {
            Module::Generated(_) => step_of_java((pid, frame), &mut machine, java, modules, (&spans, &mut walk.frames)),
            _ => None,
        };
        let step = in_java.unwrap_or_else(|| {
            walk.frames.push(frame);
            step(&mut machine, frame, modules, rows, (&spans, stack))
        });
        match step {
            Unwound::Caller => at_instruction = false,
            Unwound::Interrupted => at_instruction = true,
            Unwound::First => {
                walk.complete = true;
                break;
            }
            Unwound::Lost => break,
        }
    }
    walk
}

fn step(
    machine: &mut Machine<'_>,
    frame: Frame,
    modules: &Modules,
    rows: &mut RowCache,
    (spans, stack): (&[Span], &[u8]),
) -> Unwound {
    let guess = |address: u64| is_return_address(address, modules, spans);
    match modules.get(frame.image) {
        Module::Image(image) => {
            if let Some(row) = rows.row((frame.image, frame.address), || return_addresses(stack, modules, spans)) {
                return machine.by_row(row);
            }
            without_row(machine, frame, image, guess)
        }
        // A just-in-time compiler keeps frame pointers if anything.
        Module::Generated(_) => match machine.by_frame_pointer(guess) {
            Unwound::Lost if frame.at_instruction => machine.by_leaf(guess),
            step => step,
        },
        // A call through a wild pointer leaves its return address on top.
        Module::Unknown | Module::Unreadable(_) if frame.at_instruction => match machine.by_leaf(guess) {
            Unwound::Lost => machine.by_frame_pointer(guess),
            step => step,
        },
        Module::Unreadable(_) => machine.by_frame_pointer(guess),
        Module::Unknown | Module::Java => Unwound::Lost,
    }
}

/// Steps out of code of HotSpot's, and adds the methods that it is of; None where it is not of any. What is of no method
/// leads from one to another, or copies arrays for one, and is left out.
fn step_of_java(
    (pid, frame): (u32, Frame),
    machine: &mut Machine<'_>,
    java: &mut Machines,
    modules: &Modules,
    (spans, frames): (&[Span], &mut Vec<Frame>),
) -> Option<Unwound> {
    let at_instruction = frame.at_instruction;
    let address = machine.instruction_pointer();
    let (blob, lines) = java.code(pid, address, at_instruction)?;
    let of_java = |line: u32| Frame { image: JAVA, at_instruction: false, address: u64::from(line) };
    match blob.kind {
        Kind::Compiled => frames.extend(lines.iter().copied().map(of_java)),
        Kind::Interpreter => {
            let place = machine.interpreted(at_instruction);
            let line = place.and_then(|(method, bytecode)| java.interpreted(pid, method, bytecode));
            frames.extend(line.map(of_java));
        }
        Kind::Stub => {}
    }
    Some(machine.by_blob(&blob, address, at_instruction, |address| is_return_address(address, modules, spans)))
}

fn without_row(machine: &mut Machine<'_>, frame: Frame, image: &Image, guess: impl Fn(u64) -> bool + Copy) -> Unwound {
    if image.facts.is_entry(frame.address) {
        return Unwound::First;
    }
    if frame.at_instruction {
        let step = machine.by_leaf(guess);
        if step != Unwound::Lost {
            return step;
        }
    }
    machine.by_frame_pointer(guess)
}

/// All that may be return addresses on a stack, as places in images: having their rows decoded one by one would take long.
fn return_addresses(stack: &[u8], modules: &Modules, spans: &[Span]) -> Vec<(u32, u64)> {
    let words = stack.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes).wrapping_sub(1));
    let place = |address| {
        let span = find(spans, address)?;
        let is_image = matches!(modules.get(span.module), Module::Image(_));
        is_image.then(|| (span.module, address.wrapping_sub(span.bias)))
    };
    words.filter_map(place).collect()
}

/// Whether an address is in code, behind a call as far as the code can be read.
fn is_return_address(address: u64, modules: &Modules, spans: &[Span]) -> bool {
    let Some(span) = find(spans, address.wrapping_sub(1)) else { return false };
    match modules.get(span.module) {
        Module::Image(image) => {
            let first = address.wrapping_sub(span.bias).wrapping_sub(CALL_BYTES);
            image.code(first, CALL_BYTES).is_some_and(|before| call_site::ends_with_call(&before))
        }
        Module::Generated(_) | Module::Unreadable(_) => true,
        Module::Unknown | Module::Java => false,
    }
}
