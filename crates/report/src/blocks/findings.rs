//! The findings of a run: what, cost, mechanism, place, remedy, how sure it is, and what was tried. Paragraphs in the
//! terminal, cards on the page, a part each in Markdown.

mod card;
pub(crate) mod certainty;
mod cured;
mod headline;
mod observed;
pub(crate) mod tried;

pub(crate) use self::headline::headline;

use self::certainty::certainty;
use self::tried::{groups, no_result, tried};
use crate::block::{Block, Section};
use crate::document::Body;
use crate::escape::{code, escape};
use crate::figure::{base, range, three};
use crate::grid::Row;
use crate::located;
use crate::part::{Table, markdown};
use crate::style::Style;
use crate::text::{clean, count, counted, wrap};
use case::{Answer, Finding, Kind, Metric, Nanos, Share, Status};

/// The findings of a run; on the page also what cures the bad world of a bisection.
pub(crate) const BLOCK: Block = Block {
    text: Some(|document, style| {
        let Some(answer) = document.answer() else { return String::new() };
        ordered(answer).map(|one| finding(one, answer, style)).collect::<Vec<_>>().join("\n")
    }),
    html: Some(|document| {
        let cards = match document.body {
            Body::Answer(answer) => ordered(answer).map(|finding| card::card(finding, answer, document)).collect(),
            Body::Bisection(bisection) => cured::cards(bisection, document),
            _ => Vec::new(),
        };
        card::html(cards)
    }),
    markdown: Some(|document| {
        let Some(answer) = document.answer() else { return String::new() };
        ordered(answer).map(|one| part(one, answer)).collect::<Vec<_>>().join("\n")
    }),
    ..Block::of(Section::Verdict, |_| Vec::new())
};

/// A cost below this share is not worth a clause of its own.
const LEAST_SHARE: f64 = 0.005;

/// Places shown; the first is the best, and more than a few are no place at all.
const MOST_PLACES: usize = 3;

/// The findings as ranked, those that trials refuted after all others.
pub(crate) fn ordered(answer: &Answer) -> impl Iterator<Item = &Finding> {
    let refuted = |one: &&Finding| one.status == Status::Refuted;
    let standing = answer.findings.iter().filter(move |one| !refuted(one));
    standing.chain(answer.findings.iter().filter(move |one| refuted(one)))
}

/// The paragraph of one finding, with the table of what was tried.
fn finding(finding: &Finding, answer: &Answer, style: Style) -> String {
    let head = format!("{}: {}", head_word(finding), headline(finding, answer.exchanges));
    let mut text = paint_head(&wrap(&head, style.columns(), "", "  "), style);
    let certainty = certainty(finding, answer.proof.as_ref(), &answer.live);
    if finding.status == Status::Refuted {
        text += &say("", &refuted(finding, answer, &certainty), style);
    } else {
        text += &say("", &cost(finding, answer), style);
        text += &say("", &clean(&observed::mechanism(finding).join(" ")), style);
        for (index, one) in finding.place.iter().take(MOST_PLACES).enumerate() {
            let part = if index == 0 { located::part(finding.place_share) } else { String::new() };
            let part = if part.is_empty() { part } else { format!(" ({part})") };
            text += &say(if index == 0 { "Where: " } else { "       " }, &(located::whole(one) + &part), style);
        }
        text += &say("Remedy: ", &clean(&finding.remedy), style);
        text += &say("", &certainty, style);
    }
    text += &tried(finding, style);
    text += &say("But: ", &clean(&finding.caveats.join(" ")), style);
    text + &say("More: ", &more(finding), style)
}

/// A sentence or several after a label; nothing where there is nothing to say.
fn say(label: &str, body: &str, style: Style) -> String {
    if body.is_empty() {
        return String::new();
    }
    // A label of blanks continues the line above it, and so does what is wrapped below.
    let indent = if label.trim().is_empty() { format!("  {label}") } else { "  ".to_string() };
    wrap(body, style.columns(), &format!("  {label}"), &indent)
}

/// A refuted suspicion in one paragraph, without the remedy that would not help.
fn refuted(finding: &Finding, answer: &Answer, certainty: &str) -> String {
    let suspected = costing("It was suspected of costing", finding, answer);
    format!("{suspected} {certainty}")
}

/// The status as a word; what only says where the time goes is observed, until a trial shows that it can go.
pub(crate) fn head_word(finding: &Finding) -> &'static str {
    match (finding.status, finding.kind) {
        (Status::Confirmed, _) => "Confirmed",
        (Status::Suspected, Kind::Cause) => "Suspected",
        (Status::Suspected, Kind::Observation) => "Observed",
        (Status::Refuted, _) => "Refuted",
        (Status::Undecided, _) => "Undecided",
    }
}

/// The head's lines in bold, line by line, so that a pager can cut the text anywhere.
fn paint_head(head: &str, style: Style) -> String {
    head.lines().map(|line| style.bold(line) + "\n").collect()
}

/// The cost in a sentence, its base named: the mean request, or the run where there were none. What the title has said
/// already is not said again.
fn cost(finding: &Finding, answer: &Answer) -> String {
    let verb = if is_measured(finding) { "The recording allows for" } else { "It costs" };
    let said = costing(verb, finding, answer);
    let waited_for = finding.cost.share_of_wall >= LEAST_SHARE;
    let burns = finding.cost.share_of_cpu >= LEAST_SHARE;
    if waited_for || !burns {
        return said;
    }
    format!("{said} This is CPU time; nobody need be waiting for it.").trim_start().to_string()
}

/// Whether trials say what the finding costs: then that is its figure, and the ledger's is a bound.
fn is_measured(finding: &Finding) -> bool {
    finding.status == Status::Confirmed && finding.effect.is_some()
}

fn costing(verb: &str, finding: &Finding, answer: &Answer) -> String {
    let cost = &finding.cost;
    let said = headline(finding, answer.exchanges);
    let is_new = |nanos: u64| nanos > 0 && !said.contains(&format!("{} of", Nanos(nanos)));
    let clause = |nanos: u64, share: f64, kind: &str| {
        let whole = if share > 0.0 { Nanos((nanos as f64 / share).round() as u64) } else { Nanos(0) };
        // A program that was running already has no run of ours: what is known is the time it was watched.
        let (base, noun) = match (answer.exchanges, answer.subject_exit) {
            (0, Some(_)) => ("the", "run"),
            (0, None) => ("the", "watched"),
            _ => ("every", "request"),
        };
        format!("{} of {base} {whole} {noun}{kind} ({})", Nanos(nanos), Share(share))
    };
    let mut clauses = Vec::new();
    if is_new(cost.ns_per_exchange) && cost.share_of_wall >= LEAST_SHARE {
        clauses.push(clause(cost.ns_per_exchange, cost.share_of_wall, ""));
    }
    if is_new(cost.cpu_ns_per_exchange) && cost.share_of_cpu >= LEAST_SHARE {
        clauses.push(clause(cost.cpu_ns_per_exchange, cost.share_of_cpu, "'s CPU time"));
    }
    let touched = match (cost.affected, answer.exchanges) {
        (0, _) | (_, 0) => String::new(),
        (affected, all) => format!(" It affects {} of {}.", count(affected), counted(all, "request")),
    };
    if clauses.is_empty() {
        return touched.trim_start().to_string();
    }
    format!("{verb} up to {}.{touched}", clauses.join(", and "))
}

fn more(finding: &Finding) -> String {
    let rows = finding.evidence.rows.iter().take(4).map(u64::to_string).collect::<Vec<_>>().join(", ");
    let page = format!("whyslow explain {} ({})", clean(&finding.name), clean(&finding.id));
    if rows.is_empty() {
        return page;
    }
    format!("{page}; table {}, rows {rows}", clean(&finding.evidence.table))
}

fn head_of(finding: &Finding) -> String {
    format!("{}: {} ({})", head_word(finding), escape(&finding.name), escape(&finding.id))
}

/// A finding in Markdown.
fn part(finding: &Finding, answer: &Answer) -> String {
    let certainty = certainty(finding, answer.proof.as_ref(), &answer.live);
    let mut text = format!("### {}\n\n{}\n", head_of(finding), escape(&headline(finding, answer.exchanges)));
    if finding.status == Status::Refuted {
        text += &format!("\n{}\n", escape(&refuted(finding, answer, &certainty)));
    } else {
        text += &labelled("Cost.", &cost(finding, answer));
        text += &labelled("Mechanism.", &observed::mechanism(finding).join(" "));
        text += &places(finding);
        text += &labelled("Remedy.", &finding.remedy);
        text += &labelled("Certainty.", &certainty);
    }
    text += &tables(finding);
    text + &labelled("But:", &finding.caveats.join(" "))
}

fn places(finding: &Finding) -> String {
    let part = match located::part(finding.place_share) {
        part if part.is_empty() => part,
        part => format!(" ({})", escape(&part)),
    };
    let parts = std::iter::once(part.as_str()).chain(std::iter::repeat(""));
    let places = finding.place.iter().take(MOST_PLACES).zip(parts);
    let places = places.map(|(one, part)| format!("- {}{part}\n", code::span(&located::whole(one))));
    let places = places.collect::<String>();
    if places.is_empty() { places } else { format!("\n**Where.**\n\n{places}") }
}

/// What was tried, a table for each purpose.
fn tables(finding: &Finding) -> String {
    let mut text = String::new();
    for group in groups(finding) {
        let base = base(group.rows.first().map_or(&Metric::default(), |row| &row.tried.metric));
        let rows = group.rows.iter().map(|row| {
            let one = row.tried;
            if !row.has_result() {
                let (what, why) = no_result(one);
                let what = format!("{}: {why}", what.trim_end_matches(": "));
                return Row::new(row.name.clone(), [String::new(), String::new(), String::new(), String::new(), what]);
            }
            let came_of_it = match one.problem.as_str() {
                "" => row.word.to_string(),
                problem => format!("{}; but: {problem}", row.word),
            };
            let figures = [three(one.ratio), range(one.low, one.high), came_of_it];
            let cells = [row.before.clone(), row.after.clone()].into_iter().chain(figures);
            Row::new(row.name.clone(), cells)
        });
        let columns = ["Without", "With", base, "95 % interval", "Result"];
        let table = Table::of("Tried", columns, rows.collect()).words(5);
        text += &format!("\n{}:\n\n{}", escape(&group.heading), markdown::table(&table));
        if !group.trend.is_empty() {
            text += &format!("\n{}\n", escape(&group.trend));
        }
    }
    text
}

/// A paragraph after a label in bold; nothing where it is empty.
fn labelled(label: &str, body: &str) -> String {
    if body.is_empty() { String::new() } else { format!("\n**{label}** {}\n", escape(body)) }
}
