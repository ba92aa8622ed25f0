//! How fast a link carries bytes, written as people write it: `10mbit`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Units in bits a second, longest name first where one ends another.
const UNITS: [(&str, u64); 4] = [("gbit", 1_000_000_000), ("mbit", 1_000_000), ("kbit", 1_000), ("bit", 1)];

/// A rate in bits a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// Bits a second, at least [`Rate::LEAST`].
    pub bits_per_second: u64,
}

impl Rate {
    /// Below this a full segment takes more than a second, and TCP gives up before the program does.
    pub const LEAST: u64 = 10_000;
    /// Above this the token bucket of the kernel no longer limits anything on one machine.
    pub const MOST: u64 = 100_000_000_000;

    /// Bytes that this rate carries in a number of milliseconds.
    pub fn bytes_in(self, milliseconds: u64) -> u64 {
        self.bits_per_second / 8 * milliseconds / 1000
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Rate, String> {
        let lower = text.trim().to_ascii_lowercase();
        let unit = UNITS.iter().find_map(|(name, bits)| Some((lower.strip_suffix(name)?, *bits)));
        let wrong = || format!("`{text}` is not a rate: a number and one of kbit, mbit, gbit, as in 10mbit");
        let (number, bits) = unit.ok_or_else(wrong)?;
        let number = number.trim().parse::<f64>().map_err(|_| wrong())?;
        let bits_per_second = (number * bits as f64).round() as u64;
        if !(Rate::LEAST..=Rate::MOST).contains(&bits_per_second) {
            return Err(format!("the rate `{text}` is outside 10kbit to 100gbit"));
        }
        Ok(Rate { bits_per_second })
    }
}

impl fmt::Display for Rate {
    /// In the largest unit that divides it: `10mbit`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = UNITS.iter().find(|(_, bits)| self.bits_per_second.is_multiple_of(*bits));
        let (name, bits) = unit.unwrap_or(&UNITS[3]);
        write!(out, "{}{name}", self.bits_per_second / bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_people_write_them() {
        let bits = |text: &str| text.parse::<Rate>().map(|rate| rate.bits_per_second);
        assert_eq!(bits("10mbit"), Ok(10_000_000));
        assert_eq!(bits("1.5Gbit"), Ok(1_500_000_000));
        assert_eq!(bits("64 kbit"), Ok(64_000));
        assert!(bits("10").is_err_and(|error| error.contains("10mbit")));
        assert!(bits("10MB/s").is_err());
        assert!(bits("0mbit").is_err_and(|error| error.contains("10kbit")));
        assert!(bits("-1mbit").is_err() && bits("nanmbit").is_err() && bits("infgbit").is_err());
    }

    #[test]
    fn a_rate_is_shown_in_its_largest_whole_unit() {
        assert_eq!("10mbit".parse::<Rate>().map(|rate| rate.to_string()), Ok("10mbit".into()));
        assert_eq!("1.5gbit".parse::<Rate>().map(|rate| rate.to_string()), Ok("1500mbit".into()));
    }

    #[test]
    fn ten_megabits_carry_125_kilobytes_in_100_milliseconds() {
        assert_eq!(Rate { bits_per_second: 10_000_000 }.bytes_in(100), 125_000);
    }
}
