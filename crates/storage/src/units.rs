//! Quantities that carry their unit in their type.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

/// A point in time (nanoseconds since boot, suspend included) or a length of time (nanoseconds).
///
/// Subtraction saturates at zero: events from two processors can be a few nanoseconds out of order, and a length of
/// time is never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// One millisecond.
    pub const MILLISECOND: Nanos = Nanos(1_000_000);
    /// One second.
    pub const SECOND: Nanos = Nanos(1_000_000_000);

    /// The length as seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The length as milliseconds.
    pub fn milliseconds(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// This length as a share of `whole`; 0 where `whole` is nothing.
    pub fn share_of(self, whole: Nanos) -> Share {
        if whole.0 == 0 { Share(0.0) } else { Share(self.0 as f64 / whole.0 as f64) }
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        *self = *self + other;
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Nanos>>(lengths: I) -> Nanos {
        lengths.fold(Nanos(0), Add::add)
    }
}

impl fmt::Display for Nanos {
    /// Three significant digits and the unit a reader would choose: `40.9 ms`, `812 ns`, `2.00 s`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            0..=999 => return write!(out, "{} ns", self.0),
            1_000..=999_499 => (self.0 as f64 / 1e3, "us"),
            999_500..=999_499_999 => (self.0 as f64 / 1e6, "ms"),
            _ => (self.0 as f64 / 1e9, "s"),
        };
        let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
        write!(out, "{value:.digits$} {unit}")
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0..=9_999 => write!(out, "{} bytes", self.0),
            10_000..=9_999_999 => write!(out, "{:.0} kB", self.0 as f64 / 1e3),
            10_000_000..=999_499_999 => write!(out, "{:.0} MB", self.0 as f64 / 1e6),
            999_500_000..=9_994_999_999 => write!(out, "{:.2} GB", self.0 as f64 / 1e9),
            _ => write!(out, "{:.1} GB", self.0 as f64 / 1e9),
        }
    }
}

/// A part of a whole, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Share(pub f64);

impl fmt::Display for Share {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        let digits = usize::from(percent < 9.95 || (percent > 99.0 && percent < 99.95));
        write!(out, "{percent:.digits$} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_shown_with_three_digits_and_its_unit() {
        let shown = |nanos| Nanos(nanos).to_string();
        assert_eq!(shown(812), "812 ns");
        assert_eq!(shown(9_990), "9.99 us");
        assert_eq!(shown(43_950_000), "44.0 ms");
        assert_eq!(shown(999_700), "1.00 ms");
        assert_eq!(shown(204_600_000_000), "205 s");
    }

    #[test]
    fn a_billion_bytes_and_more_are_shown_in_one_unit() {
        let shown = [950_000_000, 999_600_000, 7_188_000_000, 30_040_000_000].map(|bytes| Bytes(bytes).to_string());
        assert_eq!(shown, ["950 MB", "1.00 GB", "7.19 GB", "30.0 GB"]);
    }

    #[test]
    fn a_share_shows_a_decimal_where_it_tells_something() {
        assert_eq!(Share(0.931).to_string(), "93 %");
        assert_eq!(Share(0.042).to_string(), "4.2 %");
        assert_eq!(Share(0.999).to_string(), "99.9 %");
        assert_eq!(Share(0.9999).to_string(), "100 %");
        assert_eq!(Share(1.0).to_string(), "100 %");
    }
}
