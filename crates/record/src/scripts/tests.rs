//! What all languages share, and memory that is laid out for their tests.

use super::*;

/// The memory of a process, from its first page on.
pub(crate) struct Arena(pub Vec<u8>);

impl Arena {
    pub const START: u64 = 0x1000;

    pub fn new() -> Arena {
        Arena(vec![0; 0x1000])
    }

    pub fn memory(&self) -> Memory<'_> {
        Memory::Given { start: Arena::START, bytes: &self.0 }
    }

    /// Puts words where they belong.
    pub fn words(&mut self, set: &[(u64, u64)]) {
        for (address, word) in set {
            self.bytes(*address, &word.to_le_bytes());
        }
    }

    pub fn bytes(&mut self, address: u64, bytes: &[u8]) {
        let from = (address - Arena::START) as usize;
        self.0[from..from + bytes.len()].copy_from_slice(bytes);
    }
}

#[test]
fn a_walk_has_the_size_that_the_kernel_side_expects() {
    assert_eq!(size_of::<Walk>(), 56);
}

#[test]
fn words_that_the_kernel_side_takes_come_in_its_order() {
    let interpreter = Interpreter::Ruby(ruby::known((3, 3), 7).expect("a known version"));
    assert_eq!(interpreter.walk(), Walk::new(4, 7, [32, 256, 40, 16, 48, 56]));
    let interpreter = Interpreter::Php(php::known(20_220_829, 9).expect("a known version"));
    assert_eq!(interpreter.walk(), Walk::new(2, 9, [488, 80, 88, 152]));
}

#[test]
fn versions_whose_layout_is_not_known_are_not_read() {
    assert_eq!(php::known(20_190_902, 1), None);
    assert_eq!(php::known(20_991_231, 1), None);
    assert_eq!(perl::known((5, 37), 1, 1), None);
    assert_eq!(perl::known((5, 44), 1, 1), None);
    assert_eq!(ruby::known((2, 7), 1), None);
    assert_eq!(ruby::known((3, 4), 1), None);
}

#[test]
fn a_text_ends_at_its_zero_and_one_without_is_none() {
    let mut arena = Arena::new();
    arena.bytes(0x1ff0, b"0123456789abcdef");
    arena.bytes(0x1010, &[b'x'; 100]);
    assert_eq!(arena.memory().text(0x1010).map(|text| text.len()), Some(100));
    assert_eq!(arena.memory().text(0x1ff0), None, "it goes on where nothing is mapped");
    assert_eq!((arena.memory().text(0), arena.memory().text(u64::MAX)), (None, None));
}

/// Bytes that mean nothing, and those whose addresses lead back to themselves.
#[test]
fn any_memory_is_read_without_harm() {
    for word in [0_u64, 0x1000, 0x1008, 0x7fff, u64::MAX, 5, 7, 0x701a, 0x0200_000d] {
        fuzz(&word.to_le_bytes().repeat(512));
    }
    fuzz(&[]);
}
