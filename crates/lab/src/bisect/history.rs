//! The search along a line of commits: where it got slower, once or several times.
//!
//! What was measured so far is read as [stairs](stats::stairs): each step lies between two neighbours that were measured,
//! and as long as there are commits between them that may tell, one of them is built. Commits that do not build, or whose
//! runs do not count, are passed over; those that were built into what another one was built into are as fast as that one.

mod gap;

use crate::error::LabError;
use gap::Gap;
use stats::Place;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// A step of less than this part of the whole is not looked for.
const LEAST_PART: f64 = 0.05;
/// Where places seem to differ, a step of this size, as a logarithm, is to be clear before they are believed to lie on one level.
/// A step of a tenth is larger by a fifth.
const COUNTS: f64 = 0.08;
/// So many standard errors make it seem so: of a step that would only just be clear one in a thousand shows less.
const SEEMS: f64 = 1.0;
/// So many pairs more each time.
const MORE_VALUES: usize = 3;
/// After this many pairs of runs, a commit of which it is still not known which side of a step it is on is passed over.
const MOST_VALUES: usize = 36;
/// The standard deviation of normal values over the middle of their distances from their middle.
const DEVIATION_OF_MIDDLE: f64 = 1.4826;
/// Commits that are built ahead for each step: the one in the middle and those in the middle of both halves, one of which
/// is built in vain. That is half as many builds again as halving takes; seven of them would be more than twice as many.
const MOST_AHEAD: usize = 3;

/// A line of commits: the good one before the first of them, and the last, which is bad.
#[derive(Clone, Debug)]
pub struct Line {
    /// The place of the bad commit; the good one is at 0.
    end: usize,
    /// Measurements: the logarithm of how much faster than the bad one, for each pair of runs.
    measured: Vec<Vec<f64>>,
    /// Which measurement is of which place.
    places: BTreeMap<usize, usize>,
    /// Places that do not tell.
    silent: BTreeSet<usize>,
    /// What those that were built were built into.
    built: BTreeMap<usize, Artefact>,
    /// How many of the values were measured to see what may hide: that takes at most as much as all else.
    looked_again: usize,
    /// The deviation of a single value.
    deviation: f64,
    /// The logarithm of the whole gain.
    whole: f64,
}

/// What a commit was built into, as a digest of it: the same in two commits where they are the same to whoever runs them.
pub type Artefact = String;

/// A part of the difference, and the commits that may have brought it.
#[derive(Clone, Debug, PartialEq)]
pub struct Stair {
    /// The earliest commit that can have: 0 is the first after the good one.
    pub from: usize,
    /// The latest. The same as `from` where the commit was found; else those between do not tell, or were not tried.
    pub to: usize,
    /// How many times as long it takes with it as before it, as a logarithm; negative where it made it faster.
    pub size: f64,
    /// Lower end of the size's interval of 95 %.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Its part of the whole difference.
    pub part: f64,
    /// Whether commits between both ends are left to be tried.
    pub is_open: bool,
}

/// What a search along a line is made with.
pub trait Workshop {
    /// Builds commits side by side. What each was built into; none where it does not build.
    ///
    /// # Errors
    /// Where the user wants an end or time is up; else as the laboratory.
    fn build(&mut self, commits: &[usize]) -> Result<Vec<Option<Artefact>>, LabError>;

    /// Measures a commit that was built, also again, in pairs of runs with the bad one, until `is_enough` says so or it has taken as
    /// long as it may: the logarithm of how much faster it was in each. None where its runs do not count.
    ///
    /// # Errors
    /// As for building.
    fn measure(&mut self, commit: usize, is_enough: &dyn Fn(&[f64]) -> bool) -> Result<Option<Vec<f64>>, LabError>;

    /// Notes that a commit was not measured because another one (none: the good one) was built into the same.
    fn is_same(&mut self, commit: usize, as_other: Option<usize>);
}

impl Line {
    /// A line of `count` commits (at least one), with what was measured of the good one, pair by pair, and the deviation of
    /// a pair.
    pub fn new(count: usize, good: Vec<f64>, deviation: f64) -> Line {
        let whole = stats::median(&good);
        // The bad one is compared with itself in every pair: no more is known of it than of the good one.
        let bad = vec![0.0; good.len()];
        let places = BTreeMap::from([(0, 0), (count, 1)]);
        let (silent, built) = Default::default();
        Line { end: count, measured: vec![good, bad], places, silent, built, looked_again: 0, deviation, whole }
    }

    /// Notes what the good and the bad commit were built into.
    pub fn know_ends(&mut self, good: Artefact, bad: Artefact) {
        self.built.extend([(0, good), (self.end, bad)]);
    }

    /// Searches until each step is one commit, or those it may be cannot be told apart. What is known when it ends for an
    /// error stays.
    ///
    /// # Errors
    /// As the workshop.
    pub fn search(&mut self, side_by_side: usize, workshop: &mut dyn Workshop) -> Result<(), LabError> {
        loop {
            let Some(next) = self.next() else {
                if let Some(two) = self.doubtful().or_else(|| self.suspected()) {
                    self.measure_again(two, workshop)?;
                } else if let Some(place) = self.unclear() {
                    self.look_again(place, workshop)?;
                } else {
                    return Ok(());
                }
                continue;
            };
            if !self.built.contains_key(&next) {
                self.build(side_by_side, workshop)?;
                continue;
            }
            if let Some((place, measurement)) = self.same(next) {
                self.places.insert(next, measurement);
                workshop.is_same(next - 1, place.checked_sub(1));
                continue;
            }
            let levels = self.levels_beside(next);
            let is_enough = |values: &[f64]| stats::is_settled(values, levels, self.deviation());
            match workshop.measure(next - 1, &is_enough)? {
                Some(values) if !values.is_empty() => {
                    self.places.insert(next, self.measured.len());
                    self.measured.push(values);
                }
                _ => {
                    self.silent.insert(next);
                }
            }
        }
    }

    /// Two places with a step between them that is not certain from their own measurements: as long as that is so, another
    /// commit may have brought it. The one that was measured less comes first.
    fn doubtful(&self) -> Option<[usize; 2]> {
        let known = self.places.keys().copied().collect::<Vec<_>>();
        let values = |place: usize| &self.measured[self.places[&place]];
        let beside = self.steps().into_iter().map(|step| [known[step.at - 1], known[step.at]]);
        // Those at both ends are what all are compared with.
        let mut beside = beside.filter(|two| *two != [0, self.end]);
        let two = beside.find(|[one, other]| !stats::differ(values(*one), values(*other), self.deviation()))?;
        Some(self.less_known_first(two))
    }

    /// Two places with what may be a step between them, and may be chance: it is neither to be passed over nor believed as
    /// long as more runs can tell.
    fn suspected(&self) -> Option<[usize; 2]> {
        let known = self.places.keys().copied().collect::<Vec<_>>();
        let certain = self.steps().iter().map(|step| step.at).collect::<Vec<_>>();
        let (places, least) = self.measured_places();
        let suspected = stats::suspected_stairs(&places, self.deviation(), least);
        let open = suspected.into_iter().filter(|step| !certain.contains(&step.at));
        let two = open.map(|step| self.less_known_first([known[step.at - 1], known[step.at]]));
        let can_tell = |[place, _]: &[usize; 2]| {
            *place != 0 && *place != self.end && self.measured[self.places[place]].len() < MOST_VALUES
        };
        two.into_iter().find(can_tell)
    }

    /// The place to measure again where a step that counts may hide: places were measured until they lay near a level beside them,
    /// and beside a large step a small one is near. That is where the places seem to differ most; of the side that is known less,
    /// the place that was measured least.
    fn unclear(&self) -> Option<usize> {
        if self.looked_again >= self.measured.iter().map(Vec::len).sum::<usize>() / 2 {
            return None;
        }
        let known = self.places.keys().copied().collect::<Vec<_>>();
        let (places, least) = self.measured_places();
        let (deviation, counts) = (self.deviation(), least.max(COUNTS));
        let mut borders = self.steps().iter().map(|step| step.at).collect::<Vec<_>>();
        borders.insert(0, 0);
        borders.push(known.len());
        let stretches = borders.windows(2).flat_map(|ends| (ends[0] + 1..ends[1]).map(|at| (ends[0], at, ends[1])));
        let hidden = stretches.filter_map(|(from, at, to)| {
            let hidden = stats::Hidden::before(&places[from..to], at - from, deviation);
            let may_count = hidden.least_clear > counts && hidden.clearness >= SEEMS;
            let two = (from..at, at..to);
            (may_count && self.gap(known[at - 1], known[at]).next().is_some()).then_some((hidden.clearness, two))
        });
        let mut hidden = hidden.collect::<Vec<_>>();
        hidden.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        hidden.into_iter().find_map(|(_, (before, after))| self.less_known(&known, &places, [before, after]))
    }

    /// Of two sides, each a range of the known places, the place to measure again.
    fn less_known(&self, known: &[usize], places: &[Place], mut sides: [Range<usize>; 2]) -> Option<usize> {
        let values = |side: &Range<usize>| places[side.clone()].iter().map(|place| place.values).sum::<f64>();
        sides.sort_by(|one, other| values(one).total_cmp(&values(other)));
        // What both ends were measured by, all are compared with.
        let can_tell = |place: &usize| self.places[place] > 1 && self.values(*place) < MOST_VALUES;
        let least =
            |side: Range<usize>| known[side].iter().copied().filter(can_tell).min_by_key(|place| self.values(*place));
        sides.into_iter().find_map(least)
    }

    /// How often a place was measured.
    fn values(&self, place: usize) -> usize {
        self.measured[self.places[&place]].len()
    }

    /// Measures a place a few times more.
    fn look_again(&mut self, place: usize, workshop: &mut dyn Workshop) -> Result<(), LabError> {
        let more = workshop.measure(place - 1, &|values| values.len() >= MORE_VALUES)?.unwrap_or_default();
        // One that gives none any more is not asked again.
        self.looked_again += more.len().max(MORE_VALUES);
        self.measured[self.places[&place]].extend(more);
        Ok(())
    }

    /// The one that was measured less comes first; those at both ends, which all are compared with, last.
    fn less_known_first(&self, mut two: [usize; 2]) -> [usize; 2] {
        two.sort_by_key(|place| (*place == 0 || *place == self.end, self.measured[self.places[place]].len()));
        two
    }

    /// Measures a place again until it differs from another. One that never does is passed over.
    fn measure_again(&mut self, [place, other]: [usize; 2], workshop: &mut dyn Workshop) -> Result<(), LabError> {
        let measurement = self.places[&place];
        let (before, other) = (self.measured[measurement].clone(), &self.measured[self.places[&other]]);
        let is_enough =
            |values: &[f64]| !values.is_empty() && stats::differ(&[&before, values].concat(), other, self.deviation());
        let more = if before.len() < MOST_VALUES { workshop.measure(place - 1, &is_enough)? } else { None };
        match more {
            Some(values) if !values.is_empty() => self.measured[measurement].extend(values),
            _ => {
                self.places.remove(&place);
                self.silent.insert(place);
            }
        }
        Ok(())
    }

    /// A place that was measured and was built into the same, with its measurement.
    fn same(&self, place: usize) -> Option<(usize, usize)> {
        let artefact = self.built.get(&place)?;
        self.places.iter().map(|(one, of)| (*one, *of)).find(|(one, _)| self.built.get(one) == Some(artefact))
    }

    /// Builds what is wanted next, with what may be wanted after it.
    fn build(&mut self, side_by_side: usize, workshop: &mut dyn Workshop) -> Result<(), LabError> {
        let wanted = self.ahead(side_by_side);
        let commits = wanted.iter().map(|place| place - 1).collect::<Vec<_>>();
        for (place, artefact) in wanted.iter().zip(workshop.build(&commits)?) {
            match artefact {
                Some(artefact) => _ = self.built.insert(*place, artefact),
                None => _ = self.silent.insert(*place),
            }
        }
        Ok(())
    }

    /// What the steps come down to, in the order of the line.
    pub fn stairs(&self) -> Vec<Stair> {
        let known = self.places.keys().copied().collect::<Vec<_>>();
        let stair = |step: &stats::Step| {
            let gap = self.gap(known[step.at - 1], known[step.at]);
            Stair {
                from: gap.from - 1,
                to: gap.to - 1,
                // Gains are over the bad one: a step down in them is one up in time.
                size: -step.size,
                low: -step.high,
                high: -step.low,
                part: -step.size / self.whole,
                is_open: gap.next().is_some(),
            }
        };
        self.steps().iter().map(stair).collect()
    }

    /// The deviation of a single value: the baseline's, or that of what was measured since, where that varies more.
    fn deviation(&self) -> f64 {
        let repeated = self.measured.iter().filter(|values| values.len() > 2);
        let distances = repeated.flat_map(|values| {
            let middle = stats::median(values);
            // Some of the distance is lost to a middle that is drawn from the same few.
            let lost = (values.len() as f64 / (values.len() as f64 - 1.0)).sqrt();
            values.iter().map(move |value| (value - middle).abs() * lost).filter(|distance| *distance > 0.0)
        });
        let distances = distances.collect::<Vec<_>>();
        let own = if distances.is_empty() { 0.0 } else { DEVIATION_OF_MIDDLE * stats::median(&distances) };
        self.deviation.max(own)
    }

    fn steps(&self) -> Vec<stats::Step> {
        let (places, least) = self.measured_places();
        stats::stairs(&places, self.deviation(), least)
    }

    /// What was measured, in the order of the line, and the least step that counts.
    fn measured_places(&self) -> (Vec<Place>, f64) {
        let sharing = |measurement| self.places.values().filter(|one| **one == measurement).count() as f64;
        let place = |measurement: &usize| {
            let place = Place::of(&self.measured[*measurement]);
            Place { values: place.values / sharing(*measurement), ..place }
        };
        (self.places.values().map(place).collect(), LEAST_PART * self.whole.abs())
    }

    /// The steps of which it is not known which commit they are, the largest first.
    fn open(&self) -> Vec<Gap<'_>> {
        let known = self.places.keys().copied().collect::<Vec<_>>();
        let mut steps = self.steps();
        steps.sort_by(|one, other| other.size.abs().total_cmp(&one.size.abs()));
        let gaps = steps.iter().map(|step| self.gap(known[step.at - 1], known[step.at]));
        gaps.filter(|gap| gap.next().is_some()).collect()
    }

    /// What lies between two places that were measured.
    fn gap(&self, before: usize, after: usize) -> Gap<'_> {
        Gap { from: before + 1, to: after, silent: &self.silent }
    }

    /// The place to measure next: what has been built counts for more than lying in the middle. None where there is
    /// nothing left.
    fn next(&self) -> Option<usize> {
        let open = self.open();
        let gap = open.first()?;
        let built =
            self.built.keys().copied().filter(|place| gap.is_about_the_middle(*place) && !self.silent.contains(place));
        built.min_by_key(|place| place.abs_diff(gap.middle())).or_else(|| gap.next())
    }

    /// The places to build now: the next of each step, then those that come after it whatever it says.
    fn ahead(&self, side_by_side: usize) -> Vec<usize> {
        let gaps = self.open();
        let most = side_by_side.clamp(1, MOST_AHEAD * gaps.len().max(1));
        let mut left = gaps.into_iter().collect::<VecDeque<_>>();
        let mut wanted = Vec::new();
        while let Some(gap) = left.pop_front().filter(|_| wanted.len() < most) {
            let Some(next) = gap.next() else { continue };
            if !self.built.contains_key(&next) {
                wanted.push(next);
            }
            left.extend([Gap { to: next, ..gap }, Gap { from: next + 1, ..gap }]);
        }
        wanted
    }

    /// The levels of what was measured before a place and after it.
    fn levels_beside(&self, place: usize) -> [f64; 2] {
        let level = |found: Option<(&usize, &usize)>| found.map_or(0.0, |(_, one)| stats::median(&self.measured[*one]));
        [level(self.places.range(..place).next_back()), level(self.places.range(place..).next())]
    }
}

#[cfg(test)]
mod tests;
