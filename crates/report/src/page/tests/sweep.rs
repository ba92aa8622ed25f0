//! Tests of the curve's section.

use crate::block::Section;
use crate::document::Body;
use crate::examples::sweep as examples;
use crate::examples::views::{HOSTILE, answer, assert_harmless, document};
use crate::page::page;
use crate::page::section;
use case::{Point, Sweep};

fn drawn(sweep: &Sweep) -> String {
    section(&document(Body::Sweep(sweep), Vec::new()), Section::Sweep)
}

#[test]
fn a_cliff_has_its_label_in_the_picture_and_its_reason_once_on_the_page() {
    let sweep = examples::cliff();
    let html = drawn(&sweep);
    let label = cliff_text(&sweep);
    let picture = html.split("<svg").nth(1).expect("a picture");
    assert!(picture.contains(&label) && picture.contains(r#"class="cliff""#), "{label} {picture}");
    assert!(html.contains("Both axes are logarithmic."), "{html}");
    let page = page(&document(Body::Sweep(&sweep), Vec::new()));
    assert_eq!(page.matches("segments of this connection").count(), 1);
    assert!(html.contains("cliff before it") && html.contains("2 of 14 trials exited"), "{html}");
    assert_harmless(&html);
}

fn cliff_text(sweep: &Sweep) -> String {
    let cliff = &sweep.cliffs[0];
    let (below, above) = crate::figure::pair(&sweep.metric, cliff.level_below, cliff.level_above);
    format!("{} | {}: {below} to {above}", cliff.below, cliff.above)
}

#[test]
fn stretches_are_named_by_what_was_found_in_them() {
    let html = drawn(&examples::cliff());
    assert!(html.contains("1: nagle-delayed-ack") && html.contains("2: no cause found"), "{html}");
    assert!(html.contains("nagle-delayed-ack ends."), "{html}");
}

#[test]
fn a_power_law_is_a_line_with_its_exponent_and_what_grows_is_a_table() {
    let html = drawn(&examples::growth());
    assert!(html.contains(r#"class="fit""#) && html.contains(r#"class="fit-area""#), "{html}");
    assert!(html.contains("items to the power of 1.97 (95 % interval 1.90 to 2.05)"), "{html}");
    assert!(html.contains("__rawmemchr_avx2") && html.contains("What grows"), "{html}");
    assert_harmless(&html);
}

#[test]
fn a_knee_is_marked() {
    let html = drawn(&examples::knee());
    assert!(html.contains(r#"class="knee""#) && html.contains("bends at 8 (7.10 to 9.20)"), "{html}");
}

#[test]
fn values_that_failed_are_marked_and_listed() {
    let mut sweep = examples::growth();
    sweep.points[6] =
        Point { problem: "it ran out of memory".into(), measured: 0.0, trials: 0, ..sweep.points[6].clone() };
    let html = drawn(&sweep);
    assert!(html.contains(r#"class="failed""#) && html.contains("Cross: no sound trial."), "{html}");
    assert!(html.contains("it ran out of memory"), "{html}");
}

#[test]
fn names_are_bars_and_nothing_sound_is_a_sentence() {
    let html = drawn(&examples::categories());
    assert!(!html.contains("class=\"curve") && html.contains("roundrobin") && html.contains("<rect"), "{html}");
    let failed = drawn(&examples::failed());
    assert!(failed.contains("No value had a sound trial") && !failed.contains("class=\"curve"), "{failed}");
    for html in [html, failed, drawn(&Sweep::default()), drawn(&examples::level())] {
        assert_harmless(&html);
    }
}

#[test]
fn hostile_strings_and_numbers_that_are_none_do_no_harm() {
    let mut sweep = examples::cliff();
    let text = || HOSTILE.to_string();
    (sweep.parameter, sweep.points[0].problem, sweep.points[1].label) = (text(), text(), text());
    (sweep.cliffs[0].reason, sweep.regimes[0].summary, sweep.regimes[0].case) = (text(), text(), text());
    sweep.regimes[0].findings[0].name = text();
    sweep.regimes[0].findings[0].title = text();
    sweep.points[5].low = f64::NAN;
    sweep.points[6].value = f64::INFINITY;
    sweep.points[7].measured = f64::NAN;
    assert_harmless(&drawn(&sweep));
    sweep.points[1].label = "2".into();
    assert_harmless(&drawn(&sweep));
}

#[test]
fn a_run_has_no_curve() {
    let answer = answer();
    assert_eq!(section(&document(Body::Answer(&answer), Vec::new()), Section::Sweep), "");
}
