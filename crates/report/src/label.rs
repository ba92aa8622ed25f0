//! What a factor is called: its name with what it is in the good and in the bad world.

use crate::text::{clean, count, joined, shorten};
use case::{Bisection, Bond, Culprit, Factor, FactorKind};

/// A longer version or value is cut.
const VALUE_COLUMNS: usize = 36;
/// A longer subject of a commit is cut.
const COMMIT_COLUMNS: usize = 100;
/// More names than this are counted.
pub(crate) const MOST_NAMES: usize = 6;

/// A factor in a sentence: `openssl (1.1.1w -> 3.0.20)`.
pub(crate) fn label(bisection: &Bisection, name: &str) -> String {
    match bisection.factors.iter().find(|factor| factor.name == name) {
        Some(factor) => of(factor),
        None => clean(name),
    }
}

fn of(factor: &Factor) -> String {
    let name = clean(&factor.name);
    if factor.kind == FactorKind::Commit {
        return format!("commit {}", shorten(&name, COMMIT_COLUMNS));
    }
    let head = match factor.kind {
        FactorKind::Package | FactorKind::Commit => name,
        FactorKind::Library => format!("the library {name}"),
        FactorKind::Data => format!("the file {name}"),
        FactorKind::Environment => format!("the variable {name}"),
        FactorKind::Libc => format!("the C library {name}"),
    };
    format!("{head} ({} -> {})", value(factor, &factor.good), value(factor, &factor.bad))
}

/// A factor's version, value or size in one of the worlds.
pub(crate) fn value(factor: &Factor, value: &str) -> String {
    let shown = shorten(&clean(value), VALUE_COLUMNS);
    match (shown.is_empty(), factor.kind) {
        (false, _) => shown,
        (true, FactorKind::Environment) => "unset".into(),
        (true, FactorKind::Commit) => String::new(),
        (true, _) => "none".into(),
    }
}

/// Whether what was searched is a line of commits: they are built one by one, and nothing is switched.
pub(crate) fn is_of_commits(bisection: &Bisection) -> bool {
    bisection.factors.iter().any(|factor| factor.kind == FactorKind::Commit)
}

/// What kind of thing a factor is, in a word.
pub(crate) fn kind(kind: FactorKind) -> &'static str {
    match kind {
        FactorKind::Package => "package",
        FactorKind::Library => "library",
        FactorKind::Data => "file",
        FactorKind::Environment => "variable",
        FactorKind::Libc => "C library",
        FactorKind::Commit => "commit",
    }
}

/// The same for several.
pub(crate) fn kinds(kind: FactorKind) -> &'static str {
    match kind {
        FactorKind::Package => "packages",
        FactorKind::Library => "libraries",
        FactorKind::Data => "files of no package",
        FactorKind::Environment => "variables",
        FactorKind::Libc => "C libraries",
        FactorKind::Commit => "commits",
    }
}

/// Names in a list, the last after an 'and'; of many the first, and how many more.
pub(crate) fn names(names: &[String]) -> String {
    let mut shown = names.iter().take(MOST_NAMES).map(|name| clean(name)).collect::<Vec<_>>();
    if names.len() > MOST_NAMES {
        shown.push(format!("{} more", count((names.len() - MOST_NAMES) as u64)));
    }
    joined(&shown)
}

/// What is to blame, with its versions.
pub(crate) fn who(bisection: &Bisection, culprit: &Culprit) -> String {
    if !culprit.split.is_empty() {
        return label(bisection, &culprit.split);
    }
    let all = members(culprit);
    let labels = all.iter().map(|name| label(bisection, name)).collect::<Vec<_>>();
    match culprit.bond {
        Bond::Single => joined(&labels),
        Bond::Bundle if is_of_commits(bisection) => labels.join(" or "),
        Bond::Bundle => format!("a bundle: {}", joined(&labels)),
        Bond::Together => format!("{} together", joined(&labels)),
        Bond::Each => format!("{}, each by itself", joined(&labels)),
    }
}

/// All factors that a culprit names, each once.
pub(crate) fn members(culprit: &Culprit) -> Vec<String> {
    let mut members = culprit.cure.clone();
    members.extend(culprit.cause.iter().filter(|name| !culprit.cure.contains(name)).cloned());
    members
}
