//! Objects in V8's heap, and its strings, of which there are many kinds.

use super::super::memory::{LONGEST_TEXT, Memory, half_of, word_of};
use super::INSTANCE_TYPE;

/// What a pointer into the heap ends with.
const TAG: u64 = 1;
const TAG_MASK: u64 = 3;

/// A small integer is the upper half of a word whose lower half is 0.
const SMALL_SHIFT: u32 = 32;

/// Whether a word is a pointer into the heap, and where that points.
fn pointed(word: u64) -> Option<u64> {
    (word & TAG_MASK == TAG).then(|| word - TAG)
}

/// A small integer that is not negative.
pub fn small(word: u64) -> Option<u32> {
    let number = i32::try_from(word.cast_signed() >> SMALL_SHIFT).ok()?;
    (word as u32 == 0).then(|| u32::try_from(number).ok())?
}

/// An object and what type it is of.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    address: u64,
    instance: u16,
}

impl Object {
    /// Of a pointer; `None` where there is no object.
    pub fn read(memory: Memory<'_>, pointer: u64) -> Option<Object> {
        let address = pointed(pointer)?;
        let map = pointed(memory.word(address)?)?;
        let instance = memory.front(map.checked_add(u64::from(INSTANCE_TYPE))?).map(u16::from_le_bytes)?;
        Some(Object { address, instance })
    }

    /// Whether it is of this type.
    pub fn is(&self, instance: u16) -> bool {
        self.instance == instance
    }

    /// A word of it.
    pub fn word(&self, memory: Memory<'_>, offset: u32) -> Option<u64> {
        memory.word(self.address.checked_add(u64::from(offset))?)
    }

    /// Half a word of it.
    pub fn half(&self, memory: Memory<'_>, offset: u32) -> Option<u32> {
        memory.front(self.address.checked_add(u64::from(offset))?).map(u32::from_le_bytes)
    }

    /// So many bytes of it.
    pub fn front<const N: usize>(&self, memory: Memory<'_>, offset: u64) -> Option<[u8; N]> {
        memory.front(self.address.checked_add(offset)?)
    }
}

/// Types below this are strings'. Their bits say how the letters are kept.
const FIRST_OTHER: u16 = 128;
const REPRESENTATION: u16 = 7;
const IN_SEQUENCE: u16 = 0;
const IN_TWO: u16 = 1;
const OUTSIDE: u16 = 2;
const OF_PARENT: u16 = 3;
const ELSEWHERE: u16 = 5;
const ONE_BYTE: u16 = 8;
/// One that lies outside and does not say where (`kUncachedExternalStringTag`).
const UNCACHED: u16 = 16;

/// So many strings that stand for others are gone through: a name is put together from a few.
const MOST_PIECES: usize = 64;

/// Letters of a string, side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Letters {
    pub address: u64,
    pub count: u32,
    /// One or two.
    pub bytes_each: u8,
}

/// What a string is made of.
enum Kind {
    Letters(Letters),
    /// Two others, one after the other.
    Two(u64, u64),
    /// So many letters of another one, from one on.
    Part(u64, u32, u32),
    Same(u64),
}

fn kind(memory: Memory<'_>, pointer: u64) -> Option<Kind> {
    let object = Object::read(memory, pointer).filter(|object| object.instance < FIRST_OTHER)?;
    let head: [u8; 32] = object.front(memory, 0).or_else(|| {
        // A short string at the end of what is mapped.
        let mut head = [0; 32];
        head[..16].copy_from_slice(&object.front::<16>(memory, 0)?);
        Some(head)
    })?;
    let (count, bytes_each) = (half_of(&head, 12), if object.instance & ONE_BYTE == 0 { 2 } else { 1 });
    let [first, second] = [16, 24].map(|offset| word_of(&head, offset));
    Some(match object.instance & REPRESENTATION {
        IN_SEQUENCE => Kind::Letters(Letters { address: object.address.checked_add(16)?, count, bytes_each }),
        IN_TWO => Kind::Two(first, second),
        OUTSIDE if object.instance & UNCACHED == 0 => Kind::Letters(Letters { address: second, count, bytes_each }),
        OF_PARENT => Kind::Part(first, small(second)?, count),
        ELSEWHERE => Kind::Same(first),
        _ => return None,
    })
}

/// The letters of a string, where they lie side by side.
pub fn letters(memory: Memory<'_>, mut pointer: u64) -> Option<Letters> {
    let mut part: Option<(u32, u32)> = None;
    for _ in 0..MOST_PIECES {
        match kind(memory, pointer)? {
            Kind::Letters(whole) => {
                let Some((from, count)) = part else { return Some(whole) };
                let is_within = from.checked_add(count).is_some_and(|end| end <= whole.count);
                let skipped = u64::from(from) * u64::from(whole.bytes_each);
                let address = whole.address.checked_add(skipped)?;
                return is_within.then_some(Letters { address, count, ..whole });
            }
            Kind::Part(parent, from, count) if part.is_none() => {
                part = Some((from, count));
                pointer = parent;
            }
            Kind::Same(other) => pointer = other,
            // Put together already, and only the first is left.
            Kind::Two(first, second) if is_empty(memory, second) => pointer = first,
            Kind::Part(..) | Kind::Two(..) => return None,
        }
    }
    None
}

/// Whether a string has no letters, as the second of two that were put together. Looked at no further: what it leads to may lead back.
fn is_empty(memory: Memory<'_>, pointer: u64) -> bool {
    matches!(kind(memory, pointer), Some(Kind::Letters(letters)) if letters.count == 0)
}

/// A string; `None` for anything else, and for one that is too long to be a name.
pub fn text(memory: Memory<'_>, pointer: u64) -> Option<String> {
    let mut pieces = vec![pointer];
    let mut read = String::new();
    for _ in 0..MOST_PIECES {
        let Some(piece) = pieces.pop() else { return Some(read) };
        match kind(memory, piece)? {
            Kind::Two(first, second) => pieces.extend([second, first]),
            Kind::Same(other) => pieces.push(other),
            Kind::Letters(all) => read += &said(memory, all)?,
            Kind::Part(..) => read += &said(memory, letters(memory, piece)?)?,
        }
        if read.len() > LONGEST_TEXT {
            return None;
        }
    }
    None
}

fn said(memory: Memory<'_>, letters: Letters) -> Option<String> {
    let count = usize::try_from(letters.count).ok().filter(|count| *count <= LONGEST_TEXT)?;
    let bytes = memory.bytes(letters.address, count * usize::from(letters.bytes_each))?;
    Some(if letters.bytes_each == 1 {
        // The first 256 of Unicode.
        bytes.into_iter().map(char::from).collect()
    } else {
        let pairs = bytes.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair));
        char::decode_utf16(pairs).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    })
}
