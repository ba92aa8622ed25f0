//! Ranks of values, equal values sharing the mean of theirs.

/// The rank of each value, counted from 1, times two: so that a shared rank is a whole number too.
pub(crate) fn midranks_doubled(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|left, right| values[*left].total_cmp(&values[*right]));
    let mut ranks = vec![0; values.len()];
    for (before, tied) in runs_of_equals(&order, values) {
        for place in tied {
            // Ranks before + 1 to before + length; their mean times two.
            ranks[*place] = 2 * before + tied.len() + 1;
        }
    }
    ranks
}

/// How many values share each rank, for corrections of a variance: the sum of t³ - t.
pub(crate) fn tie_correction(values: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|left, right| values[*left].total_cmp(&values[*right]));
    runs_of_equals(&order, values).map(|(_, tied)| (tied.len() as f64).powi(3) - tied.len() as f64).sum()
}

/// Each stretch of equal values in `order`, with the number of values before it.
fn runs_of_equals<'a>(order: &'a [usize], values: &'a [f64]) -> impl Iterator<Item = (usize, &'a [usize])> {
    let mut before = 0;
    order.chunk_by(|left, right| values[*left].total_cmp(&values[*right]).is_eq()).map(move |tied| {
        let start = before;
        before += tied.len();
        (start, tied)
    })
}
