//! The ledger of one run.

use super::Ledger;
use super::bar::{Bar, segment};
use super::entry::{Entry, entry, top};
use super::parts::{Part, parts};
use crate::document::Document;
use crate::text::{clean, count, counted};
use case::views::{AccountView, Views};
use case::{Account, Answer, Nanos};

/// The bar and the list; none where no time was booked.
pub(super) fn ledger(answer: &Answer, document: &Document) -> Option<Ledger> {
    let whole = Nanos(answer.ledger.total);
    if whole == Nanos(0) {
        return None;
    }
    let parts = parts(&answer.ledger);
    let views = document.sides.first().map(|side| &side.views);
    // A box has a least width: one for no time at all would claim some.
    let boxed = parts.iter().enumerate().filter(|(_, part)| part.time > Nanos(0));
    let segments = boxed.map(|(index, part)| {
        let (name, account) = named(part, answer);
        segment(index + 1, (&name, account.as_ref()), part.time, whole)
    });
    let entries = parts.iter().enumerate().map(|(index, part)| line(index + 1, part, whole, answer, views));
    Some(Ledger {
        intro: intro(answer),
        bars: vec![Bar {
            name: String::new(),
            total: format!("{whole} in total"),
            width: "100".into(),
            segments: segments.collect(),
        }],
        columns: vec!["share".into(), "time".into()],
        entries: entries.collect(),
    })
}

fn intro(answer: &Answer) -> String {
    let whole = Nanos(answer.ledger.total);
    match answer.exchanges {
        0 => {
            format!(
                "All {whole} of the run; each moment counts towards one account. Open an account to see what it means."
            )
        }
        _ => format!(
            "All {whole} of the run, with {}; each moment counts towards one account. Open an account to see what it means \
             and which requests have most of it.",
            counted(answer.exchanges, "request")
        ),
    }
}

fn line(number: usize, part: &Part, whole: Nanos, answer: &Answer, views: Option<&Views>) -> Entry {
    let figures = |time: Nanos| vec![time.share_of(whole).to_string(), time.to_string()];
    let account = views.and_then(|all| account(all, part.account.as_ref()?).map(|account| (account, all)));
    let (name, shown_as) = named(part, answer);
    let mut entry = entry(number, (&name, shown_as.as_ref()), figures(part.time));
    if let Some((account, views)) = account {
        entry.said = touched(account, answer);
        entry.top = top(account, views);
    }
    if !part.folded.is_empty() {
        entry.meaning = "Accounts of less than 1 % each, or too many to draw.".into();
    }
    let folded = part.folded.iter().map(|account| (clean(&account.name), figures(Nanos(account.ns))));
    entry.folded = folded.collect();
    entry
}

/// What a part is called and shown as.
fn named(part: &Part, answer: &Answer) -> (String, Option<Account>) {
    match &part.account {
        Some(account) if is_of_the_run(account, answer) => (account.name_of_run(), Some(account.of_run())),
        account => (part.name.clone(), account.clone()),
    }
}

/// Where no request was seen, there is nothing to be between.
pub(super) fn is_of_the_run(account: &Account, answer: &Answer) -> bool {
    account.is_outside() && answer.exchanges == 0
}

fn account<'a>(views: &'a Views, account: &Account) -> Option<&'a AccountView> {
    views.accounts.iter().find(|one| one.account == *account)
}

/// How many requests have any of an account, and how much each of these has.
fn touched(account: &AccountView, answer: &Answer) -> String {
    let Some(mean) = account.ns.checked_div(account.exchanges) else { return String::new() };
    let (some, all) = (count(account.exchanges), counted(answer.exchanges, "request"));
    format!("{some} of {all} have it, {} each on average.", Nanos(mean))
}
