//! The ledger of windows beside that of everything recorded: real programs are recorded whole, and what a recorder that keeps to an
//! overhead would not have made rows of is taken out.

use super::reconciled::{PROGRAMS, by_kind};
use super::running::suspect;
use case::tables::{SchedulerSum, Thinned, reason};
use case::{Account, Case, Ledger, Nanos, Recording};
use diagnose::{Analysis, Options};
use std::collections::BTreeMap;
use testing::alone;

/// So many windows in a recording, each a quarter of the time from one to the next.
const WINDOWS: u64 = 12;
const PART: u64 = 4;

/// So long a window goes on at most while a request that began in it has no answer.
const MOST_HELD: u64 = 2_000_000_000;

/// The stretches without rows.
fn stretches(recording: &Recording) -> Vec<Thinned> {
    let (start, end) = (recording.manifest.start.0, recording.manifest.end.0);
    let (every, analysis) = ((end - start) / WINDOWS, Analysis::new(recording));
    let mut stretches: Vec<Thinned> = Vec::new();
    let mut from = start;
    for number in 0..WINDOWS {
        let open = start + number * every;
        if number > 0 && open > from {
            stretches.push(Thinned { start: Nanos(from), end: Nanos(open) });
        }
        let open = open.max(from);
        let close = open + every / PART;
        let began = analysis.exchanges().iter().filter(|one| (open..close).contains(&one.start));
        from = began.map(|one| one.end).max().unwrap_or(close).clamp(close, close + MOST_HELD);
    }
    stretches.push(Thinned { start: Nanos(from.min(end)), end: Nanos(end) });
    stretches
}

/// Leaves out what has no rows then: what begins and ends in the same stretch, and what happens in it.
fn sampled(mut recording: Recording) -> Recording {
    let stretches = stretches(&recording);
    let within = |from: Nanos, to: Nanos| stretches.iter().any(|one| one.start <= from && to < one.end);
    let mut sums: BTreeMap<u32, &mut SchedulerSum> =
        recording.scheduler_sums.iter_mut().map(|sum| (sum.tid, sum)).collect();
    recording.calls.retain(|call| {
        let is_thinned = call.finished && within(call.start, call.start + call.duration);
        if let Some(sum) = sums.get_mut(&call.tid).filter(|_| is_thinned) {
            sum.thinned_calls += 1;
        }
        !is_thinned
    });
    recording.switches.retain(|row| {
        let is_thinned = within(row.start, row.end);
        if let Some(sum) = sums.get_mut(&row.tid).filter(|_| is_thinned) {
            let is_preempted = row.reason == reason::PREEMPTED;
            *(if is_preempted { &mut sum.thinned_preemptions } else { &mut sum.thinned_waits }) += 1;
        }
        !is_thinned
    });
    recording.segments.retain(|row| !within(row.time, row.time));
    recording.samples.retain(|row| !within(row.time, row.time));
    recording.tcp_events.retain(|row| !within(row.time, row.time));
    recording.tls_records.retain(|row| !within(row.time, row.time));
    recording.http_messages.retain(|row| !within(row.time, row.time));
    recording.thinned = stretches;
    recording
}

/// The shares of all time that accounts have, in percent.
fn shares(ledger: &Ledger) -> BTreeMap<Account, f64> {
    let percent = |ns: u64| 100.0 * ns as f64 / ledger.total as f64;
    let explained = by_kind(ledger).into_iter().map(|(account, ns)| (account, percent(ns)));
    explained.chain([(Account::Unexplained, percent(ledger.unexplained))]).collect()
}

/// By how many points an account differs, and which one differs most.
fn furthest(one: &BTreeMap<Account, f64>, other: &BTreeMap<Account, f64>) -> (f64, Account) {
    let of = |shares: &BTreeMap<Account, f64>, account: &Account| shares.get(account).copied().unwrap_or(0.0);
    let accounts = one.keys().chain(other.keys());
    let apart = accounts.map(|account| (of(other, account) - of(one, account), account.clone()));
    apart.max_by(|one, other| one.0.abs().total_cmp(&other.0.abs())).expect("accounts")
}

/// Twelve short windows are a small sample, and what they are a sample of is not even: start-up is in it.
const MOST_APART: f64 = 10.0;

#[test]
#[ignore = "long: make stories"]
fn twelve_programs_have_the_accounts_of_everything_in_windows() {
    let _alone = alone();
    println!("| Program | Requests | Whole ones in windows | Furthest apart, in points | Account |");
    println!("|---|--:|--:|--:|---|");
    for (story, variant, words) in PROGRAMS {
        let Some(run) = suspect(story, variant) else { continue };
        let whole = Recording::load(&Case::open(&run.case).expect("a case")).expect("its tables");
        let all = Analysis::new(&whole).answer("case", Options::default());
        let some = Analysis::new(&sampled(whole)).answer("case", Options::default());
        let (points, account) = furthest(&shares(&all.ledger), &shares(&some.ledger));
        println!("| {words} | {} | {} | {points:+.2} | {} |", all.exchanges, some.exchanges, account.name());
        // What no window has a whole request of is told by what the threads did.
        if some.exchanges > 0 {
            assert!(points.abs() <= MOST_APART, "{words}: {:#?}\n{:#?}", all.ledger, some.ledger);
        } else {
            assert!(some.ledger.unexplained * 10 < some.ledger.total, "{words}: {:#?}", some.ledger);
        }
        assert_eq!(some.ledger.overbooked, 0, "{words}: no time is booked twice");
    }
}
