//! Times as logs write them, in seconds since 1970: `10/Oct/2000:13:55:36 -0700`, `2000-10-10T13:55:36.123+02:00`, and
//! `971211336.123`, which may also count milli-, micro- or nanoseconds. Without a zone it is UTC.

use crate::number::digits;

const DAY: i64 = 86_400;
/// Numbers beyond are no seconds (the year 5138), nor milliseconds, nor microseconds.
pub const LARGEST_SECONDS: u64 = 100_000_000_000;

/// Reads a time; none where it is none.
pub fn seconds(text: &[u8]) -> Option<i64> {
    match (text.get(2), text.get(4)) {
        (Some(b'/'), _) => common(text),
        (_, Some(b'-')) => iso(text),
        _ => since_1970(text),
    }
}

/// `10/Oct/2000:13:55:36 -0700`, also without a zone, and with decimals of a second.
fn common(text: &[u8]) -> Option<i64> {
    let [d1, d2, _, m1, m2, m3, b'/', y1, y2, y3, y4, b':', clock @ ..] = text else { return None };
    let month = match [m1, m2, m3].map(u8::to_ascii_lowercase) {
        [b'j', b'a', b'n'] => 1,
        [b'f', b'e', b'b'] => 2,
        [b'm', b'a', b'r'] => 3,
        [b'a', b'p', b'r'] => 4,
        [b'm', b'a', b'y'] => 5,
        [b'j', b'u', b'n'] => 6,
        [b'j', b'u', b'l'] => 7,
        [b'a', b'u', b'g'] => 8,
        [b's', b'e', b'p'] => 9,
        [b'o', b'c', b't'] => 10,
        [b'n', b'o', b'v'] => 11,
        [b'd', b'e', b'c'] => 12,
        _ => return None,
    };
    let day = number(&[*d1, *d2])?;
    let year = number(&[*y1, *y2, *y3, *y4])?;
    Some(days(year, month, day)? * DAY + of_day(clock)?)
}

/// `2000-10-10T13:55:36.123Z`, also with a blank for the T.
fn iso(text: &[u8]) -> Option<i64> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T' | b't' | b' ' | b'_', clock @ ..] = text else { return None };
    let date = days(number(&[*y1, *y2, *y3, *y4])?, number(&[*m1, *m2])?, number(&[*d1, *d2])?)?;
    Some(date * DAY + of_day(clock)?)
}

fn since_1970(text: &[u8]) -> Option<i64> {
    // 1.6468614015241024e9, as Go writes some.
    if text.contains(&b'e') {
        let value = std::str::from_utf8(text).ok()?.parse::<f64>().ok()?;
        return (0.0..1e11).contains(&value).then_some(value as i64);
    }
    let point = memchr::memchr(b'.', text).unwrap_or(text.len());
    let mut whole = digits(&text[..point])?;
    for _ in 0..3 {
        if whole >= LARGEST_SECONDS {
            whole /= 1_000;
        }
    }
    (whole < LARGEST_SECONDS).then_some(whole as i64)
}

/// The time of day, less its zone.
fn of_day(clock: &[u8]) -> Option<i64> {
    let [h1, h2, b':', m1, m2, b':', s1, s2, rest @ ..] = clock else { return None };
    let (hours, minutes, seconds) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?, number(&[*s1, *s2])?);
    if hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    Some(hours * 3_600 + minutes * 60 + seconds - zone(rest)?)
}

/// Seconds that a zone is before UTC; decimals of a second may stand before it.
fn zone(rest: &[u8]) -> Option<i64> {
    let rest = match rest {
        [b'.' | b',', decimals @ ..] => {
            let end = decimals.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(decimals.len());
            &decimals[end..]
        }
        rest => rest,
    };
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let (sign, h1, h2, m1, m2) = match rest {
        [] | [b'Z' | b'z'] | b"UTC" | b"GMT" => return Some(0),
        [sign @ (b'+' | b'-'), h1, h2, m1, m2] | [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => (sign, h1, h2, m1, m2),
        _ => return None,
    };
    let ahead = number(&[*h1, *h2])? * 3_600 + number(&[*m1, *m2])? * 60;
    Some(if *sign == b'-' { -ahead } else { ahead })
}

fn number(text: &[u8]) -> Option<i64> {
    text.iter().try_fold(0i64, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0')))
}

/// Days since 1970 of a date (Howard Hinnant, `days_from_civil`).
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || year < 1970 {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    Some(era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_moment_is_the_same_however_it_is_written() {
        let moment = 971_211_336;
        for text in [
            "10/Oct/2000:13:55:36 -0700",
            "10/Oct/2000:20:55:36 +0000",
            "10/Oct/2000:20:55:36.655",
            "2000-10-10T20:55:36Z",
            "2000-10-10T22:55:36.186641+02:00",
            "2000-10-10 20:55:36",
            "971211336",
            "971211336.123",
            "971211336123",
            "9.71211336123e8",
        ] {
            assert_eq!(seconds(text.as_bytes()), Some(moment), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in ["", "-", "10/Foo/2000:13:55:36 -0700", "10/Oct/2000:13:55", "2000-13-10T20:55:36Z", "yesterday"] {
            assert_eq!(seconds(text.as_bytes()), None, "{text}");
        }
    }
}
