//! What differs between the worlds, with its versions and a bar for how far the profile suspects it.

use super::super::chart::Px;
use crate::bisection::factors::{note, shown};
use crate::bisection::label::{kind, value};
use crate::text::clean;
use askama::Template;
use case::{Bisection, Factor, Share};

#[derive(Template)]
#[template(path = "page/bisected/differing.html")]
struct Differing {
    how_many: String,
    has_suspicion: bool,
    first: Vec<Row>,
    rest: Vec<Row>,
}

struct Row {
    class: &'static str,
    name: String,
    members: String,
    kind: &'static str,
    good: String,
    bad: String,
    width: Px,
    suspicion: String,
    note: String,
}

/// The table as HTML; empty where nothing differs.
pub(super) fn differing(bisection: &Bisection) -> String {
    if bisection.factors.is_empty() {
        return String::new();
    }
    // What nothing speaks for is folded away.
    let weighty = shown(bisection);
    let is_first = |factor: &&Factor| weighty.iter().any(|one| std::ptr::eq(*one, *factor));
    let (first, rest): (Vec<_>, Vec<_>) = bisection.factors.iter().partition(is_first);
    let rows = |factors: Vec<&Factor>| factors.into_iter().map(|factor| row(bisection, factor)).collect::<Vec<_>>();
    let (first, rest) = (rows(first), rows(rest));
    let how_many = crate::bisection::factors::how_many(bisection);
    let has_suspicion = first.iter().any(|row| !row.suspicion.is_empty());
    Differing { how_many, has_suspicion, first, rest }.render().unwrap_or_default()
}

fn row(bisection: &Bisection, factor: &Factor) -> Row {
    let culprit = bisection.culprit.as_ref();
    let is_found = culprit.is_some_and(|culprit| culprit.split == factor.name || culprit.cure.contains(&factor.name));
    let share = if factor.suspicion.is_finite() { factor.suspicion.clamp(0.0, 1.0) } else { 0.0 };
    Row {
        class: if is_found { "found" } else { "" },
        name: clean(&factor.name),
        members: factor.members.iter().map(|member| clean(member)).collect::<Vec<_>>().join(", "),
        kind: kind(factor.kind),
        good: value(factor, &factor.good),
        bad: value(factor, &factor.bad),
        width: Px(share * 100.0),
        suspicion: if share > 0.0 { Share(share).to_string() } else { String::new() },
        note: note(factor),
    }
}
