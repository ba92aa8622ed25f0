//! How long exchanges took: their distribution, and their course over time.

use crate::analysis::Analysis;
use crate::exchange::Exchange;
use case::views::{Bin, Lengths, Moment, Outlier, Quantile};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Distributions of no more exchanges than this are shown whole.
const SHOWN_WHOLE: usize = 200;

/// The longest exchanges, one by one: in the distribution ...
const LONGEST_STEPS: usize = 10;

/// ... and in the list of the worst.
const WORST: usize = 100;

/// Stretches of time at most.
const STRETCHES: u64 = 1_000;

/// Up to so many exchanges, stretches are so short that most hold one exchange: each is seen when it ended.
const SHOWN_SINGLY: u64 = 300;

/// Bins that a decade can have. The fewest that show enough bins between the shortest and the longest are taken.
const BINS_A_DECADE: [u32; 7] = [10, 20, 50, 100, 200, 500, 1_000];

/// Bins that are enough, whatever the number of exchanges.
const ENOUGH_BINS: f64 = 24.0;

/// The distribution of the lengths of exchanges, and their course over time.
pub fn lengths(analysis: &Analysis, longest_first: &[usize]) -> Lengths {
    let sorted: Vec<u64> = longest_first.iter().rev().map(|&index| analysis.exchanges[index].length()).collect();
    Lengths {
        count: sorted.len() as u64,
        total_ns: sorted.iter().sum(),
        quantiles: quantiles(&sorted),
        histogram: histogram(&sorted),
        over_time: over_time(analysis),
        worst: worst(analysis, longest_first),
    }
}

/// Steps of the distribution: each hundredth, towards the longest each thousandth and so on, then each exchange.
fn quantiles(sorted: &[u64]) -> Vec<Quantile> {
    let count = sorted.len();
    let mut ranks: BTreeSet<usize> = BTreeSet::new();
    if count <= SHOWN_WHOLE {
        ranks.extend(1..=count);
    } else {
        let mut step = count as f64 / 100.0;
        ranks.extend((0..=100).map(|number| (step * f64::from(number)).ceil() as usize));
        while step > 1.0 {
            step /= 10.0;
            ranks.extend((1..=10).map(|number| (count as f64 - step * f64::from(number)).ceil() as usize));
        }
        ranks.extend(count - LONGEST_STEPS + 1..=count);
        ranks.insert(1);
    }
    let within = ranks.into_iter().filter(|rank| (1..=count).contains(rank));
    within.map(|rank| Quantile { share: rank as f64 / count as f64, ns: sorted[rank - 1] }).collect()
}

/// Bins whose borders grow by a constant factor; where they would be narrower than a nanosecond, several are one.
fn histogram(sorted: &[u64]) -> Vec<Bin> {
    let (Some(&shortest), Some(&longest)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    // On an axis of powers nothing is nought; a length of nothing counts as a nanosecond.
    let position = |length: u64| (length.max(1) as f64).log10();
    let decades = position(longest) - position(shortest);
    let wanted = (sorted.len() as f64).sqrt().clamp(5.0, ENOUGH_BINS);
    let enough = BINS_A_DECADE.into_iter().find(|&bins| decades * f64::from(bins) >= wanted);
    // Where all are as long as each other, a fine bin would say nothing more than a coarse one.
    let most = if decades > 0.0 { 1_000 } else { 10 };
    let a_decade = f64::from(enough.unwrap_or(most));
    let border = |number: u32| 10f64.powf(f64::from(number) / a_decade).round() as u64;
    let mut number = (position(shortest) * a_decade).floor() as u32;
    while number > 0 && border(number) > shortest.max(1) {
        number -= 1;
    }
    let mut bins = Vec::new();
    let mut rest = sorted;
    while !rest.is_empty() {
        let from_ns = border(number);
        while border(number) <= from_ns {
            number += 1;
        }
        let to_ns = border(number);
        let count = rest.partition_point(|&length| length < to_ns);
        rest = &rest[count..];
        let empty_first = count == 0 && bins.is_empty();
        if !empty_first {
            bins.push(Bin { from_ns, to_ns, count: count as u64 });
        }
    }
    bins
}

/// What ended in each of some stretches of equal length.
fn over_time(analysis: &Analysis) -> Vec<Moment> {
    let count = analysis.exchanges.len() as u64;
    let stretches = if count <= SHOWN_SINGLY { STRETCHES } else { (count / 10).clamp(100, STRETCHES) };
    let start = analysis.recording.manifest.start.0;
    let wall = analysis.wall().max(1);
    // What ends with the recording belongs to the last stretch.
    let stretch = |end: u64| {
        let at = u128::from(end.saturating_sub(start)) * u128::from(stretches) / u128::from(wall);
        (at as u64).min(stretches - 1)
    };
    let mut ended: Vec<(u64, u64)> =
        analysis.exchanges.iter().map(|exchange| (stretch(exchange.end), exchange.length())).collect();
    ended.sort_unstable();
    let beginning = |number: u64| (u128::from(number) * u128::from(wall) / u128::from(stretches)) as u64;
    ended.chunk_by(|one, other| one.0 == other.0).map(|stretch| moment(beginning(stretch[0].0), stretch)).collect()
}

/// A stretch, from the lengths of what ended in it, shortest first.
fn moment(at: u64, ended: &[(u64, u64)]) -> Moment {
    let rank = |share: f64| ended[((ended.len() as f64 * share).ceil() as usize).clamp(1, ended.len()) - 1].1;
    Moment { at, count: ended.len() as u64, median_ns: rank(0.5), p95_ns: rank(0.95), most_ns: rank(1.0) }
}

/// The longest, longest first.
fn worst(analysis: &Analysis, longest_first: &[usize]) -> Vec<Outlier> {
    let start = analysis.recording.manifest.start.0;
    longest_first
        .iter()
        .take(WORST)
        .map(|&index| {
            let exchange = &analysis.exchanges[index];
            let at = exchange.end.saturating_sub(start);
            Outlier { number: index as u64 + 1, at, length_ns: exchange.length() }
        })
        .collect()
}

/// The exchanges by their length, longest first; of equally long ones, the earlier.
pub fn longest_first(analysis: &Analysis) -> Vec<usize> {
    let lengths = analysis.exchanges.iter().map(Exchange::length).enumerate();
    let mut order: Vec<(Reverse<u64>, usize)> = lengths.map(|(index, length)| (Reverse(length), index)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, index)| index).collect()
}

#[cfg(test)]
mod tests;
