//! The order of versions, as people number them.

use std::cmp::Ordering;

/// So many known versions are named on either side of one that is not known.
const NEIGHBOURS: usize = 3;

/// Compares two versions part by part, numbers as numbers: `1.1.1w` is older than `3.0.2`, and `3.0.9` than `3.0.10`.
pub fn older_first(one: &str, other: &str) -> Ordering {
    let (mut one, mut other) = (parts(one).into_iter(), parts(other).into_iter());
    loop {
        match (one.next(), other.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(a), Some(b)) => match a.cmp(&b) {
                Ordering::Equal => {}
                different => return different,
            },
        }
    }
}

/// Numbers, and letters between them; a number comes before letters.
fn parts(version: &str) -> Vec<Result<u64, String>> {
    let letters = version.chars().collect::<Vec<_>>();
    let is_same = |a: &char, b: &char| a.is_ascii_digit() == b.is_ascii_digit() && is_word(*a) && is_word(*b);
    let words = letters.chunk_by(is_same).map(|part| part.iter().collect::<String>());
    let words = words.filter(|word| word.chars().all(is_word));
    words.map(|word| word.parse::<u64>().map_err(|_| word)).collect()
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric()
}

/// The known versions around one that is not known, oldest first.
pub fn nearest(asked: &str, known: &[String]) -> Vec<String> {
    let mut sorted = known.to_vec();
    sorted.sort_by(|a, b| older_first(a, b));
    sorted.dedup();
    let place = sorted.partition_point(|one| older_first(one, asked) == Ordering::Less);
    let from = place.saturating_sub(NEIGHBOURS);
    sorted.into_iter().skip(from).take(2 * NEIGHBOURS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_as_numbers_and_letters_follow() {
        let mut versions = ["3.0.10", "1.1.1w", "4.0.3", "1.1.1", "3.0.9", "1.1.1a", "8.22.0", "8.3.0"];
        versions.sort_by(|a, b| older_first(a, b));
        assert_eq!(versions, ["1.1.1", "1.1.1a", "1.1.1w", "3.0.9", "3.0.10", "4.0.3", "8.3.0", "8.22.0"]);
        assert_eq!(older_first("3.0.2", "3.0.2"), Ordering::Equal);
    }

    #[test]
    fn what_is_named_stands_around_what_was_asked_for() {
        let known = ["3.0.0", "3.0.1", "3.0.2", "3.0.3", "1.1.1w", "3.1.0", "4.0.1"].map(String::from);
        assert_eq!(nearest("3.0.20", &known), ["3.0.1", "3.0.2", "3.0.3", "3.1.0", "4.0.1"]);
        assert_eq!(nearest("0.9", &known)[0], "1.1.1w");
        assert!(nearest("1", &[]).is_empty());
    }
}
