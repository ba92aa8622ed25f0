//! How long the intervals of a history are, by their age.

use super::ServiceSample;
use std::collections::BTreeMap;

/// A day, in milliseconds.
const DAY: u64 = 86_400_000;

/// How finely a part of a history is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resolution {
    /// As it was sampled, a file an hour.
    Sampled,
    /// By the minute, a file a day.
    Minutes,
    /// By ten minutes, a file a day.
    TenMinutes,
}

impl Resolution {
    /// From fine to coarse.
    pub const ALL: [Resolution; 3] = [Resolution::Sampled, Resolution::Minutes, Resolution::TenMinutes];

    /// The shortest interval that is kept, in milliseconds.
    pub fn length_ms(self) -> u64 {
        match self {
            Resolution::Sampled => 0,
            Resolution::Minutes => 60_000,
            Resolution::TenMinutes => 600_000,
        }
    }

    /// The age, in milliseconds, from which a part is kept less finely: two weeks are what people look back on closely, a
    /// quarter what they compare.
    pub(super) fn kept_ms(self) -> u64 {
        match self {
            Resolution::Sampled => 14 * DAY,
            Resolution::Minutes => 92 * DAY,
            Resolution::TenMinutes => u64::MAX,
        }
    }

    /// The next coarser one.
    pub(super) fn next(self) -> Option<Resolution> {
        Resolution::ALL.into_iter().find(|step| *step > self)
    }

    /// The span of a file.
    pub(super) fn file_ms(self) -> u64 {
        if self == Resolution::Sampled { DAY / 24 } else { DAY }
    }

    /// The file of an interval that ends at a moment: the one in which it lies, as `joined` has it.
    pub(super) fn file_of(self, at_ms: u64) -> String {
        let start = at_ms.saturating_sub(1) / self.file_ms() * self.file_ms();
        let (year, month, day) = crate::date(start / DAY);
        let hour = start % DAY / 3_600_000;
        match self {
            Resolution::Sampled => format!("{year}-{month:02}-{day:02}T{hour:02}.parquet"),
            Resolution::Minutes => format!("{year}-{month:02}-{day:02}.minutes.parquet"),
            Resolution::TenMinutes => format!("{year}-{month:02}-{day:02}.ten-minutes.parquet"),
        }
    }

    /// Which step a file's name is of.
    pub(super) fn of_file(name: &str) -> Option<Resolution> {
        let stem = name.strip_suffix(".parquet")?;
        Some(match stem.split_once('.') {
            None => Resolution::Sampled,
            Some((_, "minutes")) => Resolution::Minutes,
            Some((_, "ten-minutes")) => Resolution::TenMinutes,
            Some(_) => return None,
        })
    }
}

/// Joins samples to intervals of a length, each service by itself, in order of service and time; 0 leaves them as they are.
pub fn joined(samples: Vec<ServiceSample>, length_ms: u64) -> Vec<ServiceSample> {
    if length_ms == 0 {
        return samples;
    }
    let mut joined: BTreeMap<(String, u64), ServiceSample> = BTreeMap::new();
    for sample in samples {
        // By where an interval ends: one that ends with a bucket belongs to it.
        let key = (sample.service.clone(), sample.at_ms.saturating_sub(1) / length_ms);
        match joined.get_mut(&key) {
            Some(sum) => sum.join(&sample),
            None => drop(joined.insert(key, sample)),
        }
    }
    joined.into_values().collect()
}
