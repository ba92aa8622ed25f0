//! Durations as people type them.

use std::time::Duration;

/// Longer than this is a slip of the finger: nobody waits for a day.
const MOST_SECONDS: f64 = 86_400.0;

/// Reads `10s`, `500ms`, `2m`, `1h`; a bare number is seconds.
///
/// # Errors
/// One sentence that says what is wrong.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale = match unit {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("`{unit}` is not a unit of time; the units are ms, s, m and h")),
    };
    match number.trim().parse::<f64>().map(|number| number * scale) {
        Ok(seconds) if seconds > 0.0 && seconds <= MOST_SECONDS => Ok(Duration::from_secs_f64(seconds)),
        Ok(_) => Err(format!("`{text}` is not between 1 ms and 24 h")),
        Err(_) => Err(format!("`{text}` is not a duration like 10s or 500ms")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_every_unit() {
        assert_eq!(duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("3"), Ok(Duration::from_secs(3)));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(duration("ten").is_err_and(|error| error.contains("units are ms")));
        assert!(duration("0s").is_err_and(|error| error.contains("between")));
        assert!(duration("-1s").is_err() && duration("").is_err() && duration("9999h").is_err());
    }
}
