//! Pure statistics of proof: numbers in, numbers out. No clock, no files; randomness comes from a seed.
//!
//! Two arms of an experiment are compared by [`ratio_of_pairs`]; [`Looks`] tells when to stop measuring.
//! docs/statistics.md explains the rule to a user and shows how it was calibrated on real timings.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod interval;
mod looks;
mod ranks;
mod ratio;
mod sample;
mod schedule;
mod signed_rank;
mod student;

pub use interval::Interval;
pub use looks::{Decision, Look, Looks, decision};
pub use ratio::{Ratio, ratio_of_pairs};
pub use sample::{mean, median, quantile, variance};
pub use schedule::schedule;
pub use signed_rank::{SignedRank, center_interval, hodges_lehmann, signed_rank};
pub use student::mean_interval;
