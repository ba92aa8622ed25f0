//! Access logs on the page.

use crate::document::{Body, Document};
use crate::examples::traffic as examples;
use crate::examples::views::assert_harmless;
use crate::hostile::hostile;
use crate::page::page;

fn of(body: Body) -> String {
    page(&Document::of(body))
}

#[test]
fn no_string_of_a_log_comes_through_as_markup() {
    assert_harmless(&of(Body::from(&hostile(&examples::crawled()))));
}

#[test]
fn the_headline_names_the_crawler_and_the_chart_shows_when_it_came() {
    let page = of(Body::from(&examples::crawled()));
    assert!(page.contains("<h1>ExampleBot: 67 % of all requests</h1>"));
    assert!(page.contains("class=\"onset\"") && page.contains("class=\"first\""));
    let page = of(Body::from(&examples::visited()));
    assert!(page.contains("<h1>Nobody to turn away</h1>") && !page.contains("class=\"onset\""));
}
