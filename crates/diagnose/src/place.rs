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
    let own: Vec<&Location> = code.frames(stack).filter(|location| !location.is_libc).collect();
    if own.is_empty() {
        return code.frames(stack).take(1).map(place).collect();
    }
    telling(&own).into_iter().map(place).collect()
}

/// The innermost frame, whatever it is, and of its callers those that tell something: one with a name, or the first of
/// another module. Addresses in stripped code follow each other by the dozen.
fn telling<'l>(frames: &[&'l Location]) -> Vec<&'l Location> {
    let tells = |at: usize| at == 0 || !frames[at].function.is_empty() || frames[at].module != frames[at - 1].module;
    (0..frames.len()).filter(|at| tells(*at)).take(SHOWN_FRAMES).map(|at| frames[at]).collect()
}

/// How the best place reads in a sentence; empty where no place is known.
pub fn in_words(places: &[Place]) -> String {
    match places.first() {
        None => String::new(),
        Some(place) if place.line > 0 => {
            format!(", {}:{} in {}", base_name(&place.file), place.line, place.function)
        }
        Some(place) if place.function.contains("+0x") => format!(", {}", place.function),
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
