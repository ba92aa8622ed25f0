//! An interval of values that the data do not contradict.

/// From `low` to `high`, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// Whether `value` lies in it.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The distance of its ends.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// The smallest interval that holds this one and `value`.
    #[must_use]
    pub fn reaching(self, value: f64) -> Interval {
        Interval { low: self.low.min(value), high: self.high.max(value) }
    }
}
