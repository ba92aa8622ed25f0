use super::*;
use case::Nanos;

/// A whole run of so many requests, each answered with so many bytes and a status of 200.
fn run(made: u64, bytes: u64) -> Trial {
    let wall = Nanos(made * 1_000_000);
    Trial { arm: "cure".into(), made, answered_bytes: made * bytes, status_2xx: made, wall, ..Trial::default() }
}

/// What is said of a trial beside three runs of 200 requests with answers of 1,000 bytes.
fn said(trial: &Trial) -> Option<Difference> {
    let plain = [run(200, 1_000), run(200, 1_000), run(200, 1_000)];
    let (word, difference) = Usual::for_trial(trial, plain.iter()).judge(trial);
    assert_eq!(word == work::OTHER, difference.is_some());
    difference
}

#[test]
fn what_does_the_same_in_less_time_did_the_same() {
    assert_eq!(said(&Trial { wall: Nanos(9), ..run(200, 1_000) }), None);
    assert_eq!(said(&Trial { wall: Nanos(9), ..run(199, 1_004) }), None);
}

#[test]
fn fewer_requests_fewer_bytes_other_statuses_and_failures_are_other_work() {
    let quick = |row: Trial| Trial { wall: Nanos(9), ..row };
    assert_eq!(said(&quick(run(180, 1_000))), Some(Difference::Exchanges(180, 200)));
    assert_eq!(said(&quick(run(400, 1_000))), Some(Difference::Exchanges(400, 200)));
    assert_eq!(said(&run(200, 700)), Some(Difference::Bytes(700.0, 1_000.0)));
    assert_eq!(said(&Trial { status_2xx: 180, status_5xx: 20, ..run(200, 1_000) }), Some(Difference::Errors(0.1, 0.0)));
    let elsewhere = Trial { status_2xx: 0, status_3xx: 200, ..run(200, 1_000) };
    assert_eq!(said(&elsewhere), Some(Difference::Redirections(1.0, 0.0)));
    assert_eq!(said(&Trial { status_2xx: 0, ..run(200, 1_000) }), Some(Difference::NoStatus));
    assert_eq!(said(&Trial { resets: 12, ..run(200, 1_000) }), Some(Difference::Resets(12)));
    assert_eq!(said(&Trial { alerts: 200, ..run(200, 1_000) }), Some(Difference::Alerts(200)));
    // What ends its connections so was not refused anything.
    assert_eq!(said(&Trial { arm: "no-time-wait".into(), resets: 200, ..run(200, 1_000) }), None);
}

#[test]
fn answers_vary_in_length_as_they_do_in_plain_runs_and_no_more() {
    let total = |made, bytes| Trial { answered_bytes: bytes, ..run(made, 0) };
    // The last tenth lacks a tenth, or is a short page instead.
    assert_eq!(said(&total(200, 198_000)), Some(Difference::Bytes(990.0, 1_000.0)));
    assert_eq!(said(&total(200, 186_000)), Some(Difference::Bytes(930.0, 1_000.0)));
    assert_eq!(said(&total(200, 199_400)), None, "a few digits");
    assert_eq!(said(&total(197, 200_000)), None, "some were read as one");
    assert_eq!(said(&total(199, 196_700)), None, "the last of a handshake was read with the first request");
    assert_eq!(said(&total(199, 190_000)), Some(Difference::Bytes(190_000.0 / 199.0, 1_000.0)));
    let noisy = [total(200, 200_000), total(200, 202_000), total(200, 199_000)];
    let judged = |bytes| Usual::for_trial(&total(200, bytes), noisy.iter()).judge(&total(200, bytes)).0;
    assert_eq!((judged(196_000), judged(204_500)), (work::SAME, work::SAME), "plain runs differ as much");
    assert_eq!((judged(190_000), judged(209_000)), (work::OTHER, work::OTHER));
}

#[test]
fn the_ends_of_encrypted_connections_are_read_with_an_answer_or_not() {
    let hidden = |bytes| Trial { answered_bytes: bytes, status_2xx: 0, ..run(20, 0) };
    let plain = [hidden(5_900 - 9 * 31), hidden(5_900 - 9 * 31), hidden(5_900 - 9 * 31)];
    let judged = |trial: &Trial| Usual::for_trial(trial, plain.iter()).judge(trial).0;
    assert_eq!(judged(&hidden(5_900)), work::SAME);
    assert_eq!((judged(&hidden(5_890)), judged(&hidden(5_900 + 31 * 20))), (work::OTHER, work::OTHER));
    let none = [hidden(5_900), hidden(5_900), hidden(5_900)];
    let cut = hidden(5_900 - 20 * 24);
    assert_eq!(Usual::for_trial(&cut, none.iter()).judge(&cut).0, work::OTHER, "each answer lacks as much");
    assert_eq!(judged(&Trial { status_2xx: 20, ..hidden(5_900) }), work::OTHER, "all of it can be seen");
}

#[test]
fn a_connection_reset_at_the_end_is_chance() {
    assert_eq!(said(&Trial { resets: 1, ..run(200, 1_000) }), None);
}

#[test]
fn what_runs_for_a_time_may_do_more_in_it_and_not_less() {
    let for_a_time = |made| Trial { wall: Nanos(200_000_000), ..run(made, 1_000) };
    assert_eq!(said(&for_a_time(40_000)), None);
    assert_eq!(said(&for_a_time(100)), Some(Difference::Exchanges(100, 200)));
}

#[test]
fn what_varies_by_itself_is_learned_and_where_all_varies_nothing_is_concluded() {
    let judged = |plain: &[Trial], trial: &Trial| Usual::for_trial(trial, plain.iter()).judge(trial).0;
    let bare = |made, bytes| Trial { status_2xx: 0, ..run(made, bytes) };
    let varying = [bare(190, 1_000), bare(200, 1_000), bare(210, 1_100)];
    assert_eq!(judged(&varying, &bare(180, 1_000)), work::SAME);
    assert_eq!(judged(&varying, &bare(120, 1_000)), work::OTHER);
    let wild = [bare(200, 100), bare(200, 1_000), bare(200, 400)];
    assert_eq!(judged(&wild, &bare(200, 10)), work::NOT_COMPARED);
    assert_eq!(judged(&[], &run(200, 1_000)), work::NOT_COMPARED);
    let few = [run(200, 1_000), run(200, 1_000)];
    assert_eq!((judged(&few, &run(100, 1_000)), judged(&few, &run(200, 1_000))), (work::UNSETTLED, work::SAME));
    let trials = [Trial { work: work::UNSETTLED, output: output::SAME, ..run(100, 1_000) }];
    assert_eq!(of_arm(&trials.iter(), true), Work::NotCompared);
    assert!(Usual::for_trial(&few[0], few.iter()).asks_for_more(&run(100, 1_000)));
}

#[test]
fn cut_trials_are_compared_with_cut_ones_and_by_the_request() {
    let cut = |made, bytes| Trial { exit: -1, status_2xx: 0, ..run(made, bytes) };
    let plain = [cut(20, 1_000), cut(21, 1_000), cut(20, 1_000)];
    let judged = |trial: &Trial| Usual::for_trial(trial, plain.iter()).judge(trial);
    assert_eq!(judged(&cut(900, 1_000)), (work::SAME, None));
    // One that was cut within its first answer tells nothing of it.
    assert_eq!(judged(&cut(1, 100)), (work::NOT_COMPARED, None));
    // Requests that the others did not come to may well be others.
    assert_eq!(judged(&cut(900, 100)), (work::NOT_COMPARED, None));
    assert_eq!(judged(&cut(20, 100)), (work::OTHER, Some(Difference::Bytes(100.0, 1_000.0))));
    assert_eq!(judged(&cut(20, 900)), (work::OTHER, Some(Difference::Bytes(900.0, 1_000.0))));
    // Its last answer may have been under way.
    assert_eq!(judged(&cut(20, 960)), (work::SAME, None));
    assert_eq!(judged(&Trial { status_2xx: 0, ..run(200, 1_000) }).0, work::SAME);
    assert_eq!(judged(&Trial { status_2xx: 0, ..run(200, 100) }).0, work::NOT_COMPARED);
}

#[test]
fn what_a_cure_is_there_to_change_is_not_compared() {
    let resumed = Trial { arm: "resume-sessions".into(), ..run(200, 700) };
    assert_eq!(said(&resumed), None);
}
