//! Services over time on the page.

use crate::document::{Body, Document};
use crate::examples::views::assert_harmless;
use crate::examples::watched as examples;
use crate::hostile::{HOSTILE, hostile};
use crate::page::page;
use case::{Deviation, Watched};

fn of(body: Body) -> String {
    page(&Document::of(body))
}

#[test]
fn no_string_of_a_history_comes_through_as_markup() {
    let plain = examples::changed();
    // The words of the contract in these stay as they are.
    let poisoned = |one: &Deviation| Deviation { service: HOSTILE.into(), ..one.clone() };
    let deviations = plain.deviations.iter().map(poisoned).collect();
    let watched = Watched { deviations, ..hostile(&Watched { deviations: Vec::new(), ..plain }) };
    assert_harmless(&of(Body::from(&watched)));
}

#[test]
fn the_headline_names_the_service_and_the_chart_shows_when_it_changed() {
    let page = of(Body::from(&examples::changed()));
    assert!(page.contains("<h1>gopher is out of line</h1>"));
    assert!(page.contains("class=\"onset\"") && page.contains("Dashed line: where it changed"));
    let page = of(Body::from(&examples::level()));
    assert!(page.contains("<h1>No service is out of line</h1>") && !page.contains("class=\"onset\""));
}
