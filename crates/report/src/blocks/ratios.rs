//! Metrics of two sides with their ratios and intervals: a table, and on the page a dot with its interval each on one
//! axis of ratios, the middle of which is 1: no difference.

use crate::block::{Block, Section};
use crate::chart::Px;
use crate::contrast::{is_measured, word};
use crate::document::Document;
use crate::escape::escape;
use crate::figure::{noun, pair, range, three};
use crate::grid::{Align, Row, grid};
use crate::part::{Table, markdown};
use crate::style::Style;
use crate::text::{clean, counted};
use askama::Template;
use case::{Compared, Contrast};

/// Every metric of a comparison.
pub(crate) const METRICS: Block = Block {
    text: Some(|document, style| metrics(document).map_or(String::new(), |one| one.text(style))),
    html: Some(|document| metrics(document).map_or(String::new(), |one| one.html())),
    markdown: Some(|document| metrics(document).map_or(String::new(), |one| one.markdown())),
    ..Block::of(Section::Compared, |_| Vec::new())
};
/// Both worlds of a bisection.
pub(crate) const BASELINE: Block = Block {
    text: Some(|document, style| baseline(document).map_or(String::new(), |one| one.text(style))),
    html: Some(|document| baseline(document).map_or(String::new(), |one| one.html())),
    markdown: Some(|document| baseline(document).map_or(String::new(), |one| one.markdown())),
    ..Block::of(Section::Bisection, |_| Vec::new())
};
/// Another command in both worlds.
pub(crate) const CONTROL: Block = Block {
    text: Some(|document, style| control(document).map_or(String::new(), |one| one.text(style))),
    html: Some(|document| control(document).map_or(String::new(), |one| one.html())),
    markdown: Some(|document| control(document).map_or(String::new(), |one| one.markdown())),
    ..Block::of(Section::Bisection, |_| Vec::new())
};

fn metrics<'d>(document: &Document<'d>) -> Option<Ratios<'d>> {
    let of = |metrics| Ratios { title: "What was measured", metrics, sides: ["A", "B"] };
    document.comparison().map(|comparison| of(comparison.metrics.as_slice()))
}

fn baseline<'d>(document: &Document<'d>) -> Option<Ratios<'d>> {
    let of = |metrics| Ratios { title: "What was measured", metrics, sides: ["good", "bad"] };
    document.bisection().map(|bisection| of(bisection.baseline.as_slice()))
}

fn control<'d>(document: &Document<'d>) -> Option<Ratios<'d>> {
    let of = |metrics| Ratios { title: "Control: another command in both worlds", metrics, sides: ["good", "bad"] };
    document.bisection().map(|bisection| of(bisection.control.as_slice()))
}

/// Why a metric has no figures.
const TOO_FEW: &str = "too few trials of both ended well";

/// Metrics of two sides.
pub(crate) struct Ratios<'d> {
    /// What stands over them.
    pub title: &'d str,
    /// The metrics.
    pub metrics: &'d [Compared],
    /// What the sides are called, A's first.
    pub sides: [&'d str; 2],
}

impl Ratios<'_> {
    /// As text; empty without any.
    pub(crate) fn text(&self, style: Style) -> String {
        if self.metrics.is_empty() {
            return String::new();
        }
        let [a, b] = self.sides.map(clean);
        let ratio = format!("{b}/{a}");
        let heading = Row::new("", [a.as_str(), &b, &ratio, "", ""]);
        let rows = [heading].into_iter().chain(self.metrics.iter().map(row)).collect::<Vec<_>>();
        let aligns = [Align::Right, Align::Right, Align::Right, Align::Left, Align::Left];
        format!("{}:\n{}", self.heading(), grid(&rows, &aligns, "  ", style))
    }

    /// As Markdown; empty without any.
    pub(crate) fn markdown(&self) -> String {
        let table = self.table();
        if table.is_empty() { table } else { format!("### {}\n\n{table}", escape(&self.heading())) }
    }

    /// The table in Markdown without its heading.
    pub(crate) fn table(&self) -> String {
        if self.metrics.is_empty() {
            return String::new();
        }
        let [a, b] = self.sides;
        let ratio = format!("{b}/{a}");
        let rows = self.metrics.iter().map(row).collect();
        let table = Table::of("", [a, b, &ratio, "95 % interval", b], rows).words(4).words(5);
        markdown::table(&table)
    }

    /// As HTML; empty without any.
    pub(crate) fn html(&self) -> String {
        if self.metrics.is_empty() {
            return String::new();
        }
        let reach = reach(self.metrics);
        let rows = self.metrics.iter().map(|metric| line(metric, reach)).collect();
        let [a, b] = self.sides.map(clean);
        let drawn = Drawn { heading: self.heading(), a, b, rows, least: three(1.0 / reach), most: three(reach) };
        drawn.render().unwrap_or_default()
    }

    fn heading(&self) -> String {
        let pairs = self.metrics.iter().map(|metric| metric.pairs).max().unwrap_or(0);
        format!("{} ({}, 95 % intervals)", self.title, counted(pairs.into(), "pair"))
    }
}

/// A metric of both, with its ratio.
pub(crate) fn row(compared: &Compared) -> Row {
    let name = noun(&compared.metric);
    if compared.pairs == 0 {
        return Row::new(name, [""]).with_note(TOO_FEW);
    }
    let (a, b) = pair(&compared.metric, compared.a, compared.b);
    let interval = format!("({})", range(compared.low, compared.high));
    Row::new(name, [a, b, three(compared.ratio), interval, word(compared.outcome).into()])
}

/// The axis reaches at least this far, so that a narrow interval looks narrow.
const LEAST_REACH: f64 = 1.25;
/// The drawing is stretched to its cell; its own measure is arbitrary.
const WIDTH: f64 = 200.0;

#[derive(Template)]
#[template(path = "blocks/ratios.html")]
struct Drawn {
    heading: String,
    a: String,
    b: String,
    rows: Vec<Line>,
    least: String,
    most: String,
}

struct Line {
    class: &'static str,
    name: String,
    a: String,
    b: String,
    ratio: String,
    interval: String,
    word: &'static str,
    pairs: u32,
    drawn: Option<(Px, Px, Px)>,
}

/// How far from 1 the farthest end of an interval is, as a factor.
fn reach(metrics: &[Compared]) -> f64 {
    let ends = metrics.iter().filter(|one| is_measured(one)).flat_map(|one| [one.low, one.ratio, one.high]);
    ends.map(|ratio| ratio.max(1.0 / ratio)).fold(LEAST_REACH, f64::max) * 1.05
}

fn line(compared: &Compared, reach: f64) -> Line {
    let name = noun(&compared.metric);
    if !is_measured(compared) {
        let blank = String::new;
        return Line {
            class: "open",
            name,
            a: blank(),
            b: blank(),
            ratio: blank(),
            interval: blank(),
            word: TOO_FEW,
            pairs: 0,
            drawn: None,
        };
    }
    let (a, b) = pair(&compared.metric, compared.a, compared.b);
    let place = |ratio: f64| Px(f64::midpoint(ratio.ln() / reach.ln(), 1.0) * WIDTH);
    Line {
        class: class(compared.outcome),
        name,
        a,
        b,
        ratio: three(compared.ratio),
        interval: range(compared.low, compared.high),
        word: word(compared.outcome),
        pairs: compared.pairs,
        drawn: Some((place(compared.low), place(compared.ratio), place(compared.high))),
    }
}

fn class(outcome: Contrast) -> &'static str {
    match outcome {
        Contrast::More => "more",
        Contrast::Less => "less",
        Contrast::Same => "alike",
        Contrast::Open => "open",
    }
}
