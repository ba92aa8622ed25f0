//! When requests are to start.

use crate::replay::Replay;
use std::sync::Arc;

/// When requests start.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrival {
    /// As soon as the one before is answered.
    Closed,
    /// At so many a second, evenly.
    Constant(f64),
    /// At so many a second in the mean, at random.
    Poisson(f64),
    /// At one rate after another, for equal parts of the time.
    Steps(Vec<f64>),
    /// As requests came that were recorded elsewhere.
    Replay(Arc<Replay>),
}
