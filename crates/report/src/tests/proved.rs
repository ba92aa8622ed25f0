//! What the terminal says once suspicions have been tried.

use crate::document::Document;
use crate::examples::answer as examples;
use crate::style::Style;
use case::Answer;

/// The text up to the ledger, or all of it.
fn text_of(answer: &Answer) -> String {
    let text = crate::text(&Document::of(answer), &Style::default());
    text.split("\nWhere the time went").next().unwrap_or_default().to_string()
}

#[test]
fn a_proved_cause_shows_its_trials_doses_and_controls() {
    let text = text_of(&examples::proved());
    let head =
        "Confirmed: Nagle's algorithm and delayed ACKs hold the client's writes: 43.9 ms\n  (43.8 to 43.9) of every";
    assert!(text.starts_with(head), "{text}");
    let parts = [
        "\n  Proved: with tcp-nodelay a request took 0.210 ms instead of 44.1 ms: 210 times\n  less (95 % interval 198 to 223",
        "\n    tcp-nodelay      44.1 ms -> 0.210 ms   210 (198 to 223)     confirmed\n",
        "\n    socket-options   did not take effect: no program loaded it: statically\n      linked\n",
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
    let text = text_of(&examples::refuted());
    assert!(text.starts_with("No cause found.") && text.ends_with(expected), "{text}");
}

#[test]
fn an_undecided_suspicion_keeps_its_remedy_and_says_that_it_is_open() {
    let text = text_of(&examples::undecided());
    assert!(text.starts_with("Inconclusive. The trials settled none of the suspicions."), "{text}");
    let expected = "
  Undecided: with tcp-nodelay a request took 40.8 ms instead of 44.1 ms: 1.08
  times less (95 % interval 0.930 to 1.26, 24 trials; sham 1.00): this neither
  proves nor refutes it.
";
    assert!(text.contains("  Remedy: Set TCP_NODELAY") && text.contains(expected), "{text}");
}

#[test]
fn two_causes_are_shown_each_alone_and_both_together() {
    let text = text_of(&examples::two_causes());
    assert_eq!(text.matches("\nConfirmed: ").count() + usize::from(text.starts_with("Confirmed: ")), 2, "{text}");
    let expected = "
Together: with tcp-nodelay and no-fsync a request took 0.386 ms instead of
  66.0 ms: 171 times less (95 % interval 160 to 184, 20 trials). Of that,
  no-fsync adds, on top of the others: 51.2 times less (95 % interval 48.0 to
  54.9).
";
    assert!(text.contains(expected) && !text.contains("Step by step"), "{text}");
}

#[test]
fn a_ladder_is_printed_step_by_step() {
    let expected = "
  Step by step (time per request; ratios are before / after, 95 % intervals):
                         with it  so far               this step
    parse-ca-once        22.0 ms  3.00 (2.90 to 3.10)  3.00 (2.90 to 3.10)
    + share-ssl-context  11.0 ms  6.00 (5.80 to 6.20)  2.00 (1.95 to 2.06)
    + resume-sessions    5.45 ms  12.1 (11.6 to 12.5)  2.02 (1.98 to 2.07)
";
    let text = text_of(&examples::stepwise());
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_step_that_did_not_take_effect_is_not_the_most_that_was_had() {
    let mut answer = examples::stepwise();
    answer.together[2].applied = false;
    let text = text_of(&answer);
    assert!(text.contains("Together: with parse-ca-once and share-ssl-context a request took 11.0 ms"), "{text}");
    assert!(text.contains("    + resume-sessions             did not take effect\n"), "{text}");
}

#[test]
fn how_it_was_tried_closes_the_answer() {
    let text = crate::text(&Document::of(&examples::proved()), &Style::default());
    assert!(text.contains("\nTrials: 132 runs in 12 rounds, 41.2 s of the 60.0 s budget. "), "{text}");
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
    assert!(said("different").contains(" The program's output was not always the same."));
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
    let text = text_of(&answer);
    assert!(text.contains("No trial of it gave a result: this is a suspicion, not a proof."), "{text}");
    assert!(text.contains("    tcp-nodelay  did not take effect: no connection was seen\n"), "{text}");
}

#[test]
fn what_an_intervention_broke_is_said_below_it() {
    let mut answer = examples::proved();
    answer.findings[0].tried[1].problem = "the output was different in 3 of 12 trials".into();
    let text = text_of(&answer);
    assert!(text.contains("confirmed\n      but: the output was different in 3 of 12 trials\n"), "{text}");
}

#[test]
fn an_intervention_without_sound_trials_shows_no_figures() {
    let mut answer = examples::proved();
    let dose = &mut answer.findings[0].tried[3];
    (dose.ratio, dose.low, dose.high, dose.before, dose.after) = (0.0, 0.0, 0.0, f64::INFINITY, f64::INFINITY);
    let text = text_of(&answer);
    assert!(text.contains("    40 ms  gave no result: too few of its trials ended well\n"), "{text}");
    assert!(text.contains("    without  44.1 ms ") && !text.contains("unknown"), "{text}");
}

#[test]
fn a_higher_rate_of_the_programs_own_is_called_more() {
    let mut answer = examples::proved();
    let finding = &mut answer.findings[0];
    for one in &mut finding.tried {
        one.metric = "stdout-more:([0-9]+) orders/s".into();
        (one.before, one.after) = (22.7, 22.7 * one.ratio);
    }
    finding.effect = Some(examples::effect(&finding.tried[0], Vec::new()));
    let text = text_of(&answer);
    let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let proved = "Proved: with tcp-nodelay the output figure '([0-9]+) orders/s' was 4,770 instead of 22.7: 210 times more (95 %";
    assert!(flowing.contains(proved), "{text}");
    assert!(text.contains("  Tried (ratios are after / before, with their 95 % intervals):\n"), "{text}");
}

#[test]
fn without_a_trial_nothing_is_said_of_trials() {
    let mut answer = examples::slow();
    answer.proof = Some(case::Proof { spent_ns: 520, budget_ns: 1, ..case::Proof::default() });
    assert!(!crate::text(&Document::of(&answer), &Style::default()).contains("Trials"));
}

#[test]
fn what_hurts_is_said_before_a_finding_that_is_not_it() {
    use case::{Account, AccountGroup, End, Heaviest, Place};
    let mut answer = examples::slow();
    (answer.findings[0].cost.share_of_wall, answer.findings[0].cost.share_of_cpu) = (0.03, 0.4);
    let place = Place { function: "answer".into(), file: "/srv/server.py".into(), line: 14, ..Place::default() };
    answer.heaviest = Some(Heaviest {
        group: AccountGroup::ServerBlocked,
        ns: 40_000_000,
        of_ns: 44_000_000,
        account: Account::Blocked {
            end: End::Server,
            call: "futex".into(),
            wait: case::facts::Wait::Lock,
            object: None,
        },
        share_of_group: 1.0,
        place: vec![place],
        ..Heaviest::default()
    });
    let text = text_of(&answer);
    let first = "91 % of each 44.0 ms request is the server waiting for a lock or another thread\n(futex), \
                 server.py:14 in answer.\n";
    assert!(text.starts_with(first), "{text}");
    let (_, rest) = text.split_once(first).expect("the first sentence");
    assert!(rest.trim_start().starts_with("Suspected: each request waits 40.9 ms"), "{text}");
    answer.findings[0].cost.share_of_wall = 0.93;
    assert!(text_of(&answer).starts_with("Suspected: "), "a finding that explains it leads");
    // Where nothing was recognised the wait is said all the same, with whom it is for.
    answer.findings.clear();
    answer.waits = Some(lock_held_by_a_sleeper());
    let text = text_of(&answer);
    let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = "server.py:14 in answer. It waits for another thread, which is asleep (clock_nanosleep), 20.0 ms each time, \
                  book.py:99 in write. No known cause of slowness was recognised.";
    assert!(flowing.contains(wanted) && !text.contains("No cause found"), "{text}");
    let tree = "\nWho waits for whom in each 44.0 ms request:\n   44.0 ms  the client curl blocked in recvfrom\n     \
                40.0 ms  the server python3 waiting for a lock or another thread (futex),\n              server.py:14 in answer\n       \
                39.0 ms  another thread asleep (clock_nanosleep), 20.0 ms each time,\n                book.py:99 in write\n";
    let whole = crate::text(&Document::of(&answer), &Style::default());
    assert!(whole.contains(tree), "{whole}");
}

#[test]
fn what_findings_leave_is_said_after_them_with_its_place() {
    use case::{Account, AccountGroup, End, Heaviest, Place};
    let mut answer = examples::slow();
    answer.findings.truncate(1);
    answer.findings[0].cost.share_of_wall = 0.57;
    let held = Heaviest { group: AccountGroup::Held, ns: 40_600_000, of_ns: 71_200_000, ..Heaviest::default() };
    let account = Account::Blocked {
        end: End::Server,
        call: "clock_nanosleep".into(),
        wait: case::facts::Wait::Sleep,
        object: None,
    };
    let place = Place { function: "settle".into(), file: "/srv/server.py".into(), line: 9, ..Place::default() };
    answer.next_heaviest = Some(Heaviest {
        group: AccountGroup::ServerBlocked,
        ns: 29_000_000,
        account,
        share_of_group: 1.0,
        place: vec![place],
        place_share: Some(case::PlaceShare { share: 1.0, others: 0 }),
        ..held.clone()
    });
    answer.heaviest = Some(held);
    let said =
        "Besides that, 41 % of each 71.2 ms request is the server asleep (clock_nanosleep), server.py:9 in settle.";
    let says = |answer: &case::Answer| {
        let whole = crate::text(&Document::of(answer), &Style::default());
        whole.split_whitespace().collect::<Vec<_>>().join(" ").contains(said)
    };
    assert!(says(&answer));
    assert!(crate::markdown(&Document::of(&answer)).contains("Besides that, 41 %"));
    answer.findings[0].cost.share_of_wall = 0.7;
    assert!(!says(&answer), "the finding may be about that as well");
    answer.findings[0].cost.share_of_wall = 0.57;
    answer.findings[0].place = answer.next_heaviest.as_ref().expect("it was set").place.clone();
    assert!(!says(&answer), "the finding names that place");
}

#[test]
fn where_the_network_takes_the_time_its_round_trip_and_rate_are_said() {
    use case::{AccountGroup, Heaviest, NetworkPath};
    let mut answer = examples::slow();
    answer.findings.clear();
    let path = NetworkPath { round_trip_ns: 10_200_000, bytes: 441_000, bits_per_second: Some(19.4e6) };
    let network =
        Heaviest { group: AccountGroup::Network, ns: 87, of_ns: 100, path: Some(path), ..Heaviest::default() };
    answer.heaviest = Some(network.clone());
    let says = |answer: &case::Answer, words: &str| {
        let whole = crate::text(&Document::of(answer), &Style::default());
        whole.split_whitespace().collect::<Vec<_>>().join(" ").contains(words)
    };
    let said = "A round trip takes 10.2 ms; half of the requests move 441 kB or more, at 19.4 Mbit/s.";
    assert!(says(&answer, said));
    answer.exchanges = 1;
    assert!(says(&answer, "A round trip takes 10.2 ms; the request moves 441 kB, at 19.4 Mbit/s."));
    let short = NetworkPath { bits_per_second: None, ..path };
    answer.heaviest = Some(Heaviest { path: Some(short), ..network });
    assert!(says(&answer, "A round trip takes 10.2 ms. ") && !says(&answer, "Mbit/s"));
}

/// A client waits for a server, which waits for a lock, whose holder sleeps.
fn lock_held_by_a_sleeper() -> case::WaitTree {
    use case::facts::Wait;
    use case::{Activity, End, Ended, Ender, Place, WaitNode, WaitTree};
    let blocked = |call: &str, wait| Activity::Blocked { call: call.into(), wait, object: None };
    let place = |file: &str, line, function: &str| {
        vec![Place { function: function.into(), file: file.into(), line, ..Place::default() }]
    };
    let sleep = WaitNode {
        program: "python3".into(),
        pid: Some(7),
        end: Some(End::Server),
        activity: blocked("clock_nanosleep", Wait::Sleep),
        ns: 39_000_000,
        count: 100,
        usual_ns: 20_000_000,
        regular: true,
        place: place("/srv/book.py", 99, "write"),
        ended: vec![Ended { by: Ender::Timer, ns: 39_000_000 }],
        ..WaitNode::default()
    };
    let lock = WaitNode {
        activity: blocked("futex", Wait::Lock),
        ns: 40_000_000,
        regular: false,
        place: place("/srv/server.py", 14, "answer"),
        ended: Vec::new(),
        waits_for: vec![sleep.clone()],
        ..sleep
    };
    let client = WaitNode {
        program: "curl".into(),
        end: Some(End::Client),
        activity: blocked("recvfrom", Wait::Object),
        ns: 44_000_000,
        waits_for: vec![lock],
        ..WaitNode::default()
    };
    WaitTree { of_ns: 44_000_000, followed: 100, branches: vec![client] }
}

#[test]
fn cpu_time_alone_need_keep_nobody_waiting() {
    let mut answer = examples::slow();
    let cost = &mut answer.findings[0].cost;
    (cost.share_of_wall, cost.ns_per_exchange) = (0.0, 0);
    (cost.share_of_cpu, cost.cpu_ns_per_exchange) = (0.4, 3_000_000);
    let text = text_of(&answer);
    assert!(text.replace("\n  ", " ").contains("This is CPU time; nobody need be waiting for it."), "{text}");
    assert!(!text_of(&examples::slow()).replace("\n  ", " ").contains("nobody need be"));
}

#[test]
fn what_only_says_where_the_time_goes_is_observed_and_no_suspected_cause() {
    let mut answer = examples::slow();
    answer.findings[0].kind = case::Kind::Observation;
    let text = text_of(&answer);
    assert!(text.starts_with("Observed: ") && text.contains("where the time goes, not why"), "{text}");
    assert!(!text.contains("suspicion"), "{text}");
}
