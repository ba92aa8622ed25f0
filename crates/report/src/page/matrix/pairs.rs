//! The versions whose processor time is drawn against the first one's: those that are told from it, a handful of them.

use crate::figure::is_better_larger;
use crate::matrix::measured;
use case::{Compared, Contrast, Matrix, Version};

/// Pictures of a difference on a page at most: each is some 100 kB, and nobody reads a dozen.
pub(crate) const MOST_PAIRS: usize = 4;

/// What is drawn against what.
pub struct Pairs<'m> {
    /// The first version that was measured: A of every pair.
    pub first: &'m Version,
    /// The versions that are drawn against it, each B of its pair; the largest slow-down first.
    pub drawn: Vec<&'m Version>,
    /// Those that are told from it as well, and for which there is no room.
    pub left_out: Vec<&'m Version>,
}

impl<'m> Pairs<'m> {
    /// The pairs of a matrix; none where no version was measured. Those that are slower by the metric that decides come
    /// first, then those that only some other metric tells from the first version, then those that are faster.
    pub fn of(matrix: &'m Matrix) -> Option<Pairs<'m>> {
        let first = measured(matrix).next()?;
        let mut drawn = measured(matrix).filter(|version| differs(version)).collect::<Vec<_>>();
        drawn.sort_by(|one, other| slow_down(other).total_cmp(&slow_down(one)));
        let left_out = drawn.split_off(drawn.len().min(MOST_PAIRS));
        Some(Pairs { first, drawn, left_out })
    }
}

/// Whether any metric certainly tells it from the first.
fn differs(version: &Version) -> bool {
    version.ratios.iter().any(is_certain)
}

fn is_certain(compared: &Compared) -> bool {
    matches!(compared.outcome, Contrast::More | Contrast::Less)
}

/// How many times as bad a version is by the metric that decides; 1 where that does not tell it from the first.
fn slow_down(version: &Version) -> f64 {
    let Some(decides) = version.ratios.first().filter(|decides| is_certain(decides)) else { return 1.0 };
    let times = if is_better_larger(&decides.metric) { decides.ratio.recip() } else { decides.ratio };
    if times.is_nan() { 1.0 } else { times }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::examples;

    fn names<'m>(versions: &[&'m Version]) -> Vec<&'m str> {
        versions.iter().map(|version| version.version.as_str()).collect()
    }

    /// The example's slow version with other figures.
    fn version(name: &str, metric: &str, ratio: f64, outcome: Contrast) -> Version {
        let mut version = examples::openssl().versions[1].clone();
        version.version = name.into();
        version.ratios.truncate(1);
        version.ratios[0] = Compared { metric: metric.into(), ratio, outcome, ..version.ratios[0].clone() };
        version
    }

    fn matrix(others: Vec<Version>) -> Matrix {
        let full = examples::openssl();
        let first = full.versions[0].clone();
        Matrix { versions: [first].into_iter().chain(others).collect(), ..full }
    }

    #[test]
    fn those_told_from_the_first_are_drawn_and_one_that_is_level_or_failed_is_not() {
        let matrix = examples::openssl();
        let pairs = Pairs::of(&matrix).expect("pairs");
        assert_eq!(pairs.first.version, "1.1.1w");
        assert_eq!((names(&pairs.drawn), names(&pairs.left_out)), (vec!["3.0.2", "3.1.3"], vec![]));
        assert!(Pairs::of(&examples::level()).expect("pairs").drawn.is_empty());
        assert!(Pairs::of(&examples::alone()).expect("pairs").drawn.is_empty());
        assert!(Pairs::of(&Matrix::default()).is_none());
    }

    #[test]
    fn the_largest_slow_down_comes_first_and_what_finds_no_room_is_told() {
        let cpu = "cpu_ns_per_exchange";
        let mut by_another = version("other", cpu, 1.2, Contrast::Open);
        by_another.ratios.push(version("", "wall_ns_per_exchange", 1.3, Contrast::More).ratios.remove(0));
        let matrix = matrix(vec![
            version("faster", cpu, 0.5, Contrast::Less),
            version("slow", cpu, 1.4, Contrast::More),
            version("level", cpu, 1.0, Contrast::Same),
            by_another,
            version("worst", cpu, 9.0, Contrast::More),
            version("open", cpu, 3.0, Contrast::Open),
            version("fastest", cpu, 0.3, Contrast::Less),
        ]);
        let pairs = Pairs::of(&matrix).expect("pairs");
        assert_eq!(names(&pairs.drawn), ["worst", "slow", "other", "faster"]);
        assert_eq!(names(&pairs.left_out), ["fastest"]);
    }

    #[test]
    fn of_a_rate_less_is_slower() {
        let matrix = matrix(vec![
            version("more", "stdout-more:(\\d+) a second", 2.0, Contrast::More),
            version("half", "stdout-more:(\\d+) a second", 0.5, Contrast::Less),
        ]);
        assert_eq!(names(&Pairs::of(&matrix).expect("pairs").drawn), ["half", "more"]);
    }
}
