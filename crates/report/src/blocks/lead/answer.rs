//! The first sentences about a run, or about something that was watched while running.

use super::heaviest::sentence;
use crate::blocks::findings::{head_word, headline, ordered};
use crate::conclusion::{Conclusion, conclusion};
use crate::document::Document;
use crate::escape::escape;
use crate::style::Style;
use crate::text::{clean, wrap};
use case::{Answer, Kind, Status};

/// What is said before the summary where nothing stands.
fn opening(answer: &Answer) -> Option<String> {
    match conclusion(answer) {
        Conclusion::Findings => None,
        Conclusion::Nothing => match answer.one_wait() {
            Some(wait) => {
                Some(format!("{} No known cause of slowness was recognised in that.", sentence(wait, answer)))
            }
            None => Some("No cause found.".into()),
        },
        Conclusion::Inconclusive(why) => Some(format!("Inconclusive. {why}")),
    }
}

/// Where the time went, where the opening does not say it already.
fn summary(answer: &Answer) -> String {
    let is_said = conclusion(answer) == Conclusion::Nothing && answer.one_wait().is_some();
    if is_said { String::new() } else { clean(&answer.summary) }
}

/// What hurts, where findings stand and none of them is that.
fn leading(answer: &Answer) -> Option<String> {
    let leads = conclusion(answer) == Conclusion::Findings;
    leads.then(|| answer.leading_account()).flatten().map(|heaviest| sentence(heaviest, answer))
}

/// For the terminal: nothing where a finding is said first.
pub(super) fn text(answer: &Answer, style: Style) -> String {
    if let Some(leading) = leading(answer) {
        let lines = wrap(&leading, style.columns(), "", "");
        return lines.lines().map(|line| style.bold(line) + "\n").collect();
    }
    let opening = opening(answer).map(|opening| format!("{opening} {}", summary(answer)));
    opening.map_or(String::new(), |opening| wrap(opening.trim_end(), style.columns(), "", ""))
}

/// For the terminal, after the findings: the summary, where it has not been said.
pub(super) fn whole(document: &Document) -> Option<String> {
    let answer = document.answer().filter(|answer| conclusion(answer) == Conclusion::Findings)?;
    Some(clean(&answer.summary)).filter(|summary| !summary.is_empty())
}

/// For the page.
pub(super) fn lead(answer: &Answer) -> String {
    let said = [leading(answer).unwrap_or_default(), standing(answer)];
    let said = said.iter().filter(|said| !said.is_empty()).map(String::as_str).collect::<Vec<_>>();
    if !said.is_empty() {
        return said.join(" ");
    }
    let summary = summary(answer);
    opening(answer).map_or_else(|| summary.clone(), |opening| format!("{opening} {summary}").trim_end().to_string())
}

/// For the page, where the lead says how sure the causes are: the summary without that.
pub(super) fn where_to(answer: &Answer) -> String {
    if standing(answer).is_empty() && leading(answer).is_none() {
        return String::new();
    }
    clean(answer.summary.strip_prefix(&case::standing(&answer.findings)).unwrap_or(&answer.summary))
}

/// How far the causes have got; empty where none is proved, for which the summary has the words.
fn standing(answer: &Answer) -> String {
    // What only says where the time goes is no cause, suspected or not.
    let is_cause = |finding: &&case::Finding| finding.kind == Kind::Cause || finding.status == Status::Confirmed;
    let causes = || answer.findings.iter().filter(is_cause);
    let count = |status: Status| causes().filter(|finding| finding.status == status).count();
    let of_trials = if answer.live.is_empty() {
        "switched off from outside and measured again"
    } else {
        "switched off in the running program and measured"
    };
    let proved = match count(Status::Confirmed) {
        0 => return String::new(),
        1 => format!("One cause is proved: it was {of_trials}."),
        several => format!("{several} causes are proved: each was {of_trials}."),
    };
    match count(Status::Suspected) + count(Status::Undecided) {
        0 => proved,
        1 => format!("{proved} One more is suspected."),
        several => format!("{proved} {several} more are suspected."),
    }
}

/// For Markdown: the first finding's title, or that there is none; then where the time went.
pub(super) fn markdown(answer: &Answer) -> String {
    let standing = ordered(answer).find(|one| matches!(one.status, Status::Confirmed | Status::Suspected));
    let first = match (opening(answer), standing) {
        (Some(opening), _) => opening,
        (None, Some(one)) => format!("{}: {}", head_word(one), headline(one, answer.exchanges)),
        (None, None) => String::new(),
    };
    let leading = leading(answer).map(|leading| format!("**{}**\n\n", escape(&leading))).unwrap_or_default();
    let first = if first.is_empty() { first } else { format!("{leading}**{}**\n", escape(&first)) };
    let summary = escape(&answer.summary);
    if summary.is_empty() { first } else { format!("{first}\n{summary}\n") }
}
