//! Functions laid out as 8.2 lays them out.

use super::*;
use crate::scripts::tests::Arena;

const FUNCTION: u64 = 0x1000;
const CLASS: u64 = 0x1100;
const TEXTS: [u64; 3] = [0x1200, 0x1300, 0x1400];

/// A string with its hash.
fn put_text(arena: &mut Arena, address: u64, text: &str) {
    let hash = text.bytes().fold(5381, |hash: u64, byte| hash.wrapping_mul(33).wrapping_add(u64::from(byte))) | 1 << 63;
    arena.words(&[(address + 8, hash), (address + 16, text.len() as u64)]);
    arena.bytes(address + 24, text.as_bytes());
}

/// `Shop::pause` of /srv/shop.php, whose instructions are at 0x5000.
fn arena() -> Arena {
    let mut arena = Arena::new();
    let [name, class, file] = TEXTS;
    for (address, text) in [(name, "pause"), (class, "Shop"), (file, "/srv/shop.php")] {
        put_text(&mut arena, address, text);
    }
    arena.words(&[(CLASS + 8, class), (FUNCTION, 2), (FUNCTION + 8, name), (FUNCTION + 16, CLASS)]);
    arena.words(&[(FUNCTION + 88, 0x5000), (FUNCTION + 152, file)]);
    arena
}

/// What the kernel side says of a function on line 31.
fn instruction() -> u64 {
    digest(&[TEXTS[0], CLASS, 0x5000, TEXTS[2]]) << 32 | 31
}

fn line(functions: &mut Functions, arena: &Arena) -> Option<ScriptLine> {
    let interpreter = known(20_220_829, 0).expect("a known version");
    functions.line((1, arena.memory()), &interpreter, FUNCTION, instruction())
}

#[test]
fn a_method_has_its_class_its_file_and_the_line_that_came_along() {
    let found = line(&mut Functions::default(), &arena()).expect("a function");
    assert_eq!((found.function.as_str(), found.file.as_str(), found.line), ("Shop::pause", "/srv/shop.php", 31));
}

#[test]
fn what_took_a_functions_place_is_not_taken_for_it_and_what_was_read_before_stays() {
    let mut functions = Functions::default();
    let mut replaced = arena();
    replaced.words(&[(FUNCTION + 88, 0x6000)]);
    assert_eq!(line(&mut functions, &replaced), None);
    let known = line(&mut functions, &arena());
    assert!(known.is_some());
    assert_eq!(line(&mut functions, &replaced), known, "the line was of the function that is gone");
    functions.forget(1);
    assert_eq!(line(&mut functions, &replaced), None);
}

#[test]
fn a_string_that_is_not_what_its_hash_says_was_overwritten() {
    let mut overwritten = arena();
    overwritten.bytes(TEXTS[2] + 24, b"/tmp");
    assert_eq!(line(&mut Functions::default(), &overwritten), None);
}

#[test]
fn a_function_in_c_has_its_extension_and_no_file() {
    let mut arena = arena();
    arena.words(&[(FUNCTION, 1), (FUNCTION + 16, 0), (FUNCTION + 80, 0x1500), (0x1520, 0x1600)]);
    arena.bytes(0x1600, b"curl\0");
    let interpreter = known(20_220_829, 0).expect("a known version");
    let instruction = digest(&[TEXTS[0], 0]) << 32;
    let found = Functions::default().line((1, arena.memory()), &interpreter, FUNCTION, instruction);
    let expected = ScriptLine { function: "pause".into(), module: "curl".into(), ..ScriptLine::default() };
    assert_eq!(found, Some(expected));
}
