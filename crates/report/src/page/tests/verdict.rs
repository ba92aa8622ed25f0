use crate::block::Section;
use crate::document::{Body, Document};
use crate::examples::answer as examples;
use crate::examples::comparison as compared;
use crate::examples::sweep as swept;
use crate::page::section;
use case::Answer;

/// The text of the section, as one reads it.
fn text_of(body: Body) -> String {
    let html = section(&Document::of(body), Section::Verdict);
    let html = html.replace("</dt>", "</dt> ");
    let text = html.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text)).collect::<String>();
    let text = text.replace("&#39;", "'").replace("&#38;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn of(answer: &Answer) -> String {
    text_of(Body::Answer(answer))
}

#[test]
fn a_confirmed_cause_is_shown_with_the_proofs_numbers() {
    let text = of(&examples::proved());
    assert!(
        text.contains(
            "Confirmed nagle-delayed-ack Nagle's algorithm and delayed ACKs hold the client's writes: 43.9 ms"
        ),
        "{text}"
    );
    assert!(text.contains("as it is 44.1 ms with tcp-nodelay 0.210 ms 210 times less"), "{text}");
    assert!(text.contains("Proved: with tcp-nodelay a request took 0.210 ms instead of 44.1 ms"), "{text}");
    assert!(text.contains("Where client.py:31 in send_body") && text.contains("% of request time, measured"), "{text}");
    assert!(text.contains("Trials: 132 runs in 12 rounds"), "{text}");
}

#[test]
fn a_suspicion_is_called_no_more_than_that() {
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
    assert!(text.starts_with("Inconclusive. The trials settled none of the suspicions."), "{text}");
    assert!(text.contains("this neither proves nor refutes it"), "{text}");
}

#[test]
fn of_a_healthy_program_it_says_where_its_time_went() {
    let text = of(&examples::healthy());
    assert_eq!(text, "No cause found. 93 % of the time was the server thinking.");
}

#[test]
fn what_was_had_together_is_what_is_drawn() {
    let text = of(&examples::stepwise());
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
fn a_comparison_and_a_sweep_have_sentences_of_their_own() {
    let text = text_of(Body::Comparison(&compared::gated()));
    assert!(text.starts_with("limit fail-if ") && text.contains("A ") && text.contains("Trials: "), "{text}");
    assert!(text_of(Body::Sweep(&swept::cliff())).contains("Why between "));
}
