//! Section: what it was measured on, what was lost, and what was not looked for.

use super::{Material, SideViews, Told};
use crate::text::{clean, count};
use askama::Template;
use case::Nanos;
use case::views::{LossView, Views};

/// Facts of this group are many and seldom wanted: they are folded.
const FOLDED: &str = "Kernel counters";
/// More values than this of one fact are counted.
const MOST_VALUES: usize = 6;

#[derive(Template)]
#[template(path = "page/environment.html")]
struct Environment {
    groups: Vec<Group>,
    losses: Vec<SideLosses>,
    lost: Lost,
    missing: Vec<String>,
    is_missing_known: bool,
}

/// What is known of losses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lost {
    /// Nothing was recorded that could be lost.
    Unknown,
    /// Recording was cut short before it counted.
    CutShort,
    /// Nothing was.
    Nothing,
    /// Something was.
    Something,
}

/// Facts that belong together.
struct Group {
    name: String,
    folded: bool,
    facts: Vec<Line>,
}

/// A fact: one value, or each side's where they differ.
struct Line {
    name: String,
    values: Vec<String>,
}

/// What one recording lost.
struct SideLosses {
    name: String,
    rows: Vec<Loss>,
}

struct Loss {
    table: String,
    reason: String,
    count: String,
    when: String,
}

/// The section's HTML. It is always there: that nothing was lost is worth a sentence.
pub(super) fn section(material: &Material) -> String {
    let losses = material.sides.iter().filter(|side| !side.views.losses.is_empty()).map(losses);
    let losses = losses.collect::<Vec<_>>();
    let totals = match material.told {
        Told::Answer(answer) => answer.losses.events + answer.losses.stacks,
        _ => 0,
    };
    let lost = match material.sides.len() {
        0 => Lost::Unknown,
        _ if !losses.is_empty() || totals > 0 => Lost::Something,
        _ if material.sides.iter().any(|side| side.views.cut_short) => Lost::CutShort,
        _ => Lost::Nothing,
    };
    let missing = missing(material);
    let groups = groups(&material.sides);
    let is_missing_known = matches!(material.told, Told::Answer(_)) || !material.sides.is_empty();
    let page = Environment { groups, losses, lost, missing, is_missing_known };
    page.render().unwrap_or_default()
}

/// What was not looked for: each line once, with the sides that it holds for where it does not hold for all.
fn missing(material: &Material) -> Vec<String> {
    if let Told::Answer(answer) = material.told {
        return answer.missing.iter().map(|line| clean(line)).collect();
    }
    let mut lines: Vec<(&str, Vec<String>)> = Vec::new();
    for side in &material.sides {
        for line in &side.views.missing {
            match lines.iter_mut().find(|(known, _)| known == line) {
                Some((_, sides)) => sides.push(clean(&side.name)),
                None => lines.push((line, vec![clean(&side.name)])),
            }
        }
    }
    let told = |(line, sides): (&str, Vec<String>)| {
        if sides.len() == material.sides.len() { clean(line) } else { format!("{}: {}", sides.join(", "), clean(line)) }
    };
    lines.into_iter().map(told).collect()
}

/// The facts by group, in the order in which they come.
fn groups(sides: &[SideViews]) -> Vec<Group> {
    let mut names: Vec<&str> = Vec::new();
    for fact in sides.iter().flat_map(|side| &side.views.environment) {
        if !names.contains(&fact.group.as_str()) {
            names.push(&fact.group);
        }
    }
    let group = |name: &str| Group { name: clean(name), folded: name == FOLDED, facts: facts(sides, name) };
    names.into_iter().map(group).collect()
}

fn facts(sides: &[SideViews], group: &str) -> Vec<Line> {
    let mut names: Vec<&str> = Vec::new();
    for fact in sides.iter().flat_map(|side| &side.views.environment).filter(|fact| fact.group == group) {
        if !names.contains(&fact.name.as_str()) {
            names.push(&fact.name);
        }
    }
    names.into_iter().map(|name| Line { name: clean(name), values: values(sides, group, name) }).collect()
}

/// The values of a fact: one where all sides have the same, else one a side with its name.
fn values(sides: &[SideViews], group: &str, name: &str) -> Vec<String> {
    let of = |views: &Views| {
        let named = views.environment.iter().filter(|fact| fact.group == group && fact.name == name);
        named.map(|fact| clean(&fact.value)).collect::<Vec<_>>()
    };
    let each = sides.iter().map(|side| (clean(&side.name), of(&side.views))).collect::<Vec<_>>();
    let first = each.first().map(|(_, values)| values.clone()).unwrap_or_default();
    let mut values = if each.iter().all(|(_, values)| *values == first) {
        first
    } else {
        let told = |(side, values): (String, Vec<String>)| {
            let value = if values.is_empty() { "none".to_string() } else { values.join(", ") };
            format!("{side}: {value}")
        };
        each.into_iter().map(told).collect()
    };
    let more = values.len().saturating_sub(MOST_VALUES);
    values.truncate(MOST_VALUES);
    if more > 0 {
        values.push(format!("and {} more", count(more as u64)));
    }
    values
}

fn losses(side: &SideViews) -> SideLosses {
    let row = |loss: &LossView| Loss {
        table: clean(&loss.table),
        reason: clean(&loss.reason),
        count: count(loss.count),
        when: if loss.to > loss.from {
            format!("{} to {}", Nanos(loss.from), Nanos(loss.to))
        } else {
            Nanos(loss.from).to_string()
        },
    };
    SideLosses { name: clean(&side.name), rows: side.views.losses.iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{answer, assert_harmless, hostile, material, views};
    use super::*;
    use case::Comparison;
    use case::views::Fact;

    #[test]
    fn that_nothing_was_lost_is_said_and_what_was_not_looked_for() {
        let answer = answer();
        let html = section(&material(Told::Answer(&answer), vec![("", views())]));
        assert!(html.contains("Nothing was lost.") && html.contains("perf_event_paranoid is 3"), "{html}");
        assert!(html.contains("3.11.7"), "{html}");
        let folded = html.split_once("<details").map(|(_, folded)| folded).expect("folded counters");
        assert!(folded.contains("TcpRetransSegs"), "{html}");
    }

    #[test]
    fn losses_are_a_table_and_hostile_strings_are_escaped() {
        let answer = answer();
        let html = section(&material(Told::Answer(&answer), vec![("", hostile())]));
        assert!(!html.contains("Nothing was lost") && html.contains("<td class=\"figure\">7</td>"), "{html}");
        assert_harmless(&html);
    }

    #[test]
    fn totals_without_a_table_are_not_called_nothing() {
        let mut answer = answer();
        answer.losses.stacks = 3;
        let html = section(&material(Told::Answer(&answer), vec![("", views())]));
        assert!(!html.contains("Nothing was lost") && html.contains("Something was lost"), "{html}");
    }

    #[test]
    fn what_differs_between_sides_is_told_of_each() {
        let comparison = Comparison::default();
        let fact = |value: &str| Fact { group: "Programs".into(), name: "python3".into(), value: value.into() };
        let mut other = views();
        other.environment[1] = fact("3.12.1");
        let html = section(&material(Told::Comparison(&comparison), vec![("A", views()), ("B", other)]));
        assert!(html.contains("A: 3.11.7") && html.contains("B: 3.12.1") && !html.contains("A: 6.1.0"), "{html}");
    }

    #[test]
    fn what_was_not_looked_for_on_one_side_names_it() {
        let comparison = Comparison::default();
        let (mut a, mut b) = (views(), views());
        a.missing = vec!["operations inside io_uring".into(), "CPU samples: refused".into()];
        b.missing = vec!["operations inside io_uring".into()];
        let html = section(&material(Told::Comparison(&comparison), vec![("A", a), ("B", b)]));
        assert!(html.contains("<li>operations inside io_uring</li>"), "{html}");
        assert!(html.contains("<li>A: CPU samples: refused</li>"), "{html}");
    }

    #[test]
    fn of_a_recording_that_was_cut_short_no_losses_are_denied() {
        let answer = answer();
        let html = section(&material(Told::Answer(&answer), vec![("", Views { cut_short: true, ..views() })]));
        assert!(!html.contains("Nothing was lost") && html.contains("cut short"), "{html}");
    }

    #[test]
    fn without_a_recording_nothing_is_claimed() {
        let comparison = Comparison::default();
        let html = section(&material(Told::Comparison(&comparison), Vec::new()));
        assert!(html.contains("No recording") && !html.contains("Nothing was lost"), "{html}");
        assert!(!html.contains("was looked for."), "not found differs from not looked for: {html}");
    }
}
