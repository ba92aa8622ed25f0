//! Where a difference comes from: the ledgers against each other, processor time by library and function, the call
//! chain, the calls. Only where the metrics differ: what lies within noise accuses nothing.

use super::origin::{per, signed, times};
use super::sentence::{is_figure_of_its_own, is_processor, processor};
use crate::chain::{Step, chain, code};
use crate::grid::{Align, Row, grid};
use crate::hot_spots;
use crate::style::Style;
use crate::text::{clean, counted, wrap};
use case::{CallContrast, CodeContrast, Compared, Comparison, Contrast, Nanos};

/// More lines than this are a table and no picture.
const MOST_LINES: usize = 8;
/// Where processor time differs and no code of it does by more than chance.
const NOT_TOLD: &str = "In which code the difference in processor time is, the recorded runs do not tell: among themselves \
                        they differ by as much. Longer runs would.";
/// A difference below this share of the largest is folded away.
const LEAST_SHARE: f64 = 0.02;

/// The tables, one after another; empty where there is nothing to explain.
pub(super) fn differences(comparison: &Comparison, style: Style) -> String {
    let differs = |outcome: Contrast| matches!(outcome, Contrast::More | Contrast::Less);
    let mut blocks = Vec::new();
    // A figure of the program's own may differ where no time does.
    let is_time = |one: &Compared| !is_processor(&one.metric) && !is_figure_of_its_own(&one.metric);
    let is_in_time = match comparison.metrics.first() {
        Some(first) if is_figure_of_its_own(&first.metric) => {
            comparison.metrics.iter().any(|one| is_time(one) && differs(one.outcome))
        }
        first => differs(comparison.outcome) && first.is_some_and(is_time),
    };
    if is_in_time {
        blocks.push(ledger(comparison, style));
    }
    // Without a figure for processor time, the samples are all there is to go by.
    let unknown = !comparison.metrics.iter().any(|one| is_processor(&one.metric)) && differs(comparison.outcome);
    if processor(comparison).is_some() || unknown {
        let is_told = !(comparison.libraries.is_empty() && comparison.functions.is_empty());
        let was_recorded = !comparison.per.is_empty();
        if processor(comparison).is_some() && was_recorded && !is_told {
            blocks.push(wrap(NOT_TOLD, style.columns(), "", ""));
        }
        blocks.push(libraries(comparison, style));
        blocks.push(functions(comparison, style));
        blocks.push(call_chain(comparison, style));
    }
    if is_in_time || processor(comparison).is_some() {
        blocks.push(calls(comparison, style));
    }
    blocks.into_iter().filter(|block| !block.is_empty()).collect::<Vec<_>>().join("\n")
}

/// One line of a table of differences.
struct Line {
    name: String,
    a: u64,
    b: u64,
}

fn ledger(comparison: &Comparison, style: Style) -> String {
    let lines = comparison.ledger.iter().map(|one| Line { name: clean(&one.name), a: one.a_ns, b: one.b_ns });
    let title = format!("Where the difference comes from (time {}):", per(comparison));
    table(&title, lines.collect(), Rest::Added, style)
}

fn libraries(comparison: &Comparison, style: Style) -> String {
    let title = format!("Processor time by library ({}; libc's is its caller's):", per(comparison));
    table(&title, comparison.libraries.iter().map(line).collect(), Rest::Added, style)
}

fn functions(comparison: &Comparison, style: Style) -> String {
    let title = format!("Processor time by function ({}, callees included):", per(comparison));
    table(&title, comparison.functions.iter().map(line).collect(), Rest::Dropped, style)
}

fn line(one: &CodeContrast) -> Line {
    Line { name: code(&one.function, &one.module), a: one.a_ns, b: one.b_ns }
}

/// What becomes of lines that are too small, or too many.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// They are parts of a whole: added up into one line, and the whole below.
    Added,
    /// They hold each other: a sum would count twice.
    Dropped,
}

/// Lines with both figures, their signed difference and a bar as long as it; empty where nothing differs.
fn table(title: &str, mut lines: Vec<Line>, rest: Rest, style: Style) -> String {
    lines.sort_by_key(|line| std::cmp::Reverse(line.a.abs_diff(line.b)));
    let most = lines.first().map_or(0, |line| line.a.abs_diff(line.b));
    if most == 0 {
        return String::new();
    }
    let all = Line { name: "in all".into(), a: sum(&lines, |line| line.a), b: sum(&lines, |line| line.b) };
    let is_large = |line: &Line| line.a.abs_diff(line.b) as f64 >= LEAST_SHARE * most as f64;
    let shown = lines.iter().take(MOST_LINES).filter(|line| is_large(line)).count();
    let folded = lines.split_off(shown);
    if rest == Rest::Added {
        match folded.len() {
            0 => {}
            1 => lines.extend(folded),
            several => lines.push(Line {
                name: format!("other ({several})"),
                a: sum(&folded, |line| line.a),
                b: sum(&folded, |line| line.b),
            }),
        }
    }
    let heading = Row::new("", ["A", "B", "B - A"]);
    let mut rows = vec![heading];
    rows.extend(lines.iter().map(|line| {
        let letter = if line.b < line.a { "-" } else { "+" };
        let row = figures(line);
        // Functions that hold each other have bars alike, and names that need their room.
        if rest == Rest::Dropped { row } else { row.with_bar(letter, line.a.abs_diff(line.b) as f64 / most as f64) }
    }));
    if rest == Rest::Added && lines.len() > 1 {
        rows.push(figures(&all));
    }
    format!("{title}\n{}", grid(&rows, &[Align::Right; 3], "  ", style))
}

fn sum(lines: &[Line], part: fn(&Line) -> u64) -> u64 {
    lines.iter().map(part).fold(0, u64::saturating_add)
}

fn figures(line: &Line) -> Row {
    Row::new(line.name.clone(), [Nanos(line.a).to_string(), Nanos(line.b).to_string(), signed(line.a, line.b)])
}

fn call_chain(comparison: &Comparison, style: Style) -> String {
    if comparison.chain.is_empty() {
        return String::new();
    }
    let steps = comparison.chain.iter().map(|one| Step {
        figures: vec![Nanos(one.a_ns).to_string(), Nanos(one.b_ns).to_string(), signed(one.a_ns, one.b_ns)],
        name: code(&one.function, &one.module),
    });
    let title = format!("The call chain that carries most of it (processor time {}):", per(comparison));
    let sides = ["A", "B", "B - A"];
    format!("{title}\n{}", chain(&sides, &steps.collect::<Vec<_>>(), style))
        + &hot_spots::table(&comparison.hot_spots, sides, style)
}

/// System calls whose number or time differs.
fn calls(comparison: &Comparison, style: Style) -> String {
    let calls = &comparison.calls;
    if calls.is_empty() {
        return String::new();
    }
    let rows = calls.iter().take(MOST_LINES).map(call);
    let heading = Row::new("", ["A", "B", "time: A", "B", "B - A"]);
    let rows = [heading].into_iter().chain(rows).collect::<Vec<_>>();
    let mut text = format!("Calls that differ ({}):\n", per(comparison));
    text += &grid(&rows, &[Align::Right; 5], "  ", style);
    match calls.len().saturating_sub(MOST_LINES) {
        0 => text,
        more => text + &format!("  and {} of call\n", counted(more as u64, "other kind")),
    }
}

fn call(call: &CallContrast) -> Row {
    let name = match call.about.as_str() {
        "" => clean(&call.call),
        about => format!("{} ({})", clean(&call.call), clean(about)),
    };
    let (a, b) = (Nanos(call.a_ns).to_string(), Nanos(call.b_ns).to_string());
    Row::new(name, [times(call.a_count), times(call.b_count), a, b, signed(call.a_ns, call.b_ns)])
}
