//! What ran: A and B of a comparison, only what differs; the worlds of a bisection; what a sweep varied; what ran on each
//! version of a library. One line each.

use crate::block::{Block, Section};
use crate::command::command;
use crate::document::{Body, Document};
use crate::escape::{code, escape};
use crate::figure::noun;
use crate::style::Style;
use crate::text::{clean, counted, wrap};
use crate::value::heading;
use askama::Template;
use case::{Bisection, Comparison, Matrix, Side, Sweep, WorldSummary};

/// A and B.
pub(crate) const BOTH: Block = of(Section::Compared);
/// Good and bad.
pub(crate) const WORLDS: Block = of(Section::Bisection);
/// What was varied.
pub(crate) const VARIED: Block = of(Section::Sweep);
/// What ran on each version.
pub(crate) const RAN: Block = of(Section::Matrix);

const fn of(section: Section) -> Block {
    Block { text: Some(text), html: Some(html), markdown: Some(markdown), ..Block::of(section, |_| Vec::new()) }
}

/// One line: a label, and what is said of it.
struct Line {
    label: &'static str,
    parts: Vec<String>,
    /// Whether the parts are commands or settings.
    is_code: bool,
}

impl Line {
    fn code(label: &'static str, words: &[String]) -> Line {
        Line { label, parts: if words.is_empty() { Vec::new() } else { vec![command(words)] }, is_code: true }
    }

    fn words(label: &'static str, text: String) -> Line {
        Line { label, parts: if text.is_empty() { Vec::new() } else { vec![text] }, is_code: false }
    }
}

fn lines(document: &Document) -> Vec<Line> {
    let lines = match document.body {
        Body::Answer(_) | Body::Measured(_) => Vec::new(),
        Body::Comparison(comparison) => both(comparison),
        Body::Sweep(sweep) => varied(sweep),
        Body::Bisection(bisection) => worlds(bisection),
        Body::Matrix(matrix) => ran(matrix),
    };
    lines.into_iter().filter(|line| !line.parts.is_empty()).collect()
}

fn both(comparison: &Comparison) -> Vec<Line> {
    let (a, b) = (&comparison.a, &comparison.b);
    let shared = if a.command == b.command { a.command.as_slice() } else { &[] };
    let server = if a.server == b.server { a.server.as_slice() } else { &[] };
    let mut lines = vec![Line::code("Both", shared), Line::code("Server", server)];
    let (of_a, of_b) = (particulars(a, b), particulars(b, a));
    if of_a.is_empty() && of_b.is_empty() {
        lines.push(Line::words("A and B", "the same".into()));
        return lines;
    }
    for (label, parts) in [("A", of_a), ("B", of_b)] {
        lines.push(if parts.is_empty() {
            Line::words(label, "unchanged".into())
        } else {
            Line { label, parts, is_code: true }
        });
    }
    lines
}

/// What is particular to one side, a line each.
fn particulars(one: &Side, other: &Side) -> Vec<String> {
    let mut parts = Vec::new();
    if one.command != other.command {
        parts.push(command(&one.command));
    }
    if one.server != other.server {
        parts.push(match one.server.as_slice() {
            [] => "no server started".into(),
            server => format!("server: {}", command(server)),
        });
    }
    let own = one.changes.iter().filter(|change| !other.changes.contains(change));
    let own = own.map(|change| clean(change.strip_prefix("with=").unwrap_or(change))).collect::<Vec<_>>();
    if !own.is_empty() {
        parts.push(format!("with {}", own.join(", ")));
    }
    if one.cases.is_empty() && !other.cases.is_empty() {
        parts.push("measured earlier".into());
    }
    if let Some(status) = one.exit.filter(|status| *status != 0) {
        parts.push(format!("exited with status {status}"));
    }
    parts
}

fn worlds(bisection: &Bisection) -> Vec<Line> {
    vec![
        Line::words("Good", world(&bisection.good)),
        Line::words("Bad", world(&bisection.bad)),
        Line::code("Ran", &bisection.command),
        Line::code("Server", &bisection.server),
    ]
}

/// A world in a line: how it was asked for, what it is, how much of it is used.
fn world(world: &WorldSummary) -> String {
    let (name, title) = (clean(&world.name), clean(&world.title));
    let title = if title.is_empty() || title == name { String::new() } else { format!(" - {title}") };
    let used = match (world.packages, world.used) {
        (0, _) | (_, 0) => String::new(),
        (_, used) if title.is_empty() => format!("; {} used", counted(used.into(), "package")),
        (_, used) => format!("; {used} of them used"),
    };
    format!("{name}{title}{used}")
}

fn varied(sweep: &Sweep) -> Vec<Line> {
    // The table has no room for a figure's whole name.
    let measured = if sweep.metric.is_of_the_program() { noun(&sweep.metric) } else { String::new() };
    vec![
        Line::words("Varied", format!("{} in {}", heading(sweep), command(&sweep.command))),
        Line::code("Server", &sweep.server),
        Line::words("Measured", measured),
    ]
}

fn ran(matrix: &Matrix) -> Vec<Line> {
    let with = matrix.with.iter().map(|one| clean(one)).collect::<Vec<_>>().join(", ");
    vec![
        Line::code("Ran on each", &matrix.command),
        Line::code("Server", &matrix.server),
        Line { is_code: true, ..Line::words("Built beside it", with) },
    ]
}

fn text(document: &Document, style: Style) -> String {
    let line = |line: Line| {
        let blank = " ".repeat(line.label.len() + 2);
        let deeper = format!("{blank}  ");
        let parts = line.parts.into_iter().enumerate().map(|(index, part)| {
            let first = if index == 0 { format!("{}: ", line.label) } else { blank.clone() };
            wrap(&part, style.columns(), &first, &deeper)
        });
        parts.collect::<String>()
    };
    lines(document).into_iter().map(line).collect()
}

#[derive(Template)]
#[template(
    source = r#"<dl class="both-sides">{% for line in lines %}<dt>{{ line.label }}</dt><dd>{% for part in line.parts %}{% if line.is_code %}<code>{{ part }}</code>{% else %}{{ part }}{% endif %}{% endfor %}</dd>
{% endfor %}</dl>
"#,
    ext = "html"
)]
struct List {
    lines: Vec<Line>,
}

fn html(document: &Document) -> String {
    List { lines: lines(document) }.render().unwrap_or_default()
}

fn markdown(document: &Document) -> String {
    let line = |line: Line| {
        let parts = line.parts.iter().map(|part| if line.is_code { code::span(part) } else { escape(part) });
        format!("- **{}**: {}\n", line.label, parts.collect::<Vec<_>>().join("; "))
    };
    lines(document).into_iter().map(line).collect()
}
