//! The addresses that crawlers publish as theirs, given as files: any text or JSON in which the ranges stand (`66.249.64.0/19`,
//! `2001:4860:4801::/48`).

use crate::address;
use crate::error::ImportError;
use std::path::Path;

/// Ranges of addresses by the name of whose they are.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    /// The name in small letters, and its ranges by their starts; none overlaps another.
    named: Vec<(String, Vec<(u128, u128)>)>,
}

impl Ranges {
    /// Reads a file of ranges and takes them as those of `name`, or without a name as those of whose name stands before each
    /// range in its line.
    ///
    /// # Errors
    /// Where it cannot be read, or holds no range.
    pub fn read(&mut self, name: Option<&str>, file: &Path) -> Result<(), ImportError> {
        let text = std::fs::read_to_string(file).map_err(ImportError::io(file))?;
        if self.take(name, &text) { Ok(()) } else { Err(ImportError::NoRanges(file.to_path_buf())) }
    }

    /// Takes in a text; whether it holds any range.
    fn take(&mut self, name: Option<&str>, text: &str) -> bool {
        let mut found = false;
        for line in text.lines() {
            let words = line.split(|letter: char| !(letter.is_ascii_alphanumeric() || ".:/-_+".contains(letter)));
            let mut before = "";
            for word in words.filter(|word| !word.is_empty()) {
                match range(word) {
                    Some(range) if name.is_some() || !before.is_empty() => {
                        self.add(name.unwrap_or(before), range);
                        found = true;
                    }
                    _ => before = word,
                }
            }
        }
        for (_, ranges) in &mut self.named {
            ranges.sort_unstable();
            ranges.dedup_by(|next, kept| {
                let overlaps = next.0 <= kept.1;
                if overlaps {
                    kept.1 = kept.1.max(next.1);
                }
                overlaps
            });
        }
        found
    }

    fn add(&mut self, name: &str, range: (u128, u128)) {
        let name = name.to_ascii_lowercase();
        match self.named.iter_mut().find(|(known, _)| *known == name) {
            Some((_, ranges)) => ranges.push(range),
            None => self.named.push((name, vec![range])),
        }
    }

    /// Which ranges are those of a family: of the same name, or one that begins with it (`Googlebot-Image` is Googlebot's).
    pub fn of(&self, family: &str) -> Option<usize> {
        let family = family.to_ascii_lowercase();
        self.named.iter().position(|(name, _)| family == *name || family.starts_with(&format!("{name}-")))
    }

    /// Whether an address is in them.
    pub fn contains(&self, which: usize, address: u128) -> bool {
        let ranges = self.named.get(which).map_or(&[][..], |(_, ranges)| ranges);
        let after = ranges.partition_point(|(start, _)| *start <= address);
        after > 0 && address <= ranges[after - 1].1
    }
}

/// The first and the last address of a range, `address/bits`.
fn range(word: &str) -> Option<(u128, u128)> {
    let (start, bits) = word.split_once('/')?;
    let bits = bits.parse::<u32>().ok()?;
    let address = address::of(start.as_bytes())?;
    let bits = if start.contains(':') { bits } else { bits + 96 };
    let hosts = match bits {
        0 => u128::MAX,
        1..=128 => (1u128 << (128 - bits)) - 1,
        _ => return None,
    };
    Some((address & !hosts, address | hosts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_files_and_lists_of_our_own_are_read_alike() {
        let mut ranges = Ranges::default();
        let json = r#"{"creationTime":"2024-01-01T00:00:00","prefixes":[{"ipv6Prefix":"2001:4860:4801:10::/64"},{"ipv4Prefix":"66.249.64.0/27"}]}"#;
        assert!(ranges.take(Some("Googlebot"), json));
        assert!(ranges.take(None, "# ours\nexamplebot 203.0.113.0/24, 203.0.113.128/25\n"));
        let is_in = |family: &str, text: &str| {
            ranges.of(family).map(|which| ranges.contains(which, address::of(text.as_bytes()).unwrap()))
        };
        assert_eq!(is_in("Googlebot", "66.249.64.31"), Some(true));
        assert_eq!(is_in("Googlebot", "66.249.64.32"), Some(false));
        assert_eq!(is_in("Googlebot-Image", "2001:4860:4801:10::5"), Some(true));
        assert_eq!(is_in("ExampleBot", "203.0.113.255"), Some(true));
        assert_eq!(is_in("OtherBot", "203.0.113.255"), None);
        assert!(!Ranges::default().take(Some("x"), "nothing 2024/05 here"));
    }
}
