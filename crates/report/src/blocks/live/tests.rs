use super::*;
use crate::examples::answer as examples;

fn text_of(answer: &Answer) -> String {
    crate::text(&Document::of(answer), &Style::default())
}

#[test]
fn a_switch_in_a_running_program_is_shown_window_by_window() {
    let text = text_of(&examples::attached());
    assert!(
        text.contains("    before 22.5 | on 5,120 | off 22.0 | on 5,090 | after 21.5\n      before     22.0\n"),
        "{text}"
    );
    assert!(text.contains("\n      on        5,120  ######") && text.contains("\n      off        22.0\n"), "{text}");
    assert!(text.contains("    Reverted: everything is as it was; the program was not restarted.\n"), "{text}");
    assert!(text.starts_with("Confirmed: ") && !text.contains("Trials:") && !text.contains("run again"), "{text}");
}

#[test]
fn the_proof_says_that_it_was_the_running_program() {
    let text = text_of(&examples::attached());
    let expected = "
  Proved: with tcp-nodelay switched on in the running program a request took
  0.210 ms instead of 44.1 ms: 210 times less (95 % interval 198 to 223, 7
  windows). CPU time";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn without_requests_the_processor_is_what_is_compared() {
    let mut answer = examples::attached();
    for window in &mut answer.live[0].windows {
        (window.exchanges, window.cpu_ns) = (0, if window.on { 42_000_000 } else { 981_000_000 });
    }
    let text = text_of(&answer);
    assert!(text.contains("(CPU in use; no requests were\n    seen):\n"), "{text}");
    assert!(text.contains("    before 98 % | on 4.2 % | off 98 % | on 4.2 % | after 98 %\n"), "{text}");
    assert!(text.contains("      off        98 %  -------") && text.contains("      on        4.2 %  ##\n"), "{text}");
}

#[test]
fn what_could_not_be_set_back_says_how_to() {
    let mut answer = examples::attached();
    (answer.live[0].reverted, answer.live[0].problem) = (false, "the socket is gone".into());
    let text = text_of(&answer).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("NOT reverted: the socket is gone. Try: whyslow undo /home/me/"), "{text}");
    assert!(!text.contains("everything is as it was"), "{text}");
}

#[test]
fn a_program_that_ended_meanwhile_is_not_said_to_have_been_put_back() {
    let mut answer = examples::attached();
    answer.live[0].problem = "the program ended during the measurement".into();
    let text = text_of(&answer).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("But: the program ended during the measurement. Nothing was left switched on."), "{text}");
    assert!(!text.contains("was not restarted"), "{text}");
}

#[test]
fn what_did_not_take_effect_shows_why_and_no_chart() {
    let mut answer = examples::attached();
    let one = &mut answer.live[0];
    (one.windows, one.reached, one.problem) = (Vec::new(), 0, "no socket was open.".into());
    let text = text_of(&answer);
    assert!(
        text.contains("  tcp-nodelay, for nagle-delayed-ack:\n    Not switched on: no socket was open.\n"),
        "{text}"
    );
}

#[test]
fn what_the_table_of_trials_says_already_is_not_said_again() {
    let mut answer = examples::attached();
    answer.findings[0].tried = vec![examples::not_applied("tcp-nodelay", "no socket was open")];
    (answer.findings[0].status, answer.findings[0].effect) = (case::Status::Suspected, None);
    (answer.live[0].windows, answer.live[0].problem) = (Vec::new(), "no socket was open".into());
    let text = text_of(&answer);
    assert_eq!(text.matches("no socket was open").count(), 1, "{text}");
    assert!(!text.contains("Switched on and off"), "{text}");
}

#[test]
fn many_windows_are_summed_up_and_one_without_length_is_unknown() {
    let mut answer = examples::attached();
    let window = answer.live[0].windows[0];
    answer.live[0].windows = (0..90).map(|index| Window { on: (30..60).contains(&index), ..window }).collect();
    assert_eq!(text_of(&answer).lines().filter(|line| line.starts_with("      before ")).count(), 1);
    answer.live[0].windows = vec![Window { wall_ns: 0, ..window }];
    assert!(text_of(&answer).contains("    before unknown\n"));
}

#[test]
fn time_watched_is_not_called_a_run() {
    let answer = Answer { exchanges: 0, ..examples::attached() };
    assert!(text_of(&answer).contains("40.9 ms of the 44.0 ms watched (93 %)."), "{}", text_of(&answer));
}

#[test]
fn names_from_outside_cannot_steer_the_terminal_nor_widen_it() {
    let hostile = "\u{1b}[2J\u{7}\n\u{1}\u{202e}x ".repeat(9);
    let mut answer = examples::attached();
    let one = &mut answer.live[0];
    (one.intervention, one.finding, one.problem) = (hostile.clone(), hostile.clone(), hostile);
    let text = text_of(&answer);
    let steering = text.chars().filter(|letter| letter.is_control() && *letter != '\n' || *letter == '\u{202e}');
    assert_eq!(steering.count(), 0, "{text:?}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}
