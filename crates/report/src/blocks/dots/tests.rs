use super::*;
use crate::examples::answer as examples;
use crate::examples::comparison as compared;
use case::Answer;
use case::views::{ArmDots, Dot};

const TIME: &str = "wall_ns_per_exchange";

fn arm(name: &str, values: &[f64]) -> ArmDots {
    let dots = values.iter().enumerate();
    let dots = dots.map(|(round, value)| Dot { round: round as u32, value: *value, counts: *value > 0.0 });
    ArmDots { arm: name.into(), metric: TIME.into(), dots: dots.collect() }
}

fn drawn(answer: &Answer, arms: Vec<ArmDots>) -> String {
    html(&Document { body: Body::Answer(answer), sides: Vec::new(), differences: Vec::new(), arms, manifest: None })
}

fn row<'a>(html: &'a str, intervention: &str) -> &'a str {
    let from = html.split(&format!("data-intervention=\"{intervention}\"")).nth(1).expect("a row");
    from.split("data-intervention=").next().unwrap_or_default()
}

#[test]
fn every_intervention_has_a_row_with_its_dots_and_its_ratio_in_words() {
    let arms = vec![
        arm("plain", &[44e6, 44e6]),
        arm("nothing", &[44e6, 45e6, 43e6]),
        arm("tcp-nodelay", &[0.2e6, 0.22e6]),
        arm("delayed-ack-cap=8ms", &[8e6]),
    ];
    let html = drawn(&examples::proved(), arms);
    let nodelay = row(&html, "tcp-nodelay");
    assert_eq!(nodelay.matches("<circle").count(), 5, "{nodelay}");
    assert!(nodelay.contains("<strong>210 times less</strong>") && nodelay.contains("198 to 223"), "{nodelay}");
    assert!(row(&html, "quickack-client").contains("changed nothing, as it must"), "{html}");
    assert!(row(&html, "sham").contains("changes nothing, as it must"), "{html}");
    assert!(row(&html, "socket-options").contains("no program loaded it: statically linked"), "{html}");
    assert!(html.contains("time per request (logarithmic)") && html.contains("10 ms"), "{html}");
}

#[test]
fn a_trial_that_does_not_count_is_hollow() {
    let mut arms = vec![arm("tcp-nodelay", &[0.2e6, 0.3e6])];
    arms[0].dots[1].counts = false;
    let html = drawn(&examples::proved(), arms);
    assert_eq!(row(&html, "tcp-nodelay").matches("class=\"fast hollow\"").count(), 1);
    assert!(html.contains("a trial that does not count"));
}

#[test]
fn without_trials_the_figures_are_still_there() {
    let html = drawn(&examples::refuted(), Vec::new());
    assert!(
        row(&html, "no-fsync").contains("did nothing") && !html.contains("<circle class=\"fast\" cx=\"5"),
        "{html}"
    );
    assert_eq!(drawn(&examples::slow(), Vec::new()), "");
}

#[test]
fn what_two_findings_share_is_shown_once() {
    let mut answer = examples::proved();
    answer.findings.push(answer.findings[0].clone());
    let html = drawn(&answer, Vec::new());
    assert_eq!(html.matches("data-intervention=\"tcp-nodelay\"").count(), 1);
}

#[test]
fn a_comparison_has_a_row_for_each_metric() {
    let comparison = compared::slower();
    let count = comparison.metrics.len();
    let document = Document {
        body: Body::Comparison(&comparison),
        sides: Vec::new(),
        differences: Vec::new(),
        arms: Vec::new(),
        manifest: None,
    };
    let html = html(&document);
    assert_eq!(html.matches("data-intervention=\"B\"").count(), count);
    assert!(html.contains("times A</strong>"), "{html}");
}
