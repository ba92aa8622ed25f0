use crate::blocks::lead::bisection_sentence;
use crate::document::Document;
use crate::examples::bisection as examples;
use crate::style::{Colour, Style};
use case::Bisection;

fn text(of: &Bisection) -> String {
    crate::text(&Document::of(of), &Style::default())
}

#[test]
fn the_verdict_comes_first_and_the_case_last() {
    let text = text(&examples::bundle());
    let parts = [
        "The cause is openssl (1.1.1w",
        "It cannot be switched alone: curl, openldap and openssl",
        "libcrypto.so.3 uses 96 %",
        "Without a downgrade: parse-ca-once",
        "Confirmed both ways.",
        "To go back (tried on an overlay",
        "Good: debian:bullseye",
        "What was measured",
        "things differ and are used",
        "Probes, in the order made",
        "Control: another",
        "Not tried:",
        "Case: /var/cases/upgrade",
    ];
    let one_line = text.replace('\n', " ");
    let places = parts.map(|part| one_line.find(part).unwrap_or_else(|| panic!("{part} in\n{text}")));
    assert!(places.is_sorted(), "{places:?}\n{text}");
}

#[test]
fn no_line_is_wider_than_the_text_but_the_command_to_copy() {
    for one in examples::every() {
        let text = text(&one);
        let wide = text.lines().filter(|line| line.chars().count() > 80 && !line.contains("apt-get install"));
        assert_eq!(wide.collect::<Vec<_>>(), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn every_bond_and_kind_is_said_in_plain_words() {
    let said = [
        (examples::single(), "The cause is the library libslow.so.1 (12,104 bytes -> 14,208 bytes)"),
        (examples::together(), "taking either from the good world cures it"),
        (examples::each(), "Each is slow by itself: only taking all of them"),
        (examples::variable(), "the variable MALLOC_ARENA_TEST (unset -> 1)"),
        (examples::data(), "the file /etc/ssl/certs/ca-certificates.crt (1,412 bytes"),
        (examples::commit(), "The cause is commit 1f0c3aa9 Parse the table anew for each request: CPU time"),
        (examples::commits(), "The cause is commit 77ab0c12 Say what is listened on or commit 1f0c3aa9"),
        (examples::reversed(), "The bad world is faster, not slower: CPU time per request is 5.20 ms"),
        (examples::no_effect(), "A difference of more than 2.1 % is ruled out"),
        (
            examples::not_separable(),
            "the C library glibc (2.31-13+deb11u11 -> 2.36-9+deb12u13): only switching the whole world",
        ),
        (examples::undecided(), "The cause is among openssl, curl and openldap"),
    ];
    for (one, words) in said {
        let sentence = bisection_sentence(&one);
        assert!(sentence.contains(words), "{words} in {sentence}");
        assert!(sentence.matches(". ").count() < 4, "{sentence}");
    }
}

#[test]
fn what_was_not_confirmed_does_not_say_so() {
    let mut one = examples::single();
    one.probes.pop();
    one.outcome = case::BisectionOutcome::Found;
    let text = text(&one);
    let one_line = text.replace('\n', " ");
    assert!(!one_line.contains("Confirmed both ways"), "{text}");
    assert!(one_line.contains("was not tried") && one_line.contains("not confirmed both ways"), "{text}");
}

#[test]
fn a_commit_is_shown_with_the_figures_before_and_after_it() {
    let text = text(&examples::commit());
    assert!(text.contains("5.30 ms before it, 27.0 ms with it (5.10 times as much, 5.00 to 5.20)."), "{text}");
    assert!(text.contains("2 commits from the good world to the bad one") && !text.contains("suspicion"), "{text}");
    assert!(!text.contains("The reverse"), "{text}");
}

#[test]
fn several_steps_along_commits_are_shown_as_stairs() {
    let said = bisection_sentence(&examples::stairs());
    let first = "It became slower in 2 steps: 60 % by 1f0c3aa9 Parse the table anew for each request and 40 % by one of 2 \
                 commits, 77ab0c12 to 1f0c3aa9. Overall, CPU time per request is 5.22 times higher";
    assert!(said.starts_with(first), "{said}");
    let text = text(&examples::stairs()).replace('\n', " ");
    let parts = ["(built: 31 of 2, 4 of them identical to", "1.92", "2.64", "58 % to 62 %"];
    for part in parts {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn the_first_sentence_names_both_worlds_and_what_to_do_is_said_in_words() {
    let said = bisection_sentence(&examples::bundle());
    let parts = [
        "CPU time per request is 5.22 times higher in debian:bookworm than in debian:bullseye, 27.1 ms instead of 5.20 ms.",
        "libcrypto.so.3 uses 96 % of the CPU time in debian:bookworm: ",
        "Without a downgrade: parse-ca-once (keep one SSL_CTX for all requests) cuts ",
    ];
    let places = parts.map(|part| said.find(part).unwrap_or_else(|| panic!("{part} in {said}")));
    assert!(places.is_sorted(), "{said}");
    let mut same = examples::bundle();
    same.good.name = same.bad.name.clone();
    assert!(bisection_sentence(&same).contains("higher in the bad world than in the good world, 27.1 ms"));
}

#[test]
fn what_was_proved_stands_before_what_is_suspected() {
    let mut one = examples::bundle();
    let mut suspected = one.cures[0].clone();
    (suspected.status, suspected.effect, suspected.name) = (case::Status::Suspected, None, "churn".into());
    one.cures.insert(0, suspected);
    let text = text(&one);
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} in\n{text}"));
    assert!(place("  - confirmed: each request parses") < place("  - churn (suspected, not tried)"), "{text}");
}

#[test]
fn what_was_run_both_ways_is_said() {
    let text = text(&examples::bundle()).replace('\n', " ");
    let parts =
        ["With only curl, openldap and openssl from debian:bullseye, debian:bookworm is fast: ", "alternating pairs"];
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    assert!(text.contains("With everything else from debian:bullseye but not that, it stays slow ("), "{text}");
}

#[test]
fn of_many_things_neither_names_nor_libraries_are_listed_for_each_probe() {
    let mut one = examples::bundle();
    for probe in &mut one.probes[..2] {
        probe.note = "loaded: libssl.so.1.1".into();
    }
    let text = text(&one);
    assert_eq!(text.matches("loaded: libssl.so.1.1").count(), 1, "{text}");
    assert!(text.contains("all 16 that can be taken (6 pairs)\n"), "{text}");
    assert!(text.contains("  and 12 more\n") && !text.contains("  krb5 "), "{text}");
}

#[test]
fn a_chain_is_shown_by_its_named_functions_and_the_bad_worlds_libraries() {
    let mut one = examples::bundle();
    let chain = one.burner.as_mut().map(|burner| &mut burner.chain).expect("a burner");
    chain[1].function = "libcurl.so.4+0x4d890".into();
    chain[2].module = "libssl.so.1.1 / libssl.so.3".into();
    let text = text(&one);
    assert!(text.contains("SSL_CTX_load_verify_locations (libssl.so.3)"), "{text}");
    assert!(!text.contains("+0x4d890") && text.contains("(1 function without a name left out)"), "{text}");
}

#[test]
fn a_probe_that_could_not_run_says_why() {
    let text = text(&examples::bundle());
    assert!(text.contains("not testable") && text.contains("undefined symbol"), "{text}");
    assert!(text.contains("|.........................|"), "{text}");
}

#[test]
fn nothing_from_outside_steers_the_terminal() {
    let text = crate::text(&Document::of(&crate::hostile::hostile(&examples::bundle())), &Style::default());
    assert!(text.chars().all(|letter| letter == '\n' || !letter.is_control()), "{text:?}");
    assert!(text.contains("onerror"), "{text}");
    let coloured = crate::text(&Document::of(&examples::bundle()), &Style { colour: Colour::Ansi, width: 80 });
    assert!(coloured.starts_with("\u{1b}[1mThe cause is"));
}
