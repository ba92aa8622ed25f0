//! Which versions are drawn against which, on the matrices that other tests draw.

use crate::examples::matrix as examples;
use case::views::Pairs;
use case::{Compared, Contrast, Matrix, Version};

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
fn those_that_differ_from_the_first_are_drawn_and_one_that_is_level_or_failed_is_not() {
    let matrix = examples::openssl();
    let pairs = Pairs::of(&matrix).expect("pairs");
    assert_eq!(pairs.first.version, "1.1.1w");
    assert_eq!((names(&pairs.drawn), names(&pairs.left_out)), (vec!["3.0.2", "3.1.3"], vec![]));
    assert!(Pairs::of(&examples::level()).expect("pairs").drawn.is_empty());
    assert!(Pairs::of(&examples::alone()).expect("pairs").drawn.is_empty());
    assert!(Pairs::of(&Matrix::default()).is_none());
}

#[test]
fn the_largest_slow_down_comes_first_and_what_finds_no_room_is_listed() {
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
        version("more", "stdout-more:(\\d+) per second", 2.0, Contrast::More),
        version("half", "stdout-more:(\\d+) per second", 0.5, Contrast::Less),
    ]);
    assert_eq!(names(&Pairs::of(&matrix).expect("pairs").drawn), ["half", "more"]);
}
