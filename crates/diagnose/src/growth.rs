//! Which call chain grows: from recordings at two values of something that was varied.

use crate::profile::{Frame, Profile, profile};
use crate::units::Units;
use case::{Growing, Recording};

/// Fewer samples than this at the larger value tell no chain.
const SAMPLES: u64 = 20;

/// A gain counts from this many standard deviations of counting samples.
const DEVIATIONS: f64 = 3.0;

/// A function is on the chain where it holds this part of what was gained, whichever way it is reached: what is called from
/// two places grows in both.
const MOST: f64 = 0.5;

/// The call chain that grows between two values, outermost first: each with the recordings made there. Each function's
/// exponent is that of its own CPU time, callees included, an exchange (or a run, where any lacks exchanges).
/// Empty where CPU time did not grow by more than chance, or the values do not.
pub fn growth(small: (f64, &[Recording]), large: (f64, &[Recording])) -> Vec<Growing> {
    let values = (large.0 / small.0).ln();
    if !(values.is_finite() && values > 0.0) {
        return Vec::new();
    }
    let units = Units::of(small.1, large.1);
    let small = ValueProfile { profile: profile(small.1), units: units.a };
    let large = ValueProfile { profile: profile(large.1), units: units.b };
    let gain = large.total() - small.total();
    let chance = small.deviation().hypot(large.deviation());
    if large.profile.samples < SAMPLES || gain <= DEVIATIONS * chance {
        return Vec::new();
    }
    let grown = large.profile.inclusive.iter().filter_map(|(frame, time)| {
        let (was, is) = (small.function(frame), time.ns as f64 / large.units);
        let above = large.profile.callers.get(frame).map_or(0.0, |above| *above as f64 / time.samples.max(1) as f64);
        (is - was >= MOST * gain).then(|| (above, large.growing(frame, is, was.max(small.unseen(&large)), values)))
    });
    let mut chain = grown.collect::<Vec<_>>();
    chain.sort_by(|one, other| one.0.total_cmp(&other.0));
    chain.into_iter().map(|(_, grown)| grown).collect()
}

/// The profile at one value.
struct ValueProfile {
    profile: Profile,
    units: f64,
}

impl ValueProfile {
    fn total(&self) -> f64 {
        self.profile.total_ns as f64 / self.units
    }

    /// A function's time, callees included, whoever called it.
    fn function(&self, frame: &Frame) -> f64 {
        self.profile.inclusive.get(frame).map_or(0.0, |time| time.ns as f64 / self.units)
    }

    /// Where nothing was seen, less than one sample's time was spent: half of it, on average.
    fn unseen(&self, large: &ValueProfile) -> f64 {
        let period = if self.profile.samples > 0 { self.period() } else { large.period() * large.units / self.units };
        period / 2.0
    }

    fn growing(&self, frame: &Frame, is: f64, was: f64, values: f64) -> Growing {
        Growing {
            function: frame.function.clone(),
            module: frame.module.clone(),
            exponent: (is / was).ln() / values,
            share: is / self.total().max(1.0),
        }
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

#[cfg(test)]
mod tests;
