//! What it was measured on, what was lost while recording, and what was not looked for.

mod blind;

use crate::block::{Block, Section};
use crate::document::{Document, SideViews};
use crate::part::{Part, under};
use crate::text::{capitalised, clean, count, counted};
use askama::Template;
use case::views::{LossView, Views};
use case::{Answer, Nanos};

/// What it was measured on.
pub(crate) const BLOCK: Block = Block::drawn(Section::Environment, |document| {
    Environment { groups: groups(&document.sides) }.render().unwrap_or_default()
});
/// What was lost while recording.
pub(crate) const LOSSES: Block = Block {
    text: Some(|document, style| {
        let lost = document.answer().map(|answer| Part::Labelled("Lost while recording", lost(answer)));
        crate::part::text::of(&lost.into_iter().collect::<Vec<_>>(), style)
    }),
    html: Some(losses_html),
    ..Block::of(Section::Environment, |document| {
        let lost = document.answer().map(|answer| Part::Paragraph(capitalised(&lost(answer))));
        under("Lost while recording", lost)
    })
};
/// What was not looked for, and why.
pub(crate) const MISSING: Block = Block {
    text: Some(|document, style| {
        let Some(answer) = document.answer() else { return String::new() };
        let lines = answer.missing.iter().cloned().chain(blind::summary(&answer.not_looked_for)).collect();
        crate::part::text::of(&under("Not looked for", [Part::List(lines)]), style)
    }),
    html: Some(missing_html),
    ..Block::of(Section::Environment, |document| {
        let Some(answer) = document.answer() else { return Vec::new() };
        let lines = answer.missing.iter().cloned().chain(answer.not_looked_for.iter().map(blind::sentence)).collect();
        under("Not looked for", [Part::List(lines)])
    })
};

/// Facts of this group are many and seldom wanted: they are folded.
const FOLDED: &str = "Kernel counters";
/// More values than this of one fact are counted.
const MOST_VALUES: usize = 6;

#[derive(Template)]
#[template(path = "blocks/environment.html")]
struct Environment {
    groups: Vec<Group>,
}

#[derive(Template)]
#[template(path = "blocks/losses.html")]
struct Losses {
    losses: Vec<SideLosses>,
    lost: Lost,
}

#[derive(Template)]
#[template(
    source = r#"<h3>What was not looked for, and why</h3>
{% if !is_known %}<p>Not known: this case has no recording.</p>
{% else if missing.is_empty() %}<p>Nothing: whyslow looked for everything it can look for.</p>
{% else %}<ul>{% for line in missing %}<li>{{ line }}</li>
{% endfor %}</ul>
{% endif %}"#,
    ext = "html"
)]
struct Missing {
    missing: Vec<String>,
    is_known: bool,
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

/// What was lost, in a few words.
fn lost(answer: &Answer) -> String {
    match (answer.losses.events, answer.losses.stacks) {
        (0, 0) => "nothing.".to_string(),
        (events, stacks) => format!("{} and {}.", counted(events, "event"), counted(stacks, "stack")),
    }
}

/// The tables of what was lost. They are always there: that nothing was lost is worth a sentence.
fn losses_html(document: &Document) -> String {
    let losses = document.sides.iter().filter(|side| !side.views.losses.is_empty()).map(losses);
    let losses = losses.collect::<Vec<_>>();
    let totals = document.answer().map_or(0, |answer| answer.losses.events + answer.losses.stacks);
    let lost = match document.sides.len() {
        0 => Lost::Unknown,
        _ if !losses.is_empty() || totals > 0 => Lost::Something,
        _ if document.sides.iter().any(|side| side.views.cut_short) => Lost::CutShort,
        _ => Lost::Nothing,
    };
    Losses { losses, lost }.render().unwrap_or_default()
}

fn missing_html(document: &Document) -> String {
    let is_known = document.answer().is_some() || !document.sides.is_empty();
    Missing { missing: missing(document), is_known }.render().unwrap_or_default()
}

/// What was not looked for: each line once, with the sides that it holds for where it does not hold for all.
fn missing(document: &Document) -> Vec<String> {
    if let Some(answer) = document.answer() {
        let blind = answer.not_looked_for.iter().map(blind::sentence);
        return answer.missing.iter().cloned().chain(blind).map(|line| clean(&line)).collect();
    }
    let mut lines: Vec<(&str, Vec<String>)> = Vec::new();
    for side in &document.sides {
        for line in &side.views.missing {
            match lines.iter_mut().find(|(known, _)| known == line) {
                Some((_, sides)) => sides.push(clean(&side.name)),
                None => lines.push((line, vec![clean(&side.name)])),
            }
        }
    }
    let of_sides = |(line, sides): (&str, Vec<String>)| {
        if sides.len() == document.sides.len() { clean(line) } else { format!("{}: {}", sides.join(", "), clean(line)) }
    };
    lines.into_iter().map(of_sides).collect()
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
        let of_side = |(side, values): (String, Vec<String>)| {
            let value = if values.is_empty() { "none".to_string() } else { values.join(", ") };
            format!("{side}: {value}")
        };
        each.into_iter().map(of_side).collect()
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
    use super::*;
    use crate::document::Body;
    use crate::examples::views::{answer, assert_harmless, document, hostile, views};
    use case::Comparison;
    use case::views::Fact;

    fn section(document: &Document) -> String {
        [BLOCK, LOSSES, MISSING].iter().map(|block| block.html(document)).collect()
    }

    #[test]
    fn that_nothing_was_lost_is_said_and_what_was_not_looked_for() {
        let answer = answer();
        let html = section(&document(Body::Answer(&answer), vec![("", views())]));
        assert!(html.contains("Nothing was lost.") && html.contains("perf_event_paranoid is 3"), "{html}");
        assert!(html.contains("3.11.7"), "{html}");
        let folded = html.split_once("<details").map(|(_, folded)| folded).expect("folded counters");
        assert!(folded.contains("TcpRetransSegs"), "{html}");
    }

    #[test]
    fn losses_are_a_table_and_hostile_strings_are_escaped() {
        let answer = answer();
        let html = section(&document(Body::Answer(&answer), vec![("", hostile())]));
        assert!(!html.contains("Nothing was lost") && html.contains("<td class=\"figure\">7</td>"), "{html}");
        assert_harmless(&html);
    }

    #[test]
    fn totals_without_a_table_are_not_called_nothing() {
        let mut answer = answer();
        answer.losses.stacks = 3;
        let html = section(&document(Body::Answer(&answer), vec![("", views())]));
        assert!(!html.contains("Nothing was lost") && html.contains("Something was lost"), "{html}");
    }

    #[test]
    fn what_differs_between_sides_is_shown_for_each() {
        let comparison = Comparison::default();
        let fact = |value: &str| Fact { group: "Programs".into(), name: "python3".into(), value: value.into() };
        let mut other = views();
        other.environment[1] = fact("3.12.1");
        let html = section(&document(Body::Comparison(&comparison), vec![("A", views()), ("B", other)]));
        assert!(html.contains("A: 3.11.7") && html.contains("B: 3.12.1") && !html.contains("A: 6.1.0"), "{html}");
    }

    #[test]
    fn what_was_not_looked_for_on_one_side_names_it() {
        let comparison = Comparison::default();
        let (mut a, mut b) = (views(), views());
        a.missing = vec!["operations inside io_uring".into(), "CPU samples: refused".into()];
        b.missing = vec!["operations inside io_uring".into()];
        let html = section(&document(Body::Comparison(&comparison), vec![("A", a), ("B", b)]));
        assert!(html.contains("<li>operations inside io_uring</li>"), "{html}");
        assert!(html.contains("<li>A: CPU samples: refused</li>"), "{html}");
    }

    #[test]
    fn of_a_recording_that_was_cut_short_no_losses_are_denied() {
        let answer = answer();
        let html = section(&document(Body::Answer(&answer), vec![("", Views { cut_short: true, ..views() })]));
        assert!(!html.contains("Nothing was lost") && html.contains("cut short"), "{html}");
    }

    #[test]
    fn without_a_recording_nothing_is_claimed() {
        let comparison = Comparison::default();
        let html = section(&document(Body::Comparison(&comparison), Vec::new()));
        assert!(html.contains("no recording") && !html.contains("Nothing was lost"), "{html}");
        assert!(!html.contains("was looked for."), "not found differs from not looked for: {html}");
    }
}
