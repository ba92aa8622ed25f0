//! Functions laid out as V8 12 and 13 lay them out.

use super::object::{Letters, letters};
use super::*;
use crate::scripts::tests::Arena;

const SHARED: u64 = 0x1000;
const SCRIPT: u64 = 0x1040;
const SCOPE: u64 = 0x1100;
const NAME: u64 = 0x1200;
const FILE: u64 = 0x1240;
const SOURCE: u64 = 0x1300;
const MAPS: u64 = 0x1600;

const ONE_BYTE_STRING: u16 = 40;
const TWO_BYTE_STRING: u16 = 32;
const CONS: u16 = 41;
const SLICED: u16 = 43;
const THIN: u16 = 45;
const EXTERNAL: u16 = 42;
const TEXT: &str = "'use strict';\n\n// shop\nfunction price(n) {\n  return n;\n}\n";

fn layout(version: (u8, u8)) -> V8 {
    V8 {
        version,
        image_bytes: 0x1000,
        isolate: Some(0xa0),
        shared: 32,
        name: 16,
        script: 32,
        type_of_shared: 274,
        type_of_script: 167,
        type_of_scope: 272,
        type_of_bytecode: 205,
    }
}

const fn pointer(address: u64) -> u64 {
    address | 1
}

const fn small_of(number: u64) -> u64 {
    number << 32
}

/// An object of a type, whose map lies where only its type may lie.
fn put(arena: &mut Arena, address: u64, instance: u16, words: &[(u64, u64)]) {
    let map = MAPS + u64::from(instance) * 8;
    arena.words(&[(address, pointer(map))]);
    arena.bytes(map + 12, &instance.to_le_bytes());
    for (offset, word) in words {
        arena.words(&[(address + offset, *word)]);
    }
}

fn put_text(arena: &mut Arena, address: u64, text: &str) {
    put(arena, address, ONE_BYTE_STRING, &[(8, (text.len() as u64) << 32)]);
    arena.bytes(address + 16, text.as_bytes());
}

/// Where `price` begins, behind its name.
fn start() -> u64 {
    TEXT.find("(n)").expect("it is there") as u64
}

/// A function that keeps two variables, the way that Node 22 has it; `own` is its name, `inferred` what it is assigned to.
fn function(own: Option<u64>, inferred: Option<u64>, start: u64) -> Arena {
    let mut arena = Arena::new();
    put(&mut arena, SHARED, 274, &[(16, pointer(SCOPE)), (32, pointer(SCRIPT))]);
    put(&mut arena, SCRIPT, 167, &[(8, pointer(SOURCE)), (16, pointer(FILE)), (24, small_of(0))]);
    put_text(&mut arena, NAME, "price");
    put_text(&mut arena, FILE, "/srv/shop.js");
    put_text(&mut arena, SOURCE, TEXT);
    let flags = 4 | own.map_or(0, |_| 1 << 12) | inferred.map_or(0, |_| 1 << 14);
    put(&mut arena, SCOPE, 272, &[(8, small_of(flags)), (24, small_of(2))]);
    let mut rest: Vec<u64> = vec![pointer(NAME), pointer(NAME), small_of(7), small_of(7)];
    rest.extend(own.into_iter().flat_map(|own| [own, small_of(0)]));
    rest.extend(inferred);
    rest.extend([small_of(start), small_of(start + 9)]);
    for (at, word) in rest.iter().enumerate() {
        arena.words(&[(SCOPE + 32 + at as u64 * 8, *word)]);
    }
    arena
}

/// What the kernel side hands over of the function as it is.
fn code(arena: &Arena) -> u64 {
    let word = |address| arena.memory().word(address).expect("it is there");
    pointer(SHARED) | digest(&[word(SHARED + 16), word(SHARED + 32)]) << ADDRESS_BITS
}

fn line_of(functions: &mut Functions, arena: &Arena, code: u64) -> Option<(String, String, u32)> {
    let interpreter = known(layout((12, 4)), 0).expect("a known version");
    let found = functions.line((1, arena.memory()), &interpreter, code)?;
    Some((found.function, found.file, found.line))
}

fn read(arena: &Arena) -> Option<(String, String, u32)> {
    line_of(&mut Functions::default(), arena, code(arena))
}

#[test]
fn a_function_has_its_name_its_file_and_the_line_on_which_it_begins() {
    let named = function(Some(pointer(NAME)), None, start());
    assert_eq!(read(&named), Some(("price".into(), "/srv/shop.js".into(), 4)));
    let assigned = function(None, Some(pointer(NAME)), start());
    assert_eq!(read(&assigned), Some(("price".into(), "/srv/shop.js".into(), 4)));
    let mut module = function(None, None, 0);
    put_text(&mut module, FILE, "file:///srv/shop.mjs");
    assert_eq!(read(&module), Some(("(top level)".into(), "/srv/shop.mjs".into(), 0)));
    let nameless = function(Some(small_of(0)), None, start());
    assert_eq!(read(&nameless), Some(("(anonymous)".into(), "/srv/shop.js".into(), 4)));
}

#[test]
fn a_function_of_node_24_has_its_place_in_front() {
    let mut arena = function(None, None, 0);
    put(&mut arena, SCOPE, 272, &[(24, small_of(1)), (32, small_of(start())), (40, small_of(99))]);
    // A module's: the number of its variables comes first.
    let (flags, rest) = (5 | 1 << 12, [small_of(3), pointer(FILE), small_of(7), pointer(NAME), small_of(0)]);
    arena.words(&[(SCOPE + 8, flags)]);
    for (at, word) in rest.iter().enumerate() {
        arena.words(&[(SCOPE + 48 + at as u64 * 8, *word)]);
    }
    let interpreter = known(layout((13, 6)), 0).expect("a known version");
    let found = Functions::default().line((1, arena.memory()), &interpreter, code(&arena)).expect("a function");
    assert_eq!((found.function.as_str(), found.line), ("price", 4));
}

#[test]
fn what_was_moved_or_is_written_in_no_script_is_not_named() {
    let arena = function(Some(pointer(NAME)), None, start());
    let (mut functions, was) = (Functions::default(), code(&arena));
    assert!(line_of(&mut functions, &arena, was).is_some());
    // Another function took its place: the one that is known keeps its name, the new one gets its own.
    let mut other = function(Some(pointer(FILE)), None, start());
    put(&mut other, 0x1080, 167, &[(8, pointer(SOURCE)), (16, pointer(FILE))]);
    other.words(&[(SHARED + 32, pointer(0x1080))]);
    assert_eq!(read(&other).map(|found| found.0), Some("/srv/shop.js".into()));
    assert_eq!(line_of(&mut functions, &other, was).map(|found| found.0), Some("price".into()));
    assert_eq!(line_of(&mut Functions::default(), &other, was), None);
    let mut built_in = function(Some(pointer(NAME)), None, start());
    built_in.words(&[(SHARED + 32, pointer(NAME))]);
    assert_eq!(read(&built_in), None);
    let mut no_function = function(Some(pointer(NAME)), None, start());
    put(&mut no_function, SHARED, 275, &[]);
    assert_eq!(read(&no_function), None);
}

#[test]
fn a_place_outside_of_its_file_is_on_no_line() {
    let arena = function(Some(pointer(NAME)), None, TEXT.len() as u64 + 1);
    assert_eq!(read(&arena), Some(("price".into(), "/srv/shop.js".into(), 0)));
}

#[test]
fn strings_are_read_however_they_are_kept() {
    let mut arena = Arena::new();
    put_text(&mut arena, 0x1000, "shop");
    put_text(&mut arena, 0x1020, ".price");
    put(&mut arena, 0x1040, CONS, &[(8, 10 << 32), (16, pointer(0x1000)), (24, pointer(0x1020))]);
    put(&mut arena, 0x1060, SLICED, &[(8, 5 << 32), (16, pointer(0x1020)), (24, small_of(1))]);
    put(&mut arena, 0x1080, THIN, &[(8, 4 << 32), (16, pointer(0x1000))]);
    put(&mut arena, 0x10a0, EXTERNAL, &[(8, 4 << 32), (16, 0x1), (24, 0x1010)]);
    put(&mut arena, 0x10c0, TWO_BYTE_STRING, &[(8, 2 << 32), (16, 0x00fc_0436)]);
    let of = |at: u64| text(arena.memory(), pointer(at));
    let all = [0x1000, 0x1040, 0x1060, 0x1080, 0x10a0, 0x10c0].map(of);
    let expected = ["shop", "shop.price", "price", "shop", "shop", "\u{436}\u{fc}"];
    assert_eq!(all, expected.map(|text| Some(text.to_string())));
    assert_eq!(text(arena.memory(), 0x1000), None, "a pointer has its tag");
    // A name that consists of itself, and a part of what is shorter.
    put(&mut arena, 0x1040, CONS, &[(16, pointer(0x1040)), (24, pointer(0x1020))]);
    put(&mut arena, 0x1060, SLICED, &[(8, 9 << 32), (16, pointer(0x1000))]);
    assert_eq!([0x1040, 0x1060].map(|at| text(arena.memory(), pointer(at))), [None, None]);
}

#[test]
fn the_letters_of_a_source_lie_side_by_side() {
    let mut arena = Arena::new();
    put_text(&mut arena, 0x1000, "");
    put_text(&mut arena, 0x1020, "a\r\nb\rc\nd");
    put(&mut arena, 0x1040, CONS, &[(8, 8 << 32), (16, pointer(0x1020)), (24, pointer(0x1000))]);
    let expected = Letters { address: 0x1030, count: 8, bytes_each: 1 };
    assert_eq!(letters(arena.memory(), pointer(0x1040)), Some(expected));
    // A part of what is put together with that very part, and so on.
    put(&mut arena, 0x1060, SLICED, &[(8, 1 << 32), (16, pointer(0x1080)), (24, small_of(0))]);
    put(&mut arena, 0x1080, CONS, &[(8, 9 << 32), (16, pointer(0x1020)), (24, pointer(0x1060))]);
    assert_eq!([0x1060, 0x1080].map(|at| letters(arena.memory(), pointer(at))), [None, None]);
    assert_eq!(text(arena.memory(), pointer(0x1080)), None);
    let mut sources = Sources::default();
    let mut line = |letter| sources.line((1, arena.memory()), pointer(0x1040), letter);
    assert_eq!(
        [0, 1, 2, 3, 4, 5, 7, 8, 9].map(&mut line),
        [0, 0, 0, 1, 1, 2, 3, 3].map(Some).into_iter().chain([None]).collect::<Vec<_>>()[..]
    );
}

#[test]
fn versions_that_were_not_looked_into_are_not_read() {
    assert_eq!(known(layout((12, 9)), 0), None);
    assert_eq!(known(layout((9, 4)), 0), None);
    let words = known(layout((12, 4)), 0x40_0000).expect("a known version").words();
    assert_eq!(words, [0x1000, 32, 16, 32, 12, 205, 0xa0, 0x110]);
}
