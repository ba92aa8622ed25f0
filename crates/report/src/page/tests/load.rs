//! Loads on the page.

use crate::document::{Body, Document};
use crate::examples::load as examples;
use crate::examples::views::assert_harmless;
use crate::page::page;
use case::Load;

fn of(load: &Load) -> String {
    page(&Document::of(Body::from(load)))
}

#[test]
fn no_string_of_a_load_comes_through_as_markup() {
    let word = "<script>alert(1)</script>\"'&\u{1b}[31m".to_string();
    let hostile = Load { urls: vec![word.clone()], tls_version: word.clone(), ..examples::stalled() };
    assert_harmless(&of(&hostile));
    assert_harmless(&of(&Load { merged: vec![word], ..examples::merged() }));
}

#[test]
fn the_page_shows_the_course_both_ways_of_counting_and_what_failed() {
    let page = of(&examples::stalled());
    assert!(page.contains("<h1>500 answers a second, 99 % of requests within 880 ms</h1>"), "{page}");
    for class in ["answered", "failed", "p50", "p99", "longest"] {
        assert!(page.contains(&format!("<path class=\"{class}\"")), "{class}");
    }
    assert_eq!(page.matches("<svg class=\"load-chart").count(), 6);
    assert!(page.contains("connection reset"));
}

#[test]
fn without_an_answer_nothing_is_said_or_drawn_of_times() {
    let page = of(&examples::refused());
    assert!(page.contains("<h1>No request was answered</h1>") && page.contains("connection refused"));
    assert!(!page.contains("load-chart wide") && !page.contains("whole request"));
}
