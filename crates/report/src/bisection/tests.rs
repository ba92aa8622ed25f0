use super::{bisection, bisection_sentence, examples};
use crate::style::{Colour, Style};
use case::Bisection;

fn text(of: &Bisection) -> String {
    bisection(of, &Style::default())
}

#[test]
fn the_verdict_comes_first_and_the_case_last() {
    let text = text(&examples::bundle());
    let parts = [
        "The difference is made by openssl (1.1.1w",
        "It cannot be switched alone: curl, openldap and openssl",
        "libcrypto.so.3 burns 96 %",
        "Without a downgrade: parse-ca-once",
        "Confirmed both ways.",
        "To go back (tried over an overlay",
        "Good: debian:bullseye",
        "What was measured",
        "things differ and are used",
        "Probes, in the order made",
        "The control, another",
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
        (examples::single(), "made by the library libslow.so.1 (12,104 bytes -> 14,208 bytes)"),
        (examples::together(), "taking either from the good world cures"),
        (examples::each(), "Each is slow by itself: only taking all of them"),
        (examples::variable(), "the variable MALLOC_ARENA_TEST (unset -> 1)"),
        (examples::data(), "the file /etc/ssl/certs/ca-certificates.crt (1,412 bytes"),
        (examples::commit(), "made by commit 1f0c3aa9 Parse the table anew for each request: processor"),
        (examples::commits(), "made by one of commit 77ab0c12 Say what is listened on and commit 1f0c3aa9"),
        (examples::reversed(), "The bad world is not slower but faster: processor time per request is 5.20 ms"),
        (examples::no_effect(), "A difference of more than 2.1 % is ruled out"),
        (examples::not_separable(), "the C library glibc (2.31-13+deb11u11 -> 2.36-9+deb12u13): only the whole world"),
        (examples::undecided(), "It lies among openssl, curl and openldap"),
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
    assert!(!text.contains("Confirmed both ways"), "{text}");
    assert!(text.contains("was not tried") && text.contains("not confirmed both ways"), "{text}");
}

#[test]
fn a_commit_is_told_by_what_was_before_it_and_what_with_it() {
    let text = text(&examples::commit());
    assert!(text.contains("Before it 5.30 ms, with it 27.0 ms (5.10 times, 5.00 to 5.20)."), "{text}");
    assert!(text.contains("2 commits from the good world to the bad one") && !text.contains("suspicion"), "{text}");
    assert!(!text.contains("The other way"), "{text}");
}

#[test]
fn what_a_reason_says_already_is_not_said_twice() {
    let mut one = examples::bundle();
    if let Some(culprit) = &mut one.culprit {
        culprit.cleared[0].why = "1.8 % of the processor time is spent in it".into();
    }
    assert_eq!(text(&one).matches("1.8 % of the processor time").count(), 1);
}

#[test]
fn a_probe_that_could_not_run_says_why() {
    let text = text(&examples::bundle());
    assert!(text.contains("not testable") && text.contains("undefined symbol"), "{text}");
    assert!(text.contains("|.........................|"), "{text}");
}

#[test]
fn nothing_from_outside_steers_the_terminal() {
    let text = bisection(&crate::hostile::hostile(&examples::bundle()), &Style::default());
    assert!(text.chars().all(|letter| letter == '\n' || !letter.is_control()), "{text:?}");
    assert!(text.contains("onerror"), "{text}");
    let coloured = bisection(&examples::bundle(), &Style { colour: Colour::Ansi, width: 80 });
    assert!(coloured.starts_with("\u{1b}[1mThe difference"));
}
