//! One finding as a paragraph: what, cost, mechanism, place, remedy, how sure it is, and what was tried.

use crate::certainty::certainty;
use crate::style::Style;
use crate::text::{clean, count, counted, wrap};
use crate::tried::tried;
use case::{Answer, Finding, Nanos, Place, Share, Status};

/// A cost below this share is not worth a clause of its own.
const LEAST_SHARE: f64 = 0.005;

/// Places shown; the first is the best, and more than a few are no place at all.
pub(crate) const MOST_PLACES: usize = 3;

/// The paragraph of one finding, with the table of what was tried.
pub(crate) fn finding(finding: &Finding, answer: &Answer, style: Style) -> String {
    let head = format!("{}: {}", head_word(finding.status), clean(&finding.title));
    let mut text = paint_head(&wrap(&head, style.columns(), "", "  "), style);
    let certainty = certainty(finding, answer.proof.as_ref(), &answer.live);
    if finding.status == Status::Refuted {
        text += &say("", &refuted(finding, answer, &certainty), style);
    } else {
        text += &say("", &cost(finding, answer), style);
        text += &say("", &clean(&finding.mechanism.join(" ")), style);
        for (index, one) in finding.place.iter().take(MOST_PLACES).enumerate() {
            text += &say(if index == 0 { "Where: " } else { "       " }, &place(one), style);
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
pub(crate) fn refuted(finding: &Finding, answer: &Answer, certainty: &str) -> String {
    let suspected = cost(finding, answer).replacen("It costs up to", "It was suspected of costing up to", 1);
    format!("{suspected} {certainty}")
}

/// The status as a word.
pub(crate) fn head_word(status: Status) -> &'static str {
    match status {
        Status::Confirmed => "Confirmed",
        Status::Suspected => "Suspected",
        Status::Refuted => "Refuted",
        Status::Undecided => "Undecided",
    }
}

/// The head's lines in bold, line by line, so that a pager can cut the text anywhere.
fn paint_head(head: &str, style: Style) -> String {
    head.lines().map(|line| style.bold(line) + "\n").collect()
}

/// The cost in a sentence, its base named: the mean request, or the run where there were none. What the title has said
/// already is not said again.
pub(crate) fn cost(finding: &Finding, answer: &Answer) -> String {
    let cost = &finding.cost;
    let is_new = |nanos: u64| nanos > 0 && !finding.title.contains(&format!("{} of", Nanos(nanos)));
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
        clauses.push(clause(cost.cpu_ns_per_exchange, cost.share_of_cpu, "'s processor time"));
    }
    let touched = match (cost.affected, answer.exchanges) {
        (0, _) | (_, 0) => String::new(),
        (affected, all) => format!(" It touched {} of {}.", count(affected), counted(all, "request")),
    };
    if clauses.is_empty() {
        return touched.trim_start().to_string();
    }
    format!("It costs up to {}.{touched}", clauses.join(", and "))
}

/// A place as one would type it into an editor: `client.py:31 in send_body`.
pub(crate) fn place(place: &Place) -> String {
    let function = clean(&place.function);
    let position = match (place.file.is_empty(), place.line) {
        (true, _) => clean(&place.module),
        (false, 0) => clean(&place.file),
        (false, line) => format!("{}:{line}", clean(&place.file)),
    };
    match (position.is_empty(), function.is_empty()) {
        (true, _) => function,
        (_, true) => position,
        // An address in a module names the module already.
        _ if place.file.is_empty() && function.contains("+0x") => function,
        _ => format!("{position} in {function}"),
    }
}

fn more(finding: &Finding) -> String {
    let rows = finding.evidence.rows.iter().take(4).map(u64::to_string).collect::<Vec<_>>().join(", ");
    let page = format!("whyslow explain {} ({})", clean(&finding.name), clean(&finding.id));
    if rows.is_empty() {
        return page;
    }
    format!("{page}; table {}, rows {rows}", clean(&finding.evidence.table))
}
