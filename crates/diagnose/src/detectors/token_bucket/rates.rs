//! The rate at which bytes arrive, over time, and where it drops in one step.

/// Into so many stretches of equal length time is divided.
const BINS: u64 = 60;
/// A stretch is no shorter: bytes come in bursts of 64 KiB, and a reader may be off its CPU for some milliseconds.
const LEAST_BIN: u64 = 25_000_000;
/// Fewer stretches after the step are a hiccup.
const LEAST_AFTER: usize = 8;
/// How far a stretch may be off the plateau's rate to count as steady, and how many must be.
const NEAR: f64 = 0.15;
const MOSTLY: f64 = 0.9;
/// What has come beyond the steady rate reaches its most, the bucket, as it runs out; from this part of it on it counts as empty. The
/// rest is within what the queue before the shaper adds later.
const EMPTY: f64 = 0.99;

/// A drop of the rate. Rates are in bytes a nanosecond.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// When the first byte came, when the rate dropped, and the last byte.
    pub start: u64,
    pub at: u64,
    pub end: u64,
    /// What came before the drop, and what of that was more than the steady rate.
    pub fast_bytes: u64,
    pub bucket: u64,
    pub fast: f64,
    pub slow: f64,
    /// The share of the plateau within 15 % of its rate.
    pub steady: f64,
}

impl Step {
    /// How long the first part took.
    pub fn fast_time(&self) -> u64 {
        self.at - self.start
    }
}

/// The drop in the arrival of some bytes (times and bytes), where there is one: more before, and steady after it.
pub fn step(mut arrivals: Vec<(u64, u64)>) -> Option<Step> {
    arrivals.sort_unstable();
    let (start, end) = (arrivals.first()?.0, arrivals.last()?.0);
    let bin = ((end - start) / BINS).max(LEAST_BIN);
    let whole = bins(&arrivals, start, end, bin);
    let last_third = whole.get(whole.len() / 3 * 2..).filter(|last| last.len() >= LEAST_AFTER / 2)?;
    let about = super::super::median(last_third.to_vec()) as f64 / bin as f64;
    let (about_at, _) = emptied(&arrivals, start, about)?;
    // Stretches hold a packet more or less; half a plateau tells its rate exactly.
    let middle = about_at.midpoint(end);
    let late: u64 = arrivals.iter().filter(|&&(time, _)| time > middle).map(|&(_, length)| length).sum();
    let slow = late as f64 / (end - middle).max(1) as f64;
    let (at, fast_bytes) = emptied(&arrivals, start, slow)?;
    let after = bins(&arrivals, at, end, bin);
    let expected = slow * bin as f64;
    let near = after.iter().filter(|&&bytes| (bytes as f64 - expected).abs() <= NEAR * expected).count();
    let steady = near as f64 / after.len().max(1) as f64;
    let fast = fast_bytes as f64 / (at - start).max(1) as f64;
    let is_step = after.len() >= LEAST_AFTER && steady >= MOSTLY && slow > 0.0;
    let bucket = fast_bytes.saturating_sub((slow * (at - start) as f64) as u64);
    is_step.then_some(Step { start, at, end, fast_bytes, bucket, fast, slow, steady })
}

/// The bytes that came in each whole stretch between two times.
fn bins(arrivals: &[(u64, u64)], start: u64, end: u64, bin: u64) -> Vec<u64> {
    let mut bytes = vec![0; (end.saturating_sub(start) / bin) as usize];
    let first = arrivals.partition_point(|&(time, _)| time <= start);
    for &(time, length) in &arrivals[first..] {
        if let Some(bin) = bytes.get_mut(((time - start) / bin) as usize) {
            *bin += length;
        }
    }
    bytes
}

/// When what had come beyond the steady rate was at its most: the time, and what had come.
fn emptied(arrivals: &[(u64, u64)], start: u64, slow: f64) -> Option<(u64, u64)> {
    let mut came = 0;
    let beyond: Vec<(u64, u64, f64)> = arrivals
        .iter()
        .map(|&(time, length)| {
            came += length;
            (time, came, came as f64 - slow * (time - start) as f64)
        })
        .collect();
    let most = beyond.iter().map(|&(.., more)| more).fold(0.0, f64::max);
    let reached = beyond.into_iter().find(|&(.., more)| more > 0.0 && more >= EMPTY * most)?;
    Some((reached.0, reached.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Bytes that come every millisecond, so many each.
    fn of(rate: impl Fn(u64) -> u64) -> Option<Step> {
        step((0..3_000).map(|tick| (tick * MS, rate(tick))).collect())
    }

    #[test]
    fn the_drop_is_found_where_it_is_with_both_rates() {
        for last in [5, 100, 1_015] {
            let step = of(|tick| if tick < last { 50_000 } else { 10_000 }).expect("a step");
            assert!((last * MS).abs_diff(step.at) <= last * MS / 40 + 2 * MS, "{step:?}");
            assert!((last * 50_000).abs_diff(step.fast_bytes) <= last * 50_000 / 40 + 50_000, "{step:?}");
            assert!((step.slow * 1e6 - 10_000.0).abs() < 100.0, "{step:?}");
        }
    }

    #[test]
    fn a_decay_a_saw_and_a_rate_that_never_gets_steady_are_no_step() {
        assert!(of(|tick| 50_000 - tick * 15).is_none());
        assert!(of(|tick| if tick % 600 < 300 { 50_000 } else { 10_000 }).is_none());
        assert!(of(|tick| if tick < 2_900 { 50_000 } else { 10_000 }).is_none_or(|step| step.bucket < 1_000_000));
        assert!(step(vec![(0, 1), (MS, 1)]).is_none());
    }
}
