//! Bytes of a feed as text, whatever they are encoded in.

use std::io::{BufRead, Read, Result};

/// What is read at once.
const PIECE: usize = 32 << 10;

/// Reads bytes above ASCII as if they were Latin-1, whatever they are. Only what tells entries apart is taken from the
/// text, and that stays apart: every encoding that agrees with ASCII is read, and bytes that are wrong in theirs harm
/// nobody.
pub(crate) struct Text<R> {
    inner: R,
    raw: Vec<u8>,
    read: Vec<u8>,
    at: usize,
    is_begun: bool,
    /// The first bytes were those of UTF-16 or UTF-32.
    pub is_wide: bool,
}

impl<R: Read> Text<R> {
    pub(crate) fn of(inner: R) -> Text<R> {
        Text { inner, raw: vec![0; PIECE], read: Vec::new(), at: 0, is_begun: false, is_wide: false }
    }

    fn more(&mut self) -> Result<()> {
        let count = self.inner.read(&mut self.raw)?;
        let mut piece = &self.raw[..count];
        if !self.is_begun && count > 0 {
            self.is_begun = true;
            self.is_wide = piece.starts_with(b"\xfe\xff")
                || piece.starts_with(b"\xff\xfe")
                || piece.iter().take(4).any(|byte| *byte == 0);
            piece = piece.strip_prefix(b"\xef\xbb\xbf").unwrap_or(piece);
        }
        (self.at, self.read) = (0, std::mem::take(&mut self.read));
        self.read.clear();
        if piece.is_ascii() {
            self.read.extend_from_slice(piece);
        } else {
            let mut bytes = [0; 4];
            for byte in piece {
                self.read.extend_from_slice(char::from(*byte).encode_utf8(&mut bytes).as_bytes());
            }
        }
        Ok(())
    }
}

impl<R: Read> BufRead for Text<R> {
    fn fill_buf(&mut self) -> Result<&[u8]> {
        if self.at >= self.read.len() {
            self.more()?;
        }
        Ok(&self.read[self.at..])
    }

    fn consume(&mut self, count: usize) {
        self.at = (self.at + count).min(self.read.len());
    }
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let ready = self.fill_buf()?;
        let count = ready.len().min(into.len());
        into[..count].copy_from_slice(&ready[..count]);
        self.consume(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_differ_stay_apart_and_a_mark_at_the_beginning_goes() {
        let read = |bytes: &[u8]| {
            let (mut text, mut read) = (Text::of(bytes), String::new());
            text.read_to_string(&mut read).expect("text");
            (read, text.is_wide)
        };
        assert_eq!(read(b"\xef\xbb\xbf<a>"), ("<a>".into(), false));
        assert_eq!(read(b"a\xe9\xff"), ("a\u{e9}\u{ff}".into(), false));
        assert!(read(b"\xff\xfe<\0").1 && read(b"\0<").1 && !read(b"<rss>").1);
    }
}
