//! Wilcoxon's signed ranks: one sample of differences against zero, supposing nothing of its shape but symmetry.
//!
//! Where arms run in random order and nothing differs between them, differences are symmetric by construction,
//! whatever the noise; the test and its interval then hold at every sample size.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::interval::Interval;
use crate::ranks::{midranks_doubled, tie_correction};
use crate::sample::{all_finite, median};

/// Up to here the distribution is computed exactly, in n³/2 additions: 13 million. Beyond, the normal approximation
/// errs by less than one part in a thousand.
const EXACT_UP_TO: usize = 300;

/// What the signed ranks say of a sample of differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRank {
    /// The sum of the ranks of the positive differences.
    pub positive: f64,
    /// The probability of ranks at least as one-sided where nothing differs; two-sided.
    pub p: f64,
    /// The differences that counted: those that are not zero.
    pub used: usize,
}

/// Wilcoxon's signed-rank test of `differences` against zero; zeros are dropped, equal sizes share their rank.
/// `None` where a value is not finite. Where nothing is left, p is 1.
pub fn signed_rank(differences: &[f64]) -> Option<SignedRank> {
    if !all_finite(differences) {
        return None;
    }
    let moved: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    let sizes: Vec<f64> = moved.iter().map(|difference| difference.abs()).collect();
    let ranks = midranks_doubled(&sizes);
    let of_positive = |(rank, difference): (&usize, &f64)| if *difference > 0.0 { *rank } else { 0 };
    let positive: usize = ranks.iter().zip(&moved).map(of_positive).sum();
    let smaller = positive.min(ranks.iter().sum::<usize>() - positive);
    let p = if moved.len() <= EXACT_UP_TO {
        (2.0 * chance_up_to(&chances(&ranks), smaller)).min(1.0)
    } else {
        normal_p(moved.len(), tie_correction(&sizes), smaller as f64 / 2.0)
    };
    Some(SignedRank { positive: positive as f64 / 2.0, p, used: moved.len() })
}

/// The Hodges-Lehmann estimate: the median of the means of all pairs of values, each value with itself too. Nearly as
/// sharp as the mean on normal values, and hardly moved by outliers. NaN for no values.
pub fn hodges_lehmann(values: &[f64]) -> f64 {
    median(&pair_means(values))
}

/// The interval of the centre of symmetry at no less than `confidence`, by inverting the signed-rank test (Hodges and
/// Lehmann 1963; Hollander and Wolfe, section 3.3).
///
/// `None` where so few values cannot reach that confidence (two of 2ⁿ patterns of signs always miss), or where a value
/// is not finite.
pub fn center_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let miss = 1.0 - confidence;
    if values.is_empty() || !all_finite(values) || !(miss > 0.0 && miss < 1.0) {
        return None;
    }
    let cut =
        if values.len() <= EXACT_UP_TO { exact_cut(values.len(), miss)? } else { normal_cut(values.len(), miss)? };
    let mut means = pair_means(values);
    let last = means.len() - 1;
    let low = *means.select_nth_unstable_by(cut, f64::total_cmp).1;
    let high = *means.select_nth_unstable_by(last - cut, f64::total_cmp).1;
    Some(Interval { low, high })
}

/// The Walsh averages: the mean of each pair of values, each value with itself too.
fn pair_means(values: &[f64]) -> Vec<f64> {
    let mut means = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (place, left) in values.iter().enumerate() {
        means.extend(values[place..].iter().map(|right| f64::midpoint(*left, *right)));
    }
    means
}

/// The chance of each sum of ranks up to half of the largest, where every rank counts or not with equal chance.
fn chances(ranks: &[usize]) -> Vec<f64> {
    let half = ranks.iter().sum::<usize>() / 2;
    let mut chances = vec![0.0; half + 1];
    chances[0] = 1.0;
    let mut reached = 0;
    for rank in ranks {
        reached = half.min(reached + rank);
        for sum in (0..=reached).rev() {
            let with = if sum >= *rank { chances[sum - rank] } else { 0.0 };
            chances[sum] = f64::midpoint(chances[sum], with);
        }
    }
    chances
}

fn chance_up_to(chances: &[f64], sum: usize) -> f64 {
    chances.iter().take(sum + 1).sum()
}

/// The largest rank sum that is met or undercut with a chance of at most `miss`, two-sided.
fn exact_cut(values: usize, miss: f64) -> Option<usize> {
    let ranks: Vec<usize> = (1..=values).collect();
    let mut chance = 0.0;
    let undercut = chances(&ranks).into_iter().take_while(|more| {
        chance += more;
        2.0 * chance <= miss
    });
    undercut.count().checked_sub(1)
}

fn normal_cut(values: usize, miss: f64) -> Option<usize> {
    let (center, deviation) = normal_moments(values, 0.0);
    let cut = center + Normal::standard().inverse_cdf(miss / 2.0) * deviation - 0.5;
    (cut >= 0.0).then_some(cut.floor() as usize)
}

fn normal_p(values: usize, ties: f64, smaller: f64) -> f64 {
    let (center, deviation) = normal_moments(values, ties);
    (2.0 * Normal::standard().cdf((smaller + 0.5 - center) / deviation)).min(1.0)
}

fn normal_moments(values: usize, ties: f64) -> (f64, f64) {
    let count = values as f64;
    let variance = count * (count + 1.0) * (2.0 * count + 1.0) / 24.0 - ties / 48.0;
    (count * (count + 1.0) / 4.0, variance.sqrt())
}
