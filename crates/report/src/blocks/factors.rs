//! What differs between the worlds and is used, most suspected first: a table, and on the page a bar for how far the
//! profile suspects each.

use crate::block::{Block, Section};
use crate::chart::Px;
use crate::document::Document;
use crate::grid::Row;
use crate::label::{is_of_commits, kind, kinds, members, names, value};
use crate::part::{self, Part, Table, under};
use crate::text::{clean, counted, joined, shorten};
use askama::Template;
use case::{Bisection, Factor, FactorKind, Share};

pub(crate) const BLOCK: Block = Block {
    text: Some(|document, style| part::text::of(&short_parts(document), style)),
    html: Some(html),
    ..Block::of(Section::Bisection, parts)
};

/// More rows than this are counted: the page and the JSON have all.
const MOST_ROWS: usize = 12;
/// A longer version is cut.
const VERSION_COLUMNS: usize = 17;
/// A longer name has a line of its own.
const NAME_COLUMNS: usize = 40;

/// How many differ, and a table of the first; nothing where none was looked for.
fn parts(document: &Document) -> Vec<Part> {
    table(document, |text| text)
}

/// The same with long versions cut: lines are short in a terminal.
fn short_parts(document: &Document) -> Vec<Part> {
    table(document, |text| shorten(&text, VERSION_COLUMNS))
}

fn table(document: &Document, version: fn(String) -> String) -> Vec<Part> {
    let Some(bisection) = document.bisection().filter(|bisection| !bisection.factors.is_empty()) else {
        return Vec::new();
    };
    let (all, weighty) = (&bisection.factors, shown(bisection));
    let is_weighty = |factor: &&Factor| weighty.iter().any(|one| std::ptr::eq(*one, *factor));
    let (first, rest): (Vec<_>, Vec<_>) = all.iter().partition(is_weighty);
    let rows = first.iter().chain(&rest).map(|factor| row(factor, version)).collect();
    let suspicion = if is_of_commits(bisection) { "" } else { "suspicion" };
    let table = Table::of("", ["kind", "good", "bad", suspicion], rows).words(1).words(2).words(3);
    let is_ordered = all.len() > 1 && !is_of_commits(bisection);
    let order = if is_ordered { ", most suspected first (by its share of the difference)" } else { "" };
    under(how_many(bisection) + order, [Part::Table(table.most(first.len()))])
}

/// The rows that matter: what is suspected, was found, has to go along with that, or could not be tried. Where that is
/// nothing, and of commits, the first, and of these the one that was found.
fn shown(bisection: &Bisection) -> Vec<&Factor> {
    let all = &bisection.factors;
    let mut found = bisection.culprit.as_ref().map(members).unwrap_or_default();
    let needs = all.iter().filter(|factor| found.contains(&factor.name)).flat_map(|factor| factor.needs.clone());
    let needs = needs.collect::<Vec<_>>();
    found.extend(needs);
    let is_weighty = |factor: &&Factor| factor.suspicion > 0.0 || found.contains(&factor.name);
    let is_untestable = |factor: &&Factor| !factor.untestable.is_empty();
    let weighty = all.iter().filter(is_weighty).count();
    if is_of_commits(bisection) || weighty == 0 {
        let first = all.iter().take(MOST_ROWS);
        let is_shown = |factor: &&Factor| is_untestable(factor) || found.contains(&factor.name);
        return first.chain(all.iter().skip(MOST_ROWS).filter(is_shown)).collect();
    }
    // However many are suspected of a little: the first say it.
    let weighty = all.iter().filter(is_weighty).take(MOST_ROWS).collect::<Vec<_>>();
    let is_shown = |factor: &Factor| weighty.iter().any(|one| one.name == factor.name);
    all.iter().filter(|factor| is_shown(factor) || is_untestable(factor)).collect()
}

/// How many things differ, by kind: `24 things differ: 22 packages, 1 variable`.
fn how_many(bisection: &Bisection) -> String {
    let all = &bisection.factors;
    if is_of_commits(bisection) {
        return format!("{} from the good world to the bad one", counted(all.len() as u64, "commit"));
    }
    let mut found = all.iter().map(|factor| factor.kind).collect::<Vec<_>>();
    found.sort_unstable();
    found.dedup();
    let count = |wanted: FactorKind| all.iter().filter(|factor| factor.kind == wanted).count();
    let parts = found.into_iter().map(|wanted| match count(wanted) {
        1 => format!("1 {}", kind(wanted)),
        several => format!("{several} {}", kinds(wanted)),
    });
    let verb = if all.len() == 1 { "thing differs" } else { "things differ" };
    format!("{} {verb} and is used: {}", all.len(), joined(&parts.collect::<Vec<_>>())).replacen(
        "things differ and is used",
        "things differ and are used",
        1,
    )
}

fn row(factor: &Factor, version: fn(String) -> String) -> Row {
    let suspicion = if factor.suspicion > 0.0 { Share(factor.suspicion).to_string() } else { String::new() };
    let [good, bad] = [&factor.good, &factor.bad].map(|text| version(value(factor, text)));
    let cells = [kind(factor.kind).to_string(), good, bad, suspicion];
    Row::new(shorten(&clean(&factor.name), NAME_COLUMNS), cells).with_note(note(factor))
}

/// Why a factor cannot be tried, or what has to go with it.
fn note(factor: &Factor) -> String {
    if !factor.untestable.is_empty() {
        return format!("cannot be tried alone: {}", clean(&factor.untestable));
    }
    if factor.needs.is_empty() { String::new() } else { format!("needs {}", names(&factor.needs)) }
}

#[derive(Template)]
#[template(path = "blocks/factors.html")]
struct Drawn {
    how_many: String,
    has_suspicion: bool,
    first: Vec<Line>,
    rest: Vec<Line>,
}

struct Line {
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

fn html(document: &Document) -> String {
    let Some(bisection) = document.bisection().filter(|bisection| !bisection.factors.is_empty()) else {
        return String::new();
    };
    // What nothing speaks for is folded away.
    let weighty = shown(bisection);
    let is_first = |factor: &&Factor| weighty.iter().any(|one| std::ptr::eq(*one, *factor));
    let (first, rest): (Vec<_>, Vec<_>) = bisection.factors.iter().partition(is_first);
    let rows = |factors: Vec<&Factor>| factors.into_iter().map(|factor| line(bisection, factor)).collect::<Vec<_>>();
    let (first, rest) = (rows(first), rows(rest));
    let how_many = how_many(bisection);
    let has_suspicion = first.iter().any(|row| !row.suspicion.is_empty());
    Drawn { how_many, has_suspicion, first, rest }.render().unwrap_or_default()
}

fn line(bisection: &Bisection, factor: &Factor) -> Line {
    let culprit = bisection.culprit.as_ref();
    let is_found = culprit.is_some_and(|culprit| culprit.split == factor.name || culprit.cure.contains(&factor.name));
    let share = if factor.suspicion.is_finite() { factor.suspicion.clamp(0.0, 1.0) } else { 0.0 };
    Line {
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
