//! Seconds since 1970 as dates.

/// The Gregorian date of a day, counted from 1970-01-01: year, month and day (Howard Hinnant, "chrono-compatible low-level date algorithms",
/// `civil_from_days`): years begin in March, so that the leap day is the last of them.
pub fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_the_date_that_a_calendar_has() {
        let days = [0, 11_016, 19_782, 19_783, 47_482].map(date);
        assert_eq!(days, [(1970, 1, 1), (2000, 2, 29), (2024, 2, 29), (2024, 3, 1), (2100, 1, 1)]);
    }
}
