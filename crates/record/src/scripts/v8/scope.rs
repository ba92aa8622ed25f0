//! `ScopeInfo`, in which V8 keeps a function's name and where it begins.

use super::super::memory::{Memory, word_of};
use super::object::{Object, small, text};

/// How a version lays it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Whether the flags are a small integer, rather than half a word.
    has_small_flags: bool,
    /// Whether the place stands in front of the variables, rather than behind the name.
    is_place_first: bool,
    /// The scope of a module, where that has the number of its variables in front.
    module: Option<u32>,
}

/// What it begins with: a map, flags, the number of parameters, and of variables that it keeps.
const FLAGS: u32 = 8;
const VARIABLES: u32 = 24;
const FIRST: u64 = 32;

/// Bits of the flags.
const SCOPE: u32 = 15;
const HAS_CLASS: u32 = 1 << 10;
const FUNCTION: u32 = 3 << 12;
const HAS_INFERRED: u32 = 1 << 14;

/// More variables than this are kept in a table of their own (`kScopeInfoMaxInlinedLocalNamesSize`).
const MOST_NAMES: u32 = 75;

/// More variables than this no function has.
const MOST_VARIABLES: u32 = 1 << 16;

/// The shape of a version; `None` of those that were not looked into. Each was compared with what functions of all sorts are.
pub fn shape(version: (u8, u8)) -> Option<Shape> {
    let first = Shape { has_small_flags: true, is_place_first: false, module: None };
    match version {
        (10, 2) | (11, 3) => Some(first),
        (12, 4) => Some(Shape { module: Some(3), ..first }),
        (13, 6) => Some(Shape { has_small_flags: false, is_place_first: true, module: Some(5) }),
        _ => None,
    }
}

/// What is read of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The function's name, or what it is assigned to; empty where it has neither.
    pub name: String,
    /// The letter of its file at which it begins, behind its name.
    pub start: Option<u32>,
}

impl Scope {
    /// Of an object that is one.
    pub fn read(memory: Memory<'_>, shape: &Shape, scope: &Object) -> Option<Scope> {
        let flags =
            if shape.has_small_flags { small(scope.word(memory, FLAGS)?)? } else { scope.half(memory, FLAGS)? };
        let variables = small(scope.word(memory, VARIABLES)?).filter(|count| *count <= MOST_VARIABLES)?;
        let names = if variables < MOST_NAMES { variables } else { 1 };
        let skipped = [
            2 * u32::from(shape.is_place_first),
            u32::from(shape.module == Some(flags & SCOPE)),
            names,
            variables,
            u32::from(flags & HAS_CLASS != 0),
        ];
        let rest: [u8; 40] = scope.front(memory, FIRST + 8 * u64::from(skipped.iter().sum::<u32>()))?;
        let mut at = 0;
        let mut next = |is_there: bool, words: usize| {
            let word = is_there.then(|| word_of(&rest, at));
            at += if is_there { words * 8 } else { 0 };
            word
        };
        let own = next(flags & FUNCTION != 0, 2);
        let inferred = next(flags & HAS_INFERRED != 0, 1);
        let place = if shape.is_place_first { scope.word(memory, FIRST as u32) } else { next(true, 2) };
        let mut names = [own, inferred].into_iter().flatten().filter_map(|name| text(memory, name));
        let name = names.find(|name| !name.is_empty()).unwrap_or_default();
        Some(Scope { name, start: small(place?) })
    }
}
