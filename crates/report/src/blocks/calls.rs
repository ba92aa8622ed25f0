//! system calls by kind, with how many of each a request makes.

use crate::block::{Block, Section};
use crate::document::{Document, SideViews};
use crate::figure::three;
use crate::sheet::{Cell, Column, Sheet};
use crate::text::{clean, count, counted};
use askama::Template;
use case::views::{CallView, Caller};

pub(crate) const BLOCK: Block = Block::drawn(Section::Calls, html);

#[derive(Template)]
#[template(path = "blocks/calls.html")]
struct Calls {
    sides: Vec<SideCalls>,
}

/// The calls of one recording.
struct SideCalls {
    name: String,
    sentence: String,
    sheet: String,
}

/// The section's HTML; nothing where no calls were recorded.
fn html(document: &Document) -> String {
    let sides = document.sides.iter().filter(|side| !side.views.calls.is_empty()).map(side).collect::<Vec<_>>();
    if sides.is_empty() { String::new() } else { Calls { sides }.render().unwrap_or_default() }
}

fn side(side: &SideViews) -> SideCalls {
    let calls = &side.views.calls;
    SideCalls { name: clean(&side.name), sentence: sentence(calls), sheet: sheet(calls).html() }
}

/// How many calls each program makes a request, those who make most first.
fn sentence(calls: &[CallView]) -> String {
    let mut sums: Vec<(String, u64, f64)> = Vec::new();
    for call in calls {
        let who = match &call.who {
            None => "another program".to_string(),
            Some(Caller::End(end)) => format!("the {end}"),
            Some(Caller::Program(name)) => clean(name),
        };
        let per = if call.per_exchange.is_finite() { call.per_exchange } else { 0.0 };
        match sums.iter_mut().find(|(name, ..)| *name == who) {
            Some((_, calls, each)) => {
                *calls += call.count;
                *each += per;
            }
            None => sums.push((who, call.count, per)),
        }
    }
    sums.sort_by_key(|(_, calls, _)| std::cmp::Reverse(*calls));
    let clauses = sums.iter().map(|(who, calls, each)| {
        let each = if *each > 0.0 {
            format!("{} calls per request, {} in all", short(*each), count(*calls))
        } else {
            counted(*calls, "call")
        };
        format!("{who} makes {each}")
    });
    let text = clauses.collect::<Vec<_>>().join("; ") + ".";
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A number without zeros that say nothing: `9.2`.
fn short(number: f64) -> String {
    let text = three(number);
    let is_bare = text.contains('.') && !text.contains('e');
    if is_bare { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// Who makes a call, as a table names it.
fn who(call: &CallView) -> String {
    match &call.who {
        None => String::new(),
        Some(Caller::End(end)) => end.to_string(),
        Some(Caller::Program(name)) => name.clone(),
    }
}

fn sheet(calls: &[CallView]) -> Sheet {
    let columns = vec![
        Column::words("Call"),
        Column::words("About").meaning("The kind of file or socket, or its path, where that is known"),
        Column::words("Who"),
        Column::figures("Per request").meaning("How many for each request, on average"),
        Column::figures("Calls").meaning("How many in all"),
        Column::figures("Time in them").meaning("From entering the call to leaving it, all of them together"),
        Column::figures("Blocked").meaning("The part of that time in which the thread waited"),
        Column::figures("Bytes").meaning("Bytes that the calls moved"),
        Column::figures("Failed").meaning("Calls that returned an error"),
    ];
    let rows = calls.iter().map(|call| {
        vec![
            Cell::words(&call.call),
            Cell::words(&call.about),
            Cell::words(&who(call)),
            Cell::number(call.per_exchange),
            Cell::count(call.count),
            Cell::time(call.total_ns),
            Cell::time(call.blocked_ns),
            Cell::bytes(call.bytes),
            Cell::count(call.failed),
        ]
    });
    Sheet { of: "kinds of calls", columns, rows: rows.collect() }.without_empty_columns()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Body;
    use crate::examples::views::{answer, assert_harmless, document, hostile, views};
    use case::views::Views;

    #[test]
    fn a_request_is_said_to_make_so_many_calls() {
        let answer = answer();
        let html = html(&document(Body::Answer(&answer), vec![("", views())]));
        assert!(html.contains("The client makes 9.2 calls per request, 920 in all."), "{html}");
        assert!(html.contains("tcp socket") && !html.contains("Failed"), "{html}");
    }

    #[test]
    fn what_is_hostile_is_escaped_and_nothing_is_no_section() {
        let answer = answer();
        assert_harmless(&html(&document(Body::Answer(&answer), vec![("", hostile())])));
        assert_eq!(html(&document(Body::Answer(&answer), vec![("", Views::default())])), "");
    }

    #[test]
    fn without_requests_calls_are_counted_in_all() {
        let mut views = views();
        views.calls.iter_mut().for_each(|call| call.per_exchange = f64::NAN);
        let answer = answer();
        let html = html(&document(Body::Answer(&answer), vec![("", views)]));
        assert!(html.contains("The client makes 920 calls.") && !html.contains("NaN"), "{html}");
    }
}
