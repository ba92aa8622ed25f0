//! Section: the curve of a sweep, with its cliffs, its stretches of one kind, its knee and how it grows.

mod chart;
mod fitted;

use super::sheet::{Cell, Column, Sheet};
use super::{Material, Told};
use crate::chain::code;
use crate::command::typed;
use crate::figure::{noun, power, single, spread, three};
use crate::sweep::points::{has_cliff, rates};
use crate::sweep::regimes::{change, standing, told};
use crate::sweep::value::{heading, is_categorical, is_sound, label, name, sound};
use crate::text::clean;
use askama::Template;
use case::{Point, Regime, Share, Sweep};

#[derive(Template)]
#[template(path = "page/swept.html")]
struct Swept {
    lead: String,
    chart: String,
    bars: Vec<Bar>,
    regimes: Vec<Stretch>,
    has_findings: bool,
    growth: String,
    growth_title: String,
    points: String,
    count: usize,
}

/// A value that is a name, as a bar.
struct Bar {
    name: String,
    figure: String,
    share: f64,
    problem: String,
}

/// A stretch of values of one kind.
struct Stretch {
    change: String,
    place: String,
    found: Vec<String>,
    summary: String,
    more: String,
}

/// The section's HTML; nothing where nothing was swept.
pub(super) fn section(material: &Material) -> String {
    let Told::Sweep(sweep) = material.told else { return String::new() };
    let is_categorical = is_categorical(sweep);
    let page = Swept {
        lead: lead(sweep),
        chart: if is_categorical { String::new() } else { chart::chart(sweep) },
        bars: if is_categorical { bars(sweep) } else { Vec::new() },
        regimes: regimes(sweep),
        has_findings: sweep.regimes.iter().any(|regime| standing(regime).next().is_some()),
        growth: growth(sweep),
        growth_title: growth_title(sweep),
        points: if sweep.points.is_empty() { String::new() } else { points(sweep).html() },
        count: sweep.points.len(),
    };
    page.render().unwrap_or_default()
}

/// What is drawn, in a sentence.
fn lead(sweep: &Sweep) -> String {
    let values = sound(sweep).count();
    if values == 0 {
        return "No value had a sound trial, so there is no curve.".into();
    }
    let what = noun(&sweep.metric);
    let what = what.strip_prefix("the ").unwrap_or(&what);
    let mut letters = what.chars();
    let what = letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default();
    let of = if values == 1 { "one value".to_string() } else { format!("{values} values") };
    format!("{what} at {of} of {}; each is the middle of its trials with its 95 % interval.", heading(sweep))
}

/// Names have no order and no distance: a bar each.
fn bars(sweep: &Sweep) -> Vec<Bar> {
    let most = sound(sweep).map(|point| point.measured).fold(0.0, f64::max);
    let bar = |point: &Point| Bar {
        name: name(point),
        figure: if is_sound(point) { figure(sweep, point) } else { "no sound trial".into() },
        share: if is_sound(point) && most > 0.0 { (point.measured / most * 100.0).clamp(0.0, 100.0) } else { 0.0 },
        problem: clean(&point.problem),
    };
    sweep.points.iter().map(bar).collect()
}

fn figure(sweep: &Sweep, point: &Point) -> String {
    let is_whole = [point.low, point.high].iter().all(|end| end.is_finite() && *end > 0.0);
    if is_whole {
        spread(&sweep.metric, point.measured, point.low, point.high)
    } else {
        single(&sweep.metric, point.measured)
    }
}

/// What recordings show, stretch by stretch.
fn regimes(sweep: &Sweep) -> Vec<Stretch> {
    let stretch = |(index, regime): (usize, &Regime)| {
        let before = index.checked_sub(1).and_then(|before| sweep.regimes.get(before));
        let is_found = |regime: &Regime| standing(regime).next().is_some();
        let changes = before.filter(|before| is_found(before) || is_found(regime));
        Stretch {
            change: changes.map_or(String::new(), |before| change(sweep, before, regime)),
            place: place(sweep, regime),
            found: standing(regime).map(|finding| told(sweep, finding)).collect(),
            summary: clean(&regime.summary),
            more: if regime.case.is_empty() { String::new() } else { page_of(&regime.case) },
        }
    };
    sweep.regimes.iter().enumerate().map(stretch).collect()
}

/// The command that draws the page of a stretch's recording: inside a sweep it has none of its own.
fn page_of(case: &str) -> String {
    let name = std::path::Path::new(case).file_name().map_or_else(|| "recording".into(), |name| name.to_string_lossy());
    format!("whyslow report {} --format html -o {}", typed(&[case.to_string()]), typed(&[format!("{name}.html")]))
}

fn place(sweep: &Sweep, regime: &Regime) -> String {
    let (from, to, at) = (label(sweep, regime.from), label(sweep, regime.to), label(sweep, regime.at));
    if from == to { from } else { format!("{from} to {to}, recorded at {at}") }
}

fn growth_title(sweep: &Sweep) -> String {
    let Some(growth) = &sweep.growth else { return String::new() };
    let heading = heading(sweep);
    format!(
        "Processor time, callees included; each function's own exponent; its share at {heading} = {}.",
        label(sweep, growth.to)
    )
}

/// The chain that grows, outermost first; empty where it was not looked for.
fn growth(sweep: &Sweep) -> String {
    let Some(growth) = sweep.growth.as_ref().filter(|growth| !growth.chain.is_empty()) else { return String::new() };
    let columns = vec![Column::words("Function"), Column::figures("Exponent"), Column::figures("Share")];
    let rows = growth.chain.iter().map(|step| {
        vec![
            Cell::words(&code(&step.function, &step.module)),
            Cell { text: power(step.exponent), value: Some(three(step.exponent)) },
            Cell { text: Share(step.share).to_string(), value: Some(three(step.share)) },
        ]
    });
    Sheet { of: "functions", columns, rows: rows.collect() }.html()
}

/// The table of all points.
fn points(sweep: &Sweep) -> Sheet {
    let columns = vec![
        Column::words("Value"),
        Column::figures("Measured").meaning("The middle of its trials, with its 95 % interval"),
        Column::figures(if rates(sweep) == "requests/s" { "Requests a second" } else { "Runs a second" }),
        Column::figures("Sound trials"),
        Column::words("Remarks"),
    ];
    let rows = sweep.points.iter().enumerate().map(|(index, point)| {
        let is_sound = is_sound(point);
        let before = index.checked_sub(1).and_then(|before| sweep.points.get(before));
        let is_cliff = before.is_some_and(|before| has_cliff(sweep, before, point));
        let cliff = if is_cliff { "cliff before it" } else { "" };
        let remarks = [cliff.to_string(), clean(&point.problem)];
        let remarks = remarks.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
        let value = |number: f64| Some(if number.is_finite() { number.to_string() } else { "-1".into() });
        vec![
            Cell { text: name(point), value: value(point.value) },
            Cell {
                text: if is_sound { figure(sweep, point) } else { "no sound trial".into() },
                value: value(point.measured),
            },
            Cell::number(if point.rate > 0.0 { point.rate } else { f64::NAN }),
            Cell::count(point.trials.into()),
            Cell::words(&remarks),
        ]
    });
    Sheet { of: "values", columns, rows: rows.collect() }.without_empty_columns()
}

#[cfg(test)]
mod tests;
