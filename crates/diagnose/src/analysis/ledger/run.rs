//! Divides the run's wall time: each instant equally among the exchanges in flight, each booking its share where it
//! stands; an instant without any goes to what the subject's threads did.

use super::account::Account;
use super::booked::Booked;
use super::idle;
use super::walk::Walker;
use crate::analysis::Analysis;
use crate::exchange::Exchange;
use crate::side_by_side::each;
use crate::spans;
use std::collections::BTreeMap;

/// The breakdown of a recording, in nanoseconds; fractions come from instants that exchanges shared.
#[derive(Clone, Debug, Default)]
pub struct Accounts {
    /// All exchanges together: the sum is the sum of their lengths.
    pub exchanges: BTreeMap<Account, f64>,
    /// The run: the sum is its wall time.
    pub run: BTreeMap<Account, f64>,
}

impl Accounts {
    /// Keeps the breakdown of all exchanges and of the run; and what each exchange booked, for [`super::Breakdown`].
    pub fn new(analysis: &Analysis) -> (Accounts, Vec<Booked>) {
        let shares = Shares::new(analysis);
        let parts: Vec<&[Exchange]> = analysis.exchanges.chunks(AT_A_TIME).collect();
        let (mut booked, mut sums) = (Vec::new(), BTreeMap::<Account, (f64, f64)>::new());
        for (part, of_part) in each(&parts, |part| walk(analysis, part, &shares)) {
            for (&account, (whole, shared)) in part.accounts.iter().zip(of_part) {
                let sum = sums.entry(account).or_default();
                *sum = (sum.0 + whole, sum.1 + shared);
            }
            booked.push(part);
        }
        let mut accounts = Accounts::default();
        for (account, (whole, shared)) in sums {
            analysis.pools.split(account, whole, &mut |account, part| {
                *accounts.exchanges.entry(account).or_default() += part;
            });
            analysis.pools.split(account, shared, &mut |account, part| {
                *accounts.run.entry(account).or_default() += part;
            });
        }
        let gaps = shares.gaps(analysis);
        let with_rows = gaps.iter().flat_map(|&(from, to)| analysis.windows.parts(from, to)).collect::<Vec<_>>();
        // Where no exchange was seen whole, nothing is known of what is left of others: a stream that nobody answers is none.
        let cut = if accounts.run.is_empty() { &[][..] } else { &analysis.cut };
        let idle = spans::without(&with_rows, cut);
        let cut = spans::length(with_rows.into_iter()) - spans::length(idle.iter().copied());
        accounts.stretch(cut as f64);
        idle::book(analysis, &idle, &mut |account, length| {
            *accounts.run.entry(account).or_default() += length;
        });
        (accounts, booked)
    }

    /// Lengthens what the run has of its exchanges by the time in which there was nothing but what is left of those
    /// that were cut: that consists of what whole ones consist of.
    fn stretch(&mut self, cut: f64) {
        let whole: f64 = self.run.values().sum();
        if whole > 0.0 {
            self.run.values_mut().for_each(|length| *length *= 1.0 + cut / whole);
        }
    }

    /// The exchanges' time in the accounts that the test accepts.
    pub fn of_exchanges(&self, accepts: impl Fn(Account) -> bool) -> u64 {
        self.exchanges.iter().filter(|(account, _)| accepts(**account)).map(|(_, ns)| ns).sum::<f64>() as u64
    }
}

/// So many exchanges are broken down by one thread, whatever the machine: then sums are the same to the last bit.
const AT_A_TIME: usize = 50_000;

/// What some exchanges booked, and of each account all of it and their share of the wall clock.
fn walk(analysis: &Analysis, exchanges: &[Exchange], shares: &Shares) -> (Booked, Vec<(f64, f64)>) {
    let (mut booked, mut sums) = (Booked::default(), Vec::new());
    let mut walker = Walker::new(analysis);
    for exchange in exchanges {
        let mut near = shares.at(exchange.start);
        walker.exchange(exchange, &mut |from, to, account| {
            let number = booked.add(account, to - from) as usize;
            sums.resize(sums.len().max(number + 1), (0.0, 0.0));
            sums[number].0 += (to - from) as f64;
            sums[number].1 += shares.between(from, to, &mut near);
        });
        booked.end_exchange();
    }
    booked.end();
    (booked, sums)
}

/// How much of the wall clock one exchange in flight had got by each time: the integral of 1 / exchanges in flight.
struct Shares {
    times: Vec<u64>,
    in_flight: Vec<u32>,
    sums: Vec<f64>,
}

impl Shares {
    fn new(analysis: &Analysis) -> Shares {
        let (first, last) = (analysis.recording.manifest.start.0, analysis.recording.manifest.end.0);
        let mut borders: Vec<(u64, i32)> = Vec::with_capacity(analysis.exchanges.len() * 2);
        for exchange in &analysis.exchanges {
            let (start, end) =
                (exchange.start.clamp(first, last.max(first)), exchange.end.clamp(first, last.max(first)));
            if start < end {
                borders.extend([(start, 1), (end, -1)]);
            }
        }
        borders.sort_unstable();
        let mut shares = Shares { times: vec![0], in_flight: vec![0], sums: vec![0.0] };
        let (mut sum, mut count, mut before) = (0.0, 0i32, 0u64);
        for (time, change) in borders {
            if count > 0 {
                sum += (time - before) as f64 / f64::from(count);
            }
            count += change;
            before = time;
            if shares.times.last() == Some(&time) {
                shares.in_flight.pop();
                shares.sums.pop();
                shares.times.pop();
            }
            shares.times.push(time);
            shares.in_flight.push(count.max(0) as u32);
            shares.sums.push(sum);
        }
        shares
    }

    /// The index of the border at or before a time.
    fn at(&self, time: u64) -> usize {
        self.times.partition_point(|&border| border <= time).saturating_sub(1)
    }

    /// One exchange's share of a stretch. `near` is the border before its start, and moves on to that before its end.
    fn between(&self, from: u64, to: u64, near: &mut usize) -> f64 {
        let start = self.sum(from, near);
        self.sum(to, near) - start
    }

    fn sum(&self, time: u64, near: &mut usize) -> f64 {
        // Stretches of an exchange follow one another: a few steps as a rule, a search where there are many borders.
        for _ in 0..8 {
            if self.times.get(*near + 1).is_some_and(|&border| border <= time) {
                *near += 1;
            }
        }
        if self.times.get(*near + 1).is_some_and(|&border| border <= time) || self.times[*near] > time {
            *near = self.at(time);
        }
        let since = time.saturating_sub(self.times[*near]) as f64;
        let in_flight = self.in_flight[*near];
        self.sums[*near] + if in_flight > 0 { since / f64::from(in_flight) } else { 0.0 }
    }

    /// When no exchange was in flight.
    fn gaps(&self, analysis: &Analysis) -> Vec<(u64, u64)> {
        let (first, last) = (analysis.recording.manifest.start.0, analysis.recording.manifest.end.0);
        let ends = self.times[1..].iter().copied().chain([u64::MAX]);
        let spans = self.times.iter().zip(&self.in_flight).zip(ends).filter(|((_, in_flight), _)| **in_flight == 0);
        let clipped = spans.map(|((&start, _), end)| (start.max(first), end.min(last)));
        clipped.filter(|(start, end)| start < end).collect()
    }
}
