use super::*;
use crate::document::{Body, Document, SideViews};
use crate::examples::answer as examples;
use crate::examples::comparison as compared;
use case::Answer;
use case::views::{AccountView, ExchangeView, Ladder, TopExchange, Views};

/// The section of a run whose largest account has one dear request.
fn drawn(answer: &Answer) -> String {
    let first = answer.ledger.accounts[0].clone();
    let top = vec![TopExchange { number: 17, ns: 40_000_000 }];
    let account =
        AccountView { account: first.account.clone(), name: first.name.clone(), ns: first.ns, exchanges: 249, top };
    let views = Views {
        accounts: vec![account],
        exchanges: vec![ExchangeView {
            number: 17,
            at: 1_500_000_000,
            length_ns: 50_000_000,
            accounts: vec![case::AccountTime { ns: 50_000_000, ..first }],
            ..ExchangeView::default()
        }],
        ladders: vec![Ladder { number: 17, ..Ladder::default() }],
        ..Views::default()
    };
    let sides = vec![SideViews { name: String::new(), views }];
    html(&Document { body: Body::Answer(answer), sides, differences: Vec::new(), arms: Vec::new(), manifest: None })
}

/// What the boxes of the bars are wide, in percent.
fn widths(html: &str) -> Vec<f64> {
    let bars = html.split("<div class=\"accounts\"").next().unwrap_or_default();
    let widths = bars.split("flex-grow:").skip(1).map(|rest| rest.split('"').next().unwrap_or_default());
    widths.map(|width| width.parse().expect("a number")).collect()
}

#[test]
fn the_parts_add_up_to_the_whole_and_what_is_unexplained_is_one() {
    let html = drawn(&examples::slow());
    let sum = widths(&html).iter().sum::<f64>();
    assert!((sum - 100.0).abs() < 0.01, "{sum}");
    assert!(html.contains("class=\"segment unexplained\""), "{html}");
}

/// What the shares of a column add up to, in percent, and how many rows there are of unexplained time.
fn added_up(table: &str) -> (f64, usize) {
    let rows =
        table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| total") && line.contains('%'));
    let share = |row: &str| row.split('|').nth(2).and_then(|cell| cell.trim().strip_suffix(" %")?.parse::<f64>().ok());
    let rows: Vec<&str> = rows.collect();
    let unexplained = rows.iter().filter(|row| row.contains("unexplained")).count();
    (rows.iter().map(|row| share(row).expect("a share")).sum(), unexplained)
}

#[test]
fn unexplained_time_counts_once_in_every_form() {
    let answer = examples::slow();
    let account = case::Account::Unexplained;
    assert!(answer.ledger.accounts.iter().any(|one| one.account == account), "as diagnosis books it");
    assert_eq!(answer.ledger.accounts.iter().map(|one| one.ns).sum::<u64>(), answer.ledger.total);
    let document = Document {
        body: Body::Answer(&answer),
        sides: Vec::new(),
        differences: Vec::new(),
        arms: Vec::new(),
        manifest: None,
    };
    let (sum, rows) = added_up(&BLOCK.markdown(&document));
    assert!((sum - 100.0).abs() < 0.5 && rows == 1, "{sum} % and {rows} rows");
    let text = BLOCK.text(&document, crate::style::Style::default());
    assert_eq!(text.matches("unexplained").count(), 1, "{text}");
    assert_eq!(drawn(&answer).matches("class=\"segment unexplained\"").count(), 1);
}

#[test]
fn each_part_leads_to_its_account_and_that_to_its_requests() {
    let html = drawn(&examples::slow());
    assert!(html.contains("<a class=\"segment other\" href=\"#account-1\""), "{html}");
    assert!(html.contains("<details class=\"account\" id=\"account-1\">"), "{html}");
    assert!(html.contains("249 of 250 requests have it, 41.2 ms each on average."), "{html}");
    assert!(
        html.contains("<a href=\"#ladder-17\">no. 17, step by step</a>") && html.contains("40.0 ms (80 %)"),
        "{html}"
    );
}

#[test]
fn small_accounts_are_one_part_and_listed_in_it() {
    let html = drawn(&examples::slow());
    assert!(html.contains("2 small accounts") && html.contains("<td>network</td>"), "{html}");
}

#[test]
fn both_sides_of_a_comparison_are_on_one_scale() {
    let comparison = compared::slower();
    let document = Document {
        body: Body::Comparison(&comparison),
        sides: Vec::new(),
        differences: Vec::new(),
        arms: Vec::new(),
        manifest: None,
    };
    let html = html(&document);
    assert!(html.contains("style=\"width:100.000%\"") && html.contains("B spends "), "{html}");
    let sum = widths(&html).iter().sum::<f64>();
    assert!((sum - 200.0).abs() < 0.02, "{sum}");
}

#[test]
fn without_a_ledger_there_is_no_section() {
    let mut answer = examples::slow();
    answer.ledger = case::Ledger::default();
    let document = Document {
        body: Body::Answer(&answer),
        sides: Vec::new(),
        differences: Vec::new(),
        arms: Vec::new(),
        manifest: None,
    };
    assert_eq!(html(&document), "");
}
