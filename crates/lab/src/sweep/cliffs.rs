//! Cliffs: found in the rounds, confirmed by new measurements, narrowed by halving, and refused where what lies between
//! shows a slope.

mod search;

use super::bench::Bench;
use crate::error::LabError;
use search::{Fate, Search};
use stats::Bracket;

/// Points of a sweep, the coarse ones included: a plot shows no more in 80 columns.
const MOST_POINTS: usize = 30;
/// Where the coarse ones are many already, cliffs get so many at least.
const LEAST_FOR_CLIFFS: usize = 6;
/// Gaps that turned out to be no cliffs: after so many the curve is a rough one, and more points would not change that.
const MOST_REFUSED: usize = 4;
/// A cliff is a shoulder of one that it touches where it is less than this part as high, in logarithms.
const SHOULDER: f64 = 0.25;
/// Curves for the chance of a cliff are drawn for no more measurements than this: the time grows with their square.
const MOST_FOR_CHANCE: usize = 150;

/// Looks for cliffs in what was measured, and narrows each; then once more on both sides of each.
pub(super) fn find(bench: &mut Bench) -> Result<(), LabError> {
    let mut judged: Vec<(f64, f64)> = Vec::new();
    let most = MOST_POINTS.max(bench.tried().len() + LEAST_FOR_CLIFFS);
    let (mut asked, mut candidates) = (0, candidates(bench, &judged));
    while !candidates.is_empty() && asked - bench.cliffs.len() < MOST_REFUSED {
        asked += candidates.len();
        judged.extend(narrow(bench, candidates, most)?);
        candidates = self::candidates(bench, &judged);
    }
    drop_shoulders(&mut bench.cliffs);
    Ok(())
}

/// Leaves out low cliffs that begin where a high one ends: a step on its shoulder (one packet more, say) is part of the
/// same place, and would only be asked about in vain.
fn drop_shoulders(cliffs: &mut Vec<case::Cliff>) {
    let height = |cliff: &case::Cliff| (cliff.level_above / cliff.level_below).ln().abs();
    let touch = |one: &case::Cliff, other: &case::Cliff| one.below <= other.above && other.below <= one.above;
    let all = cliffs.clone();
    cliffs.retain(|cliff| !all.iter().any(|other| touch(cliff, other) && height(cliff) < SHOULDER * height(other)));
}

/// Gaps that look like cliffs, the clearest first, but those that were judged already. What lay in one gap can be two
/// cliffs, which the values between have parted by now.
fn candidates(bench: &Bench, judged: &[(f64, f64)]) -> Vec<Bracket> {
    let measured = bench.measured();
    let mut found: Vec<Bracket> = Vec::new();
    for stretch in stretches(bench, &measured) {
        found.extend(stats::jumps(&stretch));
        if stretch.len() <= MOST_FOR_CHANCE {
            let whole = stats::cliff(&stretch);
            let is_new = |one: &Bracket| found.iter().all(|other| (one.below - other.below).abs() > 0.0);
            found.extend(whole.filter(is_new));
        }
    }
    found.retain(|one| !judged.iter().any(|(below, above)| one.below >= *below && one.above <= *above));
    found
}

/// What was measured between cliffs.
fn stretches(bench: &Bench, measured: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
    let mut borders = bench.cliffs.iter().map(|cliff| cliff.above).collect::<Vec<_>>();
    borders.sort_by(f64::total_cmp);
    let mut stretches = vec![Vec::new(); borders.len() + 1];
    for point in measured {
        stretches[borders.iter().filter(|border| **border <= point.0).count()].push(*point);
    }
    stretches
}

/// Confirms candidates, and narrows those that last, each by one value in turn, so that none takes the points of all. The
/// gaps that are judged by now: a slope's are not, since its halves may be cliffs.
fn narrow(bench: &mut Bench, candidates: Vec<Bracket>, most: usize) -> Result<Vec<(f64, f64)>, LabError> {
    let mut searches = candidates.into_iter().map(|bracket| Search::new(bench, bracket)).collect::<Vec<_>>();
    for search in &mut searches {
        search.confirm(bench)?;
    }
    while searches.iter().any(|search| search.fate == Fate::Open) {
        for search in searches.iter_mut().filter(|search| search.fate == Fate::Open) {
            if bench.tried().len() >= most {
                search.fate = Fate::Done;
            } else {
                search.step(bench)?;
            }
        }
    }
    let mut judged = Vec::new();
    for search in &mut searches {
        let is_slope = search.fate == Fate::Refused && search.is_narrowed();
        let cliff = search.close(bench, most)?;
        let gap = search.bracket();
        if !is_slope {
            judged.push(cliff.as_ref().map_or((gap.below, gap.above), |cliff| (cliff.below, cliff.above)));
        }
        if let Some(cliff) = cliff.as_ref().filter(|_| bench.vary.is_list()) {
            let (below, above) = (bench.vary.at(cliff.below).label, bench.vary.at(cliff.above).label);
            bench.warnings.push(format!(
                "the jump between {below} and {above} was not narrowed down: nothing between the values of a list is \
                 tried; use a range, as in {}={below}..{above}",
                bench.vary.name
            ));
        }
        bench.cliffs.extend(cliff);
    }
    Ok(judged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_on_the_shoulder_of_a_cliff_is_no_cliff_of_its_own() {
        let cliff = |below: f64, above: f64, ratio: f64| case::Cliff {
            below,
            above,
            level_below: ratio,
            level_above: 1.0,
            ..case::Cliff::default()
        };
        let left = |mut cliffs: Vec<case::Cliff>| {
            drop_shoulders(&mut cliffs);
            cliffs.iter().map(|cliff| cliff.below).collect::<Vec<_>>()
        };
        assert_eq!(left(vec![cliff(1424.0, 1426.0, 1300.0), cliff(1426.0, 1428.0, 0.7)]), [1424.0]);
        assert_eq!(left(vec![cliff(1424.0, 1426.0, 1300.0), cliff(5000.0, 5010.0, 0.7)]), [1424.0, 5000.0]);
        assert_eq!(left(vec![cliff(10.0, 11.0, 4.0), cliff(11.0, 12.0, 3.0)]), [10.0, 11.0]);
    }
}
