//! What differs between the worlds and is used, most suspected first.

use super::label::{is_of_commits, joined, kind, kinds, names, value};
use super::sentence::members;
use crate::grid::{Align, Row, grid};
use crate::style::Style;
use crate::text::{clean, counted, shorten, wrap};
use case::{Bisection, Factor, FactorKind, Share};

/// More rows than this are counted: the page and the JSON have all.
const MOST_ROWS: usize = 12;
/// A longer version is cut.
const VERSION_COLUMNS: usize = 17;
/// A longer name has a line of its own.
const NAME_COLUMNS: usize = 40;

/// How many differ, and a table of the first; empty where none was looked for.
pub(super) fn factors(bisection: &Bisection, style: Style) -> String {
    let all = &bisection.factors;
    if all.is_empty() {
        return String::new();
    }
    let is_ordered = all.len() > 1 && !is_of_commits(bisection);
    let order = if is_ordered { ", most suspected first (by what arises in it of the difference):" } else { ":" };
    let mut text = wrap(&(how_many(bisection) + order), style.columns(), "", "  ");
    let shown = shown(bisection);
    let suspicion = if is_of_commits(bisection) { "" } else { "suspicion" };
    let heading = Row::new("", ["what", "good", "bad", suspicion]);
    let rows = [heading].into_iter().chain(shown.iter().map(|factor| row(factor))).collect::<Vec<_>>();
    text += &grid(&rows, &[Align::Left, Align::Left, Align::Left, Align::Right], "  ", style);
    match all.len() - shown.len() {
        0 => text,
        more => text + &format!("  and {}\n", counted(more as u64, "more").trim_end_matches('s')),
    }
}

/// The rows that matter: what is suspected, was found, has to go along with that, or could not be tried. Where that is
/// nothing, and of commits, the first, and of these the one that was found.
pub(crate) fn shown(bisection: &Bisection) -> Vec<&Factor> {
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
        let is_told = |factor: &&Factor| is_untestable(factor) || found.contains(&factor.name);
        return first.chain(all.iter().skip(MOST_ROWS).filter(is_told)).collect();
    }
    // However many are suspected of a little: the first say it.
    let weighty = all.iter().filter(is_weighty).take(MOST_ROWS).collect::<Vec<_>>();
    let is_told = |factor: &Factor| weighty.iter().any(|one| one.name == factor.name);
    all.iter().filter(|factor| is_told(factor) || is_untestable(factor)).collect()
}

/// How many things differ, by kind: `24 things differ: 22 packages, 1 variable`.
pub(crate) fn how_many(bisection: &Bisection) -> String {
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

fn row(factor: &Factor) -> Row {
    let short = |text: &str| shorten(&value(factor, text), VERSION_COLUMNS);
    let suspicion = if factor.suspicion > 0.0 { Share(factor.suspicion).to_string() } else { String::new() };
    let cells = [kind(factor.kind).to_string(), short(&factor.good), short(&factor.bad), suspicion];
    Row { note: note(factor), ..Row::new(shorten(&clean(&factor.name), NAME_COLUMNS), cells) }
}

/// Why a factor cannot be tried, or what has to go with it.
pub(crate) fn note(factor: &Factor) -> String {
    if !factor.untestable.is_empty() {
        return format!("cannot be tried alone: {}", clean(&factor.untestable));
    }
    if factor.needs.is_empty() { String::new() } else { format!("needs {}", names(&factor.needs)) }
}
