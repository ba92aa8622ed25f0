//! The ledger beside measures that do not come from the events it is made of: on real programs, whole and with events taken
//! out.

use super::running::suspect;
use case::facts::Object;
use case::facts::ThreadMeasure::{self, Blocked, Calls, OnCpu, RunDelay, Waits};
use case::{Account, Answer, Case, Ledger, Recording};
use diagnose::{Analysis, Options};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use testing::{alone, beside_others};

/// Real programs, each a story of the casebook with a variant: clients and servers in C, Go, JavaScript, Java and Python.
pub(super) const PROGRAMS: [(&str, &str, &str); 12] = [
    ("healthy", "wrk", "C client (wrk), C server (nginx)"),
    ("healthy", "ab", "C client (ab), C server (nginx)"),
    ("healthy", "redis", "C client, C server (redis)"),
    ("healthy", "curl", "C client (curl, 256 MB), C server (nginx)"),
    ("healthy", "go-client", "Go client over TLS, C server (nginx)"),
    ("healthy", "go-server", "C client (wrk), Go server"),
    ("healthy", "node", "Node client, C server (nginx)"),
    ("healthy", "node-https", "Node client over TLS, C server (nginx)"),
    ("healthy", "java", "Java client, C server (nginx)"),
    ("healthy", "asyncio", "CPython client and server (asyncio)"),
    ("churn", "fixed-https", "CPython client over TLS, C server (nginx)"),
    ("fsync", "slow", "CPython server that syncs a disk"),
];

/// Prints how far the rows of 12 programs are from the scheduler's own sums. Counts have to agree: they do not depend on how
/// busy the machine is.
#[test]
#[ignore = "long: make stories"]
fn twelve_programs_beside_the_scheduler_s_sums() {
    let _alone = alone();
    println!("| Program | Threads | On CPU | Run delay | Blocked | Waits | Calls | Lost | Unexplained |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (story, variant, words) in PROGRAMS {
        let Some(run) = suspect(story, variant) else { continue };
        let ledger = &run.answer.ledger;
        let reconciled = ledger.reconciled.as_ref().expect("the scheduler's sums");
        let apart = |measure: ThreadMeasure| {
            let sum = reconciled.sums.iter().find(|sum| sum.measure == measure).expect("every measure");
            let share = 100.0 * sum.apart as f64 / sum.scheduler.max(1) as f64;
            if measure.is_time() { format!("{share:.2} %") } else { format!("{} of {}", sum.apart, sum.scheduler) }
        };
        let figures = [OnCpu, RunDelay, Blocked, Waits, Calls].map(apart).join(" | ");
        let unexplained = 100.0 * ledger.unexplained as f64 / ledger.total as f64;
        let (threads, lost) = (reconciled.threads, run.answer.losses.events);
        println!("| {words} | {threads} | {figures} | {lost} | {unexplained:.2} % |");
        let counts = reconciled.deviations.iter().filter(|one| !one.measure.is_time());
        assert!(reconciled.lost_ns > 0 || counts.count() == 0, "{words}: {reconciled:#?}");
    }
}

/// Numbers that look random, the same in each run (xorshift, Marsaglia 2003).
struct Numbers(u64);

impl Numbers {
    /// True with a chance of so many in a hundred.
    fn percent(&mut self, chance: u64) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % 100 < chance
    }
}

/// A recording that lacks so many percent of its events, and does not know.
fn without(recording: &Recording, percent: u64, seed: u64) -> Recording {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
    let mut lacking = recording.clone();
    lacking.calls.retain(|_| !numbers.percent(percent));
    lacking.switches.retain(|_| !numbers.percent(percent));
    lacking.segments.retain(|_| !numbers.percent(percent));
    lacking.samples.retain(|_| !numbers.percent(percent));
    lacking.tcp_events.retain(|_| !numbers.percent(percent));
    lacking
}

/// An account without what it names: small accounts are shown without that, and which are small changes.
fn kind(account: &Account) -> Account {
    match account.clone() {
        Account::UserCpu { end, .. } => Account::UserCpu { end, module: None },
        Account::CpuOutside { .. } => Account::CpuOutside { module: None },
        Account::Blocked { end, call, wait, .. } => Account::Blocked { end, call, wait, object: None::<Object> },
        Account::BlockedOutside { call, wait, .. } => Account::BlockedOutside { call, wait, object: None },
        other => other,
    }
}

pub(super) fn by_kind(ledger: &Ledger) -> BTreeMap<Account, u64> {
    let mut sums = BTreeMap::new();
    for one in ledger.accounts.iter().filter(|one| one.account != Account::Unexplained) {
        *sums.entry(kind(&one.account)).or_default() += one.ns;
    }
    sums
}

/// What accounts have of time that is not theirs: all that any of them gained.
fn gained(before: &Ledger, after: &Ledger) -> u64 {
    let before = by_kind(before);
    by_kind(after).iter().map(|(account, ns)| ns.saturating_sub(before.get(account).copied().unwrap_or(0))).sum()
}

fn ledger(recording: &Recording) -> Ledger {
    Analysis::new(recording).answer("case", Options::default()).ledger
}

/// The worse of what is booked wrong and what is unexplained for it, at each share of events taken out.
fn expect_no_account_to_gain_unnoticed(recording: &Recording, what: &str) {
    let whole = ledger(recording);
    for percent in [1, 5, 20] {
        let lacking = ledger(&without(recording, percent, percent));
        let (moved, grown) = (gained(&whole, &lacking), lacking.unexplained.saturating_sub(whole.unexplained));
        let share = |ns: u64| 100.0 * ns as f64 / whole.total as f64;
        println!("{what}, {percent} %: accounts gain {:.2} %, unexplained {:.2} %", share(moved), share(grown));
        assert_eq!(lacking.overbooked, 0, "{what}: no time is booked twice");
        assert!(grown >= moved, "{what} without {percent} %: {moved} ns moved, {grown} ns more are unexplained");
    }
}

/// A real program that was recorded, once for all tests, as if nothing had been lost: that is unexplained already and would hide what
/// is asked here. None where it was skipped.
fn whole() -> Option<Recording> {
    static RECORDED: OnceLock<Option<Recording>> = OnceLock::new();
    let record = || {
        let _turn = beside_others();
        let run = suspect("healthy", "redis")?;
        let case = Case::open(&run.case).expect("a case");
        let mut recording = Recording::load(&case).expect("its tables");
        recording.losses.clear();
        Some(recording)
    };
    RECORDED.get_or_init(record).clone()
}

#[test]
fn of_events_that_are_missing_at_least_as_much_is_unexplained_as_accounts_gain() {
    let Some(recording) = whole() else { return };
    expect_no_account_to_gain_unnoticed(&recording, "redis");
}

/// Where the recorder counts what it loses, all of the stretch is unexplained.
#[test]
fn a_stretch_with_lost_events_is_unexplained() {
    let Some(mut recording) = whole() else { return };
    let before: Answer = Analysis::new(&recording).answer("case", Options::default());
    let (start, end) = (recording.manifest.start, recording.manifest.end);
    let (from, to) = (case::Nanos(start.0 + (end - start).0 / 2), case::Nanos(start.0 + (end - start).0 * 3 / 4));
    let (table, reason) = ("calls".to_string(), "ring full".to_string());
    recording.losses.push(case::tables::Loss { start: from, end: to, table, reason, count: 7 });
    let after = Analysis::new(&recording).answer("case", Options::default());
    let lost = (to - from).0;
    assert_eq!(after.ledger.reconciled.as_ref().map(|reconciled| reconciled.lost_ns), Some(lost));
    assert!(after.ledger.unexplained >= lost, "{} of {lost} ns", after.ledger.unexplained);
    assert!(after.ledger.unexplained <= lost + before.ledger.unexplained + after.ledger.total / 100);
    assert_eq!(after.ledger.accounts.iter().map(|one| one.ns).sum::<u64>(), after.ledger.total);
}
