//! A run, or something that was watched while running.

use super::{code, escape, labelled, list, machine, part, table, typed};
use crate::certainty::certainty;
use crate::command::command;
use crate::figure::{range, three};
use crate::finding::{MOST_PLACES, cost, head_word, place, refuted};
use crate::live::{ending, head, is_said_elsewhere, stretches};
use crate::proof::{not_tried, told};
use crate::terminal::{lost, opening, ordered};
use crate::tried::{groups, no_result};
use case::{Account, Answer, Finding, Manifest, Nanos, Share, Status};

/// Accounts below this share are added up in one row.
const LEAST_SHARE: f64 = 0.005;

/// The whole text.
pub(super) fn answer(answer: &Answer, manifest: &Manifest) -> String {
    let mut text = format!("## whyslow: {}\n", code::span(&command(&answer.command)));
    text += &verdict(answer);
    for one in ordered(answer) {
        text += &part(&head_of(one), &finding(one, answer));
    }
    let together = crate::together::sentence(&answer.together).unwrap_or_default();
    text += &part("Tried together", &escape(&capitalised(&together)));
    text += &part("Switched on and off in the running program", &switched(answer));
    text += &part("Where the time went", &ledger(answer));
    text += &part("Trials", &trials(answer));
    text += &part("Lost while recording", &escape(&capitalised(&lost(answer))));
    text += &part("Not looked for", &list(&answer.missing));
    text + &part("How to repeat it", &repeated(answer, manifest))
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The first findings' titles, or that there are none; then where the time went.
fn verdict(answer: &Answer) -> String {
    let standing = ordered(answer).find(|one| matches!(one.status, Status::Confirmed | Status::Suspected));
    let first = match (opening(answer), standing) {
        (Some(opening), _) => opening,
        (None, Some(one)) => format!("{}: {}", head_word(one.status), one.title),
        (None, None) => String::new(),
    };
    let first = if first.is_empty() { first } else { format!("\n**{}**\n", escape(&first)) };
    let summary = escape(&answer.summary);
    if summary.is_empty() { first } else { format!("{first}\n{summary}\n") }
}

fn head_of(finding: &Finding) -> String {
    format!("{}: {} ({})", head_word(finding.status), escape(&finding.name), escape(&finding.id))
}

fn finding(finding: &Finding, answer: &Answer) -> String {
    let certainty = certainty(finding, answer.proof.as_ref(), &answer.live);
    let mut text = format!("{}\n", escape(&finding.title));
    if finding.status == Status::Refuted {
        text += &format!("\n{}\n", escape(&refuted(finding, answer, &certainty)));
    } else {
        text += &labelled("Cost.", &cost(finding, answer));
        text += &labelled("Mechanism.", &finding.mechanism.join(" "));
        text += &places(finding);
        text += &labelled("Remedy.", &finding.remedy);
        text += &labelled("How sure.", &certainty);
    }
    text += &tried(finding);
    text + &labelled("But:", &finding.caveats.join(" "))
}

fn places(finding: &Finding) -> String {
    let places = finding.place.iter().take(MOST_PLACES).map(|one| format!("- {}\n", code::span(&place(one))));
    let places = places.collect::<String>();
    if places.is_empty() { places } else { format!("\n**Where.**\n\n{places}") }
}

/// What was tried, a table for each purpose.
fn tried(finding: &Finding) -> String {
    let mut text = String::new();
    for group in groups(&finding.tried) {
        let base = crate::figure::base(group.rows.first().map_or("", |row| &row.tried.metric));
        let rows = group.rows.iter().map(|row| {
            let one = row.tried;
            if !row.has_result() {
                let (what, why) = no_result(one);
                let what = format!("{}: {why}", what.trim_end_matches(": "));
                return vec![row.name.clone(), String::new(), String::new(), String::new(), String::new(), what];
            }
            let came_of_it = match one.problem.as_str() {
                "" => row.word.to_string(),
                problem => format!("{}; but: {problem}", row.word),
            };
            let figures = [three(one.ratio), range(one.low, one.high), came_of_it];
            [row.name.clone(), row.before.clone(), row.after.clone()].into_iter().chain(figures).collect()
        });
        let headings = ["Tried", "Without", "With", base, "95 % interval", "What came of it"];
        text += &format!("\n{}:\n\n{}", escape(&group.heading), table(&headings, &rows.collect::<Vec<_>>()));
    }
    text
}

fn switched(answer: &Answer) -> String {
    let mut text = String::new();
    for one in answer.live.iter().filter(|one| !is_said_elsewhere(one, answer)) {
        let unit = crate::live::Unit::of(one);
        let stretches = stretches(&one.windows);
        let rates = stretches.iter().map(|stretch| {
            let rate = unit.shown(unit.rate(stretch.windows)).replace('\u{1}', " ");
            format!("{} {rate}", stretch.word)
        });
        let rates = rates.collect::<Vec<_>>().join(", ");
        let said = [escape(&head(one, answer, unit)), escape(&rates), escape(&ending(one, answer))];
        text += &format!("- {} {}. {}\n", said[0], said[1], said[2]);
    }
    text
}

/// Accounts, largest first; small ones in one row.
fn ledger(answer: &Answer) -> String {
    let ledger = &answer.ledger;
    if ledger.total == 0 {
        return String::new();
    }
    let total = Nanos(ledger.total);
    let row = |name: &str, time: Nanos| vec![name.to_string(), time.share_of(total).to_string(), time.to_string()];
    let accounts = ledger.explained();
    let is_large = |time: Nanos| time.share_of(total).0 >= LEAST_SHARE;
    let (large, small): (Vec<_>, Vec<_>) = accounts.into_iter().partition(|account| is_large(Nanos(account.ns)));
    let mut rows = large.iter().map(|account| row(&account.name, Nanos(account.ns))).collect::<Vec<_>>();
    if !small.is_empty() {
        let sum = small.iter().map(|account| Nanos(account.ns)).sum();
        rows.push(row(&format!("other ({} accounts)", small.len()), sum));
    }
    rows.push(row(&Account::Unexplained.name(), Nanos(ledger.unexplained)));
    rows.push(vec!["**in all**".into(), Share(1.0).to_string(), total.to_string()]);
    table(&["Account", "Share", "Time"], &rows).replace("\\*\\*in all\\*\\*", "**in all**")
}

fn trials(answer: &Answer) -> String {
    let Some(proof) = &answer.proof else { return String::new() };
    let left = not_tried(answer, proof).into_iter().map(ToString::to_string).collect::<Vec<_>>();
    let left = if left.is_empty() { String::new() } else { format!("\nNot tried:\n\n{}", list(&left)) };
    format!("{}\n{left}", escape(&capitalised(&told(proof))))
}

/// The command that was typed, as far as the case knows it, and where the case is.
fn repeated(answer: &Answer, manifest: &Manifest) -> String {
    let mut words = vec!["whyslow".to_string(), "run".into()];
    if !manifest.server.is_empty() {
        words.extend(["--server".into(), command(&manifest.server)]);
    }
    if !manifest.link.is_empty() {
        words.extend(["--link".into(), manifest.link.clone()]);
    }
    words.push("--".into());
    // What was watched while it ran has no command that started it.
    let was_run = !answer.command.is_empty() && answer.subject_exit.is_some();
    let run = if was_run { format!("{} {}\n", command(&words), command(&answer.command)) } else { String::new() };
    let again = command(&["whyslow".into(), "report".into(), answer.case.clone()]);
    let machine = machine(manifest);
    let on = if machine.is_empty() { machine } else { format!("\nRecorded on {machine}.\n") };
    typed(&format!("{run}{again}")) + &on
}
