//! A trial of a version, as far as its figures are concerned.

/// One sound trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// By its place among the arms.
    pub arm: usize,
    /// Its round.
    pub round: u32,
    /// The values of each metric, as they are shown: one of a trial's own, as many as the program writes of the others.
    pub values: Vec<Vec<f64>>,
}
