use crate::blocks::lead::sweep_sentence;
use crate::conclusion::{Conclusion, sweep_conclusion};
use crate::document::Document;
use crate::examples::sweep as examples;
use crate::style::Style;
use case::{Point, Status, Sweep};

fn text_of(one: &Sweep) -> String {
    crate::text(&Document::of(one), &Style::default())
}

#[test]
fn a_cliff_is_located_explained_and_drawn() {
    let text = text_of(&examples::cliff());
    let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let located = "Between 1418 and 1420 the time per request drops from 44.0 ms to 0.214 ms (cliff). Why between \
                   1418 and 1420: segments";
    assert!(flowing.starts_with(located), "{text}");
    assert!(
        text.contains(
            "Time per request by size (both logarithmic; o measured, | interval, : cliff):\n         | o        o"
        ),
        "{text}"
    );
    assert_eq!(sweep_conclusion(&examples::cliff()), Conclusion::Findings);
}

#[test]
fn the_table_marks_the_cliff_and_what_went_wrong() {
    let expected = "
  64           44.0 ms (42.7 to 45.3)        22.7      12
    but: 2 of 14 trials exited with status 1
  256          44.0 ms (42.7 to 45.3)        22.7      12
  1024         44.0 ms (42.7 to 45.3)        22.7      12
  1408         44.0 ms (42.7 to 45.3)        22.7      12
  1418         44.0 ms (42.7 to 45.3)        22.7      12
  -- cliff --
  1420         214 us (207 to 220)          4,680      12
";
    let text = text_of(&examples::cliff());
    assert!(text.contains(expected), "{text}");
    assert_eq!(text.matches("-- cliff --").count(), 1, "{text}");
}

#[test]
fn each_stretch_says_what_was_found_and_what_ends_between_them() {
    let text = text_of(&examples::cliff());
    let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts = [
        "1 to 1418, recorded at 64: nagle-delayed-ack, up to 40.9 ms per request (93 %): each request waits",
        "From 1418 to 1420: nagle-delayed-ack ends.",
        "1420 to 16K, recorded at 4096: no cause found. 93 % of the time",
    ];
    let places = parts.map(|part| flowing.find(part).unwrap_or_else(|| panic!("{part} in {text}")));
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn a_cliff_without_a_reason_falls_back_on_the_segment_and_then_on_nothing() {
    let mut one = examples::cliff();
    one.cliffs[0].reason.clear();
    let flowing = |one: &Sweep| text_of(one).split_whitespace().collect::<Vec<_>>().join(" ");
    let segment = "holds 1448 bytes, 29 of them not part of the size, so 1419 is the last to fit one segment.";
    assert!(flowing(&one).contains(segment), "{}", flowing(&one));
    one.cliffs[0].segment = None;
    assert!(text_of(&one).contains("Why between 1418 and 1420: not known.\n"));
}

#[test]
fn growth_out_of_hand_names_what_grows_and_who_calls_it() {
    let text = text_of(&examples::growth());
    assert!(
        text.starts_with(
            "The time per run grows with items to the power of 1.97 (1.90 to 2.05):\nsuperlinear; the code that \
             grows is __rawmemchr_avx2 under __isoc99_sscanf.\n"
        ),
        "{text}"
    );
    let expected = "
What grows with items (CPU time, callees included; share at 63000):
  exponent   share
      1.97  99.9 %  main (gta)
      1.98    97 %   parse_items (gta)
      1.99    97 %    __isoc99_sscanf (libc.so.6)
      1.99    97 %     __vfscanf_internal (libc.so.6)
      2.01    96 %      __rawmemchr_avx2 (libc.so.6)
";
    assert!(text.contains(expected), "{text}");
    assert_eq!(sweep_conclusion(&examples::growth()), Conclusion::Findings);
}

#[test]
fn what_grows_in_the_program_itself_is_named_under_its_caller() {
    let mut one = examples::growth();
    let growth = one.growth.as_mut().expect("growth");
    growth.chain.truncate(2);
    assert!(sweep_sentence(&one).ends_with("the code that grows is parse_items under main."));
    one.growth.as_mut().expect("growth").chain.clear();
    assert!(sweep_sentence(&one).ends_with("(1.90 to 2.05): superlinear."));
}

#[test]
fn growth_in_proportion_accuses_nothing() {
    let mut one = examples::proportional();
    let expected = "The time per run grows linearly with items (exponent 1.02, 0.98 to 1.06).";
    assert_eq!(sweep_sentence(&one), expected);
    assert_eq!(sweep_conclusion(&one), Conclusion::Nothing);
    assert!(!text_of(&one).contains("What grows"));
    one.regimes.clear();
    assert!(matches!(sweep_conclusion(&one), Conclusion::Inconclusive(_)), "it was ended early");
}

#[test]
fn values_at_which_the_program_fails_are_part_of_the_answer() {
    let mut one = examples::proportional();
    let problem = "it was killed by signal 9".to_string();
    let failed = |value: f64| Point { value, label: value.to_string(), problem: problem.clone(), ..Point::default() };
    one.points.push(failed(64_000.0));
    assert!(sweep_sentence(&one).ends_with(". At 64000 no trial was sound: it was killed by signal 9."));
    one.points.push(failed(128_000.0));
    let said = sweep_sentence(&one);
    assert!(
        said.ends_with("At 2 values from 64000 to 128000 no trial was sound: it was killed by signal 9."),
        "{said}"
    );
    one.points.iter_mut().for_each(|point| point.left_out = true);
    assert!(!sweep_sentence(&one).contains("sound"), "what was not tried did not fail");
}

#[test]
fn every_exponent_has_its_words() {
    let said = |low: f64, exponent: f64, high: f64| {
        let mut one = examples::proportional();
        let growth = one.growth.as_mut().expect("growth");
        (growth.low, growth.exponent, growth.high) = (low, exponent, high);
        sweep_sentence(&one)
    };
    assert!(said(1.08, 1.12, 1.16).ends_with("to the power of 1.12 (1.08 to 1.16): no faster than sorting."));
    assert!(
        said(1.1, 1.2, 1.6).ends_with("(1.10 to 1.60): faster than linearly, but not clearly faster than sorting.")
    );
    assert!(
        said(1.2, 2.1, 4.0)
            .contains("power of 2.10 (1.20 to 4.00); faster than linearly, but the interval is too wide")
    );
    assert!(said(-0.2, 0.01, 0.2).starts_with("The time per run shows no dependence on items: it ranges from"));
    assert!(said(0.4, 0.5, 0.6).ends_with("grows more slowly than items (exponent 0.50, 0.40 to 0.60)."));
    assert!(
        said(0.4, 1.0, 1.6).ends_with("to the power of 1.00 (0.40 to 1.60); the interval is too wide to say more.")
    );
    assert!(
        said(-1.02, -0.99, -0.96).ends_with("is inversely proportional to items (exponent -0.99, -1.02 to -0.96).")
    );
    assert!(said(-0.03, -0.002, 0.03).contains("does not depend on items: it ranges from 0.100 s (at 1000)"));
}

#[test]
fn what_is_level_says_within_what_and_its_picture_begins_at_zero() {
    let text = text_of(&examples::level());
    assert!(
        text.starts_with("No cliff and no growth: the time per request stays within 2.9 % (5.13 ms to\n5.28 ms)."),
        "{text}"
    );
    assert!(text.contains("\n       0 |\n"), "{text}");
    assert!(
        text.contains("What recordings show:\n  1 to 6, recorded at 6: no cause found. 93 % of it is one call.\n"),
        "{text}"
    );
    assert_eq!(sweep_conclusion(&examples::level()), Conclusion::Nothing);
}

#[test]
fn a_knee_is_named_and_marked_below_the_picture() {
    let text = text_of(&examples::knee());
    assert!(
        text.starts_with("The time per request has a knee at concurrency 8 (7.10 to 9.20): it grows with\nthe power of 0.01 below and 0.99 above."),
        "{text}"
    );
    assert_eq!(text.matches("----^----").count(), 1, "{text}");
}

#[test]
fn the_knee_of_a_load_is_what_the_server_can_bear() {
    let text = text_of(&examples::capacity());
    let said = "The server keeps up with 1,590 requests a second (1,560 to 1,610); beyond that it answers 1,590 a second at most (knee).";
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(said), "{text}");
    assert!(!text.contains("dependence") && text.contains("rate of answers"), "{text}");
}

#[test]
fn names_have_bars_and_no_curve() {
    let text = text_of(&examples::categories());
    assert!(text.starts_with("The p95 request time is lowest with leastconn (20.4 ms) and highest with"), "{text}");
    assert!(text.contains("      12  ######################\n") && !text.contains("o measured"), "{text}");
    assert!(text.contains("  first\n    no sound trial: the server did not start: exit status 1\n"), "{text}");
}

#[test]
fn names_whose_intervals_overlap_are_not_distinguished() {
    let mut one = examples::categories();
    one.points[1].high = 330e6;
    assert!(sweep_sentence(&one).contains("with leastconn and 334 ms with roundrobin, and their intervals overlap."));
}

#[test]
fn without_a_sound_trial_nothing_is_said() {
    let text = text_of(&examples::failed());
    assert!(text.starts_with("No value had a sound trial, so nothing can be said.\n"), "{text}");
    assert!(text.contains("  2\n    no sound trial: the command exited with status 2\n"), "{text}");
    assert!(matches!(sweep_conclusion(&examples::failed()), Conclusion::Inconclusive(_)));
    assert!(matches!(sweep_conclusion(&Sweep::default()), Conclusion::Inconclusive(_)));
}

#[test]
fn a_few_sound_values_among_failures_leave_it_open() {
    let mut one = examples::failed();
    one.points[0] = examples::level().points[0].clone();
    assert!(matches!(sweep_conclusion(&one), Conclusion::Inconclusive(why) if why.contains("Of 3 values only 1")));
    assert!(sweep_sentence(&one).starts_with("Only one value"), "{}", sweep_sentence(&one));
}

#[test]
fn a_suspicion_anywhere_is_a_finding_and_a_refuted_one_is_none() {
    let mut one = examples::level();
    one.regimes[0].findings = crate::examples::answer::slow().findings;
    assert_eq!(sweep_conclusion(&one), Conclusion::Findings);
    one.regimes[0].findings[0].status = Status::Refuted;
    assert_eq!(sweep_conclusion(&one), Conclusion::Nothing);
    assert!(text_of(&one).contains("no cause found"));
}

fn all() -> [Sweep; 8] {
    [
        examples::cliff(),
        examples::growth(),
        examples::proportional(),
        examples::level(),
        examples::knee(),
        examples::capacity(),
        examples::categories(),
        examples::failed(),
    ]
}

/// A sweep whose every string from outside is this one.
fn filled(mut one: Sweep, text: &str) -> Sweep {
    (one.summary, one.case, one.parameter) = (text.into(), text.into(), text.into());
    (one.command, one.server, one.warnings) = (vec![text.into()], vec![text.into()], vec![text.into()]);
    one.metric = format!("stdout:{text}").into();
    one.points.iter_mut().for_each(|point| point.problem = text.into());
    one.points.iter_mut().skip(1).step_by(2).for_each(|point| point.label = text.into());
    one.cliffs.iter_mut().for_each(|cliff| cliff.reason = text.into());
    for regime in &mut one.regimes {
        (regime.case, regime.summary) = (text.into(), text.into());
        for finding in &mut regime.findings {
            (finding.name, finding.title) = (text.into(), text.into());
        }
    }
    for growing in one.growth.iter_mut().flat_map(|growth| &mut growth.chain) {
        (growing.function, growing.module) = (text.into(), text.into());
    }
    one
}

#[test]
fn names_from_outside_cannot_steer_the_terminal() {
    for one in all() {
        let mut one = filled(one, "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\n\u{202e}x");
        let mut text = text_of(&one);
        one.summary.clear();
        text += &text_of(&one);
        let steering = text.chars().filter(|letter| letter.is_control() && *letter != '\n' || *letter == '\u{202e}');
        assert_eq!(steering.count(), 0, "{text:?}");
        assert!(text.matches("[2J").count() >= 12, "{text}");
    }
}

#[test]
fn no_line_is_longer_than_80_columns() {
    let wide = all().map(|one| filled(one, &"several words ".repeat(12)));
    for (one, width) in all().iter().chain(&wide).flat_map(|one| [70, 80, 200].map(|width| (one, width))) {
        let text = crate::text(&Document::of(one), &Style { width, ..Style::default() });
        let lines = text.lines().filter(|line| !line.starts_with("Case"));
        let longest = lines.max_by_key(|line| line.chars().count()).unwrap_or_default();
        assert!(longest.chars().count() <= width.min(80), "{longest}\n{text}");
    }
}

#[test]
fn figures_that_are_none_do_not_break_the_picture() {
    let mut one = examples::cliff();
    (one.points[2].low, one.points[3].high) = (f64::NAN, f64::INFINITY);
    (one.points[4].measured, one.points[5].value, one.points[6].low) = (f64::NAN, f64::INFINITY, -1.0);
    one.cliffs[0].below = f64::NAN;
    assert!(text_of(&one).contains("Time per request by size (both logarithmic"));
}
