//! What switching a cause off in a running program did: requests a second, window by window.

mod drawn;

use crate::bar::bar;
use crate::block::{Block, Section};
use crate::document::Document;
use crate::escape::escape;
use crate::figure::three;
use crate::style::Style;
use crate::text::{clean, counted, wrap};
use case::{Answer, Nanos, Share, Switched, Thing, Window};

pub(crate) const BLOCK: Block = Block {
    text: Some(|document, style| document.answer().map_or(String::new(), |answer| live(answer, style))),
    html: Some(|document| document.answer().map_or(String::new(), |answer| drawn::html(shown(answer), answer))),
    markdown: Some(markdown),
    ..Block::of(Section::Verdict, |_| Vec::new())
};

/// What was switched, but for what the table of a finding says already.
fn shown(answer: &Answer) -> impl Iterator<Item = &Switched> {
    answer.live.iter().filter(|one| !is_said_elsewhere(one, answer))
}

/// With more windows than this, those that follow one another unchanged are drawn as one.
const MOST_WINDOWS: usize = 24;
/// Columns of a row before its bar: indent, word, figure and gaps.
const BEFORE_BAR: usize = 24;
/// Stands for a blank at which no line may break.
const JOINED: char = '\u{1}';

/// One block for all that was switched; empty where nothing was.
fn live(answer: &Answer, style: Style) -> String {
    let switched = shown(answer).map(|one| switched(one, answer, style)).collect::<String>();
    if switched.is_empty() {
        return switched;
    }
    format!("Switched on and off in the running program:\n{switched}")
}

/// What was never switched on left nothing to see: the table of what was tried for its finding says why.
fn is_said_elsewhere(one: &Switched, answer: &Answer) -> bool {
    let mut tried = answer.findings.iter().flat_map(|finding| &finding.tried);
    let has_row = tried.any(|tried| tried.intervention == one.intervention && !tried.applied);
    one.windows.is_empty() && one.reverted && has_row
}

fn switched(one: &Switched, answer: &Answer, style: Style) -> String {
    let unit = Unit::of(one);
    let mut text = wrap(&head(one, answer, unit), style.columns(), "  ", "    ");
    if !one.windows.is_empty() {
        let stretches = stretches(&one.windows);
        let said = |stretch: &Stretch| format!("{}{JOINED}{}", stretch.word, unit.unbroken(unit.rate(stretch.windows)));
        // A mark ends a line rather than beginning one.
        let figures = stretches.iter().map(said).collect::<Vec<_>>().join(&format!("{JOINED}| "));
        text += &wrap(&figures, style.columns(), "    ", "    ").replace(JOINED, " ");
        text += &chart(&one.windows, &stretches, unit, style);
    }
    text + &wrap(&ending(one, answer), style.columns(), "    ", "    ")
}

fn markdown(document: &Document) -> String {
    let Some(answer) = document.answer() else { return String::new() };
    let line = |one: &Switched| {
        let unit = Unit::of(one);
        let rates = stretches(&one.windows).into_iter();
        let rates = rates.map(|stretch| format!("{} {}", stretch.word, unit.shown(unit.rate(stretch.windows))));
        let rates = rates.collect::<Vec<_>>().join(", ");
        let said = [escape(&head(one, answer, unit)), escape(&rates), escape(&ending(one, answer))];
        format!("- {} {}. {}\n", said[0], said[1], said[2])
    };
    let lines = shown(answer).map(line).collect::<String>();
    if lines.is_empty() { lines } else { format!("### Switched on and off in the running program\n\n{lines}") }
}

/// What was switched, for what, on how many things, and the unit of what follows.
fn head(one: &Switched, answer: &Answer, unit: Unit) -> String {
    let named = answer.findings.iter().find(|finding| finding.id == one.finding).map(|finding| &finding.name);
    let finding = clean(named.unwrap_or(&one.finding));
    let finding = if finding.is_empty() { finding } else { format!(", for {finding}") };
    let reached = match one.reached {
        0 => String::new(),
        reached => {
            let thing = match one.thing {
                Thing::Socket => "socket",
                Thing::Group => "group",
                Thing::Unknown => "place",
            };
            format!(", on {}", counted(reached, thing))
        }
    };
    let unit = match (one.windows.is_empty(), unit) {
        (true, _) => "",
        (_, Unit::Requests) => " (requests per second)",
        (_, Unit::Cpus) => " (CPU in use; no requests were seen)",
    };
    format!("{}{finding}{reached}{unit}:", clean(&one.intervention))
}

/// How it ended: everything set back, or what to do about it.
fn ending(one: &Switched, answer: &Answer) -> String {
    let problem = clean(&one.problem);
    let stop = if problem.is_empty() || problem.ends_with('.') { "" } else { "." };
    match (one.reverted, problem.is_empty()) {
        (true, true) => "Reverted: everything is as it was; the program was not restarted.".into(),
        (true, false) if one.windows.is_empty() => format!("Not switched on: {problem}{stop}"),
        // The program may have ended: then nothing was put back, and nothing is left of it either.
        (true, false) => format!("But: {problem}{stop} Nothing was left switched on."),
        (false, true) => format!("NOT reverted. Try: whyslow undo {}", clean(&answer.case)),
        (false, false) => format!("NOT reverted: {problem}{stop} Try: whyslow undo {}", clean(&answer.case)),
    }
}

/// What a window is measured by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Requests a second.
    Requests,
    /// The share of a CPU in use, where there are no requests.
    Cpus,
}

impl Unit {
    fn of(one: &Switched) -> Unit {
        if one.windows.iter().all(|window| window.exchanges == 0) { Unit::Cpus } else { Unit::Requests }
    }

    /// What it was over some windows together.
    fn rate(self, windows: &[Window]) -> f64 {
        let wall = windows.iter().map(|window| Nanos(window.wall_ns)).sum::<Nanos>().seconds();
        let amount = match self {
            Unit::Requests => windows.iter().map(|window| window.exchanges as f64).sum::<f64>(),
            Unit::Cpus => windows.iter().map(|window| window.cpu_ns as f64 / 1e9).sum::<f64>(),
        };
        amount / wall
    }

    /// A rate in words.
    fn shown(self, rate: f64) -> String {
        self.unbroken(rate).replace(JOINED, " ")
    }

    fn unbroken(self, rate: f64) -> String {
        match self {
            _ if !rate.is_finite() => "unknown".into(),
            Unit::Requests => three(rate),
            Unit::Cpus => Share(rate).to_string().replace(' ', &JOINED.to_string()),
        }
    }
}

/// Windows that follow one another without a switch between them.
struct Stretch<'a> {
    word: &'static str,
    windows: &'a [Window],
}

/// The windows, those that follow one another without a switch together.
fn stretches(windows: &[Window]) -> Vec<Stretch<'_>> {
    let runs = windows.chunk_by(|one, next| one.on == next.on).collect::<Vec<_>>();
    let last = runs.len().saturating_sub(1);
    let word = |index: usize, on: bool| match (on, index) {
        (true, _) => "on",
        (false, 0) => "before",
        (false, index) if index == last => "after",
        (false, _) => "off",
    };
    let named = runs.into_iter().enumerate();
    named.map(|(index, windows)| Stretch { word: word(index, windows[0].on), windows }).collect()
}

/// A bar a window, those with it on marked by another letter.
fn chart(windows: &[Window], stretches: &[Stretch], unit: Unit, style: Style) -> String {
    let each = stretches.iter().flat_map(|stretch| stretch.windows.chunks(1).map(|window| (stretch.word, window)));
    let whole = stretches.iter().map(|stretch| (stretch.word, stretch.windows));
    let rows = if windows.len() > MOST_WINDOWS { whole.collect::<Vec<_>>() } else { each.collect() };
    let rows = rows.into_iter().map(|(word, windows)| (word, unit.rate(windows)));
    let rows = rows.filter(|(_, rate)| rate.is_finite()).take(MOST_WINDOWS).collect::<Vec<_>>();
    let most = rows.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let line = |(word, rate): &(&str, f64)| {
        let share = if most > 0.0 { rate / most } else { 0.0 };
        let letter = if *word == "on" { "#" } else { "-" };
        let figure = unit.shown(*rate);
        let bar = bar(letter, share, style.columns().saturating_sub(BEFORE_BAR), style);
        format!("      {word:<6}  {figure:>7}  {bar}").trim_end().to_string() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests;
