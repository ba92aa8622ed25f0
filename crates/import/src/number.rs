//! Numbers as logs write them.

/// A whole number of at most 19 digits.
pub fn digits(value: &[u8]) -> Option<u64> {
    let is_number = (1..=19).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
    is_number.then(|| value.iter().fold(0u64, |sum, digit| sum.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'))))
}

/// A length of time, with or without decimals, in a unit: in nanoseconds. That it is not known is `-` or below 0.
#[expect(clippy::option_option, reason = "not known is something else than not a time")]
pub fn nanos(value: &[u8], unit: u64) -> Option<Option<u64>> {
    if value == b"-" || value.strip_prefix(b"-").is_some_and(|rest| digits(rest).is_some()) {
        return Some(None);
    }
    let point = memchr::memchr(b'.', value).unwrap_or(value.len());
    let whole = digits(&value[..point])?.saturating_mul(unit);
    let Some(decimals) = value.get(point + 1..) else { return Some(Some(whole)) };
    let decimals = &decimals[..decimals.len().min(12)];
    let part = digits(decimals)? as f64 / 10f64.powi(decimals.len() as i32) * unit as f64;
    Some(Some(whole.saturating_add(part.round() as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_may_be_unknown() {
        assert_eq!(nanos(b"0.123", 1_000_000_000), Some(Some(123_000_000)));
        assert_eq!(nanos(b"12", 1_000_000), Some(Some(12_000_000)));
        assert_eq!((nanos(b"-", 1), nanos(b"-1", 1), nanos(b"x", 1)), (Some(None), Some(None), None));
    }
}
