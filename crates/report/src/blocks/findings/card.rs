//! One finding on a card: how far it has got, what it costs, how it comes about, where, what to change, how sure it is.

use super::certainty::certainty;
use super::{MOST_PLACES, cost, head_word, headline, observed, refuted};
use crate::document::{Document, SideViews};
use crate::located;
use crate::text::{clean, count};
use askama::Template;
use case::{Answer, Finding, Kind, Metric, Share, Status};

#[derive(Template)]
#[template(path = "blocks/findings.html")]
struct Cards {
    cards: Vec<Card>,
}

/// The cards as HTML.
pub(super) fn html(cards: Vec<Card>) -> String {
    Cards { cards }.render().unwrap_or_default()
}

/// A finding in the words of its card.
pub(super) struct Card {
    /// Its place among the findings, counted from 1: part of its anchor.
    pub number: usize,
    /// The badge's class.
    pub badge: &'static str,
    /// The status in a word.
    pub status: &'static str,
    /// What is wrong.
    pub title: String,
    /// The share that it costs, large; empty where only the sentence says it.
    pub share: String,
    /// What that share is of.
    pub share_of: &'static str,
    /// What it costs, in a sentence; with a refuted one what it was suspected of.
    pub cost: String,
    /// How it comes about, step by step; nothing where it was refuted.
    pub mechanism: Vec<String>,
    /// Where in the code, the best place first.
    pub places: Vec<String>,
    /// How much of the cost is at the best place; empty where that is nearly all of it.
    pub place_share: String,
    /// What to change.
    pub remedy: String,
    /// How sure it is, and why.
    pub certainty: String,
    /// What was not seen.
    pub caveats: Vec<String>,
    /// Its name.
    pub name: String,
    /// The command that explains it.
    pub explain: String,
    /// The rows that it rests on, in words.
    pub evidence: String,
    /// Whether these rows are on the page.
    pub has_rows: bool,
    /// Whether trials of it are on the page.
    pub has_trials: bool,
}

/// The card of a finding.
pub(super) fn card(finding: &Finding, answer: &Answer, document: &Document) -> Card {
    let index = answer.findings.iter().position(|one| std::ptr::eq(one, finding)).unwrap_or(0);
    let certainty = certainty(finding, answer.proof.as_ref(), &answer.live);
    let stands = finding.status != Status::Refuted;
    let (share, share_of) = share(finding, answer);
    let rows = |side: &SideViews| side.views.evidence.iter().any(|one| one.finding == index);
    Card {
        number: index + 1,
        badge: badge(finding),
        status: head_word(finding),
        title: headline(finding, answer.exchanges),
        share: if stands { share } else { String::new() },
        share_of,
        cost: if stands { cost(finding, answer) } else { refuted(finding, answer, &certainty) },
        mechanism: kept(stands, &observed::mechanism(finding)),
        places: if stands { finding.place.iter().take(MOST_PLACES).map(located::whole).collect() } else { Vec::new() },
        place_share: if stands { located::part(finding.place_share) } else { String::new() },
        remedy: if stands { clean(&finding.remedy) } else { String::new() },
        certainty: if stands { certainty } else { String::new() },
        caveats: kept(true, &finding.caveats),
        name: clean(&finding.name),
        explain: format!("whyslow explain {}", clean(&finding.name)),
        evidence: evidence(finding),
        has_rows: document.sides.iter().any(rows),
        has_trials: !finding.tried.is_empty(),
    }
}

fn kept(stands: bool, sentences: &[String]) -> Vec<String> {
    if stands { sentences.iter().map(|sentence| clean(sentence)).collect() } else { Vec::new() }
}

fn badge(finding: &Finding) -> &'static str {
    match (finding.status, finding.kind) {
        (Status::Confirmed, _) => "bad",
        (Status::Suspected, Kind::Observation) | (Status::Refuted, _) => "none",
        (Status::Suspected | Status::Undecided, _) => "warn",
    }
}

/// What was measured to go away; where nothing was, the larger of both shares that the ledger allows: of the time, or of
/// the CPU time.
fn share(finding: &Finding, answer: &Answer) -> (String, &'static str) {
    if let (Status::Confirmed, Some(effect)) = (finding.status, &finding.effect)
        && let Some(of) = measured_of(&effect.metric)
        && effect.ratio > 1.0
    {
        return (Share(effect.share()).to_string(), of);
    }
    let cost = &finding.cost;
    let is_run = answer.exchanges == 0;
    let (share, of) = match (cost.share_of_cpu > cost.share_of_wall, is_run) {
        (true, _) => (cost.share_of_cpu, "of CPU time, at most"),
        (false, true) => (cost.share_of_wall, "of the run's time, at most"),
        (false, false) => (cost.share_of_wall, "of request time, at most"),
    };
    if share > 0.0 { (Share(share).to_string(), of) } else { (String::new(), of) }
}

/// What a measured share is of; none for figures that are no time of ours.
fn measured_of(metric: &Metric) -> Option<&'static str> {
    match metric {
        Metric::WallPerExchange => Some("of request time, measured"),
        Metric::ElapsedPerExchange => Some("of elapsed time, measured"),
        Metric::Wall => Some("of the run's time, measured"),
        Metric::Cpu | Metric::CpuPerExchange => Some("of CPU time, measured"),
        _ => None,
    }
}

fn evidence(finding: &Finding) -> String {
    let rows = finding.evidence.rows.iter().map(|row| count(*row)).collect::<Vec<_>>();
    if rows.is_empty() {
        return String::new();
    }
    format!("table {}, rows {}", clean(&finding.evidence.table), rows.join("; "))
}
