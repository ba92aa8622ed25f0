use crate::block::Section;
use crate::document::Body;
use crate::examples::matrix as examples;
use crate::examples::views::{answer, assert_harmless, document};
use crate::hostile::hostile;
use crate::page::page;
use crate::page::section;
use case::Matrix;

fn drawn(matrix: &Matrix) -> String {
    section(&document(Body::Matrix(matrix), Vec::new()), Section::Matrix)
}

fn whole(matrix: &Matrix) -> String {
    page(&document(Body::Matrix(matrix), Vec::new()))
}

#[test]
fn every_version_that_ran_is_drawn_and_the_slow_ones_are_marked() {
    let html = drawn(&examples::openssl());
    assert_eq!(html.matches("<circle ").count(), 8, "{html}");
    assert_eq!(html.matches("class=\"spread slow\"").count(), 4, "{html}");
    assert!(html.contains("<th scope=\"row\">3.0.2</th><td class=\"number\">3,000</td>"), "{html}");
}

#[test]
fn a_slower_version_has_its_chain_and_a_level_one_has_none() {
    let html = drawn(&examples::openssl());
    let of = |name: &str| html.split(&format!("<h3>{name} against 1.1.1w ")).nth(1).expect("a version").to_string();
    let slow = of("3.0.2");
    let slow = slow.split(" against 1.1.1w").next().expect("its part");
    assert!(slow.contains("evp_generic_fetch") && slow.contains("callees excluded</h3>"), "{slow}");
    assert!(slow.contains("ossl_method_store_fetch"), "{slow}");
    assert!(!of("3.6.3").split("<h3>").next().expect("its part").contains("carries most"), "{html}");
}

#[test]
fn a_build_that_failed_shows_its_last_lines_and_where_its_log_is() {
    let html = drawn(&examples::openssl());
    let failed = html.split("4.0.3 <span").nth(1).expect("the failed one");
    assert!(failed.contains("not built") && failed.contains("incomplete definition of type"), "{failed}");
    assert!(failed.contains("openssl-4.0.3/build.log"), "{failed}");
}

#[test]
fn what_was_attached_from_outside_has_a_table_and_is_in_the_command() {
    let html = drawn(&examples::sharing());
    let table = html
        .split("<h3>With share-ssl-context attached from outside: CPU time per request</h3>")
        .nth(1)
        .expect("a table");
    assert!(table.contains("<td class=\"figure\">64.9</td>") && table.contains("1.40 times"), "{table}");
    assert!(table.contains("did not take effect"), "{table}");
    assert!(!drawn(&examples::openssl()).contains("attached from outside"));
    assert!(whole(&examples::sharing()).contains("--with curl=8.0.1 --try share-ssl-context"));
}

#[test]
fn the_page_has_a_headline_and_the_command_that_does_it_again() {
    let html = whole(&examples::openssl());
    assert!(html.contains("<h1>openssl 3.0.2: CPU time per request 10.4 times higher than with 1.1.1w</h1>"), "{html}");
    assert!(html.contains("whyslow matrix --library openssl=1.1.1w,3.0.2,3.1.3,3.6.3,4.0.3 --with curl=8.0.1"));
    assert!(whole(&examples::level()).contains("<h1>No version of openssl is slower than 1.1.1w</h1>"));
    assert!(whole(&examples::alone()).contains("<h1>Undecided: fewer than two"));
}

#[test]
fn hostile_strings_and_numbers_that_are_none_do_no_harm() {
    let mut one = hostile(&examples::openssl());
    for figures in one.versions.iter_mut().flat_map(|version| &mut version.figures) {
        (figures.min, figures.p99, figures.stdev) = (f64::NAN, f64::INFINITY, f64::NAN);
    }
    assert_harmless(&drawn(&one));
    for one in examples::every() {
        let html = whole(&hostile(&one));
        assert!(!html.contains("<script>alert") && !html.contains("<img") && !html.contains("\"'><"), "{html}");
    }
}

#[test]
fn a_run_has_no_versions() {
    let answer = answer();
    assert_eq!(section(&document(Body::Answer(&answer), Vec::new()), Section::Matrix), "");
}
