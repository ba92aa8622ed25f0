//! One thread's own breakdown: on a processor by module, waiting for one, or blocked in a named call.

use super::account::Account;
use super::totals;
use super::walk::{object, overlay};
use crate::analysis::Analysis;
use crate::connections::End;
use crate::threads::{Cursor, State};
use case::Ledger;
use std::collections::BTreeMap;

/// The ledger of a thread's life; the exact samples of this thread split its user-mode time.
pub fn of_thread(analysis: &Analysis, slot: usize) -> Ledger {
    let thread = &analysis.threads.all()[slot];
    let mut user = 0;
    let mut accounts: BTreeMap<Account, f64> = BTreeMap::new();
    analysis.threads.walk_by_doubt(slot, thread.start, thread.end, &mut Cursor::default(), &mut |moment| {
        let mut lost = 0;
        let spans = &analysis.reconciliation.lost;
        overlay(spans, |&span| span, moment.start, moment.end, &mut |from, to, span| {
            lost += if span.is_some() { to - from } else { 0 };
        });
        if lost > 0 {
            *accounts.entry(Account::Unexplained).or_default() += lost as f64;
        }
        let length = moment.end - moment.start - lost;
        let account = match (moment.state, moment.call) {
            _ if moment.is_doubtful => Account::Unexplained,
            (State::OnProcessor, None) => {
                user += length;
                return;
            }
            (State::OnProcessor, Some(_)) => Account::Kernel(End::Client),
            (State::Runnable, _) => Account::Processor(End::Client),
            (State::Absent, _) if analysis.windows.is_thinned() => return,
            (State::Absent, _) => Account::Unexplained,
            (_, Some(row)) => Account::Blocked(End::Client, analysis.call(row).number, object(analysis, row)),
            (State::BlockedOnDisk, None) => Account::PageFault(End::Client),
            (State::Blocked, None) => Account::BlockedElsewhere(End::Client),
        };
        *accounts.entry(account).or_default() += length as f64;
    });
    split_user_time(analysis, slot, user, &mut accounts);
    totals::ledger(analysis, &accounts, analysis.windows.length(thread.start, thread.end))
}

fn split_user_time(analysis: &Analysis, slot: usize, user: u64, accounts: &mut BTreeMap<Account, f64>) {
    let thread = &analysis.threads.all()[slot];
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for sample in analysis.recording.samples[thread.samples.clone()].iter().filter(|sample| !sample.kernel) {
        *counts.entry(analysis.code.module_of(sample)).or_default() += 1;
    }
    let total: u64 = counts.values().sum();
    if total == 0 && user > 0 {
        *accounts.entry(Account::User(End::Client, thread.pid)).or_default() += user as f64;
    }
    for (module, count) in counts {
        let part = user as f64 * count as f64 / total as f64;
        *accounts.entry(Account::Module(End::Client, module)).or_default() += part;
    }
}
