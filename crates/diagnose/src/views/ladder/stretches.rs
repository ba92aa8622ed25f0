//! Where an exchange's time went, in order.

use crate::analysis::Analysis;
use crate::analysis::ledger::{Account, Walker, run_account};
use crate::exchange::Exchange;
use case::views::Stretch;

/// The stretches of an exchange from 0 to its length, without gaps; neighbours in one account are one.
pub fn stretches(analysis: &Analysis, exchange: &Exchange) -> Vec<Stretch> {
    // A walker of its own: it remembers where in each thread's time it was, and the chosen are in no order.
    let mut walker = Walker::new(analysis);
    let mut booked: Vec<(u64, u64, Account)> = Vec::new();
    let mut charged = 0;
    walker.exchange(exchange, &mut |from, to, account| {
        let (from, to) = (from.max(exchange.start).max(charged), to.min(exchange.end));
        if from >= to {
            return;
        }
        if charged.max(exchange.start) < from {
            booked.push((charged.max(exchange.start), from, Account::Unexplained));
        }
        charged = to;
        match booked.last_mut() {
            Some(last) if last.2 == account => last.1 = to,
            _ => booked.push((from, to, account)),
        }
    });
    let rest = charged.max(exchange.start);
    if rest < exchange.end {
        booked.push((rest, exchange.end, Account::Unexplained));
    }
    let mut stretches: Vec<Stretch> = Vec::with_capacity(booked.len());
    for (from, to, account) in booked {
        let (from, to, account) = (from - exchange.start, to - exchange.start, run_account(analysis, account));
        match stretches.last_mut() {
            Some(last) if last.account == account => last.to = to,
            _ => stretches.push(Stretch { from, to, account }),
        }
    }
    stretches
}
