//! Comparisons: which side takes more, where the difference comes from, and none where there is none.

use super::running::{Asked, Folder, ask, expect_readme, three_lines, whyslow};
use case::tables::Trial;
use case::{Case, Comparison, Contrast, GateState};
use std::process::Output;
use testing::{beside_others, budget, is_root};

fn compare(story: &str, words: &[&str], variables: &[(&str, &str)]) -> Option<Asked<Comparison>> {
    ask(story, words, variables, |text| serde_json::from_slice(text))
}

#[test]
#[ignore = "long: make stories"]
fn one_certificate_costs_a_fraction_of_the_bundle_and_the_difference_is_in_libcrypto() {
    let _turn = beside_others();
    let Some(asked) = compare("bundle", &["slow", "--budget", &budget(8)], &[]) else { return };
    let compared = &asked.document;
    let first = compared.metrics.first().expect("a metric");
    assert_eq!((compared.outcome, first.outcome), (Contrast::Less, Contrast::Less), "{first:#?}");
    // A takes at least one and a half times as much: the whole interval says so.
    assert!(first.high < 1.0 / 1.5 && first.low <= first.ratio && first.ratio <= first.high, "{first:#?}");
    let library = compared.libraries.first().expect("a library");
    assert!(library.module.starts_with("libcrypto") && library.a_ns > 2 * library.b_ns, "{:#?}", compared.libraries);
    assert!(compared.chain.iter().any(|link| link.module.starts_with("libcrypto")), "{:#?}", compared.chain);
    assert!(compared.summary.contains("libcrypto"), "{}", compared.summary);
    assert_eq!(asked.exit, Some(1), "a difference was found\n{}", asked.stderr);
    expect_words_that_fit_the_terminal(&asked);
    expect_readme("compare", &asked.case);
}

#[test]
#[ignore = "long: make stories"]
fn least_connections_shorten_the_tail_of_round_robin() {
    let _turn = beside_others();
    let Some(asked) = compare("balance", &["slow", "--budget", &budget(24)], &[("REQUESTS", "600")]) else { return };
    let compared = &asked.document;
    let tail = compared.metrics.first().expect("a metric");
    assert_eq!((compared.outcome, tail.outcome), (Contrast::Less, Contrast::Less), "{tail:#?}\n{}", asked.stderr);
    // Measured bare: a tenth and less.
    assert!(tail.high < 0.5, "{tail:#?}");
    assert!(tail.a > 30.0 && tail.b < 100.0, "milliseconds, as the client prints them: {tail:#?}");
    assert!(compared.a.server.concat().contains("roundrobin") && compared.b.server.concat().contains("leastconn"));
}

/// Comparisons of a program with itself, of which one in twenty may claim a difference. Three of twelve or more do so in one
/// test of fifty then, and in four of five where one in three claims: of three comparisons, one told nothing.
const ALIKE: usize = 12;
const MOST_CLAIMS: usize = 2;

#[test]
#[ignore = "long: make stories"]
fn a_program_does_not_differ_from_itself() {
    let _turn = beside_others();
    let mut claimed = Vec::new();
    for _ in 0..ALIKE {
        let Some(asked) = compare("bundle", &["same", "--budget", &budget(8)], &[]) else { return };
        let metrics = asked.document.metrics;
        if matches!(asked.document.outcome, Contrast::More | Contrast::Less) {
            claimed.push(metrics.into_iter().next());
            assert_eq!(asked.exit, Some(1), "{}", asked.stderr);
        } else {
            assert!([Some(0), Some(3)].contains(&asked.exit), "{:?}\n{}", asked.exit, asked.stderr);
        }
    }
    assert!(claimed.len() <= MOST_CLAIMS, "{claimed:#?}");
}

/// A shell that counts so far, and then prints `last`.
fn counting(turns: u32, last: &str) -> String {
    format!("i=0; while [ $i -lt {turns} ]; do i=$((i+1)); done; echo {last}")
}

/// For as long as a crowded machine may need, in seconds: once all is decided, a comparison ends.
const LONGEST: u32 = 60;

/// Compares two scripts of the shell; the case goes to `case` in the folder.
fn compare_scripts(folder: &Folder, options: &[&str], scripts: [&str; 2]) -> Output {
    let [a, b] = scripts;
    whyslow()
        .args(["compare", "--json", "--budget", &budget(LONGEST), "-o"])
        .arg(folder.join("case"))
        .args(options)
        .args(["sh", "-c", a, "--", "sh", "-c", b])
        .output()
        .expect("whyslow")
}

#[test]
fn a_gate_fails_beyond_its_limit_and_passes_within_it() {
    let _turn = beside_others();
    if !is_root() {
        return;
    }
    let (few, many) = (counting(20_000, "done"), counting(60_000, "done"));
    let conditions = ["wall > 1.3x", "wall > 9x"];
    let gates = conditions.map(|condition| ["--fail-if", condition]).concat();
    let output = compare_scripts(&Folder::new(), &gates, [&few, &many]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let compared: Comparison =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    let states = compared.gates.iter().map(|gate| (gate.condition.as_str(), gate.state)).collect::<Vec<_>>();
    assert_eq!(states, [(conditions[0], GateState::Failed), (conditions[1], GateState::Passed)], "{stderr}");
    for gate in &compared.gates {
        assert!(gate.low > 1.0, "B counts three times as far: {gate:#?}");
    }
    assert_eq!(output.status.code(), Some(1), "one that fails is enough");
}

#[test]
#[ignore = "long: make stories"]
fn a_comparison_that_was_kept_is_a_baseline_and_says_that_it_is_another_day() {
    let _turn = beside_others();
    if !is_root() {
        return;
    }
    let (kept, folder) = (Folder::new(), Folder::new());
    let (few, many) = (counting(20_000, "done"), counting(60_000, "done"));
    let equal = compare_scripts(&kept, &["--check-output", "auto", "--fail-if", "wall > 9x"], [&few, &few]);
    assert_eq!(equal.status.code(), Some(0), "{}", String::from_utf8_lossy(&equal.stderr));
    let output = whyslow()
        .args(["compare", "--json", "--budget", &budget(8), "--fail-if", "wall > 1.3x", "--baseline"])
        .arg(kept.join("case"))
        .arg("-o")
        .arg(folder.join("case"))
        .args(["--", "sh", "-c", &many])
        .output()
        .expect("whyslow");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let compared: Comparison =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    assert_eq!((output.status.code(), compared.outcome), (Some(1), Contrast::More), "{:#?}", compared.metrics);
    assert_eq!(compared.gates[0].state, GateState::Failed, "{:#?}", compared.gates);
    let warnings = compared.warnings.join(" ");
    assert!(warnings.contains("earlier") && warnings.contains("Different command"), "{warnings}");
    assert!(!warnings.contains("Different kernel"), "it is the same machine: {warnings}");
}

#[test]
fn sides_that_write_different_things_are_not_compared_and_their_trials_are_kept() {
    let _turn = beside_others();
    if !is_root() {
        return;
    }
    let folder = Folder::new();
    let (one, other) = (counting(2_000, "apples"), counting(2_000, "pears"));
    let said = three_lines(&compare_scripts(&folder, &[], [&one, &other]));
    let case = folder.join("case");
    assert!(said[1].contains("apples") && said[1].contains("pears"), "{said:?}");
    assert!(said[1].contains(case.to_str().expect("UTF-8")), "{said:?}");
    let kept: Vec<Trial> = Case::open(&case).and_then(|case| case.read()).expect("the trials");
    assert!(!kept.is_empty(), "trials that were finished");
    // Where that is meant, it is said.
    let output = compare_scripts(&Folder::new(), &["--check-output", "never"], [&one, &other]);
    assert!([Some(0), Some(1), Some(3)].contains(&output.status.code()), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_side_that_fails_is_named_with_its_status() {
    let _turn = beside_others();
    if !is_root() {
        return;
    }
    let said = three_lines(&compare_scripts(&Folder::new(), &[], ["exit 0", "exit 41"]));
    assert!(said[0].contains("B fails") && said[1].contains("41"), "{said:?}");
    let said = three_lines(&compare_scripts(&Folder::new(), &[], ["exit 41", "exit 0"]));
    assert!(said[0].contains("A fails") && said[1].contains("41"), "{said:?}");
}

/// What the case says again, in words.
fn expect_words_that_fit_the_terminal(asked: &Asked<Comparison>) {
    let output = whyslow().arg("report").arg(&asked.case).output().expect("whyslow report");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), asked.exit, "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("libcrypto"), "{text}");
    // Paths and commands are as long as they are; sentences are not.
    let is_prose = |line: &&str| !line.contains('/') && line.chars().count() > 80;
    assert_eq!(text.lines().filter(is_prose).collect::<Vec<_>>(), Vec::<&str>::new());
}
