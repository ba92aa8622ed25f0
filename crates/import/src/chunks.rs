//! Bytes as lines, without copying them: blocks are read into one buffer, and lines are slices of it.

use crate::files::BLOCK;
use memchr::memchr_iter;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

/// Longer lines are not read: no server writes such.
pub const LONGEST_LINE: usize = 1024 * 1024;

/// Hands on all lines, without their ends; empty ones are left out. Of a line that is too long only the beginning is handed
/// on. Bytes before an error are lines, too.
pub fn lines(mut from: impl Read, mut to: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0; BLOCK];
    let mut held = 0;
    // Whether what is held is the rest of a line that was too long.
    let mut is_rest = false;
    loop {
        let read = match from.read(&mut buffer[held..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(read) if read > 0 => read,
            ended => {
                if !is_rest {
                    hand(&buffer[..held], &mut to);
                }
                return ended.map(drop);
            }
        };
        let all = held + read;
        let mut start = 0;
        for end in memchr_iter(b'\n', &buffer[held..all]).map(|end| held + end) {
            if !std::mem::take(&mut is_rest) {
                hand(&buffer[start..end], &mut to);
            }
            start = end + 1;
        }
        buffer.copy_within(start..all, 0);
        held = all - start;
        if is_rest {
            held = 0;
        } else if held >= LONGEST_LINE {
            hand(&buffer[..held], &mut to);
            (held, is_rest) = (0, true);
        } else if held == buffer.len() {
            buffer.resize(2 * held, 0);
        }
    }
}

fn hand(line: &[u8], to: &mut impl FnMut(&[u8])) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if !line.is_empty() {
        to(line);
    }
}

/// The lines of a plain file that begin in a part of it.
pub struct Part<'f> {
    file: &'f File,
    at: u64,
    end: u64,
    /// Whether the end was passed and the line that began before it is being finished.
    is_over: bool,
}

impl<'f> Part<'f> {
    /// The part from `start` to `end`: lines that begin there, whole.
    pub fn new(file: &'f File, start: u64, end: u64) -> io::Result<Part<'f>> {
        let mut part = Part { file, at: start, end, is_over: false };
        if start > 0 {
            part.at = part.after_line_end(start - 1)?;
        }
        Ok(part)
    }

    /// Where the first line begins whose predecessor ends at `from` or behind.
    fn after_line_end(&self, mut from: u64) -> io::Result<u64> {
        let mut buffer = [0; 8 * 1024];
        loop {
            match self.file.read_at(&mut buffer, from)? {
                0 => return Ok(from),
                read => match memchr::memchr(b'\n', &buffer[..read]) {
                    Some(end) => return Ok(from + end as u64 + 1),
                    None => from += read as u64,
                },
            }
        }
    }
}

impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_over || self.at >= self.end && !self.is_inside_line()? {
            return Ok(0);
        }
        let room =
            if self.at < self.end { (self.end - self.at).min(buffer.len() as u64) as usize } else { buffer.len() };
        let read = self.file.read_at(&mut buffer[..room], self.at)?;
        let mut taken = read;
        if self.at >= self.end {
            // The last line, up to its end.
            if let Some(end) = memchr::memchr(b'\n', &buffer[..read]) {
                (taken, self.is_over) = (end + 1, true);
            }
        }
        self.at += taken as u64;
        Ok(taken)
    }
}

impl Part<'_> {
    /// Whether a line that began before the end goes on behind it.
    fn is_inside_line(&self) -> io::Result<bool> {
        let mut last = [0];
        let is_read = self.at > 0 && self.file.read_at(&mut last, self.at - 1)? == 1;
        Ok(is_read && last[0] != b'\n')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn all(from: impl Read) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        lines(from, |line| found.push(line.to_vec())).unwrap();
        found
    }

    #[test]
    fn lines_are_whole_whatever_their_length() {
        let long = "x".repeat(BLOCK + 17);
        let text = format!("a\r\n\n{long}\nb\n{}\nlast", "y".repeat(3 * LONGEST_LINE));
        let found = all(text.as_bytes());
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>()[..3], [1, BLOCK + 17, 1]);
        assert!(found[3].len() >= LONGEST_LINE && found[3].len() < 2 * LONGEST_LINE);
        assert_eq!(found[4], b"last");
    }

    #[test]
    fn every_line_is_in_one_part_wherever_the_parts_are_cut() {
        let mut file = tempfile::tempfile().unwrap();
        let text = "one\n\ntwo and more\n\nthree\nfour, the last, which has no end";
        file.write_all(text.as_bytes()).unwrap();
        let whole = all(text.as_bytes());
        let length = text.len() as u64;
        for cut in 0..=length {
            for second in cut..=length {
                let parts = [(0, cut), (cut, second), (second, length)];
                let found = parts.into_iter().flat_map(|(start, end)| all(Part::new(&file, start, end).unwrap()));
                assert_eq!(found.collect::<Vec<_>>(), whole, "{cut} {second}");
            }
        }
    }
}
