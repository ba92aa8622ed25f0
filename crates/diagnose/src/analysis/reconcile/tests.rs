use super::*;
use crate::fixture::{CLIENT, MS, READ, SERVER, US, keep_alive};
use crate::{Analysis, Options};
use case::tables::{Counter, Switch, Thread};
use case::{Account, Answer, Nanos};

/// What a scheduler would have counted that saw what the rows tell.
fn counted(recording: &mut Recording) {
    let windows = Windows::new(recording);
    let threads = Threads::new(recording, &windows);
    let sums = threads.all().iter().enumerate().map(|(slot, thread)| {
        let rows = Rows::of((&*recording, &windows), &threads, slot, 0, &[]);
        SchedulerSum {
            tid: thread.tid,
            pid: thread.pid,
            on_cpu: Nanos(rows.on_cpu),
            run_delay: Nanos(rows.runnable),
            has_run_delay: true,
            voluntary: rows.waits,
            involuntary: rows.switches - rows.waits,
            calls: rows.calls,
            ..SchedulerSum::default()
        }
    });
    recording.scheduler_sums = sums.collect();
}

fn healthy() -> Recording {
    let mut recording = keep_alive(200, 300 * US).end();
    counted(&mut recording);
    recording
}

fn answer(recording: &Recording) -> Answer {
    Analysis::new(recording).answer("case", Options::default())
}

fn facts(recording: &Recording) -> Reconciled {
    answer(recording).ledger.reconciled.expect("sums")
}

#[test]
fn rows_that_the_scheduler_confirms_change_nothing() {
    let recording = healthy();
    let facts = facts(&recording);
    assert_eq!((facts.threads, facts.deviating, facts.not_compared), (2, 0, 0), "{facts:#?}");
    assert!(facts.sums.len() == 5 && facts.sums.iter().all(|sum| sum.apart == 0), "{facts:#?}");
    let without_sums = Recording { scheduler_sums: Vec::new(), ..recording.clone() };
    assert_eq!(answer(&recording).ledger.accounts, answer(&without_sums).ledger.accounts);
    assert_eq!(answer(&without_sums).ledger.reconciled, None);
}

#[test]
fn time_on_cpu_that_the_scheduler_did_not_count_is_said_and_unexplained() {
    let mut recording = healthy();
    let sum = recording.scheduler_sums.iter_mut().find(|sum| sum.tid == SERVER).expect("the server");
    // Of 300 us of thinking a request, a hypervisor took 100.
    let taken = 200 * 100 * US;
    let before = sum.on_cpu.0;
    sum.on_cpu.0 -= taken;
    let ledger = answer(&recording).ledger;
    let worst = ledger.reconciled.as_ref().expect("sums").deviations[0].clone();
    assert_eq!((worst.tid, worst.measure, worst.ledger), (SERVER, ThreadMeasure::OnCpu, before));
    assert_eq!((worst.scheduler, worst.unexplained_ns), (before - taken, taken));
    assert!(ledger.unexplained > taken * 95 / 100 && ledger.unexplained < taken * 105 / 100, "{ledger:#?}");
}

#[test]
fn what_the_hypervisor_took_is_a_wait_for_a_processor_as_far_as_it_took_as_much() {
    let booked = |ticks: u64| {
        let mut recording = healthy();
        let sum = recording.scheduler_sums.iter_mut().find(|sum| sum.tid == SERVER).expect("the server");
        // 200 times 300 us.
        sum.on_cpu.0 -= 60 * MS;
        let (scope, name) = ("cpu".to_string(), "steal".to_string());
        recording.counters.push(Counter { scope, name, before: 7, after: 7 + ticks });
        let ledger = answer(&recording).ledger;
        let waits = ledger.accounts.iter().filter(|one| matches!(one.account, Account::RunDelay { .. }));
        let facts = ledger.reconciled.expect("sums");
        (waits.map(|one| one.ns).sum::<u64>() / MS, ledger.unexplained / MS, facts.stolen_ns / MS)
    };
    let (delay, unexplained, stolen) = booked(6);
    assert!((55..=60).contains(&delay) && (unexplained, stolen) == (0, 60), "{delay} {unexplained} {stolen}");
    let (delay, unexplained, stolen) = booked(5);
    assert!((55..=60).contains(&unexplained) && (delay, stolen) == (0, 0), "{delay} {unexplained} {stolen}");
    assert_eq!(booked(0).2, 0);
}

#[test]
fn a_wait_that_is_in_doubt_in_part_ends_when_it_ended() {
    let mut recording = healthy();
    let client = |recording: &Recording| answer(recording).waits.expect("the client waits").branches.remove(0);
    let sure = client(&recording);
    let sum = recording.scheduler_sums.iter_mut().find(|sum| sum.tid == CLIENT).expect("the client");
    // It ran for 30 us of each wait of 300.
    sum.on_cpu.0 += 200 * 30 * US;
    let deviations = facts(&recording).deviations;
    assert!(deviations.iter().any(|one| one.measure == ThreadMeasure::Blocked), "{deviations:#?}");
    assert_eq!(client(&recording), sure, "the server is followed all the same");
}

#[test]
fn a_run_delay_that_the_scheduler_did_not_count_is_unexplained_unless_the_thread_was_being_woken() {
    let mut recording = healthy();
    let whole = answer(&recording).ledger;
    let is_wait = |row: &&mut Switch| row.tid == SERVER && row.end.0 > row.start.0 + 20 * US;
    let waits = recording.switches.iter_mut().filter(is_wait);
    // Woken 10 us before it ran, each time; the scheduler counts from when it is in a queue.
    let waking: u64 = waits.map(|row| row.runnable = Nanos(row.end.0 - 10 * US)).map(|()| 10 * US).sum();
    let doubted = answer(&recording).ledger;
    let delay = facts(&recording).deviations.into_iter().find(|one| one.measure == ThreadMeasure::RunDelay);
    let delay = delay.expect("a deviation");
    assert_eq!((delay.tid, delay.scheduler, delay.unexplained_ns), (SERVER, 0, waking));
    // 3 us of each lie between the request's arrival and the server's turn.
    assert!(doubted.unexplained >= whole.unexplained + waking / 4, "{doubted:#?}");
    // The kernel side has measured how long it was on its way into the queue.
    recording.scheduler_sums.iter_mut().filter(|sum| sum.tid == SERVER).for_each(|sum| sum.waking = waking as i64);
    assert_eq!((facts(&recording).deviating, answer(&recording).ledger.unexplained), (0, whole.unexplained));
    // In a recording of before that was measured there is nothing to compare with.
    recording.scheduler_sums.iter_mut().for_each(|sum| sum.waking = i64::MIN);
    let facts = facts(&recording);
    assert_eq!((facts.deviating, facts.sums.len()), (0, 3), "{facts:#?}");
}

#[test]
fn less_than_a_hundredth_is_let_pass() {
    let mut recording = healthy();
    recording.scheduler_sums.iter_mut().for_each(|sum| sum.on_cpu.0 -= sum.on_cpu.0 / 150);
    assert_eq!((facts(&recording).deviating, facts(&recording).deviations.len()), (0, 0));
}

#[test]
fn a_sum_read_while_the_thread_ran_may_be_a_tick_short() {
    let mut recording = healthy();
    let sum = recording.scheduler_sums.iter_mut().find(|sum| sum.tid == SERVER).expect("the server");
    (sum.on_cpu.0, sum.inexact) = (sum.on_cpu.0 - 4 * MS, Nanos(10 * MS));
    assert_eq!(facts(&recording).deviating, 0);
    recording.scheduler_sums.iter_mut().for_each(|sum| sum.inexact = Nanos(0));
    assert_eq!(facts(&recording).deviating, 1);
}

#[test]
fn where_rows_are_missing_nothing_is_let_pass() {
    let mut recording = healthy();
    let whole = answer(&recording).ledger;
    // The longest waits of the server: calls without switches say by themselves how long they blocked.
    let mut waits: Vec<(u64, u64)> =
        recording.switches.iter().filter(|row| row.tid == CLIENT).map(|row| (row.end.0, row.start.0)).collect();
    waits.truncate(8);
    recording.switches.retain(|row| row.tid != CLIENT || !waits.contains(&(row.end.0, row.start.0)));
    recording.calls.iter_mut().for_each(|call| call.blocked = Nanos(0));
    let lacking = answer(&recording).ledger;
    let facts = lacking.reconciled.as_ref().expect("sums");
    let booked = facts.deviations.iter().find(|one| one.measure == ThreadMeasure::OnCpu).expect("a deviation");
    let missing: u64 = waits.iter().map(|(end, start)| end - start).sum();
    assert_eq!((booked.tid, booked.unexplained_ns), (CLIENT, missing));
    assert!(facts.deviations.iter().any(|one| one.measure == ThreadMeasure::Waits), "{facts:#?}");
    assert!(lacking.unexplained >= whole.unexplained + missing * 9 / 10, "{} of {missing}", lacking.unexplained);
}

#[test]
fn missing_calls_are_known_by_their_number() {
    let mut recording = healthy();
    let mut number = 0;
    recording.calls.retain(|call| {
        number += u32::from(call.number == READ);
        call.number != READ || number % 10 != 0
    });
    let answer = answer(&recording);
    let facts = answer.ledger.reconciled.as_ref().expect("sums");
    let calls = facts.deviations.iter().filter(|one| one.measure == ThreadMeasure::Calls);
    assert_eq!(calls.count(), 2, "{facts:#?}");
    assert!(answer.ledger.unexplained * 10 > answer.ledger.total, "{:#?}", answer.ledger);
}

#[test]
fn what_fell_into_a_stretch_with_losses_is_unexplained_and_nothing_else() {
    let mut recording = healthy();
    let (start, wall) = (recording.manifest.start.0, answer(&recording).wall_ns);
    let mut lose = |table: &str, from: u64, to: u64| {
        let (table, reason) = (table.to_string(), "ring full".to_string());
        recording.losses.push(Loss { start: Nanos(start + from), end: Nanos(start + to), table, reason, count: 1 });
    };
    lose("stacks", 0, wall / 2);
    lose("switches", wall / 2, wall / 2 + 5 * MS);
    lose("segments", wall / 2 + 2 * MS, wall / 2 + 10 * MS);
    let after = answer(&recording).ledger;
    assert_eq!(after.reconciled.as_ref().map(|facts| (facts.lost_ns, facts.deviating)), Some((10 * MS, 0)));
    assert!((10 * MS..10 * MS + wall / 100).contains(&after.unexplained), "{after:#?}");
    assert_eq!(after.accounts.iter().map(|one| one.ns).sum::<u64>(), after.total);
}

#[test]
fn threads_that_had_one_id_after_the_other_are_compared_together() {
    let mut recording = healthy();
    let sum = recording.scheduler_sums.iter_mut().find(|sum| sum.tid == SERVER).expect("the server");
    let other = SchedulerSum { on_cpu: Nanos(sum.on_cpu.0 / 4), voluntary: 0, involuntary: 0, calls: 0, ..sum.clone() };
    sum.on_cpu.0 -= other.on_cpu.0;
    sum.run_delay = Nanos(0);
    recording.scheduler_sums.push(other);
    assert_eq!(facts(&recording).deviating, 0);
}

#[test]
fn a_thread_that_nobody_counted_is_told_apart() {
    let mut recording = healthy();
    recording.scheduler_sums.retain(|sum| sum.tid == CLIENT);
    let (start, end) = (recording.manifest.start, recording.manifest.end);
    recording.threads.push(Thread { tid: 7, pid: 7, start, end, ..Thread::default() });
    let facts = facts(&recording);
    assert_eq!((facts.threads, facts.not_compared), (1, 2));
}
