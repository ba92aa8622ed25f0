//! The versions whose CPU time is drawn against the first one's: those that differ from it, at most a handful.

use crate::{Compared, Contrast, Matrix, Version, VersionState};

/// The most pictures of a difference on a page: each is some 100 kB, and nobody reads a dozen.
pub const MOST_PAIRS: usize = 4;

/// What is drawn against what.
pub struct Pairs<'m> {
    /// The first version that was measured: A of every pair.
    pub first: &'m Version,
    /// The versions that are drawn against it, each B of its pair; the largest slow-down first.
    pub drawn: Vec<&'m Version>,
    /// Those that differ as well, but for which there is no room.
    pub left_out: Vec<&'m Version>,
}

impl<'m> Pairs<'m> {
    /// The pairs of a matrix; none where no version was measured. Those that are slower by the metric that decides come
    /// first, then those that differ from the first version in some other metric only, then those that are faster.
    pub fn of(matrix: &'m Matrix) -> Option<Pairs<'m>> {
        let mut measured = matrix.versions.iter().filter(|version| is_measured(version));
        let first = measured.next()?;
        let mut drawn = measured.filter(|version| differs(version)).collect::<Vec<_>>();
        drawn.sort_by(|one, other| slow_down(other).total_cmp(&slow_down(one)));
        let left_out = drawn.split_off(drawn.len().min(MOST_PAIRS));
        Some(Pairs { first, drawn, left_out })
    }
}

fn is_measured(version: &Version) -> bool {
    version.state == VersionState::Measured && !version.figures.is_empty()
}

/// Whether it certainly differs from the first in any metric.
fn differs(version: &Version) -> bool {
    version.ratios.iter().any(is_certain)
}

fn is_certain(compared: &Compared) -> bool {
    matches!(compared.outcome, Contrast::More | Contrast::Less)
}

/// How many times as bad a version is by the metric that decides; 1 where it does not differ from the first in that.
fn slow_down(version: &Version) -> f64 {
    let Some(decides) = version.ratios.first().filter(|decides| is_certain(decides)) else { return 1.0 };
    let times = if decides.metric.more_is_better() { decides.ratio.recip() } else { decides.ratio };
    if times.is_nan() { 1.0 } else { times }
}
