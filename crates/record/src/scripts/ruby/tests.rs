//! Instruction sequences laid out as 3.1 lays them out.

use super::*;
use crate::scripts::tests::Arena;

const SEQUENCE: u64 = 0x1000;
const BODY_AT: u64 = 0x1100;
const CODE_AT: u64 = 0x9000;
const ENTRIES: u64 = 0x1400;
const RANKS: u64 = 0x1500;

/// A string that is short enough to lie in its object.
fn put_text(arena: &mut Arena, address: u64, text: &str) {
    arena.words(&[(address, TYPE_OF_STRING | (text.len() as u64) << LENGTH_SHIFT)]);
    arena.bytes(address + 16, text.as_bytes());
}

/// `fetch` of shop.rb: words 0 to 3 are on line 7, words 4 to 9 on line 8.
fn arena() -> Arena {
    let mut arena = Arena::new();
    arena.words(&[(SEQUENCE, TYPE_OF_INTERNAL | SORT_OF_SEQUENCE << SORT_SHIFT), (SEQUENCE + 16, BODY_AT)]);
    arena.bytes(BODY_AT + 4, &10_u32.to_le_bytes());
    arena.words(&[(BODY_AT + 8, CODE_AT), (BODY_AT + 64, 0x1200), (BODY_AT + 80, 0x1300)]);
    put_text(&mut arena, 0x1200, "shop.rb");
    put_text(&mut arena, 0x1300, "fetch");
    arena.words(&[(BODY_AT + 120, ENTRIES), (BODY_AT + 136, 2), (BODY_AT + 144, RANKS)]);
    arena.bytes(ENTRIES, &7_u32.to_le_bytes());
    arena.bytes(ENTRIES + 12, &8_u32.to_le_bytes());
    let ranks = (0..9).map(|at| (if at < 4 { 1_u64 } else { 2 }) << (7 * at)).sum();
    arena.words(&[(RANKS, ranks), (RANKS + 8, 2)]);
    arena
}

fn line(sequences: &mut Sequences, arena: &Arena, word: u64) -> Option<(String, String, u32)> {
    let interpreter = known((3, 1), 0).expect("a known version");
    let found = sequences.line((1, arena.memory()), &interpreter, SEQUENCE, CODE_AT + word * 8)?;
    Some((found.function, found.file, found.line))
}

#[test]
fn an_instruction_is_on_the_line_of_the_word_before() {
    let mut sequences = Sequences::new(&Resolver::new());
    let lines = [0, 1, 4, 5, 10, 11, 400].map(|word| line(&mut sequences, &arena(), word).map(|found| found.2));
    assert_eq!(lines, [Some(7), Some(7), Some(7), Some(8), Some(8), None, None]);
    assert_eq!(line(&mut sequences, &arena(), 1), Some(("fetch".into(), "shop.rb".into(), 7)));
}

/// A machine at 0x1000, its ractor and its one thread, in a frame of the stack from 0x1c00 to 0x1d00.
fn machine() -> Arena {
    let mut arena = Arena::new();
    let ring = 0x1200 + 304;
    arena.words(&[(0x1000, 0x1100), (0x1100 + 32, 0x1200), (ring, 0x1800), (0x1800, ring), (0x1808, ring)]);
    arena.words(&[(0x1800 + 40, 0x1900), (0x1900, 0x1c00), (0x1908, 32), (0x1910, 0x1c40)]);
    arena
}

#[test]
fn a_machine_runs_once_its_first_thread_is_in_a_frame() {
    let found = known((3, 1), 0x1000).expect("a known version");
    assert!(runs(&found, machine().memory()));
    let no_frame = |word: (u64, u64)| {
        let mut arena = machine();
        arena.words(&[word]);
        !runs(&found, arena.memory())
    };
    assert!(no_frame((0x1000, 0)), "not made yet");
    assert!(no_frame((0x1808, 0x1234)), "no ring");
    assert!(no_frame((0x1910, 0x1d00)), "a frame of another stack");
    assert!(!runs(&known((3, 2), 0x1000).expect("a known version"), machine().memory()), "another layout");
}

#[test]
fn a_path_may_be_the_first_of_an_array_and_a_string_may_lie_elsewhere() {
    let mut arena = arena();
    arena.words(&[(0x1200, TYPE_OF_ARRAY | IS_EMBEDDED), (0x1210, 0x1800)]);
    arena.words(&[(0x1800, TYPE_OF_STRING | IS_ELSEWHERE), (0x1810, 4), (0x1818, 0x1900)]);
    arena.bytes(0x1900, b"a.rb");
    let found = line(&mut Sequences::new(&Resolver::new()), &arena, 1).expect("a sequence");
    assert_eq!(found.1, "a.rb");
}

#[test]
fn another_sequence_at_the_address_is_read_anew_and_what_is_none_gives_what_was_known() {
    let mut sequences = Sequences::new(&Resolver::new());
    let mut arena = arena();
    assert_eq!(line(&mut sequences, &arena, 1).expect("a sequence").0, "fetch");
    arena.words(&[(SEQUENCE, 5)]);
    assert_eq!(line(&mut sequences, &arena, 1).expect("known before").0, "fetch");
    arena.words(&[(SEQUENCE, TYPE_OF_INTERNAL | SORT_OF_SEQUENCE << SORT_SHIFT), (BODY_AT + 80, 0x1200)]);
    assert_eq!(line(&mut sequences, &arena, 1).expect("another").0, "shop.rb");
    assert_eq!(line(&mut Sequences::new(&Resolver::new()), &Arena::new(), 1), None);
}
