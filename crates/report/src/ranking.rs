//! Which versions of a library were measured, and which of them are slower than the first.

use case::{Compared, Contrast, Matrix, Version, VersionState};

/// The versions that were measured, in order; the first is what the others are compared with.
pub(crate) fn measured(matrix: &Matrix) -> impl Iterator<Item = &Version> {
    matrix.versions.iter().filter(|version| version.state == VersionState::Measured && !version.figures.is_empty())
}

/// The metric that decides, where by it a version is significantly slower than the first.
pub(crate) fn slower(version: &Version) -> Option<&Compared> {
    version.ratios.first().filter(|first| {
        let worse = if first.metric.more_is_better() { Contrast::Less } else { Contrast::More };
        first.outcome == worse
    })
}

/// The version that is slowest against the first; none where none is slower.
pub(crate) fn worst(matrix: &Matrix) -> Option<(&Version, &Compared)> {
    let slow = measured(matrix).filter_map(|version| slower(version).map(|compared| (version, compared)));
    slow.max_by(|(one, _), (other, _)| badness(one).total_cmp(&badness(other)))
}

/// How many times as bad a version is.
pub(crate) fn badness(version: &Version) -> f64 {
    slower(version).map_or(0.0, |first| first.ratio.max(first.ratio.recip()))
}
