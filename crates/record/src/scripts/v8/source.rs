//! From a letter of a script to its line: where its lines end is counted once.

use super::super::memory::Memory;
use super::object::{Letters, letters};
use rustc_hash::FxHashMap;

/// A script that is longer has no lines: the largest bundles have some ten million letters.
const LONGEST: u32 = 32 << 20;

/// So much is read at once.
const PIECE_BYTES: u64 = 64 << 10;

/// Line ends that are remembered at once, over all scripts: 16 MB. Beyond it they are counted again.
const MOST_ENDS: usize = 4 << 20;

/// Where the lines of scripts end.
#[derive(Default)]
pub struct Sources {
    /// By process, address and length.
    known: FxHashMap<(u32, u64, u32), Vec<u32>>,
    ends: usize,
}

impl Sources {
    /// How many lines end before a letter of a script.
    pub fn line(&mut self, (pid, memory): (u32, Memory<'_>), source: u64, letter: u32) -> Option<u32> {
        let letters = letters(memory, source).filter(|letters| letter <= letters.count && letters.count <= LONGEST)?;
        let key = (pid, letters.address, letters.count);
        if !self.known.contains_key(&key) {
            let ends = ends(memory, letters)?;
            if self.ends + ends.len() > MOST_ENDS {
                self.known.clear();
                self.ends = 0;
            }
            self.ends += ends.len();
            self.known.insert(key, ends);
        }
        let ends = self.known.get(&key)?;
        u32::try_from(ends.partition_point(|end| *end < letter)).ok()
    }

    /// The process ended, or executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.known.retain(|(owner, ..), _| *owner != pid);
        self.ends = self.known.values().map(Vec::len).sum();
    }
}

/// The letters that end a line.
fn ends(memory: Memory<'_>, letters: Letters) -> Option<Vec<u32>> {
    let each = u64::from(letters.bytes_each);
    let length = u64::from(letters.count) * each;
    let mut ends = Ends::default();
    let mut from = 0;
    while from < length {
        let piece = memory.bytes(letters.address.checked_add(from)?, (length - from).min(PIECE_BYTES) as usize)?;
        for letter in piece.chunks_exact(each as usize) {
            ends.letter(u16::from_le_bytes([letter[0], letter.get(1).copied().unwrap_or(0)]));
        }
        from += piece.len() as u64;
    }
    Some(ends.found)
}

/// A line ends at a line feed, at a carriage return with none behind it, and at Unicode's two separators.
#[derive(Default)]
struct Ends {
    found: Vec<u32>,
    at: u32,
    is_after_return: bool,
}

impl Ends {
    fn letter(&mut self, letter: u16) {
        const FEED: u16 = 10;
        const RETURN: u16 = 13;
        if self.is_after_return && letter != FEED {
            self.found.push(self.at - 1);
        }
        if matches!(letter, FEED | 0x2028 | 0x2029) {
            self.found.push(self.at);
        }
        self.is_after_return = letter == RETURN;
        self.at += 1;
    }
}
