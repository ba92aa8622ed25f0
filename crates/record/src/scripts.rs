//! Interpreters, seen from outside: where a process keeps the frames of its script, and what a frame means in it.
//!
//! The kernel side walks the frames at each call and hands over pairs of code and instruction; [`locate`] tells it where to
//! look, [`Scripts`] says which file, function and line a pair is. Both read another process's memory: what they find is
//! checked, and what fails the check is `None`, never a guess. A version whose layout is not known is not read.
//!
//! A language is a folder here, a walker beside it in `bpf`, and a line in each `match` of this file.

mod locate;
pub(crate) mod memory;
pub mod perl;
pub mod php;
pub mod python;
pub mod ruby;
pub mod v8;

pub(crate) use locate::{hotspot, locate, runtime};

use crate::resolver::Resolver;
use memory::Memory;

/// An interpreter that was found in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpreter {
    /// CPython 3.9 to 3.14.
    Python(python::Interpreter),
    /// PHP 8.1 to 8.5, built without threads.
    Php(php::Interpreter),
    /// Perl 5.34 to 5.42, built with threads.
    Perl(perl::Interpreter),
    /// CRuby 3.0 to 3.3.
    Ruby(ruby::Interpreter),
    /// V8 as Node 18, 20, 22 and 24 have it.
    V8(v8::Interpreter),
}

/// Words that any language's offsets take at most.
const MOST_OFFSETS: usize = 11;

/// Where the kernel side looks for frames (`struct interpreter` in `bpf/script_frames.bpf.h`).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    base: u64,
    language: u32,
    offsets: [u32; MOST_OFFSETS],
}

impl Walk {
    /// By a language's number, the address at which it begins, and its offsets.
    fn new<const N: usize>(language: u32, base: u64, offsets: [u32; N]) -> Walk {
        const { assert!(N <= MOST_OFFSETS) };
        let mut all = [0; MOST_OFFSETS];
        all[..N].copy_from_slice(&offsets);
        Walk { base, language, offsets: all }
    }
}

impl Interpreter {
    /// What the kernel side has to know of it.
    pub fn walk(&self) -> Walk {
        match self {
            Interpreter::Python(of) => Walk::new(1, of.offsets.runtime, of.offsets.words()),
            Interpreter::Php(of) => Walk::new(2, of.globals, of.words()),
            Interpreter::Perl(of) => Walk::new(3, of.key, of.words()),
            Interpreter::Ruby(of) => Walk::new(4, of.machine, of.words()),
            Interpreter::V8(of) => Walk::new(5, of.base, of.words()),
        }
    }

    /// The code that a frame must be in, compiled in memory: nothing else of the frame says for certain that it is one.
    pub fn must_be_in(&self, instruction: u64) -> Option<u64> {
        match self {
            Interpreter::V8(_) => (instruction & v8::HAS_BYTECODE == 0).then_some(instruction),
            _ => None,
        }
    }
}

/// A line of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScriptLine {
    /// The file, as the interpreter knows it; empty for a function that is written in none.
    pub file: String,
    /// The function, as its language writes it: `Client.fetch`, `Client::fetch`, `block in fetch`.
    pub function: String,
    /// The line; 0 where the instruction has none.
    pub line: u32,
    /// The part of the interpreter that has the function, where that is in no file.
    pub module: String,
}

/// What is known of the scripts of all watched processes.
pub struct Scripts {
    python: python::CodeObjects,
    php: php::Functions,
    perl: perl::Statements,
    ruby: ruby::Sequences,
    v8: v8::Functions,
}

impl Scripts {
    /// Nothing yet.
    pub fn new(resolver: &Resolver) -> Scripts {
        Scripts {
            python: python::CodeObjects::new(resolver),
            php: php::Functions::default(),
            perl: perl::Statements::default(),
            ruby: ruby::Sequences::new(resolver),
            v8: v8::Functions::default(),
        }
    }

    /// The line of a pair, read now where it can be; what was learned before where not. `None` where it is of no script.
    pub fn line(&mut self, pid: u32, interpreter: &Interpreter, code: u64, instruction: u64) -> Option<ScriptLine> {
        let memory = Memory::Process(pid);
        match interpreter {
            Interpreter::Python(of) => self.python.line(pid, of, code, instruction),
            Interpreter::Php(of) => self.php.line((pid, memory), of, code, instruction),
            Interpreter::Perl(of) => self.perl.line((pid, memory), of, code, instruction),
            Interpreter::Ruby(of) => self.ruby.line((pid, memory), of, code, instruction),
            Interpreter::V8(of) => self.v8.line((pid, memory), of, code),
        }
    }

    /// The process ended, or executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.python.forget(pid);
        self.php.forget(pid);
        self.perl.forget(pid);
        self.ruby.forget(pid);
        self.v8.forget(pid);
    }
}

/// Doors for fuzzers: a process's memory that holds any bytes.
pub(crate) fn fuzz(bytes: &[u8]) {
    let memory = Memory::Given { start: 0x1000, bytes };
    php::fuzz(memory);
    perl::fuzz(memory);
    ruby::fuzz(memory);
    v8::fuzz(memory);
}

#[cfg(test)]
pub(crate) mod tests;
