//! Whether two sides do the same: programs that end differently or write something else are not compared.

use super::Which;
use crate::metric::Metric;
use crate::outcome::Outcome;
use crate::outputs::masked;
use case::facts::Sameness;

/// So many trials of each side must agree among themselves before the sides are called different: what differs by
/// itself differs within a side as well.
const LEAST: usize = 3;
/// A line is shown up to so many letters.
const MOST_LETTERS: usize = 60;

/// Why two sides cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unlike {
    /// A side ends otherwise than the other does.
    Fails {
        /// Which.
        which: Which,
        /// Its exit status, 128 + the signal that ended it.
        status: i32,
        /// The other's.
        other: i32,
        /// The last thing it said on standard error.
        said: String,
    },
    /// A side's programs do not start any more, or its interventions do not take effect.
    Broken {
        /// Which.
        which: Which,
        /// Why.
        why: String,
    },
    /// A side lacks what decides: it prints no such figure, or makes no such exchange.
    Unmeasured {
        /// Which.
        which: Which,
        /// The metric.
        metric: String,
    },
    /// They write different things.
    Writes {
        /// The first line of A's that B does not have there.
        a: String,
        /// B's in its place.
        b: String,
    },
}

/// Why the sides cannot be compared, as far as their trials tell by now. `decides`: the metric that does.
pub fn unlike(outcomes: &[(Which, Outcome)], compares_output: bool, decides: Option<&Metric>) -> Option<Unlike> {
    let differs = || if compares_output { writes(outcomes) } else { None };
    let lacks = || decides.and_then(|metric| unmeasured(outcomes, metric));
    broken(outcomes).or_else(|| fails(outcomes)).or_else(lacks).or_else(differs)
}

/// No trial of a side tells the metric that decides.
fn unmeasured(outcomes: &[(Which, Outcome)], metric: &Metric) -> Option<Unlike> {
    Which::BOTH.into_iter().find_map(|which| {
        let own = of(outcomes, which);
        let lacks = own.clone().count() >= LEAST && own.clone().all(|outcome| metric.of(&outcome.row).is_none());
        lacks.then(|| Unlike::Unmeasured { which, metric: metric.to_string() })
    })
}

fn of(outcomes: &[(Which, Outcome)], which: Which) -> impl Iterator<Item = &Outcome> + Clone {
    outcomes.iter().filter(move |(one, _)| *one == which).map(|(_, outcome)| outcome)
}

/// The last trials of a side have all failed.
fn broken(outcomes: &[(Which, Outcome)]) -> Option<Unlike> {
    Which::BOTH.into_iter().find_map(|which| {
        let own = of(outcomes, which).collect::<Vec<_>>();
        let last = own.iter().rev().take(LEAST).collect::<Vec<_>>();
        let is_broken = last.len() == LEAST && last.iter().all(|one| !one.row.applied || !one.row.problem.is_empty());
        is_broken.then(|| Unlike::Broken { which, why: last[0].row.problem.clone() })
    })
}

/// The statuses of trials that came to their end, where these all agree.
fn status(outcomes: &[(Which, Outcome)], which: Which) -> Option<i32> {
    let mut ended = of(outcomes, which).map(|outcome| outcome.row.exit).filter(|exit| *exit >= 0);
    let first = ended.next()?;
    ended.all(|exit| exit == first).then_some(first)
}

fn fails(outcomes: &[(Which, Outcome)]) -> Option<Unlike> {
    let (a, b) = (status(outcomes, Which::A)?, status(outcomes, Which::B)?);
    if a == b {
        return None;
    }
    let (which, status, other) = if b == 0 { (Which::A, a, b) } else { (Which::B, b, a) };
    let said = of(outcomes, which).last().map(|outcome| outcome.errors.clone()).unwrap_or_default();
    Some(Unlike::Fails { which, status, other, said })
}

/// What a side writes where it writes the same each time, figures aside; none where it does not, or is not known yet.
fn steady(outcomes: &[(Which, Outcome)], which: Which) -> Option<&Outcome> {
    let ended = of(outcomes, which).filter(|outcome| outcome.row.exit >= 0).collect::<Vec<_>>();
    let first = *ended.first()?;
    let is_steady = ended.iter().all(|other| masked(&other.output) == masked(&first.output));
    (ended.len() >= LEAST && is_steady).then_some(first)
}

fn writes(outcomes: &[(Which, Outcome)]) -> Option<Unlike> {
    let (a, b) = (steady(outcomes, Which::A)?, steady(outcomes, Which::B)?);
    if masked(&a.output) == masked(&b.output) {
        return None;
    }
    let [a, b] = [a, b].map(|one| String::from_utf8_lossy(&one.output).into_owned());
    let (mut left, mut right) = (a.lines(), b.lines());
    loop {
        let (a, b) = (left.next(), right.next());
        let is_same = a.map(|line| masked(line.as_bytes())) == b.map(|line| masked(line.as_bytes()));
        if !is_same || (a.is_none() && b.is_none()) {
            return Some(Unlike::Writes { a: shown(a), b: shown(b) });
        }
    }
}

fn shown(line: Option<&str>) -> String {
    match line {
        None => "nothing more".to_string(),
        Some(line) if line.contains(|letter: char| letter == char::REPLACEMENT_CHARACTER || is_control(letter)) => {
            "bytes that are not text".to_string()
        }
        Some(line) if line.chars().count() <= MOST_LETTERS => format!("`{line}`"),
        Some(line) => format!("`{}...`", line.chars().take(MOST_LETTERS).collect::<String>()),
    }
}

/// What would make a terminal do something; a line may begin with spaces of any width.
fn is_control(letter: char) -> bool {
    letter.is_control() && letter != '\t'
}

/// Whether the sides write the same, or why that is not known.
pub fn output(outcomes: &[(Which, Outcome)], compares_output: bool) -> Sameness {
    let not_compared = |why: &str| Sameness::NotCompared(why.to_string());
    if !compares_output {
        return not_compared("--check-output never");
    }
    if !outcomes.iter().any(|(_, outcome)| outcome.row.exit >= 0) {
        return not_compared("no trial ran to completion");
    }
    if of(outcomes, Which::A).next().is_none() {
        return not_compared("A was measured earlier");
    }
    match (steady(outcomes, Which::A), steady(outcomes, Which::B)) {
        (Some(a), Some(b)) if masked(&a.output) != masked(&b.output) => Sameness::Different,
        (Some(_), Some(_)) => Sameness::Same,
        _ => not_compared("it differs from run to run, or too few runs completed"),
    }
}
