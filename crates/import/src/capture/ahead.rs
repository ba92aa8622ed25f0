//! A file in blocks, read ahead on a thread of its own: copying from the kernel takes a third of the time that reading a capture
//! takes in all.

use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// The length of a block: a few of them stay in the processor's cache until their packets are looked at.
const BLOCK: usize = 256 << 10;

/// Before a block there is room for what was left of the one before: a packet, as a rule.
const ROOM: usize = 64 << 10;

/// So many blocks are under way.
const BLOCKS: usize = 4;

/// A file, and what was read of it and not taken yet.
pub struct Ahead {
    full: Receiver<io::Result<Block>>,
    spare: Sender<Vec<u8>>,
    buffer: Vec<u8>,
    left: Range<usize>,
}

/// What was read, behind the room for what was left before.
struct Block {
    buffer: Vec<u8>,
    end: usize,
}

impl Ahead {
    /// Begins to read.
    pub fn of(from: impl Read + Send + 'static) -> Ahead {
        let (give, full) = sync_channel(BLOCKS);
        let (spare, take) = channel();
        for _ in 0..BLOCKS {
            // The other end is still here.
            let _ = spare.send(Vec::new());
        }
        std::thread::spawn(move || read_all(from, &take, &give));
        Ahead { full, spare, buffer: Vec::new(), left: 0..0 }
    }

    /// What was read and not taken.
    pub fn left(&self) -> &[u8] {
        &self.buffer[self.left.clone()]
    }

    /// Takes so many bytes of what is left, or all.
    pub fn pass(&mut self, length: usize) -> &[u8] {
        let start = self.left.start;
        self.skip(length);
        &self.buffer[start..self.left.start]
    }

    /// Passes over so many bytes of what is left, or all.
    pub fn skip(&mut self, length: usize) {
        self.left.start = (self.left.start + length).min(self.left.end);
    }

    /// The last bytes that were passed over: no more than came since the last time that there was more.
    pub fn skipped(&self, length: usize) -> &[u8] {
        &self.buffer[self.left.start - length..self.left.start]
    }

    /// Puts more behind what is left; false where there is no more.
    ///
    /// # Errors
    /// Where the system refuses.
    pub fn more(&mut self) -> io::Result<bool> {
        let Ok(block) = self.full.recv() else { return Ok(false) };
        let Block { mut buffer, end } = block?;
        let left = self.left();
        if let Some(start) = ROOM.checked_sub(left.len()) {
            buffer[start..ROOM].copy_from_slice(left);
            self.left = start..end;
            std::mem::swap(&mut self.buffer, &mut buffer);
        } else {
            let all = [left, &buffer[ROOM..end]].concat();
            (self.left, self.buffer) = (0..all.len(), all);
        }
        // Nobody reads any more at the end.
        let _ = self.spare.send(buffer);
        Ok(true)
    }
}

impl Read for Ahead {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.left.is_empty() && !into.is_empty() {
            self.more()?;
        }
        let taken = self.pass(into.len());
        into[..taken.len()].copy_from_slice(taken);
        Ok(taken.len())
    }
}

/// Reads until the end, an error, or nobody wants more.
fn read_all(mut from: impl Read, spare: &Receiver<Vec<u8>>, give: &SyncSender<io::Result<Block>>) {
    while let Ok(mut buffer) = spare.recv() {
        buffer.resize(ROOM + BLOCK, 0);
        let (end, error) = fill(&mut from, &mut buffer);
        let is_over = end < buffer.len();
        if end > ROOM && give.send(Ok(Block { buffer, end })).is_err() {
            return;
        }
        if let Some(error) = error {
            let _ = give.send(Err(error));
        }
        if is_over {
            return;
        }
    }
}

/// Fills a block behind its room; where what was read ends, and why it ends before the block does.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> (usize, Option<io::Error>) {
    let mut end = ROOM;
    while end < buffer.len() {
        match from.read(&mut buffer[end..]) {
            Ok(0) => break,
            Ok(more) => end += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return (end, Some(error)),
        }
    }
    (end, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes in pieces of odd sizes, then an error.
    struct Pieces {
        bytes: Vec<u8>,
        at: usize,
    }

    impl Read for Pieces {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let rest = &self.bytes[self.at..];
            if rest.is_empty() {
                return Err(ErrorKind::ConnectionReset.into());
            }
            let length = rest.len().min(into.len()).min(9_999);
            into[..length].copy_from_slice(&rest[..length]);
            self.at += length;
            Ok(length)
        }
    }

    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|at| (at * 7 % 251) as u8).collect()
    }

    #[test]
    fn all_bytes_come_in_order_and_then_the_error() {
        let all = bytes(3 * BLOCK + 17);
        let mut ahead = Ahead::of(Pieces { bytes: all.clone(), at: 0 });
        let mut got = Vec::new();
        let error = ahead.read_to_end(&mut got).expect_err("an error");
        assert_eq!((got == all, error.kind()), (true, ErrorKind::ConnectionReset));
        assert!(!ahead.more().expect("an end"));
    }

    #[test]
    fn what_is_left_stays_in_front_of_more_however_long_it_is() {
        let all = bytes(5 * BLOCK + 1);
        for taken in [0, 1, BLOCK - ROOM, BLOCK - 1, BLOCK] {
            let mut ahead = Ahead::of(io::Cursor::new(all.clone()));
            let mut at = 0;
            while ahead.more().expect("bytes") {
                assert!(all[at..].starts_with(ahead.left()), "{taken} {at}");
                at += ahead.pass(taken).len();
            }
            assert_eq!(ahead.left(), &all[at..], "{taken}");
        }
    }
}
