//! Normal noise from a seed, to learn what a search finds where there is nothing to find.

use fastrand::Rng;

/// A standard normal value (Box and Muller 1958).
pub(crate) fn normal(random: &mut Rng) -> f64 {
    // 1 - [0, 1) is never 0.
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}
