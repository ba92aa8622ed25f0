//! Mann and Whitney's rank sums: two independent samples against each other, supposing no shape.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::interval::Interval;
use crate::ranks::{midranks_doubled, tie_correction};
use crate::sample::{all_finite, median};

/// Up to this product of both sizes the distribution is computed exactly where no values are equal: at most 30 million
/// additions. Beyond, the normal approximation errs by less than one part in a thousand.
const EXACT_UP_TO: usize = 4_000;

/// What the rank sums say of two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankSum {
    /// In how many pairs, one of each sample, the left is larger; equal ones count half.
    pub u: f64,
    /// The probability of a `u` at least as one-sided where nothing differs; two-sided.
    pub p: f64,
}

/// Mann and Whitney's test of `left` against `right`. `None` where one is empty or a value is not finite.
pub fn rank_sum(left: &[f64], right: &[f64]) -> Option<RankSum> {
    if left.is_empty() || right.is_empty() || !all_finite(left) || !all_finite(right) {
        return None;
    }
    // Adding 0 turns -0 into 0: they are equal.
    let both: Vec<f64> = left.iter().chain(right).map(|value| value + 0.0).collect();
    let doubled: usize = midranks_doubled(&both)[..left.len()].iter().sum();
    let u = (doubled - left.len() * (left.len() + 1)) as f64 / 2.0;
    let smaller = u.min((left.len() * right.len()) as f64 - u);
    let ties = tie_correction(&both);
    let p = if ties == 0.0 && left.len() * right.len() <= EXACT_UP_TO {
        2.0 * chances(left.len(), right.len()).iter().take(smaller as usize + 1).sum::<f64>()
    } else {
        normal_p(left.len() as f64, right.len() as f64, ties, smaller)
    };
    Some(RankSum { u, p: p.min(1.0) })
}

/// How much larger `left` is than `right`: the median of all differences (Hodges and Lehmann). NaN where one is empty.
pub fn shift(left: &[f64], right: &[f64]) -> f64 {
    median(&differences(left, right))
}

/// The interval of [`shift`] at no less than `confidence`, by inverting the rank-sum test.
///
/// `None` where so few values cannot reach that confidence, or a value is not finite.
pub fn shift_interval(left: &[f64], right: &[f64], confidence: f64) -> Option<Interval> {
    let miss = 1.0 - confidence;
    let count = left.len() * right.len();
    let sound = count > 0 && all_finite(left) && all_finite(right) && miss > 0.0 && miss < 1.0;
    if !sound {
        return None;
    }
    let cut = if count <= EXACT_UP_TO {
        let mut chance = 0.0;
        let undercut = chances(left.len(), right.len()).into_iter().take_while(|more| {
            chance += more;
            2.0 * chance <= miss
        });
        undercut.count().checked_sub(1)?
    } else {
        let (center, deviation) = normal_moments(left.len() as f64, right.len() as f64, 0.0);
        let cut = center + Normal::standard().inverse_cdf(miss / 2.0) * deviation - 0.5;
        if cut < 0.0 {
            return None;
        }
        cut as usize
    };
    let mut differences = differences(left, right);
    let low = *differences.select_nth_unstable_by(cut, f64::total_cmp).1;
    let high = *differences.select_nth_unstable_by(count - 1 - cut, f64::total_cmp).1;
    Some(Interval { low, high })
}

fn differences(left: &[f64], right: &[f64]) -> Vec<f64> {
    left.iter().flat_map(|larger| right.iter().map(move |smaller| larger - smaller)).collect()
}

/// The chance of each `u` where nothing differs. Counts the ways to place `left` values among `right` ones by where the
/// largest of all lies: it is of the left, and beats all of the right, or it is of the right, and beats none.
fn chances(left: usize, right: usize) -> Vec<f64> {
    let most = left * right;
    // One row for each number of left values; the number of right values grows from pass to pass.
    let mut ways = vec![vec![0.0; most + 1]; left + 1];
    for row in &mut ways {
        row[0] = 1.0;
    }
    for _ in 0..right {
        for count in 1..=left {
            let (fewer, rest) = ways.split_at_mut(count);
            let (fewer, row) = (&fewer[count - 1], &mut rest[0]);
            for u in (0..=most).rev() {
                row[u] = fewer[u] + if u >= count { row[u - count] } else { 0.0 };
            }
        }
    }
    let row = &ways[left];
    let all: f64 = row.iter().sum();
    row.iter().map(|count| count / all).collect()
}

fn normal_p(left: f64, right: f64, ties: f64, smaller: f64) -> f64 {
    let (center, deviation) = normal_moments(left, right, ties);
    if deviation == 0.0 {
        return 1.0;
    }
    2.0 * Normal::standard().cdf((smaller + 0.5 - center) / deviation)
}

fn normal_moments(left: f64, right: f64, ties: f64) -> (f64, f64) {
    let all = left + right;
    let spread = all + 1.0 - ties / (all * (all - 1.0));
    (left * right / 2.0, (left * right / 12.0 * spread).max(0.0).sqrt())
}
