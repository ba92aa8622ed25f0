//! Repetitions: units of calls that come again and again become one.

/// The longest unit that is looked for: an event loop's turn has some four to eight calls.
const LONGEST_UNIT: usize = 12;

/// Fewer repetitions are shown one by one.
const LEAST: usize = 4;

/// A unit of things and how often it came one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Where its first repetition begins.
    pub first: usize,
    /// How many things a repetition has.
    pub unit: usize,
    /// How many repetitions.
    pub times: usize,
}

/// Divides a list into runs, in order: things with equal keys are the same, those without one are never folded.
pub fn runs<K: PartialEq>(keys: &[Option<K>]) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut at = 0;
    while at < keys.len() {
        let longest = (1..=LONGEST_UNIT).map(|unit| Run { first: at, unit, times: repetitions(&keys[at..], unit) });
        // Of units that cover as much the shortest: the longer ones are multiples of it.
        let best =
            longest.filter(|run| run.times >= LEAST).min_by_key(|run| (usize::MAX - run.unit * run.times, run.unit));
        let run = best.unwrap_or(Run { first: at, unit: 1, times: 1 });
        at += run.unit * run.times;
        runs.push(run);
    }
    runs
}

/// How often a list's first things come one after the other at its beginning.
fn repetitions<K: PartialEq>(keys: &[Option<K>], unit: usize) -> usize {
    if keys.len() < unit || keys[..unit].iter().any(Option::is_none) {
        return 1;
    }
    let same = (unit..keys.len()).take_while(|&at| keys[at].is_some() && keys[at] == keys[at - unit]).count();
    1 + same / unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(keys: &str) -> Vec<(usize, usize)> {
        let keys: Vec<Option<char>> = keys.chars().map(|key| (key != '-').then_some(key)).collect();
        runs(&keys).iter().map(|run| (run.unit, run.times)).collect()
    }

    #[test]
    fn a_unit_that_comes_again_is_one_run() {
        assert_eq!(folded("wiiceiiceiiceiicer"), [(1, 1), (4, 4), (1, 1)]);
        assert_eq!(folded("rrrrrr"), [(1, 6)]);
    }

    #[test]
    fn a_few_repetitions_stay_as_they_are_and_so_does_what_matters() {
        assert_eq!(folded("abab"), [(1, 1); 4]);
        assert_eq!(folded("--------"), [(1, 1); 8]);
    }
}
