//! What the page of a document draws besides the document itself.

use super::{ArmDots, Flame, Views};
use serde::{Deserialize, Serialize};

/// Everything that recordings and trials show of a document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageViews {
    /// What recordings show: one for a run, A and B for a comparison, one a regime for a sweep,
    /// the good and the bad world for a bisection, one a version for a matrix.
    pub sides: Vec<SideViews>,
    /// Where CPU time differs between sides: B's from A's for a comparison, the bad world's from the good one's for
    /// a bisection, each of the [`super::Pairs`] for a matrix.
    pub differences: Vec<Difference>,
    /// Every trial, arm by arm.
    pub arms: Vec<ArmDots>,
}

/// What the recording of one side shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SideViews {
    /// The side's name: `A`, `B`, `at 1424`; empty where there is one only.
    pub name: String,
    /// What it shows.
    pub views: Views,
}

/// Where the CPU time of a side differs from another's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The name of what is compared with: `A`, or a version.
    pub a: String,
    /// The name of what is compared: `B`, or a version.
    pub b: String,
    /// A's times are those before, B's those after.
    pub flame: Flame,
}
