//! The search for one cliff, from the gap where it was seen to the two nearest values about it.

use crate::error::LabError;
use crate::sweep::bench::Bench;
use stats::{Bisection, Bracket};
use std::ops::RangeBounds;

/// New measurements on each side of a gap before it is narrowed, and of the nearest two values after it was: what made
/// the gap look like a cliff does not count as evidence for it.
const CONFIRMING: usize = 2;
/// Of the jump that was seen this part must be there in new measurements of the same values.
const LASTING: f64 = 0.5;
/// And this part must be a jump however narrow the gap becomes: each halving of a slope halves it.
const STEEP: f64 = 0.35;
/// A jump that is lower is a ripple, whatever its certainty.
const LOWEST: f64 = 1.1;
/// A cliff must be this unlikely where there is none.
const ALARMS: f64 = 0.05;

/// How far a search has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It goes on.
    Open,
    /// It is as narrow as it can be.
    Done,
    /// It was no cliff.
    Refused,
}

/// A search.
pub(super) struct Search {
    pub fate: Fate,
    bisection: Option<Bisection>,
    seen: Bracket,
    /// New measurements, by value, in the order of trials.
    fresh: Vec<(f64, f64)>,
}

impl Search {
    pub fn new(bench: &Bench, seen: Bracket) -> Search {
        let grain = bench.vary.grain(seen.below, seen.above, bench.terms.grain);
        // The levels of the whole stretch may lie elsewhere than those just at the gap.
        let level = |at: f64| stats::median(&bench.readings(at));
        let at_gap = Bracket { level_below: level(seen.below), level_above: level(seen.above), ..seen };
        let bisection = grain.and_then(|grain| Bisection::new(at_gap, grain));
        Search { fate: Fate::Open, bisection, seen: at_gap, fresh: Vec::new() }
    }

    /// Measures both sides of the gap anew, in turns.
    pub fn confirm(&mut self, bench: &mut Bench) -> Result<(), LabError> {
        self.measure_ends(bench, self.seen)?;
        let jump = jump(&self.fresh_within(..=self.seen.below), &self.fresh_within(self.seen.above..));
        // Without time for new measurements the old ones stand.
        if jump.is_some_and(|jump| jump / self.seen_jump() < LASTING) {
            self.fate = Fate::Refused;
        }
        Ok(())
    }

    /// Measures one value more, as often as it takes to tell its side.
    pub fn step(&mut self, bench: &mut Bench) -> Result<(), LabError> {
        let Some(bisection) = &mut self.bisection else {
            self.fate = Fate::Done;
            return Ok(());
        };
        let Some(at) = bisection.next() else {
            self.fate = Fate::Done;
            return Ok(());
        };
        let value = bench.vary.at(at);
        bench.round += 1;
        while bisection.next() == Some(at) {
            if bench.fails(at) || !is_affordable(bench, self.seen.above) {
                self.fate = Fate::Done;
                return Ok(());
            }
            if let Some(reading) = bench.trial(&value, "narrowing a cliff")? {
                bisection.take(reading);
            }
        }
        if self.is_slope(bench) {
            self.fate = Fate::Refused;
        }
        Ok(())
    }

    /// Measures the nearest two values once more. The cliff, where it lasts.
    pub fn close(&mut self, bench: &mut Bench) -> Result<Option<case::Cliff>, LabError> {
        let bracket = self.bracket();
        if self.fate == Fate::Refused {
            return Ok(None);
        }
        if bracket != self.seen {
            self.measure_ends(bench, bracket)?;
        }
        let p = self.chance();
        if self.is_slope(bench) || p > ALARMS {
            self.fate = Fate::Refused;
            return Ok(None);
        }
        let level = |at: f64| bench.metric.shown(stats::median(&bench.readings(at)));
        Ok(Some(case::Cliff {
            below: bracket.below,
            above: bracket.above,
            level_below: level(bracket.below),
            level_above: level(bracket.above),
            p,
            ..case::Cliff::default()
        }))
    }

    fn bracket(&self) -> Bracket {
        self.bisection.as_ref().map_or(self.seen, Bisection::bracket)
    }

    /// The logarithm of the jump that was seen.
    fn seen_jump(&self) -> f64 {
        (self.seen.level_above / self.seen.level_below).ln()
    }

    fn measure_ends(&mut self, bench: &mut Bench, bracket: Bracket) -> Result<(), LabError> {
        bench.round += 1;
        for turn in 0..2 * CONFIRMING {
            // Below, above, above, below: a steady drift cancels.
            let at = if [0, 3].contains(&(turn % 4)) { bracket.below } else { bracket.above };
            if !is_affordable(bench, at) {
                return Ok(());
            }
            let value = bench.vary.at(at);
            if let Some(reading) = bench.trial(&value, "confirming a cliff")? {
                self.fresh.push((at, reading));
            }
        }
        Ok(())
    }

    /// Whether the jump has shrunk with the gap.
    fn is_slope(&self, bench: &Bench) -> bool {
        let bracket = self.bracket();
        let jump = jump(&bench.readings(bracket.below), &bench.readings(bracket.above));
        let width = |bracket: Bracket| bracket.above - bracket.below;
        let shrunk = width(bracket) / width(self.seen);
        // What is a slope beside the jump goes with the width.
        let least = if shrunk < 1.0 { STEEP + (1.0 - STEEP) * shrunk } else { 0.0 };
        jump.is_none_or(|jump| jump / self.seen_jump() < least || jump.abs() < LOWEST.ln())
    }

    /// The chance of such new measurements on both sides where there is no cliff; that of the old ones where too few new
    /// ones could be made.
    fn chance(&self) -> f64 {
        let bracket = self.bracket();
        let logs = |readings: Vec<f64>| readings.into_iter().map(f64::ln).collect::<Vec<_>>();
        let (below, above) = (self.fresh_within(..=bracket.below), self.fresh_within(bracket.above..));
        stats::two_means(&logs(below), &logs(above)).unwrap_or(self.seen.p)
    }

    fn fresh_within(&self, values: impl RangeBounds<f64>) -> Vec<f64> {
        self.fresh.iter().filter(|(at, _)| values.contains(at)).map(|(_, reading)| *reading).collect()
    }
}

fn is_affordable(bench: &Bench, at: f64) -> bool {
    bench.cost(at).unwrap_or_default() <= bench.left()
}

/// The logarithm of the jump between two groups of readings.
fn jump(below: &[f64], above: &[f64]) -> Option<f64> {
    let jump = (stats::median(above) / stats::median(below)).ln();
    jump.is_finite().then_some(jump)
}
