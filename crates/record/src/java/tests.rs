//! A heap of code with one compiled method in it, laid out in one page: `Shop.price`, into which `Shop.look` was inlined.

use super::*;
use crate::scripts::tests::Arena;

const HEAP: u64 = 0x1800;
const BLOB: u64 = 0x1810;
const CODE: u64 = 0x1870;
const PRICE: u64 = 0x1200;
const LOOK: u64 = 0x1210;

fn halves(arena: &mut Arena, set: &[(u64, u32)]) {
    for (address, half) in set {
        arena.bytes(*address, &half.to_le_bytes());
    }
}

fn symbol(arena: &mut Arena, address: u64, text: &str) {
    arena.bytes(address, &(text.len() as u16).to_le_bytes());
    arena.bytes(address + 2, text.as_bytes());
}

/// A method of 20 bytes of code, that begins on a line; from its byte 8 on it is on the next.
fn method(arena: &mut Arena, address: u64, constant: u64, (name, line): (u16, u8)) {
    arena.words(&[(address + 8, constant), (constant, 0x1300)]);
    halves(arena, &[(constant + 8, 8)]);
    for (at, value) in [(12, 1_u16), (14, 20), (16, name)] {
        arena.bytes(constant + at, &value.to_le_bytes());
    }
    arena.bytes(constant + 24 + 20, &[0xff, 0, line * 2, 8 << 3 | 1, 0]);
}

fn arena() -> Arena {
    let mut arena = Arena::new();
    // The list of heaps, the heap, and its map: a blob of three segments, a free one.
    arena.words(&[(0x1000, 0x1010), (0x1010, 1), (0x1018, 0x1020), (0x1020, 0x1030)]);
    arena.words(&[(0x1030, HEAP), (0x1038, HEAP), (0x1040, HEAP + 0x400), (0x1048, 0x1100), (0x1060, 7)]);
    arena.bytes(0x1100, &[0, 1, 1, 0xff, 0xff, 0xff, 0xff, 0xff]);
    // The blob: 336 bytes, a frame of 4 words that is complete after 12 bytes.
    arena.words(&[(HEAP + 8, 1), (BLOB, 0x1600), (BLOB + 24, PRICE), (BLOB + 48, 0x1680)]);
    halves(&mut arena, &[(BLOB + 8, 336), (BLOB + 12, 12), (BLOB + 16, 4), (BLOB + 20, 0x60), (BLOB + 32, 77)]);
    halves(&mut arena, &[(BLOB + 36, 0xe0), (BLOB + 40, 0x120), (BLOB + 44, 0x130)]);
    arena.bytes(0x1600, b"nmethod\0");
    // Places: a mark, in `look` at 0x20, in `price` at 0x30, a mark.
    for (number, (distance, scope)) in [(u32::MAX, 0), (0x20, 8), (0x30, 4), (i32::MAX as u32, 0)].iter().enumerate() {
        let place = BLOB + 0xe0 + number as u64 * 16;
        halves(&mut arena, &[(place, *distance), (place + 4, *scope)]);
    }
    // Scopes: `price` at bytecode 9, and `look` at bytecode 2 in it.
    arena.bytes(0x1684, &[0, 1, 10]);
    arena.bytes(0x1688, &[4, 2, 3]);
    arena.words(&[(BLOB + 0x130, PRICE), (BLOB + 0x138, LOOK)]);
    method(&mut arena, PRICE, 0x1240, (1, 30));
    method(&mut arena, LOOK, 0x1280, (2, 50));
    arena.words(&[(0x1300, 0x1400), (0x1308, 4 | 3 << 32), (0x1400, 0x1300), (0x1408, 0x1530)]);
    arena.words(&[(0x1318, 0x1500), (0x1320, 0x1510), (0x1328, 0x1520)]);
    for (address, text) in [(0x1500, "price"), (0x1510, "look"), (0x1520, "Shop.java"), (0x1530, "acme/Shop")] {
        symbol(&mut arena, address, text);
    }
    arena
}

struct Reader {
    machine: Machine,
    lines: Lines,
}

impl Reader {
    fn new() -> Reader {
        Reader { machine: Machine::new(Layout::small()), lines: Lines::default() }
    }

    /// The blob at an address, and functions with their lines.
    fn code(&mut self, memory: Memory<'_>, address: u64, at_instruction: bool) -> Option<(Blob, Vec<(String, u32)>)> {
        let place = (address, at_instruction);
        let (blob, numbers) = self.machine.code(&Resolver::new(), memory, &mut self.lines, place)?;
        let line = |number: &u32| {
            let named = &self.lines.all[*number as usize];
            assert_eq!(named.file, "acme/Shop.java");
            (named.function.clone(), named.line)
        };
        Some((blob, numbers.iter().map(line).collect()))
    }

    fn lines(&mut self, arena: &Arena, address: u64, at_instruction: bool) -> Vec<(String, u32)> {
        self.code(arena.memory(), address, at_instruction).expect("a blob").1
    }

    /// Lets the time pass after which nothing is believed any more.
    fn doubt(&mut self) {
        for known in self.machine.places.values_mut() {
            known.at -= BELIEVED;
        }
        for known in self.machine.methods.values_mut() {
            known.at -= BELIEVED;
        }
    }
}

fn price(line: u32) -> (String, u32) {
    ("acme.Shop.price".to_string(), line)
}

fn look(line: u32) -> (String, u32) {
    ("acme.Shop.look".to_string(), line)
}

#[test]
fn a_blob_is_found_from_any_of_its_segments() {
    let arena = arena();
    let blobs = |address| Reader::new().code(arena.memory(), address, true).map(|(blob, _)| blob);
    let blob = blobs(CODE).expect("a blob");
    assert_eq!((blob.kind, blob.frame_bytes, blob.complete), (Kind::Compiled, 32, CODE + 12));
    assert_eq!((blobs(HEAP + 0x17f), blobs(HEAP + 0x100)), (Some(blob), Some(blob)));
    assert_eq!((blobs(HEAP + 0x180), blobs(HEAP + 0x400), blobs(BLOB + 8)), (None, None, None));
}

#[test]
fn a_call_is_in_the_methods_that_were_inlined_and_another_place_in_those_of_the_next() {
    let arena = arena();
    let mut reader = Reader::new();
    assert_eq!(reader.lines(&arena, CODE + 0x20, false), [look(50), price(31)]);
    assert_eq!(reader.lines(&arena, CODE + 0x30, false), [price(31)]);
    assert_eq!(reader.lines(&arena, CODE + 0x21, true), [price(31)]);
    assert_eq!(reader.lines(&arena, CODE + 0x21, false), [price(0)], "no call returns there");
    assert_eq!(reader.lines(&arena, CODE + 0x31, true), [price(0)]);
}

#[test]
fn scopes_that_contradict_themselves_leave_the_method_that_was_compiled() {
    // An outer scope that is the same, another outermost method, none at all.
    for (address, bytes) in [(0x1688, [8_u8, 2]), (0x1684, [0, 2]), (0x1684, [0, 0])] {
        let mut arena = arena();
        arena.bytes(address, &bytes);
        assert_eq!(Reader::new().lines(&arena, CODE + 0x20, false), [price(0)], "{address:x}");
    }
}

#[test]
fn what_has_another_classs_constants_is_no_method() {
    let mut arena = arena();
    let read = |arena: &Arena, address| Method::read(&Resolver::new(), arena.memory(), &Layout::small(), address);
    let found = read(&arena, LOOK).expect("a method");
    assert_eq!((found.line(7), found.line(8), found.line(19), found.line(20)), (50, 51, 51, 0));
    assert_eq!((found.bytecode(0x1280 + 24), found.bytecode(0x1280 + 44)), (Some(0), None));
    arena.words(&[(0x1400, 0x1308)]);
    assert!(read(&arena, LOOK).is_none());
    assert!(read(&arena, 0).is_none() && read(&arena, 0x9_0000).is_none());
}

#[test]
fn classes_that_the_machine_made_for_lambdas_are_left_out() {
    let mut arena = arena();
    symbol(&mut arena, 0x1540, "acme/Shop$$Lambda+0x8");
    arena.words(&[(0x1408, 0x1540)]);
    assert_eq!(Reader::new().code(arena.memory(), CODE + 0x20, false).expect("a blob").1, []);
}

#[test]
fn other_code_at_an_address_is_read_anew_and_that_of_an_ended_process_stays() {
    let mut arena = arena();
    let mut reader = Reader::new();
    let at = CODE + 0x30;
    assert_eq!(reader.lines(&arena, at, false), [price(31)]);
    halves(&mut arena, &[(BLOB + 32, 78)]);
    arena.bytes(0x1686, &[1]);
    assert_eq!(reader.lines(&arena, at, false), [price(31)], "believed for a while");
    reader.doubt();
    assert_eq!(reader.lines(&arena, at, false), [price(30)]);
    reader.doubt();
    let gone = Memory::Given { start: 0x1000, bytes: &[] };
    assert_eq!(reader.code(gone, at, false).expect("known").1, [price(30)]);
    assert!(reader.code(gone, at + 1, false).is_none());
    reader.doubt();
    arena.bytes(0x1100, &[0xff]);
    arena.bytes(0x1101, &[0xff, 0xff]);
    assert!(reader.code(arena.memory(), at, false).is_none(), "freed");
}

#[test]
fn any_memory_is_read_without_harm() {
    for word in [0_u64, 0x1000, 0x1008, 0x10_1010, u64::MAX, 0x0101_0101_0101_0101, 0xffff_0000_0000_1000] {
        fuzz(&word.to_le_bytes().repeat(512));
    }
    fuzz(&arena().0);
    fuzz(&[]);
}
