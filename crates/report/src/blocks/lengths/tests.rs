//! Tests of the lengths' section.

use super::*;
use crate::document::Body;
use crate::examples::views::{HOSTILE, answer, assert_harmless, document, lengths, views};
use case::views::Views;
use case::views::{Bin, Moment};

fn drawn(sides: Vec<(&str, Views)>) -> String {
    let answer = answer();
    html(&document(Body::Answer(&answer), sides))
}

fn of(milliseconds: &[f64]) -> Views {
    Views { lengths: lengths(milliseconds), ..Views::default() }
}

#[test]
fn the_sentence_has_the_percentiles_and_counts_what_took_far_longer() {
    let html = drawn(vec![("", views())]);
    assert!(html.contains("Of 100 requests, half took at most 43.8 ms, 95 % at most 44.1 ms"), "{html}");
    assert!(html.contains("the longest took 1.21 s (number 74,"), "{html}");
    assert!(html.contains("2 of 100 took more than ten times the median."), "{html}");
    assert!(!drawn(vec![("", of(&[1.0, 2.0, 3.0]))]).contains("ten times"));
}

#[test]
fn the_longest_has_its_mark_in_every_picture() {
    let html = drawn(vec![("", views())]);
    assert_eq!(html.matches(r#"class="dot longest"#).count(), 2, "one for each size: {html}");
    assert!(html.contains("longest: 1.21 s") && html.contains(">longest 1.21 s<"), "{html}");
    assert!(html.contains(r#"class="worst""#) && html.contains("longest-mark"), "{html}");
    assert!(html.contains("1210000000"), "it is among the numbers that the script draws: {html}");
}

#[test]
fn one_request_among_a_hundred_thousand_has_a_bar() {
    let mut views = views();
    let bin = |from_ns: u64, count: u64| Bin { from_ns, to_ns: from_ns * 2, count };
    views.lengths.histogram = vec![bin(40_000_000, 100_000), bin(600_000_000, 0), bin(1_200_000_000, 1)];
    let html = drawn(vec![("", views)]);
    assert!(html.contains(r#"height="2.5"><title>1.20 s to 2.40 s: 1 request<"#), "{html}");
    assert!(!html.contains(": 0 requests"), "{html}");
}

#[test]
fn equal_and_few_lengths_are_drawn_with_sound_numbers() {
    for milliseconds in [vec![43.8; 2], vec![43.8; 100], vec![0.0, 1.0], vec![43.8, 43.9]] {
        let html = drawn(vec![("", of(&milliseconds))]);
        assert!(html.contains("ecdf"), "{html}");
        assert_harmless(&html);
    }
    assert!(drawn(vec![("", of(&[43.8]))]).contains("The only request took 43.8 ms."));
    assert!(!drawn(vec![("", of(&[1.0, 2.0]))]).contains("95 % at most"));
}

#[test]
fn two_sides_share_a_picture_in_which_their_lines_differ() {
    let html = drawn(vec![("A", views()), ("B", of(&[0.2, 0.21, 0.22]))]);
    assert!(html.contains(r#"class="line side-0""#) && html.contains(r#"class="line side-1""#), "{html}");
    assert!(html.contains("<th scope=\"row\">B</th>") && html.contains("Over time: B"), "{html}");
    assert!(html.contains("lengths-over-time-1"), "{html}");
}

#[test]
fn lengths_far_apart_have_a_logarithmic_axis_over_time() {
    let flag = |milliseconds: &[f64]| drawn(vec![("", of(milliseconds))]).contains(r#""logarithmic":true"#);
    assert!(flag(&[1.0, 31.0]) && !flag(&[1.0, 29.0]));
}

#[test]
fn a_stretch_shows_its_median_and_its_longest() {
    let mut views = views();
    let moment = |at: u64| Moment { at, count: 9, median_ns: 1_000, p95_ns: 2_000, most_ns: 3_000 };
    views.lengths.over_time = vec![moment(0), moment(1_000)];
    let html = drawn(vec![("", views)]);
    assert!(html.contains(r#""single":false"#) && html.contains("In each stretch of time"), "{html}");
}

#[test]
fn nothing_is_no_section_and_names_are_escaped() {
    assert_eq!(drawn(vec![("", Views::default())]), "");
    assert_harmless(&drawn(vec![(HOSTILE, views()), ("B", views())]));
}

#[test]
fn one_request_alone_has_no_picture() {
    let html = drawn(vec![("A", of(&[16.9])), ("B", of(&[2.86]))]);
    assert!(html.contains("The only request took 2.86 ms.") && !html.contains("<svg"), "{html}");
    assert!(drawn(vec![("A", of(&[16.9])), ("B", of(&[2.86, 2.9]))]).contains("ecdf"));
}
