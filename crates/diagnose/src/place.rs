//! From a call or a sample to places in the code that its author can open.

use crate::code::{Code, base_name};
use crate::installed::{self, is_installed};
use crate::java;
use case::tables::{Call, Location, kind};
use case::{Function, Place, PlaceShare};
use std::collections::BTreeMap;

/// Frames shown: enough to see who called whom, few enough to read.
const SHOWN_FRAMES: usize = 4;

/// The places of a call: the line of the program that caused it first, then the line in the library that made it.
pub fn of_call(code: &Code, call: &Call) -> Vec<Place> {
    of_stacks(code, call.script_stack, call.stack)
}

/// A caller with a name so many frames away stands for what it calls.
const NEARBY: usize = 3;

/// Places that carry less than this share of a cost are not counted beside the one that carries most.
const MATTERS: f64 = 0.05;

/// Where the place that carries most has less than this share of a cost, the cost is elsewhere: in code without names, as a rule.
const LEAST: f64 = 0.02;

/// The place that carries most of a cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Located {
    /// Its frames, the most specific first; none if no place is known.
    pub places: Vec<Place>,
    /// How much of the cost is there.
    pub share: Option<PlaceShare>,
}

impl Located {
    /// How it reads in a sentence, behind a comma; empty where no place is known.
    pub fn in_words(&self) -> String {
        let more = match self.share.map_or(0, |share| share.others) {
            0 => String::new(),
            1 => " and 1 more place".to_string(),
            others => format!(" and {others} more places"),
        };
        let place = in_words(&self.places);
        if place.is_empty() { place } else { place + &more }
    }
}

/// The place that carries most of a cost: the script's stack, the native stack, and their part of it.
pub fn of_most(code: &Code, stacks: impl IntoIterator<Item = ((u32, u32), u64)>) -> Located {
    of_most_by(stacks, |script, native| of_stacks(code, script, native))
}

/// The same for stacks of a thread on CPU. Of code that a runtime has compiled in memory nothing is known but that it ran: who
/// called it is not where the time goes.
pub fn of_most_on_cpu(code: &Code, stacks: impl IntoIterator<Item = ((u32, u32), u64)>) -> Located {
    of_most_by(stacks, |script, native| {
        let in_memory = code.frames(native).next().is_some_and(is_nameless);
        if in_memory && code.frames(script).next().is_none() {
            return Vec::new();
        }
        of_stacks(code, script, native)
    })
}

/// The same, for places read off a stack in another way. Stacks that differ elsewhere count together where their first
/// place is the same; the frames shown are those of its heaviest stack.
pub fn of_most_by(
    stacks: impl IntoIterator<Item = ((u32, u32), u64)>,
    place: impl Fn(u32, u32) -> Vec<Place>,
) -> Located {
    let mut weights: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for (stack, weight) in stacks {
        let sum = weights.entry(stack).or_default();
        *sum = sum.saturating_add(weight);
    }
    of_heaviest(weights, &place)
}

/// The place that carries most of what stacks weigh together. Compiled once, whoever gathers the stacks.
fn of_heaviest(weights: BTreeMap<(u32, u32), u64>, place: &dyn Fn(u32, u32) -> Vec<Place>) -> Located {
    let whole: u64 = weights.values().fold(0, |sum, weight| sum.saturating_add(*weight));
    // Of equals the first, so that the same recording gives the same place; the heaviest stack of a place comes first.
    let mut by_weight: Vec<((u32, u32), u64)> = weights.into_iter().filter(|(stack, _)| *stack != (0, 0)).collect();
    by_weight.sort_by_key(|&(stack, weight)| (std::cmp::Reverse(weight), stack));
    let mut by_place: Vec<(Vec<Place>, u64)> = Vec::new();
    for ((script, native), weight) in by_weight {
        let places = place(script, native);
        match by_place.iter_mut().find(|(known, _)| known.first() == places.first()) {
            Some((_, sum)) => *sum = sum.saturating_add(weight),
            None => by_place.push((places, weight)),
        }
    }
    by_place.retain(|(places, _)| !places.is_empty());
    let most = by_place.iter().map(|(_, weight)| *weight).max().unwrap_or_default();
    let share = |weight: u64| weight as f64 / whole.max(1) as f64;
    let matter = by_place.iter().filter(|(_, weight)| share(*weight) >= MATTERS).count();
    let best = by_place.into_iter().find(|(_, weight)| *weight == most);
    let Some((places, weight)) = best.filter(|(_, weight)| share(*weight) >= LEAST) else {
        return Located::default();
    };
    let others = matter.saturating_sub(usize::from(share(weight) >= MATTERS)) as u32;
    Located { places, share: Some(PlaceShare { share: share(weight), others }) }
}

/// The places of a script stack, or of a native stack where there is no script.
pub fn of_stacks(code: &Code, script_stack: u32, stack: u32) -> Vec<Place> {
    let script: Vec<&Location> = code.frames(script_stack).collect();
    if !script.is_empty() {
        return causing_line_first(&script).into_iter().map(place).collect();
    }
    let own = own_frames(code, stack);
    let called = match passes_to(&own) {
        PassesTo::Nameless { first, .. } => &own[..first],
        _ => &own[..],
    };
    if called.is_empty() {
        let is_said = |frame: &&Location| !is_nameless(frame);
        return code.frames(stack).take(1).filter(is_said).map(place).collect();
    }
    native(called).into_iter().map(place).collect()
}

/// The line with which a program goes on after a wait; nothing where no line is known. Where the names of code that a runtime
/// has compiled in memory are not known, whoever runs it: an event loop's timers, or what it has read.
pub fn of_what_goes_on(code: &Code, script_stack: u32, stack: u32) -> Vec<Place> {
    if code.frames(script_stack).next().is_none() {
        let own = own_frames(code, stack);
        if let PassesTo::Nameless { last, .. } = passes_to(&own) {
            return who_runs_it(&own[last + 1..]);
        }
    }
    let places = of_stacks(code, script_stack, stack);
    let says = |place: &Place| place.line > 0 && !is_of_go_runtime(&place.function);
    if places.first().is_some_and(says) { places } else { Vec::new() }
}

/// What a runtime came from to the code that it runs, outermost frames last: the innermost that says its line, which the many
/// without that only call on to, else the innermost. Its line is the runtime's own affair, and left out.
fn who_runs_it(frames: &[&Location]) -> Vec<Place> {
    let with_line = frames.iter().find(|frame| frame.line > 0);
    let place = |frame: &&Location| Place { file: String::new(), line: 0, ..place(frame) };
    with_line.or(frames.first()).map(place).into_iter().collect()
}

fn own_frames<'r>(code: &Code<'r>, stack: u32) -> Vec<&'r Location> {
    code.frames(stack).filter(|location| is_of_program(location)).collect()
}

/// Code that a runtime has compiled in memory, and did not write down.
fn is_nameless(location: &Location) -> bool {
    location.kind == kind::GENERATED && location.function.is_empty()
}

/// Whether a runtime passes on to code that it has compiled in memory, which is the program's own.
enum PassesTo {
    Nothing,
    /// Its names say the line: the innermost that came with no library.
    Named(usize),
    /// Nothing is known of it: the innermost and the outermost of its frames. What they call is all that can be said; who
    /// called them is the runtime, whatever line of its own it is at.
    Nameless {
        first: usize,
        last: usize,
    },
}

fn passes_to(frames: &[&Location]) -> PassesTo {
    let has_place = |frame: &&Location| frame.kind == kind::GENERATED && (frame.line > 0 || java::is_of_java(frame));
    let is_named = |frame: &&Location| has_place(frame) && !is_standard_library(frame);
    let is_nameless = |frame: &&Location| is_nameless(frame);
    let ends = (frames.iter().position(is_nameless), frames.iter().rposition(is_nameless));
    match (frames.iter().position(is_named), ends) {
        (Some(named), _) => PassesTo::Named(named),
        (None, (Some(first), Some(last))) => PassesTo::Nameless { first, last },
        _ => PassesTo::Nothing,
    }
}

/// The package of a language's own library, or of one that was installed for the program, that it calls in a stack; none where it
/// is not known, and where nobody but the program calls for what it does: then it is its main loop, and what it calls a framework.
pub fn package_called<'r>(code: &Code<'r>, script_stack: u32, stack: u32) -> Option<&'r str> {
    let script: Vec<&Location> = code.frames(script_stack).collect();
    let (frames, cause) = if script.is_empty() {
        let own = own_frames(code, stack);
        if own.is_empty() || matches!(passes_to(&own), PassesTo::Nameless { .. }) {
            return None;
        }
        let cause = causing_frame(&own);
        (own, cause)
    } else {
        let cause = script.iter().position(|frame| !is_standard_library(frame))?;
        (script, cause)
    };
    let is_called_back = frames[cause + 1..].iter().any(|frame| is_standard_library(frame));
    let called = frames[..cause].last().filter(|called| is_called_back && is_standard_library(called))?;
    package(called)
}

/// The package of what came with a language, or was installed for a program; none of a runtime's own.
fn package(location: &Location) -> Option<&str> {
    match location.kind {
        kind::GENERATED if java::is_of_java(location) => Some(java::package(&location.function)),
        kind::SCRIPT | kind::GENERATED => Some(installed::package(&location.file)),
        _ if is_of_go_runtime(&location.function) => None,
        _ => Some(go_package(&location.function)),
    }
    .filter(|package| !package.is_empty())
}

/// The places of the callers of a function that the test accepts; of the whole stack where no such function is in it.
pub fn of_callers(code: &Code, script_stack: u32, stack: u32, accepts: impl Fn(&str) -> bool) -> Vec<Place> {
    if code.frames(script_stack).next().is_some() {
        return of_stacks(code, script_stack, 0);
    }
    let frames: Vec<&Location> = code.frames(stack).filter(|location| is_of_program(location)).collect();
    match frames.iter().rposition(|frame| accepts(&frame.function)) {
        Some(at) if at + 1 < frames.len() => native(&frames[at + 1..]).into_iter().map(place).collect(),
        _ => of_stacks(code, 0, stack),
    }
}

/// The functions that the kernel lends to programs: the C library's clocks.
const LENT: &str = "[vdso]";

/// Whether a frame can belong to the program: the C library's and the kernel's are its callees, and nobody wrote `_start`.
fn is_of_program(location: &Location) -> bool {
    !location.is_libc && location.module != LENT && location.function != "_start"
}

/// The frame that caused a native call first, then what it called, then those of its callers that are informative.
fn native<'l>(frames: &[&'l Location]) -> Vec<&'l Location> {
    let cause = named_nearby(frames, causing_frame(frames));
    let called = cause.checked_sub(1).map(|at| frames[at]);
    let mut shown = informative(&frames[cause..]).into_iter();
    shown.next().into_iter().chain(called).chain(shown).take(SHOWN_FRAMES).collect()
}

/// The innermost frame outside a language's own library, one whose line is known before one in stripped code, and what a
/// runtime runs for the program before the runtime. Where a library's thread did it by itself: where the outermost of its
/// packages hands over to the others.
fn causing_frame(frames: &[&Location]) -> usize {
    if let PassesTo::Named(cause) = passes_to(frames) {
        return cause;
    }
    // All else in a thread of Java's is its machine.
    if let Some(cause) = java::hands_over(frames) {
        return cause;
    }
    let own = |frame: &&Location| !is_standard_library(frame);
    let with_line = frames.iter().position(|frame| own(frame) && frame.line > 0);
    if let Some(cause) = with_line.or_else(|| frames.iter().position(own)) {
        return cause;
    }
    if frames.iter().all(|frame| is_of_go_runtime(&frame.function)) {
        return frames.iter().position(|frame| frame.function == GO_IS_IDLE).unwrap_or(0);
    }
    let starts_threads = |frame: &&&Location| go_package(&frame.function) == "runtime";
    let outermost = frames.len() - 1 - frames.iter().rev().take_while(starts_threads).count().min(frames.len() - 1);
    let package = go_package(&frames[outermost].function);
    let inside = |frame: &&&Location| go_package(&frame.function) == package;
    outermost + 1 - frames[..=outermost].iter().rev().take_while(inside).count().max(1)
}

/// A frame without a name says nothing to anybody: the function of the same module that called it, where one is near that has a
/// name. Who called that one from far away may have called anything.
fn named_nearby(frames: &[&Location], cause: usize) -> usize {
    let is_bare =
        |frame: &&&Location| frame.function.is_empty() && frame.line == 0 && frame.module == frames[cause].module;
    let bare = frames[cause..].iter().take_while(is_bare).count();
    let caller = frames.get(cause + bare).filter(|frame| bare > 0 && frame.module == frames[cause].module);
    if caller.is_some() && bare <= NEARBY { cause + bare } else { cause }
}

/// The innermost frame, whatever it is, and those of its callers that are informative: that have a name, or are the
/// first of another module. Addresses in stripped code come by the dozen, and Go's runtime starts every thread.
fn informative<'l>(frames: &[&'l Location]) -> Vec<&'l Location> {
    let named = |at: usize| !frames[at].function.is_empty() && !is_of_go_runtime(&frames[at].function);
    let informs = |at: usize| at == 0 || named(at) || frames[at].module != frames[at - 1].module;
    (0..frames.len()).filter(|at| informs(*at)).take(SHOWN_FRAMES).map(|at| frames[at]).collect()
}

/// How the best place reads in a sentence; empty where no place is known.
pub fn in_words(places: &[Place]) -> String {
    match places.first() {
        None => String::new(),
        Some(place) if place.line > 0 => {
            format!(", {}:{} in {}", base_name(&place.file), place.line, Function::short(&place.function))
        }
        Some(place) if Function::of(&place.function).is_address() => format!(", {}", place.function),
        Some(place) => {
            let whole = if place.file.is_empty() { &place.module } else { &place.file };
            format!(", {} in {}", Function::short(&place.function), base_name(whole))
        }
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

/// Folders in which programs keep the sources of libraries that they bring along: a runtime's event loop, say.
const BUNDLED: [&str; 2] = ["/deps/", "/third_party/"];

/// Whether a frame belongs to what came with the interpreter or compiler, or was installed beside it.
fn is_standard_library(location: &Location) -> bool {
    let path = if location.file.is_empty() { &location.module } else { &location.file };
    if location.kind == kind::SCRIPT {
        return location.file.is_empty() || is_installed(path);
    }
    if java::is_of_java(location) {
        return java::is_own(location);
    }
    if location.kind == kind::GENERATED {
        // What came with a runtime is in no file, and what was installed for it in a folder that all use.
        return !location.file.is_empty() && (!path.starts_with('/') || path.contains("/node_modules/"));
    }
    let rust = path.starts_with("/rustc/") && path.contains("/library/");
    rust || BUNDLED.iter().any(|folder| path.contains(folder))
        || path.starts_with("/usr/include/c++/")
        || is_gos_own(location)
}

/// Whether a function came with Go: its package's path begins with no domain, and its file lies in a folder `src` under
/// just that path. Go makes wrappers of methods, which have no file.
fn is_gos_own(location: &Location) -> bool {
    let package = go_package(&location.function);
    if package.is_empty() || package == "main" || package.split('/').next().is_none_or(|first| first.contains('.')) {
        return false;
    }
    location.file == "<autogenerated>" || location.file.contains(&format!("/src/{package}/"))
}

/// Where a thread of Go's is that has nothing to run: what it waits in is the scheduler's own affair.
const GO_IS_IDLE: &str = "runtime.findRunnable";

/// Whether a function is Go's runtime's own. One that a place begins with has nothing of the program's above it: its place would be
/// that.
pub fn is_of_go_runtime(function: &str) -> bool {
    let package = go_package(function);
    package == "runtime" || package.starts_with("internal/runtime/")
}

/// The path of a Go function's package: `net/http` of `net/http.(*Client).Do`; empty for a name without a package.
fn go_package(function: &str) -> &str {
    let name = function.split('[').next().unwrap_or_default();
    let last = name.rfind('/').map_or(0, |slash| slash + 1);
    name[last..].find('.').map_or("", |dot| &name[..last + dot])
}

fn place(location: &Location) -> Place {
    let offset = if location.function_offset > 0 { location.function_offset } else { location.offset };
    let function = match location.function.as_str() {
        "" => Function::at(base_name(&location.module), offset),
        name => name.to_string(),
    };
    Place { function, module: location.module.clone(), file: location.file.clone(), line: location.line }
}

#[cfg(test)]
mod tests;
