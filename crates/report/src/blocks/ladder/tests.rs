use super::examples::{MS, US, arrival, event, held};
use super::html;
use super::layout::Layout;
use crate::document::{Body, Document, SideViews};
use case::views::{EventKind, Ladder, Lengths, SegmentKind, Views, Why};
use case::{Account, Comparison, End, Place};

fn drawn(sides: Vec<(&str, Vec<Ladder>)>) -> String {
    let comparison = Comparison::default();
    let sides = sides.into_iter().map(|(name, ladders)| {
        let lengths = Lengths { count: 100, ..Lengths::default() };
        SideViews { name: name.to_string(), views: Views { ladders, lengths, ..Views::default() } }
    });
    let sides = sides.collect();
    html(&Document {
        body: Body::Comparison(&comparison),
        sides,
        differences: Vec::new(),
        arms: Vec::new(),
        manifest: None,
    })
}

/// The drawing alone.
fn svg(html: &str) -> &str {
    let from = html.find("<svg").expect("a drawing");
    &html[from..from + html[from..].find("</svg>").expect("its end")]
}

#[test]
fn a_delay_is_named_and_measured_in_the_drawing() {
    let html = drawn(vec![("", vec![held()])]);
    let svg = svg(&html);
    assert!(svg.contains("held by Nagle until the peer"), "{svg}");
    assert!(svg.contains(">40.9 ms<"), "{svg}");
    assert!(svg.contains("client.py:31 send_body"), "{svg}");
    assert!(svg.contains("91 bytes, TLS application data 86"), "{svg}");
    assert!(svg.contains("python3 (4711)") && svg.contains("nginx (815)"), "{svg}");
}

#[test]
fn a_sentence_says_which_request_and_where_most_of_its_time_went() {
    let html = drawn(vec![("", vec![held()])]);
    let sentence = "Typical: request 51 of 100, 44.0 ms. 40.9 of 44.0 ms: held by Nagle until the peer acknowledges.";
    assert!(html.contains(sentence), "{html}");
}

#[test]
fn the_gap_of_a_hold_is_higher_than_all_others_together() {
    let layout = Layout::of(&held());
    let gaps: Vec<f64> = layout.gaps().map(|(_, _, top, bottom)| bottom - top).collect();
    let highest = gaps.iter().copied().fold(0.0, f64::max);
    assert!(highest > gaps.iter().sum::<f64>() - highest, "{gaps:?}");
    // With the rows, too: half of the whole drawing is that gap.
    assert!(highest > layout.height / 2.0, "{highest} of {}", layout.height);
}

#[test]
fn gaps_are_to_scale() {
    let layout = Layout::of(&held());
    for (from, to, top, bottom) in layout.gaps() {
        assert!(((bottom - top) - (to - from) as f64 * layout.scale).abs() < 1e-6);
    }
    let (bar, height) = layout.bar();
    assert!((height - bar as f64 * layout.scale).abs() < 1e-6);
    assert_eq!(bar, 2 * MS);
}

#[test]
fn the_table_holds_every_step_without_a_script() {
    let html = drawn(vec![("", vec![held()])]);
    assert_eq!(html.matches("<tr data-step=").count(), held().events.len() + 1);
    assert!(html.contains("/srv/client.py:31 in send_body"), "{html}");
    assert!(html.contains("application data, 86 bytes"), "{html}");
}

#[test]
fn words_from_outside_are_escaped_wherever_they_are_shown() {
    let hostile = "</text><script>alert(1)</script>\"'\u{202e}";
    let mut ladder = held();
    let account = Account::UserCpu { end: End::Client, module: Some(hostile.to_string()) };
    ladder.why = Why::MostOf { account: account.clone() };
    ladder.lanes[0].process = hostile.to_string();
    ladder.stretches[1].account = account;
    for step in &mut ladder.events {
        (step.label, step.process) = (hostile.to_string(), hostile.to_string());
        step.records = vec![hostile.to_string()];
        let (function, file) = (hostile.to_string(), hostile.to_string());
        step.place = Some(Place { function, file, module: hostile.to_string(), line: 3 });
    }
    let html = drawn(vec![("", vec![ladder.clone()])]) + &drawn(vec![(hostile, vec![held()]), ("B", vec![ladder])]);
    assert!(!html.contains("<script") && !html.contains('\u{202e}'), "{html}");
    assert_eq!(html.matches("</text>").count(), html.matches("<text").count());
    assert!(html.contains("id=\"ladder-text-script-alert-1-script-51\""), "{html}");
}

#[test]
fn each_side_has_its_typical_request_under_its_name() {
    let worst = Ladder { why: Why::Worst, number: 2, ..held() };
    let html = drawn(vec![("A", vec![held(), worst.clone()]), ("B", vec![held()])]);
    assert!(html.contains("id=\"ladder-A-51\"") && html.contains("id=\"ladder-B-51\""), "{html}");
    assert!(html.contains("A: typical: request 51 of 100"), "{html}");
    assert!(!html.contains("-2\""), "{html}");
    let html = drawn(vec![("", vec![held(), worst])]);
    assert!(html.contains("id=\"ladder-51\"") && html.contains("id=\"ladder-2\""), "{html}");
    assert_eq!(html.matches(" checked>").count(), 1);
}

#[test]
fn an_end_that_was_not_recorded_says_so() {
    let mut ladder = held();
    ladder.lanes[1].process.clear();
    ladder.events = vec![
        event(0, 0, EventKind::Write, "write 112 bytes"),
        event(20 * US, 0, EventKind::Segment, "112 bytes"),
        arrival(43 * MS, 0, SegmentKind::Data, "300 bytes"),
    ];
    let html = drawn(vec![("", vec![ladder])]);
    assert!(svg(&html).contains("not recorded"));
    assert_eq!(svg(&html).matches("data unseen").count(), 2);
}

#[test]
fn nothing_to_show_is_no_section() {
    assert_eq!(drawn(vec![("", Vec::new())]), "");
}
