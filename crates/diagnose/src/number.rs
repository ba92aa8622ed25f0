//! Numbers in sentences.

/// A count, thousands set apart: `22,564`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let parts: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|part| std::str::from_utf8(part).ok()).collect();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([0, 999, 1_000, 7_386_071].map(count), ["0", "999", "1,000", "7,386,071"]);
    }
}
