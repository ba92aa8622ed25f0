//! From a call or a sample to places in the code that its author can open.

use crate::code::{Code, base_name};
use case::Place;
use case::tables::{Call, Location};

/// Frames shown: enough to see who called whom, few enough to read.
const SHOWN_FRAMES: usize = 4;

/// The places of a call: the line of the program that caused it first, then the line in the library that made it.
pub fn of_call(code: &Code, call: &Call) -> Vec<Place> {
    of_stacks(code, call.script_stack, call.stack)
}

/// The places of a script stack, or of a native stack where there is no script.
pub fn of_stacks(code: &Code, script_stack: u32, stack: u32) -> Vec<Place> {
    let script: Vec<&Location> = code.frames(script_stack).collect();
    if !script.is_empty() {
        return causing_line_first(&script).into_iter().map(place).collect();
    }
    let own = code.frames(stack).filter(|location| !location.is_libc);
    let places: Vec<Place> = own.take(SHOWN_FRAMES).map(place).collect();
    if places.is_empty() { code.frames(stack).take(1).map(place).collect() } else { places }
}

/// How the best place reads in a sentence; empty where no place is known.
pub fn in_words(places: &[Place]) -> String {
    match places.first() {
        None => String::new(),
        Some(place) if place.line > 0 => format!(", {}:{} in {}", place.file, place.line, place.function),
        Some(place) => format!(", {} in {}", place.function, base_name(&place.module)),
    }
}

fn causing_line_first<'l>(frames: &[&'l Location]) -> Vec<&'l Location> {
    let Some(cause) = frames.iter().position(|frame| !is_standard_library(frame)) else {
        return frames.iter().take(SHOWN_FRAMES).copied().collect();
    };
    let library = frames[..cause].first();
    let callers = &frames[cause + 1..];
    std::iter::once(&frames[cause]).chain(library).chain(callers).take(SHOWN_FRAMES).copied().collect()
}

/// Whether a frame belongs to what came with the interpreter or was installed beside it.
fn is_standard_library(location: &Location) -> bool {
    let path = if location.file.is_empty() { &location.module } else { &location.file };
    ["/lib/python", "/lib64/python", "/dist-packages/", "/site-packages/"].iter().any(|part| path.contains(part))
        || path.starts_with("<frozen")
}

fn place(location: &Location) -> Place {
    let offset = if location.function_offset > 0 { location.function_offset } else { location.offset };
    let function = match location.function.as_str() {
        "" => format!("{}+0x{offset:x}", base_name(&location.module)),
        name => name.to_string(),
    };
    Place { function, module: location.module.clone(), file: location.file.clone(), line: location.line }
}
