//! Seconds since 1970 as a date and a time.

use case::date;

/// Date and time in UTC: `2024-02-29 12:34:56 UTC`.
pub fn utc(seconds: u64) -> String {
    let (days, in_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    format!("{year}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC", in_day / 3_600, in_day / 60 % 60, in_day % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_the_date_that_date_prints() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_827_696), "2000-02-29 12:34:56 UTC");
        assert_eq!(utc(1_709_251_199), "2024-02-29 23:59:59 UTC");
        assert_eq!(utc(1_709_251_200), "2024-03-01 00:00:00 UTC");
        assert_eq!(utc(4_102_444_800), "2100-01-01 00:00:00 UTC");
        // The largest that anybody can put into a damaged manifest.
        assert!(utc(u64::MAX).ends_with("UTC"));
    }
}
