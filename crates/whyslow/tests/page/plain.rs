//! The page without scripts, and its size.

use super::browser::{Browser, View, WIDE};
use super::subject::{nagle, story};

#[test]
fn without_scripts_the_page_says_all_it_has_found() {
    let (Some(subject), Some(mut browser)) = (nagle(), Browser::start()) else { return };
    browser.open(&subject.page, View { scripts: false, ..WIDE });
    // What is evaluated through the debugger runs although the page's own scripts do not.
    let text = browser.text("document.body.innerText");
    let findings =
        ["Confirmed", "nagle-delayed-ack", "tcp-nodelay", "held by Nagle until the peer acknowledges", "TCP_NODELAY"];
    for word in findings {
        assert!(text.contains(word), "{word} is missing without scripts");
    }
    // The evidence may be folded, and is there: a closed element still has its text.
    let evidence = browser.text("document.querySelector('#evidence').textContent");
    assert!(evidence.contains("write") || evidence.contains("send"), "{evidence}");
    let drawings = browser.evaluate(
        "['#ledger a.segment', '#ladder svg', '#lengths svg.ecdf', '#proof svg', '#flame table', '#environment'] \
         .filter(one => !document.querySelector(one))",
    );
    assert_eq!(drawings, serde_json::json!([]), "not there without scripts");
}

#[test]
fn ten_thousand_requests_are_a_page_of_less_than_two_megabytes_with_the_worst_on_it() {
    expect_a_small_page(10_000);
}

#[test]
#[ignore = "long: make stories"]
fn a_hundred_thousand_requests_are_a_page_of_less_than_two_megabytes_with_the_worst_on_it() {
    expect_a_small_page(100_000);
}

fn expect_a_small_page(requests: u64) {
    let words = ["fixed", "--no-prove", "--events", "40000000"];
    let Some(subject) = story("nagle", &words, &[("REQUESTS", &requests.to_string())]) else { return };
    let bytes = std::fs::metadata(&subject.page).expect("the page").len();
    assert!(bytes < 2_000_000, "{bytes} bytes");
    let case = case::Case::open(&subject.case).expect("the case");
    let recording = case::Recording::load(&case).expect("the recording");
    let analysis = diagnose::Analysis::new(&recording);
    let answer = analysis.answer("", diagnose::Options::default());
    assert!(answer.exchanges >= requests * 99 / 100, "{} exchanges", answer.exchanges);
    let views = analysis.views(&answer);
    let worst = views.lengths.worst.first().expect("a longest exchange");
    let page = std::fs::read_to_string(&subject.page).expect("the page");
    assert!(page.contains(&format!("id=\"ladder-{}\"", worst.number)), "no ladder of the longest, {}", worst.number);
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&subject.page, WIDE);
    assert_eq!(browser.problems(), Vec::<String>::new());
}
