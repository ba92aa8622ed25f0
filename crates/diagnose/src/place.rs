//! From a call or a sample to places in the code that its author can open.

use crate::analysis::Analysis;
use crate::code::{Code, base_name};
use case::Place;
use case::tables::{Call, Location, kind};

/// Frames shown: enough to see who called whom, few enough to read.
const SHOWN_FRAMES: usize = 4;

/// The places of a call: the line of the program that caused it first, then the line in the library that made it.
pub fn of_call(code: &Code, call: &Call) -> Vec<Place> {
    of_stacks(code, call.script_stack, call.stack)
}

/// The places of the first of some calls whose stack was copied.
pub fn of_any(analysis: &Analysis, rows: impl IntoIterator<Item = usize>) -> Vec<Place> {
    let places = rows.into_iter().map(|row| of_call(&analysis.code, analysis.call(row)));
    places.into_iter().find(|places| !places.is_empty()).unwrap_or_default()
}

/// The places of a script stack, or of a native stack where there is no script.
pub fn of_stacks(code: &Code, script_stack: u32, stack: u32) -> Vec<Place> {
    let script: Vec<&Location> = code.frames(script_stack).collect();
    if !script.is_empty() {
        return causing_line_first(&script).into_iter().map(place).collect();
    }
    let own: Vec<&Location> = code.frames(stack).filter(|location| tells_of_program(location)).collect();
    if own.is_empty() {
        return code.frames(stack).take(1).map(place).collect();
    }
    native(&own).into_iter().map(place).collect()
}

/// The places of the callers of a function that the test accepts; of the whole stack where no such function is in it.
pub fn of_callers(code: &Code, script_stack: u32, stack: u32, accepts: impl Fn(&str) -> bool) -> Vec<Place> {
    if code.frames(script_stack).next().is_some() {
        return of_stacks(code, script_stack, 0);
    }
    let frames: Vec<&Location> = code.frames(stack).filter(|location| tells_of_program(location)).collect();
    match frames.iter().rposition(|frame| accepts(&frame.function)) {
        Some(at) if at + 1 < frames.len() => native(&frames[at + 1..]).into_iter().map(place).collect(),
        _ => of_stacks(code, 0, stack),
    }
}

/// Whether a frame can be the program's doing: the C library's are its callees, and nobody wrote `_start`.
fn tells_of_program(location: &Location) -> bool {
    !location.is_libc && location.function != "_start"
}

/// The frame that caused a native call first, then what it called, then those of its callers that tell something.
fn native<'l>(frames: &[&'l Location]) -> Vec<&'l Location> {
    let cause = causing_frame(frames);
    let called = cause.checked_sub(1).map(|at| frames[at]);
    let mut told = telling(&frames[cause..]).into_iter();
    told.next().into_iter().chain(called).chain(told).take(SHOWN_FRAMES).collect()
}

/// The innermost frame outside a language's own library, one whose line is known before one in stripped code. Where a
/// library's thread did it by itself: where the outermost of its packages hands over to the others.
fn causing_frame(frames: &[&Location]) -> usize {
    let own = |frame: &&Location| !is_standard_library(frame);
    let with_line = frames.iter().position(|frame| own(frame) && frame.line > 0);
    if let Some(cause) = with_line.or_else(|| frames.iter().position(own)) {
        return cause;
    }
    let starts_threads = |frame: &&&Location| go_package(&frame.function) == "runtime";
    let outermost = frames.len() - 1 - frames.iter().rev().take_while(starts_threads).count().min(frames.len() - 1);
    let package = go_package(&frames[outermost].function);
    let inside = |frame: &&&Location| go_package(&frame.function) == package;
    outermost + 1 - frames[..=outermost].iter().rev().take_while(inside).count().max(1)
}

/// The innermost frame, whatever it is, and of its callers those that tell something: one with a name, or the first of
/// another module. Addresses in stripped code follow each other by the dozen, and Go's runtime starts every thread.
fn telling<'l>(frames: &[&'l Location]) -> Vec<&'l Location> {
    let named = |at: usize| !frames[at].function.is_empty() && go_package(&frames[at].function) != "runtime";
    let tells = |at: usize| at == 0 || named(at) || frames[at].module != frames[at - 1].module;
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

/// Whether a frame belongs to what came with the interpreter or compiler, or was installed beside it.
fn is_standard_library(location: &Location) -> bool {
    let path = if location.file.is_empty() { &location.module } else { &location.file };
    if location.kind == kind::SCRIPT {
        return ["/lib/python", "/lib64/python", "/dist-packages/", "/site-packages/"]
            .iter()
            .any(|part| path.contains(part))
            || path.starts_with("<frozen");
    }
    let rust = path.starts_with("/rustc/") && path.contains("/library/");
    rust || path.starts_with("/usr/include/c++/") || is_gos_own(location)
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

/// The path of a Go function's package: `net/http` of `net/http.(*Client).Do`; empty for a name without a package.
fn go_package(function: &str) -> &str {
    let name = function.split('[').next().unwrap_or_default();
    let last = name.rfind('/').map_or(0, |slash| slash + 1);
    name[last..].find('.').map_or("", |dot| &name[..last + dot])
}

fn place(location: &Location) -> Place {
    let offset = if location.function_offset > 0 { location.function_offset } else { location.offset };
    let function = match location.function.as_str() {
        "" => format!("{}+0x{offset:x}", base_name(&location.module)),
        name => name.to_string(),
    };
    Place { function, module: location.module.clone(), file: location.file.clone(), line: location.line }
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::Recording;
    use case::tables::StackFrame;

    /// The functions shown for a native stack of functions with their files, innermost first.
    fn shown(frames: &[(&str, &str)]) -> Vec<String> {
        let mut recording = Recording::default();
        for (depth, (function, file)) in frames.iter().enumerate() {
            let (function, file) = ((*function).to_string(), (*file).to_string());
            let line = u32::from(!file.is_empty()) * 7;
            let id = depth as u32;
            let module = "/srv/program".to_string();
            recording.locations.push(Location { id, module, function, file, line, ..Location::default() });
            recording.stacks.push(StackFrame { stack: 1, depth: depth as u16, location: id, complete: true });
        }
        of_stacks(&Code::new(&recording), 0, 1).into_iter().map(|place| place.function).collect()
    }

    const SYSCALL: (&str, &str) = ("syscall.Syscall", "/usr/local/go/src/syscall/syscall_linux.go");
    const CONN: (&str, &str) = ("net.(*conn).Write", "/usr/local/go/src/net/net.go");
    const GET: (&str, &str) = ("net/http.(*Client).Get", "/usr/local/go/src/net/http/client.go");
    const EXIT: (&str, &str) = ("runtime.goexit", "/usr/local/go/src/runtime/asm_amd64.s");

    #[test]
    fn a_go_programs_own_line_stands_before_its_library() {
        let fetch = ("example.com/shop.(*Cart).fetch", "/home/me/shop/src/cart.go");
        assert_eq!(shown(&[SYSCALL, CONN, GET, fetch, EXIT])[..2], [fetch.0, GET.0]);
        let main = ("main.main", "/home/me/src/main/program.go");
        assert_eq!(shown(&[SYSCALL, CONN, main, EXIT])[0], main.0);
    }

    #[test]
    fn a_thread_of_gos_library_is_named_by_its_outermost_package() {
        let flush = ("net/http.(*persistConn).writeLoop", "/usr/local/go/src/net/http/transport.go");
        let wrapper = ("bufio.(*Writer).Flush", "<autogenerated>");
        assert_eq!(shown(&[SYSCALL, CONN, wrapper, flush, EXIT])[..2], [flush.0, wrapper.0]);
    }

    #[test]
    fn a_line_of_the_program_stands_before_stripped_libraries() {
        assert_eq!(shown(&[("", ""), ("BIO_write", ""), ("post", "client.c"), ("main", "client.c")])[0], "post");
        assert_eq!(shown(&[("BIO_write", ""), ("post", "")])[0], "BIO_write");
    }
}
