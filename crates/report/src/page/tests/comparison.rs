//! Tests of the section of A against B.

use crate::block::Section;
use crate::document::Body;
use crate::examples::comparison as examples;
use crate::examples::views::{HOSTILE, answer, assert_harmless, document};
use crate::page::page;
use crate::page::section;
use case::Comparison;

fn drawn(comparison: &Comparison) -> String {
    section(&document(Body::Comparison(comparison), Vec::new()), Section::Compared)
}

#[test]
fn a_ratio_has_its_dot_on_the_side_where_it_belongs() {
    let html = drawn(&examples::slower());
    let row = html.split("<tr class=\"more\">").nth(1).expect("a row");
    let dot = row.split("class=\"middle\" d=\"M").nth(1).and_then(|rest| rest.split(' ').next()).expect("a dot");
    assert!(dot.parse::<f64>().expect("a number") > 150.0, "{row}");
    assert!(html.contains("5.22") && html.contains("5.00 to 5.41"), "{html}");
    assert!(html.contains("<tr class=\"alike\">") && html.contains("<tr class=\"open\">"), "{html}");
}

#[test]
fn differences_have_bars_both_ways() {
    let html = drawn(&examples::slower());
    assert!(html.contains(r#"class="more" x="100.0""#) && html.contains(r#"class="less" x="9"#), "{html}");
    assert!(html.contains("X509_load_cert_crl_file_ex (libcrypto.so.3)") && html.contains("+21.9 ms"), "{html}");
    assert!(html.contains("/etc/ssl/certs/all.pem"), "{html}");
}

#[test]
fn what_lies_within_noise_is_folded_away() {
    let html = drawn(&examples::same());
    let folded = html.split_once("<details>").expect("folded").1;
    assert!(html.contains("may be chance") && folded.contains("CPU time by library"), "{html}");
    assert!(!drawn(&examples::slower()).contains("may be chance"));
}

/// How often a text is on the whole page.
fn times(comparison: &Comparison, text: &str) -> usize {
    let body = Body::Comparison(comparison);
    page(&document(body, Vec::new())).matches(text).count()
}

#[test]
fn limits_warnings_and_how_it_was_measured_are_shown_once() {
    assert_eq!(times(&examples::gated(), "FAILED"), 1);
    assert_eq!(times(&examples::open(), "<li>Only 6 of 24 pairs were sound"), 1);
    assert_eq!(times(&examples::slower(), "both wrote the same output"), 1);
    assert_eq!(times(&examples::slower(), " budget"), 1);
}

#[test]
fn what_was_not_measured_is_said_to_be_so() {
    let mut none = examples::same();
    none.metrics[0].pairs = 0;
    none.metrics[1].ratio = f64::NAN;
    let html = drawn(&none);
    assert_eq!(html.matches("too few trials of both ended well").count(), 2, "{html}");
    assert_harmless(&html);
}

#[test]
fn hostile_strings_do_no_harm_and_a_run_has_no_such_section() {
    let mut comparison = examples::gated();
    let text = || HOSTILE.to_string();
    (comparison.a.command, comparison.b.changes, comparison.warnings) = (vec![text()], vec![text()], vec![text()]);
    (comparison.gates[0].condition, comparison.output, comparison.metrics[0].metric) =
        (text(), text().into(), text().into());
    for code in comparison.libraries.iter_mut().chain(&mut comparison.functions).chain(&mut comparison.chain) {
        (code.function, code.module) = (text(), text());
    }
    (comparison.calls[0].call, comparison.calls[0].about) = (text(), text());
    assert_harmless(&drawn(&comparison));
    assert_harmless(&drawn(&Comparison::default()));
    let answer = answer();
    assert_eq!(section(&document(Body::Answer(&answer), Vec::new()), Section::Compared), "");
}
