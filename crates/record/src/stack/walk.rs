//! Walking one stack, frame by frame.

use super::frame::{Frame, Registers, Walk};
use super::modules::{Image, Module, Modules, UNKNOWN};
use super::process::{Process, Span, find};
use super::row_cache::RowCache;
use super::unwind::{Machine, Unwound};
use crate::resolver::call_site;

/// A walk ends after this many frames, incomplete: 16 KB of stack hold fewer of any but the smallest.
const MOST_FRAMES: usize = 1024;

/// Bytes before a return address that show whether there is a call.
const CALL_BYTES: u64 = 7;

/// Walks one copied stack of a process.
pub(super) fn walk(
    pid: u32,
    process: &mut Process,
    modules: &mut Modules,
    rows: &mut RowCache,
    registers: &Registers,
    stack: &[u8],
) -> Walk {
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
        walk.frames.push(frame);
        match step(&mut machine, frame, modules, rows, (&spans, stack)) {
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
        Module::Unknown => Unwound::Lost,
    }
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
        Module::Unknown => false,
    }
}
