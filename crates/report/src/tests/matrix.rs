use crate::blocks::lead::matrix_sentence;
use crate::document::Document;
use crate::examples::matrix as examples;
use crate::style::Style;
use case::Matrix;

fn text(of: &Matrix) -> String {
    crate::text(&Document::of(of), &Style::default())
}

#[test]
fn the_first_sentence_names_the_slow_versions_and_the_next_who_burns_it() {
    let said = matrix_sentence(&examples::openssl());
    let parts = [
        "openssl 3.0.2 is slower than 1.1.1w: its CPU time per request is 10.4 times higher, 90.5 ms instead of 8.70 ms; that of 3.1.3 is 1.59 times higher.",
        "In 3.0.2 the CPU time goes to libcrypto.so.3: SSL_CTX_new > SSL_CTX_new_ex > ssl_load_ciphers > evp_generic_fetch; ossl_sa_doall_arg alone accounts for 41 % of the difference.",
        "Use 3.6.3: a drop-in replacement for 3.0.2 and 3.1.3 (same SONAME), and as fast.",
        "4.0.3 was not measured.",
    ];
    let places = parts.map(|part| said.find(part).unwrap_or_else(|| panic!("{part} in {said}")));
    assert!(places.is_sorted(), "{said}");
}

#[test]
fn what_takes_most_by_itself_is_shown_with_how_each_library_on_the_way_is_entered() {
    let mut one = examples::openssl();
    let printed = text(&one);
    let rows = "\
Functions that take most of the difference themselves, callees excluded:
                                      1.1.1w    3.0.2  3.0.2 - 1.1.1w  share
  ossl_sa_doall_arg (libcrypto.so.3)    0 ns  34.0 ms        +34.0 ms   41 %
    by SSL_CTX_new_ex > ... > evp_generic_fetch > ossl_method_store_fetch
";
    assert!(printed.contains(rows), "{printed}");
    one.versions[1].hot_spots[0].own.function = "libcrypto.so.3+0x4d890".into();
    assert!(!matrix_sentence(&one).contains("alone accounts"), "an address says nothing");
}

#[test]
fn the_way_begins_in_the_library_itself_whatever_it_is_called_on_the_other_side() {
    let mut one = examples::openssl();
    let slow = &mut one.versions[1];
    slow.mapped.insert(0, "/home/me/.cache/whyslow/builds/curl-8.0.1/lib/libcurl.so.4".into());
    for step in slow.chain.iter_mut().filter(|step| step.module.ends_with(".so.3")) {
        step.module = format!("{} / {}", step.module.replace(".so.3", ".so.1.1"), step.module);
    }
    let said = matrix_sentence(&one);
    assert!(said.contains("the CPU time goes to libcrypto.so.3: SSL_CTX_new > SSL_CTX_new_ex"), "{said}");
}

#[test]
fn a_figure_that_the_program_prints_is_called_by_its_name_and_no_line_is_empty_within_a_table() {
    let mut one = examples::openssl();
    let metric = "stdout:pretransfer_ms=([0-9.]+)";
    one.metrics = vec![metric.into()];
    for version in &mut one.versions {
        version.figures.truncate(1);
        version.ratios.truncate(1);
        version.figures.iter_mut().for_each(|figures| figures.metric = metric.into());
        version.ratios.iter_mut().for_each(|ratio| ratio.metric = metric.into());
    }
    let text = text(&one);
    assert!(text.contains("its printed pretransfer_ms is 10.4 times"), "{text}");
    let table = text.split("Against 1.1.1w").nth(1).and_then(|rest| rest.split("The call chain").next()).expect("one");
    assert!(!table.trim_end().contains("\n\n"), "{table}");
}

#[test]
fn the_text_has_every_figure_and_fits_its_columns() {
    for one in examples::every() {
        let text = text(&one);
        let wide = text.lines().filter(|line| line.chars().count() > 80 && !line.contains("/home/me"));
        assert_eq!(wide.collect::<Vec<_>>(), Vec::<&str>::new(), "{text}");
    }
    let text = text(&examples::openssl());
    for part in ["CPU time per request, in ms:", "stdev", "Against 1.1.1w", "log /home/me", "incomplete definition"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn what_was_attached_from_outside_tells_what_it_gains_and_what_remains() {
    let said = matrix_sentence(&examples::sharing());
    let sharing = "With share-ssl-context attached from outside, the CPU time per request of 3.0.2 is 64.9 times lower: \
                   1.40 ms instead of 90.9 ms; 0.400 ms remain between it and 1.1.1w with the same attached (1.40 times).";
    assert!(said.contains(sharing), "{said}");
    let text = text(&examples::sharing()).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("3.0.2 90.9 ms 1.40 ms 64.9 63.0 to 66.8 49"), "{text}");
    assert!(text.contains("remains: 0.400 ms more than 1.1.1w with it, 1.40 times (1.34 to 1.46)"), "{text}");
    assert!(text.contains("3.6.3 did not take effect, so it says nothing: the program does"), "{text}");
}

#[test]
fn what_did_not_take_effect_or_changed_nothing_is_said_as_such() {
    let mut one = examples::sharing();
    one.versions[1].tried = one.versions[3].tried.clone();
    assert!(matrix_sentence(&one).contains("share-ssl-context did not take effect on 3.0.2."));
    let mut one = examples::sharing();
    one.versions[1].tried[0].gain[0].outcome = case::Contrast::Same;
    assert!(matrix_sentence(&one).contains("took effect on 3.0.2 without a measurable change in CPU time per request"));
    let mut one = examples::sharing();
    one.versions[1].tried[0].remains[0].outcome = case::Contrast::Open;
    assert!(
        matrix_sentence(&one).contains("; what remains is not distinguishable from 1.1.1w with the same attached.")
    );
}

#[test]
fn versions_that_are_level_or_alone_accuse_nobody() {
    assert!(matrix_sentence(&examples::level()).starts_with("No version of openssl measured is significantly slower"));
    assert!(matrix_sentence(&examples::alone()).starts_with("Undecided: of openssl only 1.1.1w"));
    let none = Matrix { advice: String::new(), ..examples::openssl() };
    assert!(matrix_sentence(&none).contains("None of the versions measured is both a drop-in"));
    let level = Matrix { advice: String::new(), ..examples::level() };
    assert!(!matrix_sentence(&level).contains("drop-in"));
    assert!(!text(&examples::level()).contains("carries most"));
}

#[test]
fn nothing_from_outside_steers_the_terminal() {
    let text = crate::text(&Document::of(&crate::hostile::hostile(&examples::openssl())), &Style::default());
    assert!(text.chars().all(|letter| letter == '\n' || !letter.is_control()), "{text:?}");
    assert!(text.contains("onerror"), "{text}");
}
