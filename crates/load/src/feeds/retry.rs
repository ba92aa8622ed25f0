//! Retry-After: until when a server wants to be left alone.

use std::time::{SystemTime, UNIX_EPOCH};

/// Nobody is left alone for longer, whatever they say: a slip would lose a feed for years.
const LONGEST_S: i64 = 7 * 86_400;

/// Until when, in seconds since 1970; none where the header does not say.
pub(crate) fn until(header: &str, now_s: i64) -> Option<i64> {
    let header = header.trim();
    let is_number = !header.is_empty() && header.bytes().all(|byte| byte.is_ascii_digit());
    let wait = if is_number {
        header.parse::<i64>().unwrap_or(LONGEST_S)
    } else {
        seconds(httpdate::parse_http_date(header).ok()?)? - now_s
    };
    (wait > 0).then(|| now_s + wait.min(LONGEST_S))
}

fn seconds(time: SystemTime) -> Option<i64> {
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_read_and_bounded() {
        assert_eq!(until("120", 1000), Some(1120));
        assert_eq!(until("Thu, 01 Jan 1970 00:20:00 GMT", 1000), Some(1200));
        assert_eq!(until("99999999999999999999", 0), Some(LONGEST_S));
        assert_eq!(["", "0", "soon", "-5", "Thu, 01 Jan 1970 00:10:00 GMT"].map(|text| until(text, 1000)), [None; 5]);
    }
}
