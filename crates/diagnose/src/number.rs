//! Numbers in sentences.

/// A count, thousands set apart: `22,564`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let parts: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|part| std::str::from_utf8(part).ok()).collect();
    parts.join(",")
}

/// A rate in bytes a nanosecond, as networks are sold.
pub fn per_second(rate: f64) -> String {
    let bits = rate * 8e9;
    let (value, unit) = match bits {
        _ if bits >= 1e9 => (bits / 1e9, "Gbit/s"),
        _ if bits >= 1e6 => (bits / 1e6, "Mbit/s"),
        _ => (bits / 1e3, "kbit/s"),
    };
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([0, 999, 1_000, 7_386_071].map(count), ["0", "999", "1,000", "7,386,071"]);
    }
}
