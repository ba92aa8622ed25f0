//! What cannot be answered is said in three lines, before anything is searched.

use super::asking::{asked, turn};
use super::planted::{PROGRAM, Plan};
use crate::stage::{Ran, Stage};

fn ask(good: &str, bad: &str, command: &[&str]) -> Ran {
    asked(&Stage::new(), &[good.to_string(), bad.to_string()], &[], command)
}

#[test]
fn a_word_that_names_no_world_is_answered_with_those_that_do() {
    for word in ["bookworm", "debian:", "container:x", ""] {
        let ran = ask("host", word, &["true"]);
        assert!(ran.error().concat().contains("debian:"), "{word}: {ran:?}");
    }
}

#[test]
fn a_release_that_cannot_be_one_is_refused_without_asking_anybody() {
    let Some(_turn) = turn() else { return };
    for suite in ["../etc", "Book Worm", "a;b"] {
        let ran = ask("host", &format!("debian:{suite}"), &["true"]);
        assert!(ran.error().concat().contains(suite), "{suite}: {ran:?}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let Some(_turn) = turn() else { return };
    let ran = ask("dir:/nothing/here", "host", &["true"]);
    assert!(ran.error().concat().contains("/nothing/here"), "{ran:?}");
    let ran = ask("host", "env:/nothing/here", &["true"]);
    assert!(ran.error().concat().contains("/nothing/here"), "{ran:?}");
}

#[test]
fn a_program_that_a_world_does_not_have_is_named_with_the_world() {
    let Some(_turn) = turn() else { return };
    let planted = Plan::default().planted();
    let [good, bad] = planted.names();
    let ran = ask(&good, &bad, &["/opt/planted/nothing"]);
    let said = ran.error().concat();
    assert!(said.contains("/opt/planted/nothing") && said.contains("good"), "{ran:?}");
    // The host's own programs are not those of the world.
    let ran = ask(&good, &bad, &["seq", "3"]);
    assert!(ran.error().concat().contains("seq"), "{ran:?}");
}

#[test]
fn a_bad_world_in_which_the_program_fails_is_named_with_what_it_said() {
    let Some(_turn) = turn() else { return };
    let planted = Plan::default().program("FAILS").planted();
    let [good, bad] = planted.names();
    let ran = ask(&good, &bad, &[PROGRAM]);
    let said = ran.error().concat();
    assert!(said.contains("bad") && said.contains("status 3") && said.contains("cannot work with 2.0"), "{ran:?}");
}

#[test]
fn words_that_do_not_fit_are_refused() {
    for words in
        [&["--seed", "x"][..], &["--of", "server"], &["--of", "wire"], &["--budget", "never"], &["--control", ""]]
    {
        let ran = asked(&Stage::new(), &["host".to_string(), "host".to_string()], words, &["true"]);
        assert!(ran.error().concat().contains(words[0].trim_start_matches('-')), "{words:?}: {ran:?}");
    }
}
