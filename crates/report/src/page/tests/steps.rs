//! Series on the page.

use crate::document::{Body, Document};
use crate::examples::steps as examples;
use crate::examples::views::assert_harmless;
use crate::hostile::hostile;
use crate::page::page;

fn of(body: Body) -> String {
    page(&Document::of(body))
}

#[test]
fn no_string_of_a_series_comes_through_as_markup() {
    assert_harmless(&of(Body::from(&hostile(&examples::bucket()))));
}

#[test]
fn the_series_is_drawn_with_its_levels_and_steps() {
    let page = of(Body::from(&examples::fell()));
    assert!(page.contains("<h1>1 step between 2 levels</h1>"));
    assert!(
        page.contains("class=\"level\"") && page.contains("class=\"onset\"") && page.contains("class=\"interval\"")
    );
    let page = of(Body::from(&examples::level()));
    assert!(page.contains("<h1>One level, no step</h1>") && !page.contains("class=\"onset\""));
    assert!(of(Body::from(&examples::bucket())).contains("<h1>A token bucket limits the rate</h1>"));
}
