use crate::block::Section;
use crate::document::Body;
use crate::examples::bisection as examples;
use crate::examples::views::{answer, assert_harmless, document};
use crate::hostile::hostile;
use crate::page::page;
use crate::page::section;
use case::Bisection;

fn drawn(bisection: &Bisection) -> String {
    section(&document(Body::Bisection(bisection), Vec::new()), Section::Bisection)
}

fn whole(bisection: &Bisection) -> String {
    page(&document(Body::Bisection(bisection), Vec::new()))
}

#[test]
fn every_probe_is_a_dot_with_its_interval_but_those_that_could_not_run() {
    let html = drawn(&examples::bundle());
    assert_eq!(html.matches("<circle ").count(), 7, "{html}");
    assert_eq!(html.matches("class=\"whisker\"").count(), 7);
    assert_eq!(html.matches("class=\"probe-name\"").count(), 8);
    assert!(html.contains("bad: 27.1 ms") && html.contains("good: 5.20 ms"), "{html}");
    assert!(html.contains("undefined symbol"), "{html}");
}

#[test]
fn stairs_are_drawn_with_a_dot_for_each_commit_that_was_run() {
    let html = drawn(&examples::stairs());
    let figure = html.split("<figure class=\"stairs\">").nth(1).and_then(|rest| rest.split("</figure>").next());
    let figure = figure.unwrap_or_else(|| panic!("no stairs in {html}"));
    assert_eq!((figure.matches("<circle ").count(), figure.matches('V').count()), (2, 3), "{figure}");
    assert!(!drawn(&examples::bundle()).contains("class=\"stairs\""));
}

#[test]
fn the_tree_leads_from_all_to_what_was_found_and_marks_what_cannot_be_tried() {
    let html = drawn(&examples::bundle());
    let tree = html.split("search-tree").nth(1).and_then(|rest| rest.split("</ul>").next()).expect("a tree");
    let places = ["16 things", "class=\"found\" style=\"--depth:1\"", "2 things", "not testable alone"];
    let places = places.map(|part| tree.find(part).unwrap_or_else(|| panic!("{part} in {tree}")));
    assert!(places.is_sorted(), "{tree}");
    assert!(tree.contains("<b>glibc</b>"), "{tree}");
}

#[test]
fn what_nothing_speaks_for_is_folded_away() {
    let html = drawn(&examples::bundle());
    let table = html.split("<table class=\"factors\">").nth(1).and_then(|rest| rest.split("</table>").next());
    let table = table.expect("a table");
    let named = ["openssl", "curl", "openldap", "glibc"].map(|name| format!("<th scope=\"row\">{name}"));
    assert!(named.iter().all(|name| table.contains(name)) && !table.contains(">krb5"), "{table}");
    assert!(html.contains("<summary>12 more</summary>"), "{html}");
}

#[test]
fn what_was_proved_has_the_first_card() {
    let mut one = examples::bundle();
    let mut suspected = one.cures[0].clone();
    (suspected.status, suspected.effect, suspected.name) = (case::Status::Suspected, None, "churn".into());
    one.cures.insert(0, suspected);
    let html = whole(&one);
    let cards = html.split("id=\"finding-1\"").nth(1).expect("a card");
    let first = cards.split("id=\"finding-2\"").next().expect("one");
    assert!(first.contains("context-per-request") && !first.contains("churn"), "{first}");
}

#[test]
fn the_page_has_its_headline_the_cures_and_the_command_to_copy() {
    let html = whole(&examples::bundle());
    assert_eq!(html.matches("<h1").count(), 1);
    assert!(html.contains("<h1>Confirmed: openssl (1.1.1w-0+deb11u1 → 3.0.20-1~deb12u1)</h1>"), "{html}");
    assert!(html.contains("<code class=\"copyable\">apt-get install --allow-downgrades libcurl4=7.74"), "{html}");
    assert!(html.contains("id=\"finding-1\"") && html.contains("parse-ca-once"), "{html}");
    assert!(html.contains("whyslow bisect --good debian:bullseye --bad debian:bookworm --server "), "{html}");
    assert!(!html.contains("href=\"#proof\"") && !html.contains("href=\"#evidence-"), "a link that leads nowhere");
}

#[test]
fn whatever_came_of_it_has_a_page() {
    let heads = [
        (examples::no_effect(), "The worlds do not differ"),
        (examples::not_separable(), "No single change makes the difference"),
        (examples::undecided(), "Undecided: the cause was not pinned down"),
        (examples::together(), "together</h1>"),
        (Bisection::default(), "Undecided: the cause was not pinned down"),
    ];
    for (one, head) in heads {
        let html = whole(&one);
        let headline = html.split("<h1>").nth(1).and_then(|rest| rest.split_inclusive("</h1>").next()).expect("one");
        assert!(headline.contains(head), "{headline}");
        assert!(!html.contains("NaN") && !html.contains("inf\""), "{html}");
    }
}

#[test]
fn hostile_strings_and_numbers_that_are_none_do_no_harm() {
    let mut one = hostile(&examples::bundle());
    for probe in &mut one.probes {
        (probe.place, probe.low, probe.high) = (Some(f64::NAN), Some(f64::NEG_INFINITY), Some(f64::INFINITY));
    }
    one.factors[0].suspicion = f64::NAN;
    one.baseline[0].a = 0.0;
    assert_harmless(&drawn(&one));
    for one in examples::every() {
        let html = whole(&hostile(&one));
        assert!(!html.contains("<script>alert") && !html.contains("<img") && !html.contains("\"'><"), "{html}");
    }
}

#[test]
fn a_run_was_not_bisected() {
    let answer = answer();
    assert_eq!(section(&document(Body::Answer(&answer), Vec::new()), Section::Bisection), "");
}
