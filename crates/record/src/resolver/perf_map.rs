//! Names of generated code, from the map file that a runtime writes for profilers (`/tmp/perf-PID.map`): lines of
//! `start size name`, numbers in hexadecimal.

use std::fs::File;
use std::io::{Read, Seek};

/// Not more of a map file is read; a large Node program writes about 20 MB.
const LARGEST_MAP_BYTES: u64 = 64 << 20;

/// A process's map file, by start; of several lines for one start the last one counts.
#[derive(Debug, Default)]
pub(super) struct PerfMap {
    rows: Vec<(u64, u64, String)>,
}

impl PerfMap {
    /// Reads an opened file to its end.
    pub fn read(mut file: File) -> PerfMap {
        let mut bytes = Vec::new();
        // What could be read before an error is still right.
        let _ = file.rewind().and_then(|()| file.take(LARGEST_MAP_BYTES).read_to_end(&mut bytes));
        PerfMap::parse(&bytes)
    }

    /// Takes any bytes; lines that say nothing are left out.
    pub fn parse(bytes: &[u8]) -> PerfMap {
        let lines = bytes.split(|byte| *byte == b'\n');
        let mut rows: Vec<_> = lines.filter_map(|line| parse_line(&String::from_utf8_lossy(line))).collect();
        // A stable sort: code that took the place of older code comes after it.
        rows.sort_by_key(|(start, ..)| *start);
        PerfMap { rows }
    }

    /// The function at an address: its start and name.
    pub fn function(&self, address: u64) -> Option<(u64, &str)> {
        let after = self.rows.partition_point(|(start, ..)| *start <= address);
        let (start, size, name) = self.rows.get(after.checked_sub(1)?)?;
        (address - start < *size).then_some((*start, name.as_str()))
    }
}

fn parse_line(line: &str) -> Option<(u64, u64, String)> {
    let (start, rest) = line.split_once(' ')?;
    let (size, name) = rest.split_once(' ')?;
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    Some((number(start)?, number(size)?, name.trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_line_for_a_place_counts() {
        let map = PerfMap::parse(b"1000 20 old\n2000 10 JS:*read /a b.js:3\n1000 10 new\n");
        assert_eq!(map.function(0x1008), Some((0x1000, "new")));
        assert_eq!(map.function(0x1018), None);
        assert_eq!(map.function(0x2001), Some((0x2000, "JS:*read /a b.js:3")));
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..300), address in any::<u64>()) {
            PerfMap::parse(&bytes).function(address);
        }

        #[test]
        fn nearly_right_lines_are_taken(text in "([0-9a-f]{1,17} [0-9a-f]{1,17} .{0,9}\n){0,5}", address in any::<u64>()) {
            PerfMap::parse(text.as_bytes()).function(address);
        }
    }
}
