use super::super::tests::difference;
use super::*;
use crate::examples::matrix as examples;
use crate::examples::views::{HOSTILE, assert_harmless, document, views};
use crate::hostile::hostile;
use crate::page::page;
use case::views::Flame;
use case::{Bisection, Comparison, Version};

/// What a page is made of, with a picture for each pair of the matrix.
fn with_differences(matrix: &Matrix) -> Document<'_> {
    let sides = matrix.versions.iter().map(|version| (version.version.as_str(), views()));
    let mut document = document(Body::Matrix(matrix), sides.collect());
    if let Some(pairs) = Pairs::of(matrix) {
        document.differences = pairs.drawn.iter().map(|version| against(pairs.first, version)).collect();
    }
    document
}

fn against(first: &Version, version: &Version) -> Difference {
    Difference { a: first.version.clone(), b: version.version.clone(), flame: difference() }
}

/// One difference of A and B.
fn of_two(body: Body<'_>) -> String {
    let mut document = document(body, Vec::new());
    document.differences = vec![Difference { a: "A".into(), b: "B".into(), flame: difference() }];
    differences(&document)
}

/// The part of a page with one picture, by its title.
fn picture<'h>(html: &'h str, title: &str) -> &'h str {
    let rest = html.split(&format!("<h4>{title}</h4>")).nth(1).unwrap_or_else(|| panic!("{title} in {html}"));
    rest.split("<div class=\"flame-view\"").next().unwrap_or_default()
}

#[test]
fn a_matrix_has_a_difference_for_each_slower_version_and_none_for_a_level_one() {
    let matrix = examples::openssl();
    let html = page(&with_differences(&matrix));
    for slower in ["3.0.2", "3.1.3"] {
        let drawn = picture(&html, &format!("CPU time: {slower} (B) against 1.1.1w (A)"));
        assert!(drawn.contains("<canvas id=\"flame-difference-") && drawn.contains("+58.0 ms"), "{drawn}");
    }
    assert_eq!(html.matches("<canvas id=\"flame-difference").count(), 2);
    assert!(!html.contains("CPU time: 3.6.3") && !html.contains("CPU time: 4.0.3"));
    let level = examples::level();
    assert_eq!(differences(&with_differences(&level)), "");
}

#[test]
fn colours_and_columns_name_both_versions() {
    let html = differences(&with_differences(&examples::openssl()));
    let drawn = picture(&html, "CPU time: 3.0.2 (B) against 1.1.1w (A)");
    for said in [
        "Red and <b>+</b>: 3.0.2 (B) takes more; blue and <b>-</b>: 1.1.1w (A) takes more; grey",
        "<th scope=\"col\">1.1.1w (A)</th><th scope=\"col\">3.0.2 (B)</th>",
        "aria-label=\"CPU time: 3.0.2 (B) against 1.1.1w (A): ",
    ] {
        assert!(drawn.contains(said), "{said} in {drawn}");
    }
}

#[test]
fn a_switch_offers_each_pair_and_without_scripts_their_tables_are_all_there() {
    let html = differences(&with_differences(&examples::openssl()));
    let switch = html.split("<p class=\"flame-switch\" hidden>").nth(1).and_then(|rest| rest.split("</p>").next());
    let switch = switch.expect("a switch");
    let places = [">3.0.2 against 1.1.1w</button>", ">3.1.3 against 1.1.1w</button>"].map(|name| switch.find(name));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{switch}");
    assert_eq!(html.matches("<details class=\"flame-findings\" open>").count(), 2);
    assert_eq!(html.matches("<div class=\"flame-picture\" hidden>").count(), 2);
}

#[test]
fn one_without_samples_says_so_and_is_no_choice() {
    let matrix = examples::openssl();
    let mut document = with_differences(&matrix);
    document.differences[1].flame = Flame { before_ns: Some(0), ..Flame::default() };
    let html = differences(&document);
    assert!(!html.contains("flame-switch") && html.contains("No samples were taken"), "{html}");
}

#[test]
fn what_finds_no_room_is_named() {
    let full = examples::openssl();
    let mut matrix = full.clone();
    let named = |name: &str| Version { version: name.into(), ..full.versions[2].clone() };
    matrix.versions.extend(["5.1", "5.2", "5.3"].map(named));
    let html = differences(&with_differences(&matrix));
    assert_eq!(html.matches("<canvas ").count(), 4, "{html}");
    assert!(
        html.contains("4 versions at most are drawn against 1.1.1w, the largest slow-down first. 5.3 differs"),
        "{html}"
    );
    assert!(!differences(&with_differences(&full)).contains("at most"));
}

#[test]
fn comparisons_and_bisections_have_one_and_no_switch() {
    let legend = "Red and <b>+</b>: B takes more; blue and <b>-</b>: less; grey: no more than chance.";
    let columns = "<th scope=\"col\">A</th><th scope=\"col\">B</th>";
    let (comparison, bisection) = (Comparison::default(), Bisection::default());
    for (body, title) in [
        (Body::Comparison(&comparison), "CPU time: B against A"),
        (Body::Bisection(&bisection), "CPU time: the bad world (B) against the good one (A)"),
    ] {
        let html = of_two(body);
        assert!(html.starts_with("<div class=\"flame-view\" data-flame=\"flame-difference\">"), "{html}");
        assert!(picture(&html, title).contains(legend) && html.contains(columns), "{html}");
        assert!(!html.contains("flame-switch") && !html.contains("<h3>"), "{html}");
    }
}

#[test]
fn hostile_names_of_versions_do_no_harm() {
    let matrix = hostile(&examples::openssl());
    let mut document = with_differences(&matrix);
    document.differences[0].flame.of = HOSTILE.into();
    let html = differences(&document);
    assert_eq!(html.matches("<canvas ").count(), 2, "{html}");
    assert_harmless(&html);
}
