//! The search along a line of commits: halving, past commits that cannot be tried.

use crate::error::LabError;
use case::ProbeResult;
use std::collections::BTreeMap;

/// What is known of a line of commits, by their numbers: 0 is the first after the good one, the last one is bad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The earliest that can be the first bad one.
    pub from: usize,
    /// The latest that can be: it is bad. The same as `from` where the commit was found; else those between could not be
    /// tried.
    pub to: usize,
    /// What was said of each that was tried, in the order of the line.
    pub tried: BTreeMap<usize, ProbeResult>,
}

impl Line {
    /// The first bad commit; none where it may be one of several.
    pub fn first_bad(&self) -> Option<usize> {
        (self.from == self.to).then_some(self.to)
    }
}

/// Finds the first bad one of `count` commits (at least one). The one before them is good and the last one is bad: neither
/// is tried. `test` says [`ProbeResult::Untestable`] (or [`ProbeResult::Unclear`]) of a commit that does not tell; then
/// others are tried in its stead, further off after the second, since what cannot be built comes in runs.
///
/// Costs log2(count) probes, rounded up, where all can be tried.
///
/// # Errors
/// As `test`.
pub fn search_line(
    count: usize,
    test: &mut dyn FnMut(usize) -> Result<ProbeResult, LabError>,
) -> Result<Line, LabError> {
    let mut line = Line { from: 0, to: count.saturating_sub(1), tried: BTreeMap::new() };
    while let Some(next) = next(&line) {
        let result = test(next)?;
        line.tried.insert(next, result);
        match result {
            ProbeResult::Good => line.from = next + 1,
            ProbeResult::Bad => line.to = next,
            ProbeResult::Unclear | ProbeResult::Untestable => {}
        }
    }
    Ok(line)
}

/// The commit to try next: the one in the middle of what is left. Where that is among those that did not tell: a neighbour
/// of a lone one; of several, the middle of what is left on their larger side, since they may be ends of one run; and those
/// between them last. None where there is nothing left to try.
fn next(line: &Line) -> Option<usize> {
    let nearest = |wanted: usize| {
        (line.from..line.to).filter(|one| !line.tried.contains_key(one)).min_by_key(|one| one.abs_diff(wanted))
    };
    let middle = |from: usize, to: usize| from + (to - from).saturating_sub(1) / 2;
    let mut silent = line.tried.range(line.from..line.to).map(|(one, _)| *one);
    let Some(first) = silent.next() else { return nearest(middle(line.from, line.to)) };
    let last = silent.next_back().unwrap_or(first);
    let wanted = middle(line.from, line.to);
    let (before, after) = (first - line.from, line.to - (last + 1));
    if first == last || !(first..=last).contains(&wanted) || before + after == 0 {
        nearest(wanted)
    } else if after >= before {
        nearest(middle(last + 1, line.to))
    } else {
        nearest(middle(line.from, first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ProbeResult::{Bad, Good, Untestable};

    /// The answer where `first` is the first bad one and some cannot be tried.
    fn searched(count: usize, first: usize, untestable: &[usize]) -> Line {
        let mut asked = Vec::new();
        let line = search_line(count, &mut |one| {
            assert!(!asked.contains(&one), "{one} is asked twice");
            asked.push(one);
            Ok(if untestable.contains(&one) {
                Untestable
            } else if one < first {
                Good
            } else {
                Bad
            })
        });
        line.expect("found")
    }

    #[test]
    fn each_commit_of_each_line_is_found_by_halving() {
        for count in 1..70 {
            for first in 0..count {
                let line = searched(count, first, &[]);
                assert_eq!(line.first_bad(), Some(first), "{count}");
                assert!(line.tried.len() <= count.next_power_of_two().ilog2() as usize, "{count}, {first}: {line:?}");
            }
        }
    }

    #[test]
    fn a_commit_that_does_not_build_costs_little_where_its_neighbours_tell() {
        let mut most = 0;
        for untestable in 0..63 {
            for first in (0..64).filter(|first| ![untestable, untestable + 1].contains(first)) {
                let line = searched(64, first, &[untestable]);
                assert_eq!(line.first_bad(), Some(first), "without {untestable}: {line:?}");
                most = most.max(line.tried.len());
            }
        }
        assert!(most <= 8, "log2(64) + 2, and it took {most}");
    }

    #[test]
    fn what_is_bad_next_to_commits_that_do_not_build_is_a_range_with_them() {
        let line = searched(64, 30, &[27, 28, 29]);
        assert_eq!((line.first_bad(), line.from, line.to), (None, 27, 30), "{line:?}");
        // And none of it is tried more than it takes: six for halving, and those three.
        assert!(line.tried.len() <= 6 + 3 + 3, "{line:?}");
    }

    #[test]
    fn a_long_run_of_commits_that_do_not_build_is_left_in_few_steps() {
        let run = (20..45).collect::<Vec<_>>();
        for first in [3, 12, 50, 60] {
            let line = searched(64, first, &run);
            assert_eq!(line.first_bad(), Some(first), "{line:?}");
            assert!(line.tried.len() <= 6 + 6, "{first}: {line:?}");
        }
    }

    #[test]
    fn where_nothing_builds_between_all_are_named_and_each_was_tried_once() {
        let line = searched(10, 9, &(0..9).collect::<Vec<_>>());
        assert_eq!((line.from, line.to, line.tried.len()), (0, 9, 9));
    }

    #[test]
    fn an_error_ends_the_search() {
        let error = search_line(8, &mut |_| Err(LabError::Interrupted)).expect_err("the user wants an end");
        assert!(matches!(error, LabError::Interrupted), "{error}");
    }
}
