//! How long exchanges took.

use serde::{Deserialize, Serialize};

/// The lengths of all exchanges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lengths {
    /// How many exchanges.
    pub count: u64,
    /// The sum of their lengths, in nanoseconds.
    pub total_ns: u64,
    /// The empirical distribution: some hundred steps from the shortest to the longest, denser towards the longest, the
    /// ten longest one by one.
    pub quantiles: Vec<Quantile>,
    /// A histogram with borders that grow by a constant factor; without empty bins at its ends.
    pub histogram: Vec<Bin>,
    /// Over time, in at most a thousand stretches of equal length; stretches in which none ended are left out.
    pub over_time: Vec<Moment>,
    /// The longest, at most a hundred, longest first.
    pub worst: Vec<Outlier>,
}

/// One step of a distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quantile {
    /// The share of exchanges that took at most this long, 0 to 1.
    pub share: f64,
    /// The length, in nanoseconds.
    pub ns: u64,
}

/// One bin of a histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bin {
    /// Lengths from here, in nanoseconds ...
    pub from_ns: u64,
    /// ... to below here.
    pub to_ns: u64,
    /// How many exchanges.
    pub count: u64,
}

/// One stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Its beginning.
    pub at: u64,
    /// Exchanges that completed in it.
    pub count: u64,
    /// The length of the middle one, in nanoseconds.
    pub median_ns: u64,
    /// The length that 95 % of them stayed below, in nanoseconds.
    pub p95_ns: u64,
    /// The longest, in nanoseconds.
    pub most_ns: u64,
}

/// One exchange that took long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outlier {
    /// Its number, counted from 1.
    pub number: u64,
    /// When it ended.
    pub at: u64,
    /// How long it took, in nanoseconds.
    pub length_ns: u64,
}
