use crate::block::Section;
use crate::document::{Body, Document};
use crate::examples::answer as examples;
use crate::examples::comparison as compared;
use crate::examples::sweep as swept;
use crate::page::section;
use case::Answer;

/// The text of the section, as one reads it.
fn told(body: Body) -> String {
    let html = section(&Document::of(body), Section::Verdict);
    let html = html.replace("</dt>", "</dt> ");
    let text = html.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text)).collect::<String>();
    let text = text.replace("&#39;", "'").replace("&#38;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn of(answer: &Answer) -> String {
    told(Body::Answer(answer))
}

#[test]
fn a_confirmed_cause_is_told_with_the_proofs_numbers() {
    let text = of(&examples::proved());
    assert!(text.contains("Confirmed nagle-delayed-ack each request waits 40.9 ms for a delayed ACK"), "{text}");
    assert!(text.contains("as it is 44.1 ms with tcp-nodelay 0.210 ms 210 times less"), "{text}");
    assert!(text.contains("Proved: with tcp-nodelay a request took 0.210 ms instead of 44.1 ms"), "{text}");
    assert!(text.contains("Where client.py:31 in send_body") && text.contains("93 % of request time"), "{text}");
    assert!(text.contains("Trials: 132 runs in 12 rounds"), "{text}");
}

#[test]
fn a_suspicion_is_told_as_no_more_than_that() {
    let text = of(&examples::slow());
    assert!(text.contains("Suspected nagle-delayed-ack"), "{text}");
    assert!(text.contains("this is a suspicion, not a proof.") && !text.contains("times less"), "{text}");
}

#[test]
fn a_refuted_suspicion_has_no_remedy() {
    let text = of(&examples::refuted());
    assert!(text.starts_with("No cause found.") && text.contains("Refuted sync-disk"), "{text}");
    assert!(text.contains("it is not the cause") && !text.contains("Remedy"), "{text}");
}

#[test]
fn what_trials_left_open_is_inconclusive() {
    let text = of(&examples::undecided());
    assert!(text.starts_with("Inconclusive. The trials left every suspicion open."), "{text}");
    assert!(text.contains("this neither proves nor refutes it"), "{text}");
}

#[test]
fn a_healthy_program_is_told_where_its_time_went() {
    let text = of(&examples::healthy());
    assert_eq!(text, "No cause found. 93 % of the time was the server thinking.");
}

#[test]
fn what_was_had_together_is_what_is_drawn() {
    let text = of(&examples::ladder());
    assert!(text.contains("with parse-ca-once + share-ssl-context + resume-sessions"), "{text}");
    assert!(text.contains("Together: With parse-ca-once, share-ssl-context and resume-sessions"), "{text}");
}

#[test]
fn a_switch_in_a_running_program_is_drawn_over_time() {
    let answer = examples::attached();
    let document = Document {
        body: Body::Answer(&answer),
        sides: Vec::new(),
        differences: Vec::new(),
        arms: Vec::new(),
        manifest: None,
    };
    let html = section(&document, Section::Verdict);
    assert_eq!(html.matches("<rect class=\"on\"").count(), 2);
    assert_eq!(html.matches("<rect class=\"off\"").count(), 5);
    assert!(html.contains("aria-label=\"before 22.5, on 5,120, off 22.0, on 5,090, after 21.5\""), "{html}");
    assert!(html.contains("Reverted: everything is as it was"), "{html}");
}

#[test]
fn a_comparison_and_a_sweep_are_told_in_their_sentences() {
    let text = told(Body::Comparison(&compared::gated()));
    assert!(text.starts_with("limit fail-if ") && text.contains("A ") && text.contains("Trials: "), "{text}");
    assert!(told(Body::Sweep(&swept::cliff())).contains("Why between "));
}
