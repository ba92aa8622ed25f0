//! How to get rid of it without a downgrade: what cures the bad world as it is. The page shows these as findings.

use crate::block::{Block, Section};
use crate::document::Document;
use crate::figure::{clause, times};
use crate::part::{Part, under};
use crate::text::clean;
use case::{Bisection, Effect, Finding, Status};

pub(crate) const BLOCK: Block = Block {
    html: Some(|_| String::new()),
    ..Block::of(Section::Verdict, |document| {
        under("Without a downgrade, in the bad world as it is", [Part::List(cures(document))])
    })
};

fn cures(document: &Document) -> Vec<String> {
    document.bisection().map(|bisection| ordered(bisection).into_iter().map(cure).collect()).unwrap_or_default()
}

/// More letters of a remedy than this are no aside any more.
const REMEDY_COLUMNS: usize = 100;

/// The cure that gains most, of those proved.
pub(crate) fn best(bisection: &Bisection) -> Option<(&Finding, &Effect)> {
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
pub(crate) fn aside(finding: &Finding) -> String {
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

/// One finding of the bad world: what switching it off does, and the remedy where that cures.
fn cure(finding: &Finding) -> String {
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
        (Status::Undecided, _) => format!("{name} (tried, inconclusive): {title}"),
        (Status::Refuted, _) => format!("{name} (tried): cures nothing."),
    }
}
