//! What was tried together: one sentence for the most that was had, and the steps that led there, each with its gain.

use crate::block::{Block, Section};
use crate::document::Document;
use crate::figure::{base, clause, noun, pair, range, three, times};
use crate::part::{Part, html, markdown, under};
use crate::style::Style;
use crate::text::{capitalised, clean, counted, joined, shorten, wrap};
use case::{Metric, Together};

pub(crate) const BLOCK: Block = Block {
    text: Some(together),
    html: Some(|document| {
        html::of(&said(document).map(|said| Part::Labelled("Together", said)).into_iter().collect::<Vec<_>>())
    }),
    markdown: Some(|document| markdown::of(&under("Tried together", said(document).map(Part::Paragraph)))),
    ..Block::of(Section::Verdict, |_| Vec::new())
};

fn said(document: &Document) -> Option<String> {
    sentence(&document.answer()?.together).map(|said| capitalised(&said))
}

/// Names longer than this are cut.
const NAME_COLUMNS: usize = 30;

/// The paragraph; empty where nothing was tried together.
fn together(document: &Document, style: Style) -> String {
    let all = document.answer().map_or(&[][..], |answer| &answer.together);
    let Some(sentence) = sentence(all) else { return String::new() };
    let mut text = wrap(&sentence, style.columns(), "Together: ", "  ");
    if all.len() > 1 {
        text += &steps(all, style);
    }
    text
}

/// The most that was had, in a sentence; none where nothing was tried together.
fn sentence(all: &[Together]) -> Option<String> {
    let last = all.iter().rev().find(|one| one.applied).or(all.last())?;
    let names = last.interventions.iter().map(|name| clean(name)).collect::<Vec<_>>();
    Some(if last.applied {
        format!(
            "with {} {}: {}, {}).{}",
            joined(&names),
            clause(&last.metric, last.before, last.after),
            times(&last.metric, last.ratio, last.low, last.high),
            counted(u64::from(last.trials), "trial"),
            of_the_last(last, names.last())
        )
    } else {
        format!("{} did not all take effect at the same time.", joined(&names))
    })
}

/// What the last of several added.
fn of_the_last(one: &Together, name: Option<&String>) -> String {
    match (&one.step, name) {
        (Some(step), Some(name)) if one.interventions.len() > 1 => {
            format!(
                " Of that, {name} adds, on top of the others: {}).",
                times(&step.metric, step.ratio, step.low, step.high)
            )
        }
        _ => String::new(),
    }
}

/// One step of the table.
struct Row {
    name: String,
    after: String,
    whole: String,
    step: String,
}

/// Every step with its gain over none and over the step before.
fn steps(all: &[Together], style: Style) -> String {
    let mut rows: Vec<Row> = Vec::new();
    let mut metric = &Metric::default();
    let mut text = String::new();
    for (index, one) in all.iter().enumerate() {
        if one.metric != *metric || index == 0 {
            text += &drawn(&rows, metric, style);
            rows.clear();
            metric = &one.metric;
        }
        rows.push(row(one, index.checked_sub(1).and_then(|before| all.get(before)).filter(|_| !rows.is_empty())));
    }
    text + &drawn(&rows, metric, style)
}

fn row(one: &Together, before: Option<&Together>) -> Row {
    let name = match before.filter(|before| stands_on(one, before)) {
        Some(before) => {
            let added = one.interventions.iter().filter(|name| !before.interventions.contains(name));
            format!("+ {}", added.map(|name| clean(name)).collect::<Vec<_>>().join(" + "))
        }
        None => one.interventions.iter().map(|name| clean(name)).collect::<Vec<_>>().join(" + "),
    };
    let name = shorten(&name, NAME_COLUMNS);
    if !one.applied {
        return Row { name, after: String::new(), whole: "did not take effect".into(), step: String::new() };
    }
    let step = one.step.as_ref().map(|step| format!("{} ({})", three(step.ratio), range(step.low, step.high)));
    Row {
        name,
        after: pair(&one.metric, one.after, one.after).0,
        whole: format!("{} ({})", three(one.ratio), range(one.low, one.high)),
        step: step.unwrap_or_default(),
    }
}

/// Whether a step holds all of another, and more.
fn stands_on(one: &Together, before: &Together) -> bool {
    one.interventions.len() > before.interventions.len()
        && before.interventions.iter().all(|name| one.interventions.contains(name))
}

fn drawn(rows: &[Row], metric: &Metric, style: Style) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let header = Row { name: String::new(), after: "with it".into(), whole: "so far".into(), step: "this step".into() };
    let title = format!("Step by step ({}; ratios are {}, 95 % intervals):", noun(metric), base(metric));
    let mut text = wrap(&title, style.columns(), "  ", "  ");
    let lines = || [&header].into_iter().chain(rows);
    let width = |cell: fn(&Row) -> &String| lines().map(|row| cell(row).chars().count()).max().unwrap_or(0);
    let (name, after, whole) = (width(|row| &row.name), width(|row| &row.after), width(|row| &row.whole));
    for row in lines() {
        let figures = format!("{:>after$}  {:<whole$}  {}", row.after, row.whole, row.step);
        let line = format!("    {:<name$}  {figures}", row.name);
        // A name that leaves no room for its figures has a line of its own; no name needs none.
        let line = match (line.trim_end().chars().count() <= style.columns(), row.name.is_empty()) {
            (true, _) => line,
            (false, true) => format!("      {figures}"),
            (false, false) => format!("    {}\n      {figures}", row.name),
        };
        text += line.trim_end();
        text.push('\n');
    }
    text
}
