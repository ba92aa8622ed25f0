//! Where a slower version burns the time: its call chain against the first version's.

use super::{measured, slower};
use crate::bisection::burner::steps;
use crate::hot_spots;
use crate::style::Style;
use crate::text::clean;
use case::Matrix;

/// A chain for each version that is slower and was recorded.
pub(super) fn chains(matrix: &Matrix, style: Style) -> String {
    let Some(first) = measured(matrix).next().map(|first| clean(&first.version)) else { return String::new() };
    let slow = measured(matrix).filter(|version| slower(version).is_some() && !version.chain.is_empty());
    let chains = slow.map(|version| {
        let name = clean(&version.version);
        let title = format!("What carries most of the difference of {name} in processor time:\n");
        let sides = [first.as_str(), &name, "difference"];
        title + &steps(&version.chain, sides, style) + &hot_spots::table(&version.hot_spots, sides, style)
    });
    chains.collect::<Vec<_>>().join("\n")
}
