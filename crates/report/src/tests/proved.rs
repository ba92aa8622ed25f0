//! What the terminal says once suspicions have been tried.

use crate::document::Document;
use crate::examples::answer as examples;
use crate::style::Style;
use case::Answer;

/// The text up to the ledger, or all of it.
fn told(answer: &Answer) -> String {
    let text = crate::text(&Document::of(answer), &Style::default());
    text.split("\nWhere the time went").next().unwrap_or_default().to_string()
}

#[test]
fn a_proved_cause_shows_its_trials_doses_and_controls() {
    let text = told(&examples::proved());
    assert!(text.starts_with("Confirmed: each request waits 40.9 ms for a delayed ACK\n"), "{text}");
    let parts = [
        "\n  Proved: with tcp-nodelay a request took 0.210 ms instead of 44.1 ms: 210 times\n  less (95 % interval 198 to 223",
        "\n    tcp-nodelay      44.1 ms -> 0.210 ms   210 (198 to 223)     confirmed\n",
        "\n    socket-options   did not take hold: no program loaded it: statically linked\n",
        "\n  In doses of delayed-ack-cap (time per request):\n    without  44.1 ms ",
        "\n  As a control, which must change nothing (time per request):\n",
    ];
    let places = parts.map(|part| text.find(part).unwrap_or_else(|| panic!("{part} in {text}")));
    assert!(places.is_sorted(), "{text}");
    assert!(!text.contains("suspicion"), "{text}");
}

#[test]
fn a_refuted_suspicion_is_one_paragraph_without_a_remedy() {
    let expected = "
Refuted: each request waits for the disk
  It was suspected of costing up to 40.9 ms of every 44.0 ms request (93 %). It
  affects 250 of 250 requests. Switched off: with no-fsync a request took
  44.0 ms instead of 44.1 ms: unchanged (95 % interval 0.984 to 1.02, 24 trials;
  sham 1.00): it is not the cause.
  More: whyslow explain sync-disk (P20); table calls, rows 12, 40
";
    let text = told(&examples::refuted());
    assert!(text.starts_with("No cause found.") && text.ends_with(expected), "{text}");
}

#[test]
fn an_undecided_suspicion_keeps_its_remedy_and_says_that_it_is_open() {
    let text = told(&examples::undecided());
    assert!(text.starts_with("Inconclusive. The trials left every suspicion open."), "{text}");
    let expected = "
  Inconclusive: with tcp-nodelay a request took 40.8 ms instead of 44.1 ms: 1.08
  times less (95 % interval 0.930 to 1.26, 24 trials; sham 1.00): this neither
  proves nor refutes it.
";
    assert!(text.contains("  Remedy: Set TCP_NODELAY") && text.contains(expected), "{text}");
}

#[test]
fn two_causes_are_told_each_alone_and_both_together() {
    let text = told(&examples::two_causes());
    assert_eq!(text.matches("\nConfirmed: ").count() + usize::from(text.starts_with("Confirmed: ")), 2, "{text}");
    let expected = "
Together: with tcp-nodelay and no-fsync a request took 0.386 ms instead of
  66.0 ms: 171 times less (95 % interval 160 to 184, 20 trials). The part of
  no-fsync, on top of the others: 51.2 times less (95 % interval 48.0 to 54.9).
";
    assert!(text.contains(expected) && !text.contains("Step by step"), "{text}");
}

#[test]
fn a_ladder_is_told_step_by_step() {
    let expected = "
  Step by step (time per request; ratios are before / after, 95 % intervals):
                         with it  in all               by this step
    parse-ca-once        22.0 ms  3.00 (2.90 to 3.10)  3.00 (2.90 to 3.10)
    + share-ssl-context  11.0 ms  6.00 (5.80 to 6.20)  2.00 (1.95 to 2.06)
    + resume-sessions    5.45 ms  12.1 (11.6 to 12.5)  2.02 (1.98 to 2.07)
";
    let text = told(&examples::ladder());
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_step_that_did_not_take_hold_is_not_the_most_that_was_had() {
    let mut answer = examples::ladder();
    answer.together[2].applied = false;
    let text = told(&answer);
    assert!(text.contains("Together: with parse-ca-once and share-ssl-context a request took 11.0 ms"), "{text}");
    assert!(text.contains("    + resume-sessions             did not take hold\n"), "{text}");
}

#[test]
fn how_it_was_tried_closes_the_answer() {
    let text = crate::text(&Document::of(&examples::proved()), &Style::default());
    assert!(text.contains("\nTrials: 132 runs in 12 rounds, 41.2 s of the 60.0 s budget; "), "{text}");
    assert!(
        text.contains("\nNot tried:\n  - quickack: it needs a link of its own, and --server was not given.\n"),
        "{text}"
    );
}

#[test]
fn output_that_changed_or_was_not_compared_is_said() {
    let mut answer = examples::proved();
    let mut said = |output: &str| {
        answer.proof.as_mut().expect("a proof").output = output.into();
        crate::text(&Document::of(&answer), &Style::default()).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(said("different").contains("; the program's output was different."));
    assert!(said("it is not the same twice.").contains("was not compared: it is not the same twice. Not tried"));
}

#[test]
fn a_suspicion_that_could_not_be_tried_says_why_once() {
    let mut answer = examples::proved();
    answer.findings[0] = examples::slow().findings.remove(0);
    let proof = answer.proof.as_mut().expect("a proof");
    let sentence = "nagle-delayed-ack: it needs a link.".to_string();
    proof.not_tried = vec![sentence.clone()];
    proof.untried = vec![case::facts::NotTried { finding: "P01".into(), sentence, ..case::facts::NotTried::default() }];
    let text = crate::text(&Document::of(&answer), &Style::default());
    assert!(text.contains("not a proof. Not\n  tried: nagle-delayed-ack: it needs a link.\n"), "{text}");
    assert_eq!(text.matches("it needs a link").count(), 1, "{text}");
}

#[test]
fn a_suspicion_that_nothing_reached_stays_a_suspicion() {
    let mut answer = examples::slow();
    answer.findings[0].tried = vec![examples::not_applied("tcp-nodelay", "no connection was seen")];
    let text = told(&answer);
    assert!(text.contains("Nothing that was tried gave a result: this is a suspicion, not a proof."), "{text}");
    assert!(text.contains("    tcp-nodelay  did not take hold: no connection was seen\n"), "{text}");
}

#[test]
fn what_an_intervention_broke_is_said_below_it() {
    let mut answer = examples::proved();
    answer.findings[0].tried[1].problem = "the output was different in 3 of 12 trials".into();
    let text = told(&answer);
    assert!(text.contains("confirmed\n      but: the output was different in 3 of 12 trials\n"), "{text}");
}

#[test]
fn an_intervention_without_sound_trials_shows_no_figures() {
    let mut answer = examples::proved();
    let dose = &mut answer.findings[0].tried[3];
    (dose.ratio, dose.low, dose.high, dose.before, dose.after) = (0.0, 0.0, 0.0, f64::INFINITY, f64::INFINITY);
    let text = told(&answer);
    assert!(text.contains("    40 ms  gave no result: too few of its trials ended well\n"), "{text}");
    assert!(text.contains("    without  44.1 ms ") && !text.contains("unknown"), "{text}");
}

#[test]
fn a_rate_of_the_programs_own_is_told_as_more() {
    let mut answer = examples::proved();
    let finding = &mut answer.findings[0];
    for one in &mut finding.tried {
        one.metric = "stdout-more:([0-9]+) orders/s".into();
        (one.before, one.after) = (22.7, 22.7 * one.ratio);
    }
    finding.effect = Some(examples::effect(&finding.tried[0], Vec::new()));
    let text = told(&answer);
    let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let proved = "Proved: with tcp-nodelay the output figure '([0-9]+) orders/s' was 4,770 instead of 22.7: 210 times more (95 %";
    assert!(flowing.contains(proved), "{text}");
    assert!(text.contains("  Tried (ratios are after / before, with their 95 % intervals):\n"), "{text}");
}

#[test]
fn without_a_trial_no_time_is_told() {
    let mut answer = examples::slow();
    answer.proof = Some(case::Proof { spent_ns: 520, budget_ns: 1, ..case::Proof::default() });
    assert!(crate::text(&Document::of(&answer), &Style::default()).contains("\nTrials: none.\n"));
}
