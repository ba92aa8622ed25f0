//! Where the difference of a comparison comes from: the ledgers against each other, CPU time by library and by function,
//! the calls. In text only where the metrics differ: what lies within noise accuses nothing. The page folds it away.

use crate::block::{Block, Section};
use crate::contrast::{cpu, differs, per, signed, times};
use crate::document::Document;
use crate::function::code;
use crate::grid::Row;
use crate::part::{self, Part, Table, under};
use crate::sheet::{Cell, Column, Sheet};
use crate::style::Style;
use crate::text::clean;
use case::{CallContrast, CodeContrast, Compared, Comparison, Nanos, Per};

/// The ledgers; on the page they are bars in a section of their own.
pub(crate) const LEDGER: Block = Block {
    text: Some(|document, style| if in_time(document) { summed(document, style, ledger) } else { String::new() }),
    html: Some(|_| String::new()),
    ..Block::of(Section::Compared, |document| table(document, ledger))
};
/// CPU time by library.
pub(crate) const LIBRARIES: Block = Block {
    text: Some(|document, style| if in_code(document) { summed(document, style, libraries) } else { String::new() }),
    html: Some(|document| folded(document, part::html::of(&table(document, libraries)))),
    ..Block::of(Section::Compared, |document| table(document, libraries))
};
/// CPU time by function.
pub(crate) const FUNCTIONS: Block = Block {
    text: Some(|document, style| if in_code(document) { summed(document, style, functions) } else { String::new() }),
    html: Some(|document| folded(document, part::html::of(&table(document, functions)))),
    ..Block::of(Section::Compared, |document| table(document, functions))
};
/// System calls whose number or time differs.
pub(crate) const CALLS: Block = Block {
    text: Some(|document, style| {
        if in_time(document) || is_of_cpu(document) { part::text::of(&calls(document), style) } else { String::new() }
    }),
    html: Some(|document| folded(document, sheet(document))),
    ..Block::of(Section::Compared, calls)
};
/// That no code accounts for a difference in CPU time.
pub(crate) const UNKNOWN: Block = Block::of(Section::Compared, |document| {
    let unknown = document.comparison().is_some_and(|comparison| {
        let is_shown = !(comparison.libraries.is_empty() && comparison.functions.is_empty());
        cpu(comparison).is_some() && comparison.per != Per::Nothing && !is_shown
    });
    if unknown { vec![Part::Paragraph(UNKNOWN_CODE.into())] } else { Vec::new() }
});

/// More lines than this are a table and no picture.
const MOST_LINES: usize = 8;
/// More rows than this are folded away on the page.
const FIRST_ROWS: usize = 12;
/// A difference below this share of the largest is folded away.
const LEAST_SHARE: f64 = 0.02;
/// Where CPU time differs and no code of it does by more than chance.
const UNKNOWN_CODE: &str = "The recordings do not show which code uses the extra CPU time: runs of the same side differ by \
                            as much. Longer runs would.";

/// Whether time differs. A figure of the program's own may differ where no time does.
fn in_time(document: &Document) -> bool {
    let Some(comparison) = document.comparison() else { return false };
    let is_time = |one: &Compared| !one.metric.is_processor() && !one.metric.is_of_the_program();
    match comparison.metrics.first() {
        Some(first) if first.metric.is_of_the_program() => {
            comparison.metrics.iter().any(|one| is_time(one) && differs(one.outcome))
        }
        first => differs(comparison.outcome) && first.is_some_and(is_time),
    }
}

fn is_of_cpu(document: &Document) -> bool {
    document.comparison().and_then(cpu).is_some()
}

/// Whether CPU time differs. Without a figure for it, the samples are all there is to go by.
pub(crate) fn in_code(document: &Document) -> bool {
    let is_unknown = document.comparison().is_some_and(|comparison| {
        differs(comparison.outcome) && !comparison.metrics.iter().any(|one| one.metric.is_processor())
    });
    is_of_cpu(document) || is_unknown
}

/// Lines with a title.
struct Lines {
    title: String,
    all: Vec<Line>,
    rest: Rest,
}

/// One line of a table of differences.
struct Line {
    name: String,
    a: u64,
    b: u64,
}

/// What becomes of lines that are too small, or too many.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// They are parts of a whole: added up into one line, and the whole below.
    Added,
    /// They hold each other: a sum would count twice.
    Dropped,
}

fn ledger(comparison: &Comparison) -> Lines {
    let lines = comparison.ledger.iter().map(|one| Line { name: one.name.clone(), a: one.a_ns, b: one.b_ns });
    Lines {
        title: format!("Where the difference comes from (time {})", per(comparison)),
        all: lines.collect(),
        rest: Rest::Added,
    }
}

fn libraries(comparison: &Comparison) -> Lines {
    Lines {
        title: format!("CPU time by library ({}; libc counts towards its caller)", per(comparison)),
        all: comparison.libraries.iter().map(line).collect(),
        rest: Rest::Added,
    }
}

fn functions(comparison: &Comparison) -> Lines {
    Lines {
        title: format!("CPU time by function ({}, callees included)", per(comparison)),
        all: comparison.functions.iter().map(line).collect(),
        rest: Rest::Dropped,
    }
}

fn line(one: &CodeContrast) -> Line {
    Line { name: code(&one.function, &one.module), a: one.a_ns, b: one.b_ns }
}

impl Lines {
    /// The lines with the largest difference first, and that difference; none where nothing differs.
    fn sorted(mut self) -> Option<(Lines, u64)> {
        self.all.sort_by_key(|line| std::cmp::Reverse(line.a.abs_diff(line.b)));
        let most = self.all.first().map_or(0, |line| line.a.abs_diff(line.b));
        (most > 0).then_some((self, most))
    }
}

/// Every line, for the page and Markdown.
fn table(document: &Document, of: fn(&Comparison) -> Lines) -> Vec<Part> {
    let Some((lines, most)) = document.comparison().and_then(|comparison| of(comparison).sorted()) else {
        return Vec::new();
    };
    let rows = lines.all.iter().map(|line| with_bar(line, most)).collect();
    under(lines.title, [Part::Table(Table::of("", ["A", "B", "B - A"], rows).code().most(FIRST_ROWS))])
}

/// The largest lines, what is left of a whole, and the whole, for the terminal.
fn summed(document: &Document, style: Style, of: fn(&Comparison) -> Lines) -> String {
    let Some((mut lines, most)) = document.comparison().and_then(|comparison| of(comparison).sorted()) else {
        return String::new();
    };
    let whole = Line { name: "total".into(), a: sum(&lines.all, |line| line.a), b: sum(&lines.all, |line| line.b) };
    let is_large = |line: &Line| line.a.abs_diff(line.b) as f64 >= LEAST_SHARE * most as f64;
    let shown = lines.all.iter().take(MOST_LINES).filter(|line| is_large(line)).count();
    let small = lines.all.split_off(shown);
    let is_whole = lines.rest == Rest::Added;
    match small.len() {
        0 => {}
        1 if is_whole => lines.all.extend(small),
        several if is_whole => lines.all.push(Line {
            name: format!("other ({several})"),
            a: sum(&small, |line| line.a),
            b: sum(&small, |line| line.b),
        }),
        _ => {}
    }
    // Functions that hold each other have bars alike, and names that need their room.
    let row = |line: &Line| if is_whole { with_bar(line, most) } else { figures(line) };
    let mut rows = lines.all.iter().map(row).collect::<Vec<_>>();
    if is_whole && rows.len() > 1 {
        rows.push(figures(&whole));
    }
    part::text::of(&under(lines.title, [Part::Table(Table::of("", ["A", "B", "B - A"], rows))]), style)
}

fn sum(lines: &[Line], part: fn(&Line) -> u64) -> u64 {
    lines.iter().map(part).fold(0, u64::saturating_add)
}

fn with_bar(line: &Line, most: u64) -> Row {
    let letter = if line.b < line.a { "-" } else { "+" };
    figures(line).with_bar(letter, line.a.abs_diff(line.b) as f64 / most as f64)
}

fn figures(line: &Line) -> Row {
    Row::new(line.name.clone(), [Nanos(line.a).to_string(), Nanos(line.b).to_string(), signed(line.a, line.b)])
}

/// System calls, for the terminal and Markdown.
fn calls(document: &Document) -> Vec<Part> {
    let Some(comparison) = document.comparison() else { return Vec::new() };
    let rows = comparison.calls.iter().map(call).collect();
    let columns = ["A", "B", "time: A", "B", "B - A"];
    let table = Table::of("", columns, rows).code().most(MOST_LINES);
    under(format!("Calls that differ ({})", per(comparison)), [Part::Table(table)])
}

fn call(call: &CallContrast) -> Row {
    let name = if call.about.is_empty() { call.call.clone() } else { format!("{} ({})", call.call, call.about) };
    let (a, b) = (Nanos(call.a_ns).to_string(), Nanos(call.b_ns).to_string());
    Row::new(name, [times(call.a_count), times(call.b_count), a, b, signed(call.a_ns, call.b_ns)])
}

/// System calls, for the page, where any column can be sorted.
fn sheet(document: &Document) -> String {
    let Some(comparison) = document.comparison().filter(|comparison| !comparison.calls.is_empty()) else {
        return String::new();
    };
    let columns = vec![
        Column::words("Call"),
        Column::words("About"),
        Column::figures("Calls: A"),
        Column::figures("B"),
        Column::figures("Time: A"),
        Column::figures("B"),
        Column::figures("B - A"),
    ];
    let rows = comparison.calls.iter().map(|call| {
        let difference = call.b_ns as f64 - call.a_ns as f64;
        vec![
            Cell { text: clean(&call.call), value: None },
            Cell { text: clean(&call.about), value: None },
            Cell::number(call.a_count),
            Cell::number(call.b_count),
            Cell::time(call.a_ns),
            Cell::time(call.b_ns),
            Cell { text: signed(call.a_ns, call.b_ns), value: Some(difference.to_string()) },
        ]
    });
    let sheet = Sheet { of: "kinds of calls", columns, rows: rows.collect() }.without_empty_columns();
    let title = format!("System calls that differ (average {})", per(comparison));
    part::html::of(&[Part::Heading(title)]) + &sheet.html()
}

/// What recordings differ in, folded away where no metric differs: it may be chance.
pub(crate) fn folded(document: &Document, html: String) -> String {
    let is_real = document.comparison().is_some_and(|one| one.metrics.iter().any(|metric| differs(metric.outcome)));
    if is_real || html.is_empty() {
        return html;
    }
    format!(
        "<details><summary>No metric differs, so this difference between recordings may be chance</summary>\n{html}</details>\n"
    )
}
