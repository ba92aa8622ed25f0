//! The search for one cliff, from the gap where it was seen to the two nearest values about it.

use crate::engine::{self, Design, Order, State, Stop, Stopped, Study};
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
/// Where the values nearest to a cliff are sometimes on one of its sides and sometimes on the other, so many values more are
/// measured, each so often that it is likely to show both.
const SETTLING: usize = 5;
const SHOWING: usize = 4;
/// A jump that is lower is a ripple, whatever its certainty.
const LOWEST: f64 = 1.1;
/// A cliff must be this unlikely where there is none.
const ALARMS: f64 = 0.05;
/// A lower jump than this can be what a trial's processor and place in memory make of it: then it must be this unlikely,
/// after so many times more new measurements.
const LARGE: f64 = 2.0;
const ALARMS_OF_SMALL: f64 = 0.005;
const MORE: usize = 2;

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
        let stopped = Halving { bench, bisection }.run(at, self.seen)?;
        if engine::unless_interrupted(stopped)? != Stopped::Answered {
            self.fate = Fate::Done;
            let (below, above) = (bench.vary.at(self.seen.below).label, bench.vary.at(self.seen.above).label);
            let why = if bench.fails(at) { "a value in between failed" } else { "the budget was spent" };
            bench.warnings.push(format!("the jump between {below} and {above} was not narrowed down further: {why}"));
            return Ok(());
        }
        if self.is_slope(bench, self.bracket()) {
            self.fate = Fate::Refused;
        }
        Ok(())
    }

    /// Measures the nearest two values once more. The cliff, where it lasts.
    pub fn close(&mut self, bench: &mut Bench, most: usize) -> Result<Option<case::Cliff>, LabError> {
        let bracket = self.bracket();
        if self.fate == Fate::Refused {
            return Ok(None);
        }
        if self.is_narrowed() {
            self.measure_ends(bench, bracket)?;
        }
        let is_large = self.seen_jump().abs() >= LARGE.ln();
        for _ in 0..if is_large { 0 } else { MORE } {
            self.measure_ends(bench, bracket)?;
        }
        let alarms = if is_large { ALARMS } else { ALARMS_OF_SMALL };
        let sound = |bracket: Bracket, search: &Search, bench: &Bench| {
            let p = search.chance(bracket);
            let is_sound = p <= alarms && !search.is_slope(bench, bracket) && is_steep(bench, bracket);
            is_sound.then(|| cliff(bench, bracket, p))
        };
        let mut found = sound(bracket, self, bench);
        if found.is_none() && self.is_narrowed() {
            self.settle(bench, most)?;
            found = sound(self.settled(bench), self, bench);
        }
        self.fate = if found.is_some() { Fate::Done } else { Fate::Refused };
        Ok(found)
    }

    /// Measures some values more on both sides of the narrowed gap, to see from where on it is always so.
    fn settle(&self, bench: &mut Bench, most: usize) -> Result<(), LabError> {
        let narrow = self.bracket();
        for _ in 0..SETTLING {
            let settled = self.settled(bench);
            let (left, right) = ((settled.below, narrow.below), (narrow.above, settled.above));
            let (low, high) = if left.1 - left.0 > right.1 - right.0 { left } else { right };
            let Some(grain) = bench.vary.grain(low, high, bench.terms.grain) else { return Ok(()) };
            let at = (f64::midpoint(low, high) / grain).round() * grain;
            let is_between = low < at && at < high;
            if !is_between || bench.tried().len() >= most {
                return Ok(());
            }
            let values = [bench.vary.at(at)];
            bench.measure("narrowing a cliff", &values, vec![0; SHOWING], while_affordable(narrow))?;
        }
        Ok(())
    }

    /// The gap as far as it has been narrowed.
    pub fn bracket(&self) -> Bracket {
        self.bisection.as_ref().map_or(self.seen, Bisection::bracket)
    }

    /// Whether anything between was measured.
    pub fn is_narrowed(&self) -> bool {
        self.bracket() != self.seen
    }

    /// The nearest values about the cliff at which all measurements are on their own side: between them it is sometimes so
    /// and sometimes so.
    fn settled(&self, bench: &Bench) -> Bracket {
        let narrow = self.bracket();
        let border = (self.seen.level_below * self.seen.level_above).sqrt();
        let is_high = |readings: &[f64]| readings.iter().all(|reading| *reading > border);
        let is_low = |readings: &[f64]| readings.iter().all(|reading| *reading <= border);
        let rises = self.seen.level_above > self.seen.level_below;
        let is_below = |readings: &[f64]| if rises { is_low(readings) } else { is_high(readings) };
        let is_above = |readings: &[f64]| if rises { is_high(readings) } else { is_low(readings) };
        let mut settled = self.seen;
        for at in bench.tried() {
            let readings = bench.readings(at);
            if at > settled.below && at <= narrow.below && is_below(&readings) {
                settled.below = at;
            }
            if at < settled.above && at >= narrow.above && is_above(&readings) {
                settled.above = at;
            }
        }
        settled
    }

    /// The logarithm of the jump that was seen.
    fn seen_jump(&self) -> f64 {
        (self.seen.level_above / self.seen.level_below).ln()
    }

    fn measure_ends(&mut self, bench: &mut Bench, bracket: Bracket) -> Result<(), LabError> {
        let values = [bench.vary.at(bracket.below), bench.vary.at(bracket.above)];
        let begun = bench.attempts.len();
        // Below, above, above, below: a steady drift cancels.
        let order = (0..2 * CONFIRMING).map(|turn| usize::from(![0, 3].contains(&(turn % 4)))).collect();
        bench.measure("confirming a cliff", &values, order, while_affordable(bracket))?;
        let new = bench.attempts[begun..].iter();
        self.fresh.extend(new.filter_map(|attempt| Some((attempt.number, attempt.reading?))));
        Ok(())
    }

    /// Whether the jump has shrunk with the gap.
    fn is_slope(&self, bench: &Bench, bracket: Bracket) -> bool {
        let jump = jump(&bench.readings(bracket.below), &bench.readings(bracket.above));
        let width = |bracket: Bracket| bracket.above - bracket.below;
        let shrunk = width(bracket) / width(self.seen);
        // What is a slope beside the jump goes with the width.
        let least = if shrunk < 1.0 { STEEP + (1.0 - STEEP) * shrunk } else { 0.0 };
        jump.is_none_or(|jump| jump / self.seen_jump() < least || jump.abs() < LOWEST.ln())
    }

    /// The chance of such new measurements on both sides where there is no cliff; that of the old ones where too few new
    /// ones could be made.
    fn chance(&self, bracket: Bracket) -> f64 {
        let logs = |readings: Vec<f64>| readings.into_iter().map(f64::ln).collect::<Vec<_>>();
        let (below, above) = (self.fresh_within(..=bracket.below), self.fresh_within(bracket.above..));
        stats::two_means(&logs(below), &logs(above)).unwrap_or(self.seen.p)
    }

    fn fresh_within(&self, values: impl RangeBounds<f64>) -> Vec<f64> {
        self.fresh.iter().filter(|(at, _)| values.contains(at)).map(|(_, reading)| *reading).collect()
    }
}

/// A value in a gap, measured until its side is known.
struct Halving<'h, 'a, 'e> {
    bench: &'h mut Bench<'a, 'e>,
    bisection: &'h mut Bisection,
}

impl Study for Halving<'_, '_, '_> {
    fn state(&self) -> &State {
        self.bench.state()
    }

    fn state_mut(&mut self) -> &mut State {
        self.bench.state_mut()
    }
}

impl Halving<'_, '_, '_> {
    /// Measures a value as often as it takes.
    fn run(&mut self, at: f64, gap: Bracket) -> Result<Stopped, LabError> {
        let values = [self.bench.vary.at(at)];
        let design = Design {
            order: Order::Listed(vec![0]),
            stop: Stop::at_rounds(move |halving: &mut Self| halving.is_over(at, gap)),
            ..self.bench.design("narrowing a cliff", &values, Design::<Self>::all(1))
        };
        engine::run(&design, self, &mut |halving, turn| {
            if let Some(reading) = halving.bench.trial(&values[0], turn)? {
                halving.bisection.take(reading);
            }
            Ok(())
        })
    }

    /// Whether the side of a value is known, or cannot be.
    fn is_over(&self, at: f64, gap: Bracket) -> Option<Stopped> {
        match () {
            () if self.bisection.next() != Some(at) => Some(Stopped::Answered),
            () if self.bench.fails(at) => Some(Stopped::NothingSound),
            () => (!is_affordable(self.bench, gap)).then_some(Stopped::BudgetSpent),
        }
    }
}

/// Ends measuring about a gap where what is left of the budget holds no trial there.
fn while_affordable<'d, 'a, 'e>(gap: Bracket) -> Stop<'d, Bench<'a, 'e>> {
    Stop::at_trials(move |bench: &Bench| (!is_affordable(bench, gap)).then_some(Stopped::BudgetSpent))
}

/// Whether a cost rises or falls more over a gap than in proportion to the values: over a gap that could not be narrowed
/// anything that grows does so, too.
fn is_steep(bench: &Bench, gap: Bracket) -> bool {
    let proportion = if gap.below > 0.0 { (gap.above / gap.below).ln() } else { 0.0 };
    jump(&bench.readings(gap.below), &bench.readings(gap.above)).is_some_and(|jump| jump.abs() > proportion)
}

fn cliff(bench: &Bench, bracket: Bracket, p: f64) -> case::Cliff {
    let level = |at: f64| bench.metric.shown(stats::median(&bench.readings(at)));
    case::Cliff {
        below: bracket.below,
        above: bracket.above,
        level_below: level(bracket.below),
        level_above: level(bracket.above),
        p,
        ..case::Cliff::default()
    }
}

/// Whether a trial on either side of a gap fits what is left of the budget.
fn is_affordable(bench: &Bench, gap: Bracket) -> bool {
    let costs = [gap.below, gap.above].map(|at| bench.cost(at).unwrap_or_default());
    costs.into_iter().all(|cost| cost <= bench.left())
}

/// The logarithm of the jump between two groups of readings.
fn jump(below: &[f64], above: &[f64]) -> Option<f64> {
    let jump = (stats::median(above) / stats::median(below)).ln();
    jump.is_finite().then_some(jump)
}
