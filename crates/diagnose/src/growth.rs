//! Which call chain grows: from recordings at two values of something that was varied.

use crate::profile::{CUT_SHORT, Profile, ROOT, Tree, children_of_both, profile};
use crate::units::Units;
use crate::with_evidence;
use case::{Growing, Recording};

/// Fewer samples than this at the larger value tell no chain.
const SAMPLES: u64 = 20;

/// A gain counts from this many standard deviations of counting samples.
const DEVIATIONS: f64 = 3.0;

/// The chain goes on while a function holds this part of what was gained.
const MOST: f64 = 0.5;

/// The call chain that grows between two values, outermost first: each with the recordings made there. Each function's
/// exponent is that of its own processor time, callees included, an exchange (or a run, where any lacks exchanges).
/// Empty where processor time did not grow by more than chance, or the values do not.
pub fn growth(small: (f64, &[Recording]), large: (f64, &[Recording])) -> Vec<Growing> {
    let values = (large.0 / small.0).ln();
    if !(values.is_finite() && values > 0.0) {
        return Vec::new();
    }
    let exchanges = |side: &[Recording]| -> Vec<usize> {
        side.iter().map(|recording| with_evidence(recording, |evidence| evidence.exchanges.len())).collect()
    };
    let units = Units::new(&exchanges(small.1), &exchanges(large.1));
    let small = Side { profile: profile(small.1), units: units.a };
    let large = Side { profile: profile(large.1), units: units.b };
    let gain = large.time(ROOT) - small.time(ROOT);
    let chance = small.deviation().hypot(large.deviation());
    if large.profile.samples < SAMPLES || gain <= DEVIATIONS * chance {
        return Vec::new();
    }
    let mut at = (Some(ROOT), ROOT);
    let mut chain = Vec::new();
    while let Some((small_node, large_node, grown)) = step(&small, &large, at, values) {
        let gained = large.time(large_node) - small_node.map_or(0.0, |node| small.time(node));
        if gained < MOST * gain {
            break;
        }
        if grown.function != CUT_SHORT {
            chain.push(grown);
        }
        at = (small_node, large_node);
    }
    chain
}

/// The profile at one value.
struct Side {
    profile: Profile,
    units: f64,
}

impl Side {
    fn tree(&self) -> &Tree {
        &self.profile.tree
    }

    fn time(&self, node: usize) -> f64 {
        self.tree().time(node).ns as f64 / self.units
    }

    /// What one sample stands for.
    fn period(&self) -> f64 {
        self.profile.total_ns as f64 / (self.profile.samples as f64).max(1.0) / self.units
    }

    /// The standard deviation of the whole, from counting samples.
    fn deviation(&self) -> f64 {
        self.period() * (self.profile.samples as f64).sqrt()
    }
}

/// The function below that gained most, with its nodes.
fn step(
    small: &Side,
    large: &Side,
    at: (Option<usize>, usize),
    values: f64,
) -> Option<(Option<usize>, usize, Growing)> {
    let both = children_of_both((small.tree(), at.0), (large.tree(), Some(at.1)));
    let timed = both.into_iter().filter_map(|(frame, (before, after))| {
        let after = after?;
        let was = before.map_or(0.0, |node| small.time(node));
        Some((frame, before, after, was, large.time(after)))
    });
    let (frame, before, after, was, is) = timed.max_by(|one, other| (one.4 - one.3).total_cmp(&(other.4 - other.3)))?;
    // Where nothing was seen, less than one sample's time was spent: half of it, on average.
    let unseen =
        if small.profile.samples > 0 { small.period() } else { large.period() * large.units / small.units } / 2.0;
    let grown = Growing {
        function: frame.function.clone(),
        module: frame.module.clone(),
        exponent: (is / was.max(unseen)).ln() / values,
        share: is / large.time(ROOT).max(1.0),
    };
    Some((before, after, grown))
}

#[cfg(test)]
mod tests;
