//! Pure statistics of proof: numbers in, numbers out. No clock, no files; randomness comes from a seed.
//!
//! Two arms of an experiment are compared by [`ratio_of_pairs`]; [`Looks`] tells when to stop measuring. A sweep is
//! read by [`cliff`], [`jumps`], [`knee`] and [`growth`], a sequence by [`change_points`], a line of commits by [`stairs()`].
//! docs/statistics.md explains the rule to a user and shows how it was calibrated on real timings.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod bisection;
mod bootstrap;
mod change_points;
mod cliff;
mod growth;
mod interval;
mod jumps;
mod knee;
mod last_column;
mod levels;
mod line;
mod looks;
mod noise;
mod over_floor;
mod power_law;
mod rank_sum;
mod ranks;
mod ratio;
mod sample;
mod schedule;
mod signed_rank;
mod sprt;
mod stairs;
mod student;
mod surface;

pub use bisection::Bisection;
pub use bootstrap::{Resampling, bca_interval, percentile_interval};
pub use change_points::{ChangePoint, change_points};
pub use cliff::{Bracket, cliff};
pub use growth::{Growth, growth};
pub use interval::Interval;
pub use jumps::jumps;
pub use knee::{Knee, knee};
pub use line::{Line, least_squares, theil_sen};
pub use looks::{Decision, Look, Looks, decision};
pub use over_floor::is_sharp;
pub use power_law::{PowerLaw, power_law};
pub use rank_sum::{RankSum, rank_sum, shift, shift_interval};
pub use ratio::{Ratio, ratio_of_pairs};
pub use sample::{mean, median, quantile, variance};
pub use schedule::schedule;
pub use signed_rank::{SignedRank, center_interval, hodges_lehmann, signed_rank};
pub use sprt::{Mean, SequentialTest};
pub use stairs::{Hidden, Place, Step, differ, is_settled, stairs, suspected_stairs};
pub use student::{mean_interval, two_means};
