//! Statements and subs laid out as 5.36 lays them out.

use super::*;
use crate::scripts::tests::Arena;

const STATEMENT: u64 = 0x1000;
const CODE: u64 = 0x1100;
const GLOB: u64 = 0x1200;
const PACKAGE: u64 = 0x1300;
const FILE_NAME: u64 = 0x1500;

fn put_key(arena: &mut Arena, address: u64, text: &str) {
    arena.bytes(address + 4, &(text.len() as u32).to_le_bytes());
    arena.bytes(address + 8, text.as_bytes());
}

/// A value of a type with its body behind it.
fn put_value(arena: &mut Arena, address: u64, of_type: u32) {
    arena.words(&[(address, address + 0x20)]);
    arena.bytes(address + 12, &of_type.to_le_bytes());
}

/// Line 31 of /srv/shop.pl, in `Shop::pause`.
fn arena() -> Arena {
    let mut arena = Arena::new();
    arena.bytes(STATEMENT + 36, &31_u32.to_le_bytes());
    arena.words(&[(STATEMENT + 48, FILE_NAME)]);
    arena.bytes(FILE_NAME, b"/srv/shop.pl\0");
    put_value(&mut arena, CODE, 13);
    put_value(&mut arena, GLOB, 9);
    put_value(&mut arena, PACKAGE, u32::from(TYPE_OF_HASH) | HAS_AUX);
    arena.words(&[(CODE + 0x20 + 56, GLOB), (GLOB + 0x20 + 32, 0x1600), (GLOB + 0x20 + 40, PACKAGE)]);
    arena.words(&[(PACKAGE + 0x20 + 32, 0x1700)]);
    put_key(&mut arena, 0x1600, "pause");
    put_key(&mut arena, 0x1700, "Shop");
    arena
}

fn line(statements: &mut Statements, arena: &Arena, code: u64) -> Option<(String, String, u32)> {
    let interpreter = known((5, 36), 0, 0).expect("a known version");
    let instruction = digest(&[31, FILE_NAME]) << 48 | STATEMENT;
    let found = statements.line((1, arena.memory()), &interpreter, code, instruction)?;
    Some((found.function, found.file, found.line))
}

#[test]
fn a_statement_has_its_line_its_file_and_the_sub_it_is_in() {
    let expected = |function: &str| Some((function.to_string(), "/srv/shop.pl".to_string(), 31));
    assert_eq!(line(&mut Statements::default(), &arena(), CODE), expected("Shop::pause"));
    assert_eq!(line(&mut Statements::default(), &arena(), 0), expected("(top level)"));
    assert_eq!(line(&mut Statements::default(), &arena(), GLOB), expected(""), "what is no code has no name");
}

#[test]
fn code_that_has_its_name_itself_needs_no_glob() {
    let mut arena = arena();
    arena.bytes(CODE + 0x20 + 92, &IS_NAMED.to_le_bytes());
    arena.words(&[(CODE + 0x20 + 56, 0x1600), (CODE + 0x20 + 32, PACKAGE), (GLOB, 0)]);
    let found = line(&mut Statements::default(), &arena, CODE).expect("a statement");
    assert_eq!(found.0, "Shop::pause");
}

#[test]
fn what_took_a_statements_place_is_not_taken_for_it_and_what_was_read_before_stays() {
    let mut statements = Statements::default();
    let mut replaced = arena();
    replaced.bytes(STATEMENT + 36, &32_u32.to_le_bytes());
    assert_eq!(line(&mut statements, &replaced, CODE), None);
    let known = line(&mut statements, &arena(), CODE);
    assert_eq!(line(&mut statements, &replaced, CODE), known);
}
