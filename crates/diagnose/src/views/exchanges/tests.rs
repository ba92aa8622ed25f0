//! Accounts of exchanges: they add up, they join the answer's ledger, and the worst is always there.

use crate::Analysis;
use crate::fixture::{CLIENT, Fixture, MS, US, WRITE, keep_alive};
use crate::tests::answer;
use crate::views::draw;
use case::Recording;
use case::tables::{HttpMessage, direction};
use case::views::Views;
use std::collections::BTreeSet;

fn views_of(recording: &Recording) -> Views {
    draw(&Analysis::new(recording), &answer(recording))
}

/// Requests of which each waits for a file of its own, the last one very long.
fn many_files(requests: u32) -> Fixture {
    let mut fixture = keep_alive(1, 300 * US);
    for number in 1..=requests {
        fixture.path(number, &format!("/data/{number}"));
        fixture.moves(CLIENT, 1, WRITE, 200);
        let length = if number == requests { 90 * MS } else { 20 * US };
        fixture.waits(CLIENT, length, 74, |call| call.path = number);
        fixture.waits_for(CLIENT, 1, 100 * US, 100);
        fixture.now += 20 * US;
    }
    fixture
}

#[test]
fn every_ledger_adds_up_and_so_does_the_whole() {
    let all = views_of(&many_files(300).end());
    for exchange in &all.exchanges {
        let sum: u64 = exchange.accounts.iter().map(|account| account.ns).sum();
        assert_eq!(sum, exchange.length_ns, "{exchange:?}");
        assert!(exchange.accounts.is_sorted_by_key(|account| std::cmp::Reverse(account.ns)));
    }
    assert_eq!(all.accounts.iter().map(|account| account.ns).sum::<u64>(), all.lengths.total_ns);
}

#[test]
fn the_names_are_those_of_the_answers_ledger() {
    let recording = many_files(300).end();
    let answer = answer(&recording);
    let all = draw(&Analysis::new(&recording), &answer);
    let names: BTreeSet<&str> = answer.ledger.accounts.iter().map(|account| account.name.as_str()).collect();
    // A file that takes a thousandth of the run keeps its name, one of hundreds of short waits does not.
    assert!(names.contains("blocked in fsync (/data/300)") && names.contains("blocked in fsync"), "{names:?}");
    let accounts = all.accounts.iter().map(|account| &account.name);
    for name in accounts.chain(all.exchanges.iter().flat_map(|one| &one.accounts).map(|account| &account.name)) {
        assert!(names.contains(name.as_str()), "{name} is not in {names:?}");
    }
}

#[test]
fn the_top_of_each_account_and_the_worst_can_be_looked_up() {
    let all = views_of(&many_files(300).end());
    let shown: BTreeSet<u64> = all.exchanges.iter().map(|exchange| exchange.number).collect();
    for account in &all.accounts {
        assert!(account.top.len() <= 10 && account.top.is_sorted_by_key(|one| std::cmp::Reverse(one.ns)));
        assert!(account.top.iter().all(|one| shown.contains(&one.number)), "{account:?}");
    }
    assert!(all.lengths.worst.iter().take(50).all(|one| shown.contains(&one.number)));
    assert!(shown.contains(&301), "the longest one");
    assert!(all.ladders.iter().all(|ladder| shown.contains(&ladder.number)));
    assert!(all.exchanges.is_sorted_by_key(|exchange| exchange.number) && all.exchanges.len() < 200);
}

#[test]
fn a_request_in_plain_text_says_what_it_was_about() {
    let mut recording = keep_alive(3, 300 * US).end();
    let calls: Vec<u64> = recording.calls.iter().filter(|row| row.connection == 1).map(|row| row.start.0).collect();
    // Of the client's calls the first connects; then each writes a request and reads its response.
    for (time, direction, method, status) in [(calls[3], direction::OUT, "POST", 0), (calls[4], direction::IN, "", 503)]
    {
        let (time, method) = (case::Nanos(time), method.to_string());
        let target = if status == 0 { "/orders".to_string() } else { String::new() };
        let row = HttpMessage { time, connection: 1, direction, method, target, status, ..HttpMessage::default() };
        recording.http_messages.push(row);
    }
    let about: Vec<String> = views_of(&recording).exchanges.into_iter().map(|exchange| exchange.about).collect();
    assert_eq!(about, ["", "POST /orders, 503", ""]);
}

#[test]
fn without_exchanges_nothing_is_shown() {
    let all = views_of(&Recording::default());
    assert_eq!((all.accounts.len(), all.exchanges.len(), all.ladders.len()), (0, 0, 0));
}
