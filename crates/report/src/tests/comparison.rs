use crate::blocks::lead::contrast_sentence;
use crate::conclusion::{Conclusion, comparison_conclusion};
use crate::document::Document;
use crate::examples::comparison as examples;
use crate::examples::comparison::account;
use crate::style::Style;
use case::{Comparison, Contrast, Gate, GateState, GateState::Failed, GateState::Open, GateState::Passed};

fn text_of(one: &Comparison) -> String {
    crate::text(&Document::of(one), &Style::default())
}

/// The text with its lines run together, to look for sentences in.
fn flowing(one: &Comparison) -> String {
    text_of(one).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_slower_command_says_by_how_much_and_where_from() {
    let text = flowing(&examples::slower());
    let parts = [
        "B is 5.22 times slower than A: 27.1 ms instead of 5.19 ms per run (95 % interval 5.00 to 5.41).",
        "99 % of the difference is 'processor: user' (+21.7 ms per run).",
        "Most of the difference in CPU time is in libcrypto.so.3 (+21.5 ms per run), most of it in asn1_item_embed_d2i",
        "What was measured (24 pairs",
        "Where the difference comes from",
        "CPU time by library",
        "CPU time by function",
        "call chain",
        "Calls that differ",
        "Trials: 48 runs",
        "Case: /var/cases/tls",
    ];
    let places = parts.map(|part| text.find(part).unwrap_or_else(|| panic!("{part} in {text}")));
    assert!(places.is_sorted(), "{text}");
    assert_eq!(comparison_conclusion(&examples::slower()), Conclusion::Findings);
}

#[test]
fn a_faster_command_is_said_to_be_faster_with_minus_signs() {
    let text = text_of(&examples::faster());
    assert!(
        text.starts_with(
            "B is 5.22 times faster than A: 5.19 ms instead of 27.1 ms per run (95 % interval\n5.00 to 5.41)"
        ),
        "{text}"
    );
    assert!(text.contains("  processor: user  25.6 ms  3.90 ms  -21.7 ms  --------"), "{text}");
    assert_eq!(comparison_conclusion(&examples::faster()), Conclusion::Findings);
}

#[test]
fn waiting_for_a_busy_processor_is_no_cause_beside_more_work() {
    let mut one = examples::slower();
    let waiting = account("waiting for a CPU", 5_000_000, 30_000_000);
    one.ledger.push(waiting);
    let said = contrast_sentence(&one);
    assert!(said.contains("99 % of the difference is 'processor: user' (+21.7 ms per run, time spent"), "{said}");
    // With as much work, it is where the time goes.
    one.metrics[1].outcome = Contrast::Same;
    let said = contrast_sentence(&one);
    assert!(said.contains("53 % of the difference is 'waiting for a CPU' (+25.0 ms per run)."), "{said}");
}

#[test]
fn calls_that_make_up_the_difference_by_their_number_are_named() {
    let mut one = examples::slower();
    assert!(!contrast_sentence(&one).contains("calls read"), "they take next to none of the time");
    one.calls[0].b_ns = 20_000_000;
    let said = contrast_sentence(&one);
    assert!(said.contains("B calls read (/etc/ssl/certs/all.pem) 56 times per run, A 1 times."), "{said}");
    one.calls[0].b_count = 1.0;
    assert!(!contrast_sentence(&one).contains("calls read"), "as many calls, but longer ones");
}

#[test]
fn a_small_difference_is_a_percentage() {
    let said = |interval, outcome| {
        let metrics = vec![examples::compared("exchange_p95_ns", 25e6, interval, outcome)];
        contrast_sentence(&Comparison { metrics, outcome, ..Comparison::default() })
    };
    assert_eq!(
        said((1.061, 1.082, 1.1), Contrast::More),
        "B's p95 request time is 8.2 % higher than A's: 27.1 ms instead of 25.0 ms (95 % interval 6.1 % to 10 %)."
    );
    let text = said((0.9, 0.92, 0.94), Contrast::Less);
    let expected =
        "B's p95 request time is 8.0 % lower than A's: 23.0 ms instead of 25.0 ms (95 % interval 6.0 % to 10 %).";
    assert_eq!(text, expected);
}

#[test]
fn a_figure_of_the_programs_own_is_neither_slow_nor_fast() {
    let metrics = vec![examples::compared("stdout-more:rate=(.*)", 100.0, (1.9, 2.0, 2.1), Contrast::More)];
    let said = contrast_sentence(&Comparison { metrics, outcome: Contrast::More, ..Comparison::default() });
    assert_eq!(
        said,
        "B's printed rate is 2.00 times higher than A's: 200 instead of 100 (95 % interval 1.90 to 2.10)."
    );
}

#[test]
fn where_only_a_figure_of_the_programs_own_differs_no_time_is_blamed() {
    let mut one = examples::same();
    one.outcome = Contrast::More;
    one.metrics.insert(0, examples::compared("stdout:(.*) s", 5.0, (1.2, 1.2, 1.2), Contrast::More));
    let text = text_of(&one);
    assert!(!text.contains("Where the difference") && !text.contains("Calls that differ"), "{text}");
    one.metrics[1].outcome = Contrast::More;
    assert!(text_of(&one).contains("Where the difference comes from"), "where a time differs too, it may be why");
}

#[test]
fn processor_time_that_no_code_accounts_for_is_said_to_have_none() {
    let mut one = examples::slower();
    (one.libraries, one.functions, one.chain) = (Vec::new(), Vec::new(), Vec::new());
    assert!(flowing(&one).contains("The recordings do not show which code uses the extra CPU time"));
    assert!(!flowing(&examples::slower()).contains("do not show"));
}

#[test]
fn no_difference_is_a_bound_and_accuses_nothing() {
    let text = text_of(&examples::same());
    assert!(
        text.starts_with("A and B differ by 2.9 % at most, at 95 % confidence: A 5.19 ms, B 5.20 ms per\nrequest.\n"),
        "{text}"
    );
    assert!(text.contains("\nA and B: the same\n"), "{text}");
    assert!(!text.contains("libcrypto") && !text.contains("Where the difference") && !text.contains("Calls"), "{text}");
    assert_eq!(comparison_conclusion(&examples::same()), Conclusion::Nothing);
}

#[test]
fn a_bound_is_rounded_away_from_none() {
    let metrics = vec![examples::compared("wall_ns", 1e6, (0.9749, 0.99, 1.001), Contrast::Same)];
    let said = contrast_sentence(&Comparison { metrics, ..Comparison::default() });
    assert!(said.starts_with("A and B differ by 2.6 % at most"), "{said}");
}

#[test]
fn a_wide_interval_is_undecided_and_shows_no_tables() {
    let one = examples::open();
    let text = text_of(&one);
    assert!(text.starts_with("Undecided: B takes 8.0 % less to 12 % more than A (A 5.19 ms, B 5.35 ms"), "{text}");
    assert!(flowing(&one).contains("A longer --budget narrows that."), "{text}");
    assert!(text.contains("\nBut:\n  - Only 6 of 24 pairs were sound: b exited"), "{text}");
    assert!(!text.contains("libcrypto") && !text.contains("Where the difference"), "{text}");
    assert!(matches!(comparison_conclusion(&one), Conclusion::Inconclusive(_)));
}

#[test]
fn equal_times_by_more_work_show_where_the_work_is() {
    let one = examples::busier();
    let text = flowing(&one);
    assert!(text.contains("CPU time does differ: B uses 2.01 times more CPU time than A: 8.64 ms"), "{text}");
    assert!(text.contains("CPU time by library") && !text.contains("Where the difference comes from"), "{text}");
}

#[test]
fn where_nothing_was_measured_nothing_is_claimed() {
    let mut one = examples::open();
    one.metrics[0].pairs = 0;
    let text = text_of(&one);
    assert!(text.starts_with("Undecided: too few trials of both ended well to compare them.\n"), "{text}");
    assert!(text.contains("  time per request\n    too few trials of both ended well\n"), "{text}");
    assert!(contrast_sentence(&Comparison::default()).starts_with("Undecided: too few"));
}

#[test]
fn a_library_that_is_alone_in_the_list_is_not_most_of_what_was_measured() {
    let mut one = examples::slower();
    one.libraries = vec![examples::code("", "nginx", 20_000, 4_000_000)];
    let said = contrast_sentence(&one);
    assert!(!said.contains("nginx"), "4 ms are not most of 21 ms: {said}");
}

#[test]
fn an_intervention_is_shown_by_its_name() {
    let mut one = examples::slower();
    one.b.changes = vec!["with=tcp-nodelay".into()];
    assert!(text_of(&one).contains("\nB: with tcp-nodelay\n"));
}

#[test]
fn what_is_not_most_of_a_difference_is_not_named() {
    let mut one = examples::slower();
    // Half of it is now nobody's, and the rest is spread.
    one.ledger[0].b_ns = 8_000_000;
    one.ledger[4].b_ns = 18_000_000;
    one.libraries[0].b_ns = 5_000_000;
    one.libraries[1].b_ns = 6_000_000;
    one.metrics[1].b = one.metrics[1].a + 7_600_000.0;
    let said = contrast_sentence(&one);
    assert!(said.ends_with("5.41). Most of the difference in CPU time is in curl (+5.50 ms per run)."), "{said}");
}

#[test]
fn each_gate_has_a_line_of_its_own_before_all_else() {
    let text = text_of(&examples::gated());
    let expected = "\
fail-if wall > 1.05x: FAILED, wall is 1.21x (1.18 to 1.24)
fail-if cpu > 1.1x: passed, cpu is 1.00x (0.990 to 1.02)
fail-if p95 > 1.2x: undecided, p95 is 1.03x (0.840 to 1.31): the limit is within the interval

B is 5.22 times slower";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn gates_decide_the_outcome_whatever_the_difference() {
    let of = |states: &[GateState]| {
        let gates = states.iter().map(|state| Gate { state: *state, ..Gate::default() }).collect();
        comparison_conclusion(&Comparison { gates, ..examples::slower() })
    };
    assert_eq!(of(&[Passed, Passed]), Conclusion::Nothing);
    assert!(matches!(of(&[Passed, Open]), Conclusion::Inconclusive(_)));
    assert_eq!(of(&[Open, Failed]), Conclusion::Findings);
}

#[test]
fn a_ratio_beside_its_limit_shows_on_which_side_it_is() {
    let mut one = examples::gated();
    one.gates = vec![examples::gate("wall > 1.05x", 1.05, (1.0402, 1.0482, 1.0496), GateState::Passed)];
    assert!(text_of(&one).starts_with("fail-if wall > 1.05x: passed, wall is 1.0482x (1.04 to 1.0496)\n"));
    one.gates[0] = Gate { ratio: f64::NAN, state: GateState::Open, ..one.gates[0].clone() };
    assert!(text_of(&one).starts_with("fail-if wall > 1.05x: undecided, wall was not measured\n"));
}

#[test]
fn what_differs_between_the_sides_is_shown_and_nothing_else() {
    let mut one = examples::slower();
    one.a.changes.push("link.mtu=1500".into());
    one.b.changes.push("link.mtu=1500".into());
    one.b.command = vec!["wget".into(), "it's".into()];
    one.b.server = Vec::new();
    one.b.exit = Some(4);
    one.a.cases.clear();
    let expected = "
A: curl -s https://10.9.0.2/hello
   server: nginx -c /etc/nginx/story.conf
   with env.SSL_CERT_FILE=one.pem
   measured earlier
B: wget 'it'\\''s'
   no server started
   with env.SSL_CERT_FILE=all.pem
   exited with status 4

";
    let text = text_of(&one);
    assert!(text.contains(expected) && !text.contains("mtu"), "{text}");
}

#[test]
fn a_summary_made_elsewhere_is_what_is_said() {
    let one = Comparison { summary: "All is well.".into(), ..examples::slower() };
    assert!(text_of(&one).starts_with("All is well.\n\nBoth:"));
}

/// A comparison whose every string from outside is this one.
fn filled(text: &str) -> Comparison {
    let mut one = examples::gated();
    (one.summary, one.case, one.output) = (text.into(), text.into(), text.into());
    for side in [&mut one.a, &mut one.b] {
        (side.server, side.changes) = (vec![text.into()], vec![text.into()]);
    }
    (one.a.command, one.b.changes, one.b.server) =
        (vec![text.into()], vec![format!("{text} ")], vec!["x".into(), text.into()]);
    one.metrics.iter_mut().for_each(|metric| metric.metric = format!("stdout:{text}").into());
    one.ledger.iter_mut().for_each(|account| account.name = text.into());
    for code in one.libraries.iter_mut().chain(&mut one.functions).chain(&mut one.chain) {
        (code.function, code.module) = (text.into(), text.into());
    }
    one.calls.iter_mut().for_each(|call| (call.call, call.about) = (text.into(), text.into()));
    one.gates.iter_mut().for_each(|gate| (gate.condition, gate.metric) = (text.into(), text.into()));
    one.warnings = vec![text.into()];
    one
}

#[test]
fn names_from_outside_cannot_steer_the_terminal() {
    let mut one = filled("\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\n\u{202e}x");
    let mut text = text_of(&one);
    one.summary.clear();
    text += &text_of(&one);
    assert!(text.matches("[2J").count() >= 30, "{text}");
    let steering = text.chars().filter(|letter| letter.is_control() && *letter != '\n' || *letter == '\u{202e}');
    assert_eq!(steering.count(), 0, "{text:?}");
    assert_eq!(text.lines().filter(|line| line.starts_with("fail-if")).count(), 6, "{text}");
}

#[test]
fn no_line_but_a_gate_is_longer_than_80_columns() {
    let mut wide = filled(&"several words ".repeat(12));
    for metric in &mut wide.metrics {
        (metric.a, metric.b, metric.low, metric.high) = (1e30, f64::INFINITY, 1e-12, 7_654_321.0);
    }
    let all = [
        examples::slower(),
        examples::faster(),
        examples::same(),
        examples::open(),
        examples::busier(),
        examples::gated(),
        wide,
    ];
    for (one, width) in all.iter().flat_map(|one| [70, 80, 200].map(|width| (one, width))) {
        let text = crate::text(&Document::of(one), &Style { width, ..Style::default() });
        let lines = text.lines().filter(|line| !line.starts_with("fail-if") && !line.starts_with("Case"));
        let longest = lines.max_by_key(|line| line.chars().count()).unwrap_or_default();
        assert!(longest.chars().count() <= width.min(80), "{longest}\n{text}");
    }
}

#[test]
fn colour_only_adds_to_what_the_words_say() {
    let painted = crate::text(&Document::of(&examples::slower()), &Style { colour: crate::Colour::Ansi, width: 80 });
    assert!(painted.contains("\u{1b}[1m") && painted.contains("\u{1b}[33m"));
    let bare = ["\u{1b}[1m", "\u{1b}[33m", "\u{1b}[0m"].iter().fold(painted, |text, code| text.replace(code, ""));
    assert_eq!(bare, text_of(&examples::slower()));
}
