//! Which version to take.

use super::version::older_first;
use case::{Compared, Contrast, Matrix, Version, VersionState};
use std::cmp::Ordering;

/// Whether a metric of a version is significantly worse than the first version's.
pub fn is_loss(compared: &Compared) -> bool {
    let worse = if is_rate(compared) { Contrast::Less } else { Contrast::More };
    compared.outcome == worse
}

/// Whether anything of a version is significantly worse than the first version's.
pub fn loses(version: &Version) -> bool {
    version.ratios.iter().any(is_loss)
}

/// What to take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    /// The version; empty for none.
    pub version: String,
    /// What it takes the place of and why that is possible, or what would be less bad, in a sentence; empty for nothing to say.
    pub sentence: String,
}

/// What to take in the place of a version that loses: the newest one of the same SONAMEs that loses nothing; without one, the
/// sentence names what loses least, where that is less. Nothing is said where nothing loses.
pub fn advice(matrix: &Matrix) -> Advice {
    let measured = matrix.versions.iter().filter(|version| version.state == VersionState::Measured).collect::<Vec<_>>();
    let Some((first, others)) = measured.split_first() else { return Advice::default() };
    // The newest of those that lose is what somebody is likely to have.
    let mut losing = others.iter().copied().filter(|version| loses(version)).collect::<Vec<_>>();
    losing.sort_by(|a, b| older_first(&b.version, &a.version));
    for loser in &losing {
        let sound = measured.iter().filter(|version| version.sonames == loser.sonames && !loses(version));
        if let Some(best) = sound.max_by(|a, b| older_first(&a.version, &b.version)) {
            let rest = losing.iter().rev().filter(|other| other.sonames == loser.sonames);
            let names = rest.map(|version| version.version.as_str()).collect::<Vec<_>>().join(", ");
            let sentence =
                format!("{} can be dropped in for {names} (same {}).", best.version, best.sonames.join(", "));
            return Advice { version: best.version.clone(), sentence };
        }
    }
    Advice { version: String::new(), sentence: least(first, &losing) }
}

/// Among the versions that are slower and can be dropped in for one another, the one that loses least, as a replacement
/// for the one that loses most.
fn least(first: &Version, losing: &[&Version]) -> String {
    let ratio = |version: &Version| version.ratios.first().filter(|ratio| is_loss(ratio)).cloned();
    let mut losses = losing.iter().filter_map(|version| Some((*version, ratio(version)?))).collect::<Vec<_>>();
    losses.sort_by(|a, b| factor(&b.1).total_cmp(&factor(&a.1)));
    let Some((worst, most)) = losses.first() else { return String::new() };
    let fitting = losses.iter().rev().find(|(version, _)| version.sonames == worst.sonames);
    match fitting.filter(|(version, one)| version.version != worst.version && is_apart(one, most)) {
        Some((version, one)) => format!(
            "{} loses least of what can be dropped in for {} (same {}): {:.1} times {} rather than {:.1}.",
            version.version,
            worst.version,
            worst.sonames.join(", "),
            factor(one),
            first.version,
            factor(most)
        ),
        None => String::new(),
    }
}

/// How many times worse than the first version.
fn factor(compared: &Compared) -> f64 {
    if is_rate(compared) { compared.ratio.recip() } else { compared.ratio }
}

/// Whether intervals do not touch: then one loses less than the other beyond doubt.
fn is_apart(one: &Compared, most: &Compared) -> bool {
    one.high.partial_cmp(&most.low) == Some(Ordering::Less)
        || one.low.partial_cmp(&most.high) == Some(Ordering::Greater)
}

/// Whether more of it is better.
fn is_rate(compared: &Compared) -> bool {
    compared.metric.more_is_better()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(name: &str, soname: &str, ratio: Option<(f64, Contrast)>) -> Version {
        let compared = |(ratio, outcome)| Compared {
            metric: "cpu_ns".into(),
            ratio,
            low: ratio * 0.98,
            high: ratio * 1.02,
            outcome,
            ..Compared::default()
        };
        Version {
            version: name.into(),
            sonames: vec![soname.into()],
            ratios: ratio.map(compared).into_iter().collect(),
            ..Version::default()
        }
    }

    fn of(versions: Vec<Version>) -> (String, String) {
        let Advice { version, sentence } = advice(&Matrix { versions, ..Matrix::default() });
        (version, sentence)
    }

    fn nothing() -> (String, String) {
        (String::new(), String::new())
    }

    #[test]
    fn the_newest_drop_in_that_loses_nothing_is_advised() {
        let said = of(vec![
            version("1.1.1w", "libssl.so.1.1", None),
            version("3.0.2", "libssl.so.3", Some((13.0, Contrast::More))),
            version("3.1.3", "libssl.so.3", Some((1.0, Contrast::Same))),
            version("3.0.9", "libssl.so.3", Some((0.9, Contrast::Less))),
            version("4.0.3", "libssl.so.4", Some((0.8, Contrast::Less))),
        ]);
        assert_eq!(said, ("3.1.3".into(), "3.1.3 can be dropped in for 3.0.2 (same libssl.so.3).".into()));
    }

    #[test]
    fn nothing_is_said_where_nothing_loses_or_nothing_fits() {
        let first = || version("1.1.1w", "libssl.so.1.1", None);
        assert_eq!(of(vec![first(), version("3.0.2", "libssl.so.3", Some((1.0, Contrast::Same)))]), nothing());
        let lost = || version("3.0.2", "libssl.so.3", Some((13.0, Contrast::More)));
        assert_eq!(of(vec![first(), lost()]), nothing());
        let mut unbuilt = version("3.1.3", "libssl.so.3", None);
        unbuilt.state = VersionState::NotBuilt;
        assert_eq!(of(vec![first(), lost(), unbuilt]), nothing());
    }

    #[test]
    fn where_all_drop_ins_lose_the_least_is_named_if_it_is_less() {
        let of_two = |better: f64| {
            of(vec![
                version("1.1.1w", "libssl.so.1.1", None),
                version("3.0.2", "libssl.so.3", Some((13.0, Contrast::More))),
                version("3.6.3", "libssl.so.3", Some((better, Contrast::More))),
            ])
        };
        let (version, sentence) = of_two(1.3);
        assert_eq!(version, "");
        assert_eq!(
            sentence,
            "3.6.3 loses least of what can be dropped in for 3.0.2 (same libssl.so.3): 1.3 times 1.1.1w rather than 13.0."
        );
        assert_eq!(of_two(12.9), nothing());
    }
}
