use super::*;
use crate::fixture::{CLIENT, Fixture, MS, US, WRITE, keep_alive};
use crate::threads::call_end;
use crate::{Analysis, Exchange, Options};
use case::Nanos;
use case::facts::ThreadMeasure;
use case::tables::{SchedulerSum, Thinned};

fn windows(spans: &[(u64, u64)]) -> Windows {
    let row = |&(start, end): &(u64, u64)| Thinned { start: Nanos(start), end: Nanos(end) };
    Windows::new(&Recording { thinned: spans.iter().map(row).collect(), ..Recording::default() })
}

/// Leaves out what the recorder would not have made rows of.
fn thinned_out(mut recording: Recording, spans: &[(u64, u64)]) -> Recording {
    let (sums, threads) = (&mut recording.scheduler_sums, &recording.threads);
    sums.extend(threads.iter().map(|row| SchedulerSum {
        tid: row.tid,
        pid: row.pid,
        on_cpu: row.on_cpu,
        ..SchedulerSum::default()
    }));
    let is_within = |from: u64, to: u64| spans.iter().any(|&(start, end)| start < from && to < end);
    let mut of = |tid: u32, is_thinned: bool, count: fn(&mut SchedulerSum, bool)| {
        sums.iter_mut().filter(|sum| sum.tid == tid).for_each(|sum| count(sum, is_thinned));
        !is_thinned
    };
    recording.calls.retain(|call| {
        of(call.tid, is_within(call.start.0, call_end(call)), |sum, is_thinned| {
            sum.calls += 1;
            sum.thinned_calls += u64::from(is_thinned);
        })
    });
    recording.switches.retain(|row| {
        of(row.tid, is_within(row.start.0, row.end.0), |sum, is_thinned| {
            sum.voluntary += 1;
            sum.thinned_waits += u64::from(is_thinned);
        })
    });
    recording.segments.retain(|row| !is_within(row.time.0, row.time.0));
    recording.samples.retain(|row| !is_within(row.time.0, row.time.0));
    let row = |&(start, end): &(u64, u64)| Thinned { start: Nanos(start), end: Nanos(end) };
    recording.thinned = spans.iter().map(row).collect();
    recording
}

/// The beginning, and the middle, of a recording that is cut at both without regard to its exchanges.
fn cuts(recording: &Recording) -> [(u64, u64); 2] {
    let (start, end) = (recording.manifest.start.0, recording.manifest.end.0);
    let at = |share: f64| start + ((end - start) as f64 * share) as u64;
    [(at(0.1234), at(0.3456)), (at(0.5), at(0.7777))]
}

#[test]
fn a_stretch_is_whole_where_no_time_without_rows_touches_it() {
    let windows = windows(&[(10, 20), (30, 40)]);
    let whole = [(0, 10), (20, 30), (25, 25), (40, 90)].map(|(from, to)| windows.is_whole(from, to));
    assert_eq!(whole, [true; 4]);
    let cut = [(0, 11), (19, 30), (15, 15), (5, 50)].map(|(from, to)| windows.is_whole(from, to));
    assert_eq!(cut, [false; 4]);
}

#[test]
fn parts_and_lengths_leave_out_what_has_no_rows() {
    let windows = windows(&[(10, 20), (30, 40)]);
    assert_eq!(windows.parts(5, 50).collect::<Vec<_>>(), [(5, 10), (20, 30), (40, 50)]);
    assert_eq!(windows.parts(10, 40).collect::<Vec<_>>(), [(20, 30)]);
    assert_eq!((windows.length(5, 50), windows.length(12, 18)), (25, 0));
    assert_eq!(Windows::default().parts(5, 50).collect::<Vec<_>>(), [(5, 50)]);
}

#[test]
fn a_time_lies_in_a_window_or_between_two() {
    let windows = windows(&[(10, 20), (30, 40)]);
    assert_eq!([9, 10, 19, 20, 35, 40].map(|time| windows.number(time)), [0, 1, 1, 1, 2, 2]);
    assert_eq!([9, 10, 19, 20, 35, 40].map(|time| windows.has_rows_at(time)), [true, false, false, true, false, true]);
    assert_eq!([5, 10, 20, 39, 40].map(|time| windows.next_change(time)), [10, 20, 30, 40, u64::MAX]);
    assert_eq!([9, 15, 20, 40].map(|time| windows.around(time)), [(0, 10), (20, 30), (20, 30), (40, u64::MAX)]);
}

#[test]
fn exchanges_are_whole_and_the_ledger_has_the_time_with_rows() {
    let whole = keep_alive(200, 300 * US).end();
    let lengths = |analysis: &Analysis| analysis.exchanges.iter().map(Exchange::length).collect::<Vec<_>>();
    let longest = *lengths(&Analysis::new(&whole)).iter().max().expect("exchanges");
    let thinned = thinned_out(whole.clone(), &cuts(&whole));
    let analysis = Analysis::new(&thinned);
    let known = analysis.windows.length(thinned.manifest.start.0, thinned.manifest.end.0);
    // Half of the time is left, and of the exchanges those but one or two at each end of a window.
    let count = analysis.exchanges.len() as u64;
    let share = known as f64 / (whole.manifest.end - whole.manifest.start).0 as f64;
    assert!((0.45..0.55).contains(&share) && (200.0 * share) as u64 <= count + 8 && count <= 110, "{share} {count}");
    assert!(lengths(&analysis).iter().all(|length| *length <= longest), "{:?}", lengths(&analysis));
    let answer = analysis.answer("case", Options::default());
    assert_eq!((answer.wall_ns, answer.ledger.total), (known, known));
    assert_eq!(answer.ledger.accounts.iter().map(|account| account.ns).sum::<u64>(), known);
    assert!(answer.ledger.unexplained * 50 < known, "{:?}", answer.ledger);
    assert_eq!(answer.findings, []);
}

/// In each of forty windows a client asks four times on one connection and once on one of eight others, in so many pieces; the
/// others' first one was written before the window began where that is told.
fn seldom_asked(pieces: u32, is_first_unseen: bool) -> Recording {
    let mut fixture = Fixture::new();
    let mut gaps = Vec::new();
    for id in 1..=9 {
        fixture.connect(id, CLIENT);
    }
    for round in 0..40 {
        for connection in [1, 1, 1, 1, 2 + round % 8] {
            for piece in 0..pieces {
                fixture.moves(CLIENT, connection, WRITE, 100);
                if is_first_unseen && connection > 1 && piece == 0 {
                    gaps.push((fixture.now - 5 * MS, fixture.now + MS));
                    fixture.now += 2 * MS;
                }
            }
            fixture.waits_for(CLIENT, connection, 300 * US, 200);
            fixture.now += 6 * MS;
        }
        gaps.push((fixture.now - 5 * MS, fixture.now + 50 * MS));
        fixture.now += 51 * MS;
    }
    let whole = fixture.end();
    thinned_out(whole, &gaps)
}

#[test]
fn requests_count_that_are_the_only_ones_of_their_connection_in_a_window() {
    let of_others = |recording: &Recording| {
        let analysis = Analysis::new(recording);
        let all = &analysis.exchanges;
        (all.len(), all.iter().filter(|one| analysis.connections.row(one.connection).id > 1).count())
    };
    assert_eq!(of_others(&seldom_asked(1, false)), (200, 40));
    // Where requests come in pieces nobody knows which one begins them, but of the first on a connection that was seen to open.
    let (all, others) = of_others(&seldom_asked(2, false));
    assert!(all >= 80 && others == 1, "{all} {others}");
    assert_eq!(of_others(&seldom_asked(2, true)).1, 0);
}

#[test]
fn what_is_left_of_exchanges_that_are_cut_is_no_time_between_them() {
    // Nearly all of the time an exchange is under way, and a window holds two or three.
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    for _ in 0..200 {
        fixture.moves(CLIENT, 1, WRITE, 100);
        fixture.waits_for(CLIENT, 1, 40 * MS, 200);
        fixture.now += MS;
    }
    let whole = fixture.end();
    let (start, end) = (whole.manifest.start.0, whole.manifest.end.0);
    let between = |recording: &Recording| {
        let answer = Analysis::new(recording).answer("case", Options::default());
        let accounts = answer.ledger.accounts.iter().filter(|account| account.account.is_outside());
        accounts.map(|account| account.ns).sum::<u64>() as f64 / answer.ledger.total as f64
    };
    let starts = (start + 113 * MS..end).step_by(487 * MS as usize);
    let cuts: Vec<(u64, u64)> = starts.map(|at| (at, at + 374 * MS)).collect();
    let (of_all, of_windows) = (between(&whole), between(&thinned_out(whole, &cuts)));
    assert!((0.01..0.04).contains(&of_all) && (of_all - of_windows).abs() < 0.015, "{of_all} {of_windows}");
}

#[test]
fn a_stream_that_nobody_answers_is_no_request_and_its_time_is_accounted_for() {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    for _ in 0..20_000 {
        fixture.moves(CLIENT, 1, WRITE, 100);
        fixture.now += 20 * US;
    }
    let whole = fixture.end();
    for recording in [thinned_out(whole.clone(), &cuts(&whole)), whole] {
        let answer = Analysis::new(&recording).answer("case", Options::default());
        assert_eq!(answer.exchanges, 0);
        assert!(answer.ledger.unexplained * 20 < answer.ledger.total, "{:?}", answer.ledger);
    }
}

#[test]
fn what_was_thinned_out_on_purpose_is_not_missing_and_what_was_lost_besides_is() {
    let whole = keep_alive(200, 300 * US).end();
    let mut thinned = thinned_out(whole.clone(), &cuts(&whole));
    let reconciled = |recording: &Recording| Analysis::new(recording).reconciliation.facts.expect("sums");
    let facts = reconciled(&thinned);
    assert_eq!((facts.threads, facts.deviating, facts.lost_ns), (2, 0, 0), "{facts:#?}");
    let calls = |facts: &case::facts::Reconciled| {
        facts.deviations.iter().filter(|one| one.measure == ThreadMeasure::Calls).count()
    };
    thinned.scheduler_sums.iter_mut().for_each(|sum| sum.thinned_calls -= 50);
    let facts = reconciled(&thinned);
    assert_eq!(calls(&facts), 2, "{facts:#?}");
}

#[test]
fn bytes_that_left_while_nobody_looked_were_not_held() {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    for _ in 0..40 {
        let asked = fixture.now;
        fixture.moves(CLIENT, 1, WRITE, 100);
        fixture.travels(asked + 4 * US, 1, 1001, 100);
        fixture.waits_for(CLIENT, 1, 500 * US, 200);
        fixture.travels(fixture.now - 10 * US, 1001, 1, 200);
        fixture.acknowledges(fixture.now - 5 * US, 1, 1001);
        fixture.now += 50 * US;
    }
    let whole = fixture.end();
    let stalls = |recording: &Recording| {
        let analysis = Analysis::new(recording);
        let rows = &analysis.connections.all()[0];
        (rows.send_stalls.len(), rows.unsent.len())
    };
    assert_eq!(stalls(&whole), (0, 0));
    // From just after a write has returned, and before its segment leaves, on: the later ones leave in time.
    let from = whole.calls.iter().filter(|call| call.number == WRITE).nth(10).expect("writes").start.0 + 2 * US;
    let to = whole.calls.iter().filter(|call| call.number == WRITE).nth(30).expect("writes").start.0 - 20 * US;
    assert_eq!(stalls(&thinned_out(whole, &[(from, to)])), (0, 0));
}
