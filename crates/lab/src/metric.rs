//! What a trial is judged by: the vocabulary's metrics, as experiments use them.

use crate::error::LabError;
pub use case::facts::{LoadFigure, Metric, MetricError};
use case::{Answer, Nanos};

impl From<MetricError> for LabError {
    fn from(error: MetricError) -> LabError {
        LabError::World(error.0)
    }
}

/// How long an exchange of a run takes, all in all.
pub fn elapsed_per_exchange(answer: &Answer) -> Option<Nanos> {
    (answer.exchanges > 0).then(|| Nanos(answer.wall_ns / answer.exchanges))
}
