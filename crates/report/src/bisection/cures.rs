//! How to get rid of it: what cures the bad world without a downgrade, and the command that goes back.

use super::axis::figure_at;
use crate::figure::{clause, times};
use crate::style::Style;
use crate::text::{clean, wrap};
use case::{Bisection, Effect, Finding, ProbeKind, ProbeResult, Status};

/// More letters of a remedy than this are no aside any more.
const REMEDY_COLUMNS: usize = 100;

/// The cure that gains most, of those proved.
pub(super) fn best(bisection: &Bisection) -> Option<(&Finding, &Effect)> {
    let proved = bisection.cures.iter().filter(|finding| finding.status == Status::Confirmed);
    let effects = proved.filter_map(|finding| finding.effect.as_ref().map(|effect| (finding, effect)));
    effects.max_by(|(_, one), (_, other)| one.ratio.total_cmp(&other.ratio))
}

/// What is said of the bad world as it is, the most certain first: what was proved, then what was left open or is only
/// suspected, last what cures nothing.
pub(crate) fn ordered(bisection: &Bisection) -> Vec<&Finding> {
    let mut findings = bisection.cures.iter().collect::<Vec<_>>();
    findings.sort_by_key(|finding| match finding.status {
        Status::Confirmed => 0,
        Status::Undecided => 1,
        Status::Suspected => 2,
        Status::Refuted => 3,
    });
    findings
}

/// A remedy as an aside: its first clause, in brackets after a blank; empty for none, or where that clause is long.
pub(super) fn aside(finding: &Finding) -> String {
    let remedy = clean(&finding.remedy);
    let clause = remedy.split([';', ':']).next().unwrap_or_default().split(". ").next().unwrap_or_default();
    let clause = clause.trim().trim_end_matches('.');
    let mut letters = clause.chars();
    match letters.next() {
        Some(first) if clause.chars().count() <= REMEDY_COLUMNS => {
            let rest = letters.as_str();
            // An abbreviation keeps its capitals.
            let is_word = rest.starts_with(|letter: char| letter.is_lowercase() || letter == ' ');
            let first = if is_word { first.to_lowercase().to_string() } else { first.to_string() };
            format!(" ({first}{rest})")
        }
        _ => String::new(),
    }
}

/// What there is to do about the bad world as it is; empty where nothing was looked for.
pub(super) fn cures(bisection: &Bisection, style: Style) -> String {
    let lines = ordered(bisection).into_iter().map(|finding| wrap(&cure(finding), style.columns(), "  - ", "    "));
    let lines = lines.collect::<String>();
    if lines.is_empty() { lines } else { format!("Without a downgrade, in the bad world as it is:\n{lines}") }
}

/// One finding of the bad world: what switching it off does, and the remedy where that cures.
pub(crate) fn cure(finding: &Finding) -> String {
    let (name, title) = (clean(&finding.name), clean(&finding.title));
    match (finding.status, &finding.effect) {
        (Status::Confirmed, Some(effect)) => {
            let remedy = clean(&finding.remedy);
            let did = clause(&effect.metric, effect.before, effect.after);
            let times = times(&effect.metric, effect.ratio, effect.low, effect.high);
            let tried = clean(&effect.intervention);
            format!("confirmed: {title}. With {tried} {did}: {times}). {remedy}").trim_end().to_string()
        }
        (Status::Confirmed, None) => format!("{name}: {title}."),
        (Status::Suspected, _) => format!("{name} (suspected, not tried): {title}"),
        (Status::Undecided, _) => format!("{name} (tried, left open): {title}"),
        (Status::Refuted, _) => format!("{name} (tried): it cures nothing."),
    }
}

/// The command that goes back, on a line of its own so that it can be copied; empty where there is none.
pub(super) fn way_back(bisection: &Bisection, style: Style) -> String {
    let Some(command) = command(bisection) else { return String::new() };
    let head = wrap(&format!("To go back ({}):", confirmed(bisection)), style.columns(), "", "  ");
    format!("{head}  {command}\n")
}

/// The command itself.
pub(crate) fn command(bisection: &Bisection) -> Option<String> {
    let command = bisection.culprit.as_ref().map(|culprit| clean(&culprit.command))?;
    (!command.is_empty()).then_some(command)
}

/// Whether the command was tried, and what that gave.
pub(crate) fn confirmed(bisection: &Bisection) -> String {
    let is_confirmed = bisection.culprit.as_ref().is_some_and(|culprit| culprit.command_confirmed);
    let apt = bisection.probes.iter().rfind(|probe| probe.kind == ProbeKind::Apt && probe.result == ProbeResult::Good);
    match (is_confirmed, apt.and_then(|probe| figure_at(bisection, probe.place))) {
        (true, Some(figure)) => format!("tried over an overlay of the bad world: {figure}"),
        (true, None) => "tried over an overlay of the bad world".into(),
        (false, _) => "not tried".into(),
    }
}
