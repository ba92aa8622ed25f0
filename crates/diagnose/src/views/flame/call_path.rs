//! From a copied stack to the functions that a reader of the program knows, outermost first.
//!
//! Of an interpreted program these are the script's own functions, and beneath them what its innermost line called in
//! compiled code: the interpreter's frames tell nothing about the script.

use crate::code::{Code, base_name};
use crate::profile::without_start;
use case::tables::{Location, kind};

/// The functions of CPython, PHP, Perl and CRuby in which a script's lines are evaluated: what is beneath the innermost one was
/// called by the innermost line. Called so since CPython 3.6, and exported by most, so that their names are known in stripped
/// builds too.
const EVALUATION: [&str; 4] = ["_PyEval_EvalFrameDefault", "execute_ex", "Perl_runops_standard", "rb_vm_exec"];

/// What V8 calls what it compiled itself when it was built: its interpreter, and what it calls for scripts.
const BUILT_IN: &str = "Builtins_";

/// What interpreters' libraries are called, where that function has no name.
const LIBRARIES: [&str; 4] = ["libpython", "libphp", "libperl", "libruby"];

/// What CPython calls its modules that import others. Its own tracebacks leave them out between two lines of scripts.
const IMPORTING: &str = "<frozen importlib";

/// The functions of a stack.
pub struct CallPath<'l> {
    /// The places, outermost first.
    pub places: Vec<&'l Location>,
    /// Whether the outermost is its thread's first function.
    pub complete: bool,
}

impl<'l> CallPath<'l> {
    /// The functions of what was copied of one moment; none where nothing was. `program` is its executable's name.
    pub fn new(code: &Code<'l>, stack: u32, script_stack: u32, program: &str) -> CallPath<'l> {
        let native: Vec<&Location> = code.frames(stack).collect();
        let script: Vec<&Location> = code.frames(script_stack).collect();
        if script.is_empty() {
            return CallPath { places: without_start(&native), complete: code.is_complete(stack) };
        }
        let mut places = without_importing(&script);
        places.extend(beneath_script(&native, program));
        CallPath { places, complete: code.is_complete(script_stack) }
    }
}

/// A script's functions outermost first; importing another module is no step that its author wrote.
fn without_importing<'l>(innermost_first: &[&'l Location]) -> Vec<&'l Location> {
    let importing = |location: &&&Location| location.module.starts_with(IMPORTING);
    let innermost = innermost_first.iter().take_while(importing).count();
    let (last, before) = innermost_first.split_at(innermost);
    before.iter().rev().filter(|location| !importing(location)).chain(last.iter().rev()).copied().collect()
}

/// What the innermost line of a script called, outermost first: from the first library that is not the interpreter's
/// own; where there is none, the interpreter's functions.
fn beneath_script<'l>(innermost_first: &[&'l Location], program: &str) -> Vec<&'l Location> {
    let is_evaluation = |location: &Location| EVALUATION.contains(&location.function.as_str());
    // Where nothing evaluates lines, they were compiled.
    let is_compiled = |location: &Location| location.kind == kind::GENERATED || location.function.starts_with(BUILT_IN);
    let has_evaluation = innermost_first.iter().any(|location| is_evaluation(location));
    let runs = |location: &Location| if has_evaluation { is_evaluation(location) } else { is_compiled(location) };
    let interpreter = innermost_first.iter().find(|location| runs(location)).map(|location| location.module.as_str());
    let is_library = |name: &str| LIBRARIES.iter().any(|library| name.starts_with(library));
    let is_interpreter = |location: &Location| match interpreter {
        Some(module) => location.module == module,
        None => base_name(&location.module) == program || is_library(base_name(&location.module)),
    };
    let evaluates = |location: &Location| match interpreter {
        Some(_) => runs(location),
        None => is_interpreter(location),
    };
    let mut beneath: Vec<&Location> = innermost_first.iter().copied().take_while(|place| !evaluates(place)).collect();
    beneath.reverse();
    let library = beneath.iter().position(|place| !is_interpreter(place) && !place.is_libc);
    beneath.split_off(library.unwrap_or_default())
}
