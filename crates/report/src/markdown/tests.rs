use super::markdown;
use crate::document::{Body, Document};
use crate::examples::answer as examples;
use crate::examples::bisection as bisected;
use crate::examples::comparison as compared;
use crate::examples::matrix as matrices;
use crate::examples::sweep as swept;
use crate::export::fixture::HOSTILE;
use crate::hostile::hostile;
use case::{Manifest, Place};

fn manifest() -> Manifest {
    Manifest { link: "mtu=1500".into(), server: vec!["./serve".into(), HOSTILE.into()], ..Manifest::default() }
}

/// The Markdown of a document that was run as [`manifest`] says.
fn of(body: Body) -> String {
    let manifest = manifest();
    markdown(&Document { manifest: Some(&manifest), ..Document::of(body) })
}

/// The text as a browser would show it.
fn rendered(text: &str) -> String {
    let mut html = String::new();
    let parser = pulldown_cmark::Parser::new_ext(text, pulldown_cmark::Options::ENABLE_TABLES);
    pulldown_cmark::html::push_html(&mut html, parser);
    html
}

/// That nothing in the text has become markup, and that it is there as often as it must be.
fn assert_harmless(text: &str, times: usize) {
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    let html = rendered(text);
    let markup = ["<img", "<script", "</script", "<a ", "<em>"];
    assert!(!markup.iter().any(|markup| html.contains(markup)), "{html}");
    assert!(html.matches("onerror").count() >= times, "{html}");
}

#[test]
fn a_proof_has_its_numbers_and_the_command_that_repeats_it() {
    let answer = examples::proved();
    let text = of(Body::Answer(&answer));
    for said in
        ["**Confirmed: ", "**Remedy.** ", "| Tried | Without | With |", "### Where the time went", "unexplained"]
    {
        assert!(text.contains(said), "{said}:\n{text}");
    }
    assert!(text.contains("--link mtu=1500 -- python3 client.py\nwhyslow report "), "{text}");
}

#[test]
fn nothing_from_outside_is_markup() {
    let mut answer = examples::proved();
    answer.command.push(HOSTILE.into());
    answer.summary += HOSTILE;
    answer.missing.push(HOSTILE.into());
    answer.ledger.accounts[0].name = HOSTILE.into();
    let finding = &mut answer.findings[0];
    finding.title += HOSTILE;
    finding.mechanism.push(HOSTILE.into());
    finding.caveats.push(HOSTILE.into());
    finding.tried[0].problem = HOSTILE.into();
    finding.place.push(Place { function: HOSTILE.into(), file: HOSTILE.into(), line: 1, ..Place::default() });
    let text = of(Body::Answer(&answer));
    assert_harmless(&text, 8);
    let rows = text.lines().filter(|line| line.starts_with("| ") && line.contains("onerror")).collect::<Vec<_>>();
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    assert!(!rows.is_empty() && rows.iter().all(|row| [4, 7].contains(&bars(row))), "{rows:?}");
}

#[test]
fn a_comparison_has_both_sides_and_every_metric() {
    let mut comparison = compared::slower();
    comparison.b.command.push(HOSTILE.into());
    comparison.functions = vec![compared::code(HOSTILE, HOSTILE, 1, 2_000_000)];
    let text = of(Body::Comparison(&comparison));
    assert!(text.contains("- **A**: ") && text.contains("- **B**: ") && text.contains("| B/A |"), "{text}");
    assert_harmless(&text, 3);
}

#[test]
fn a_bisection_has_its_grounds_the_way_back_and_every_probe() {
    let text = of(Body::Bisection(&bisected::bundle()));
    let parts =
        ["**The cause is openssl", "Confirmed both ways", "```sh\napt-get install", "| 8. curl, openldap and openssl"];
    let places = parts.map(|part| text.find(part).unwrap_or_else(|| panic!("{part}:\n{text}")));
    assert!(places.is_sorted(), "{text}");
    for one in bisected::every() {
        assert_harmless(&of(Body::Bisection(&hostile(&one))), 1);
    }
}

#[test]
fn a_matrix_has_every_figure_and_why_a_build_failed() {
    let text = of(Body::Matrix(&matrices::openssl()));
    for part in ["|  | n | min |", "### 3.0.2 against 1.1.1w", "ossl_sa_doall_arg", "`vtls/openssl.c:2741:12"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    let text = of(Body::Matrix(&matrices::sharing()));
    for part in
        ["### With share-ssl-context attached from outside: ", "| 3.0.2 | 90.9 ms |", "1.40 times", "did not take"]
    {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    for one in matrices::every() {
        assert_harmless(&of(Body::Matrix(&hostile(&one))), 1);
    }
}

#[test]
fn a_sweep_marks_its_cliff_between_the_points() {
    let sweep = swept::cliff();
    let text = of(Body::Sweep(&sweep));
    assert!(text.contains("| -- cliff -- |  |  |  |  |"), "{text}");
    let sweep = swept::growth();
    assert!(of(Body::Sweep(&sweep)).contains("### What grows"));
}
