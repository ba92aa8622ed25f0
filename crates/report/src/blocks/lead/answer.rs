//! The first sentences about a run, or about something that was watched while running.

use super::heaviest::sentence;
use super::{queue, tail};
use crate::blocks::findings::{head_word, headline, ordered};
use crate::conclusion::{Conclusion, conclusion};
use crate::document::Document;
use crate::escape::escape;
use crate::style::Style;
use crate::text::{clean, wrap};

use case::{Account, Answer, CpuUse, End, Kind, Status, Tail};

/// What is said before the summary where nothing stands.
fn opening(answer: &Answer) -> Option<String> {
    match conclusion(answer) {
        Conclusion::Findings => None,
        Conclusion::Nothing if leads_outside(answer) => Some(outside(answer)),
        Conclusion::Nothing if slow_few(answer).is_some() => {
            let few = slow_few(answer).unwrap_or_default();
            Some(match line(answer).or_else(|| mostly(answer)).filter(|_| !is_said_of_few(answer)) {
                Some(mostly) => format!("{few} Of all requests: {mostly} {NOT_RECOGNISED}"),
                None => format!("{few} {NOT_RECOGNISED}"),
            })
        }
        Conclusion::Nothing => Some(match (line(answer), answer.one_wait(), mostly(answer)) {
            (Some(line), ..) => format!("{line} {NOT_RECOGNISED}"),
            (_, Some(wait), _) => format!("{} {NOT_RECOGNISED}", sentence(wait, answer)),
            (.., Some(mostly)) if is_wait(answer) => format!("{mostly} {NOT_RECOGNISED}"),
            (.., Some(mostly)) => format!("No cause found. {mostly}"),
            _ => "No cause found.".into(),
        }),
        Conclusion::Inconclusive(why) => Some(format!("Inconclusive. {why}")),
    }
}

/// With less of the run than this in exchanges, what they wait for is not what the user waits for.
const HARDLY_ANY: f64 = 0.25;

/// Whether nearly all of the run is outside its exchanges: then the answer begins with that.
fn leads_outside(answer: &Answer) -> bool {
    answer.exchanges > 0
        && !is_of_servers(answer)
        && outside_ns(answer) as f64 >= (1.0 - HARDLY_ANY) * answer.ledger.total as f64
}

/// Whether only servers were recorded: nobody waits for one that has no request.
fn is_of_servers(answer: &Answer) -> bool {
    let mut ends = answer.ledger.accounts.iter().filter_map(|one| one.account.end()).peekable();
    ends.peek().is_some() && ends.all(|end| end == End::Server)
}

/// Where the time outside exchanges went.
fn outside(answer: &Answer) -> String {
    let summary = clean(&answer.summary);
    let accounts = answer.ledger.accounts.iter().filter(|one| one.account.is_outside());
    match accounts.max_by_key(|one| one.ns).map(|one| &one.account) {
        Some(Account::CpuOutside { .. }) => format!("No cause found. {summary}"),
        _ => format!("{summary} {NOT_RECOGNISED}"),
    }
}

const NOT_RECOGNISED: &str = "No known cause of slowness was recognised.";

/// What the slow few wait for, where nothing that was found is about them.
fn slow_few(answer: &Answer) -> Option<String> {
    answer.leading_tail().and_then(|tail| tail::sentence(tail, answer.exchanges))
}

/// Whether what most of the time of all requests goes into is what the slow few wait for.
fn is_said_of_few(answer: &Answer) -> bool {
    let few = answer.leading_tail().and_then(Tail::cause).and_then(|cause| cause.place.first());
    let all = answer.heaviest.as_ref().and_then(|heaviest| heaviest.place.first());
    few.is_some() && few == all
}

/// That requests wait in line most of their time, where nothing that was found explains it.
fn line(answer: &Answer) -> Option<String> {
    answer.leading_line().and_then(queue::sentence)
}

/// What most of the time went into, with its place, where no more can be said.
fn mostly(answer: &Answer) -> Option<String> {
    answer
        .leading_account()
        .filter(|_| is_wait(answer) || !is_mostly_outside(answer))
        .map(|heaviest| sentence(heaviest, answer))
}

/// Whether what most of the time went into is a wait for something, and no work.
fn is_wait(answer: &Answer) -> bool {
    answer.heaviest.as_ref().is_some_and(|heaviest| heaviest.group.is_wait())
}

/// Whether most of the run is in no exchange, although there are some.
fn is_mostly_outside(answer: &Answer) -> bool {
    answer.exchanges > 0 && outside_ns(answer) * 2 > answer.ledger.total
}

/// How much of the run is in no exchange.
fn outside_ns(answer: &Answer) -> u64 {
    answer.ledger.accounts.iter().filter(|one| one.account.is_outside()).map(|one| one.ns).sum()
}

/// Where the time went, where the opening does not say it already: that is about exchanges, where there are any.
fn summary(answer: &Answer) -> String {
    let is_said = conclusion(answer) == Conclusion::Nothing
        && (leads_outside(answer)
            || !is_mostly_outside(answer)
                && (line(answer).is_some() || answer.one_wait().is_some() || mostly(answer).is_some()));
    let said = if is_said { String::new() } else { with_rest(&clean(&answer.summary), answer) };
    format!("{said} {}", cpus(answer)).trim().to_string()
}

/// That the programs have used up the machine's CPUs; empty where they have not.
fn cpus(answer: &Answer) -> String {
    match answer.exhausted_cpus() {
        Some(CpuUse { cpus: 1, .. }) => "The programs kept the machine's only CPU busy.".to_string(),
        Some(CpuUse { used, cpus }) => format!("The programs kept {used:.2} of the machine's {cpus} CPUs busy."),
        None => String::new(),
    }
}

/// What hurts, where findings stand and none of them is that.
fn leading(answer: &Answer) -> Option<String> {
    if conclusion(answer) != Conclusion::Findings {
        return None;
    }
    let mostly = line(answer).or_else(|| answer.leading_account().map(|heaviest| sentence(heaviest, answer)));
    let mostly = mostly.filter(|_| !is_said_of_few(answer));
    let said = [slow_few(answer), mostly].into_iter().flatten().collect::<Vec<_>>();
    (!said.is_empty()).then(|| said.join(" Of all requests: "))
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

/// A summary, and what else takes a fair part of the time, where findings explain what takes most of it.
fn with_rest(summary: &str, answer: &Answer) -> String {
    let rest = answer.next_account().filter(|_| conclusion(answer) == Conclusion::Findings);
    let rest = rest.map(|next| format!("Besides that, {}", sentence(next, answer))).unwrap_or_default();
    format!("{summary} {rest}").trim().to_string()
}

/// For the terminal, after the findings: the summary, where it has not been said.
pub(super) fn whole(document: &Document) -> Option<String> {
    let answer = document.answer().filter(|answer| conclusion(answer) == Conclusion::Findings)?;
    Some(summary(answer)).filter(|summary| !summary.is_empty())
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
    let summary = answer.summary.strip_prefix(&case::standing(&answer.findings)).unwrap_or(&answer.summary);
    format!("{} {}", with_rest(&clean(summary), answer), cpus(answer)).trim().to_string()
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
    let summary = escape(&with_rest(&answer.summary, answer));
    if summary.is_empty() { first } else { format!("{first}\n{summary}\n") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::answer as examples;

    #[test]
    fn cpus_are_spoken_of_where_there_are_no_more() {
        let said = |used, cpus| summary(&Answer { cpu_use: Some(CpuUse { used, cpus }), ..examples::slow() });
        assert!(said(1.9, 2).ends_with(". The programs kept 1.90 of the machine's 2 CPUs busy."), "{}", said(1.9, 2));
        assert!(said(0.98, 1).ends_with("The programs kept the machine's only CPU busy."));
        assert!(!said(1.7, 2).contains("CPUs busy"));
    }
}
