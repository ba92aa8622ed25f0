//! A bucket of tokens, read off a run at full rate: what came is the bucket's content and what flowed in meanwhile.
//!
//! While the bucket is empty, `amount(t) = burst + rate * t`. The rate is that of the plateau, and each value of the plateau gives the
//! burst once.

use case::{Bucket, Level, Step};
use import::Measurement;
use stats::{mean, mean_interval, quantile};

/// The steady rate is this part of the first one at most: less of a change is what networks do every day.
const SLOWER: f64 = 0.7;

/// Bytes of a full segment with timestamps on an MTU of 1,500, and on the wire: Ethernet's head of 14, IPv4's of 20, TCP's of 32.
const PAYLOAD: f64 = 1_448.0;
const ON_THE_WIRE: f64 = 1_514.0;

/// The first step down to a plateau; none where there is none.
pub fn drop<'s>(levels: &[Level], steps: &'s [Step]) -> Option<&'s Step> {
    let largest = levels.iter().map(|level| level.value).fold(0.0, f64::max);
    let down = steps.iter().zip(levels.windows(2));
    down.filter(|(_, pair)| pair[1].value <= SLOWER * largest && pair[0].value > pair[1].value)
        .map(|(step, _)| step)
        .next()
}

/// The bucket that explains a run, whose values are bits in a second.
pub fn infer(values: &[Measurement], step: &Step) -> Option<Bucket> {
    // The value of the step itself is of both.
    let first = values.partition_point(|one| one.at_s <= step.at_s);
    let plateau = values.get(first..)?;
    let rates: Vec<f64> = plateau.iter().map(|one| one.value).collect();
    let rate = mean(&rates);
    let interval = mean_interval(&rates, 0.95)?;
    let mut amount: f64 = values[..first].iter().map(|one| one.value * one.length_s).sum();
    let mut bursts = Vec::with_capacity(plateau.len());
    for one in plateau {
        amount += one.value * one.length_s;
        bursts.push((amount - rate * (one.at_s + one.length_s)) / 8.0);
    }
    let burst_bytes = mean(&bursts);
    // How far the rate may be off counts over half of the time, for that is how far the plateau's middle is.
    let middle = f64::midpoint(plateau[0].at_s, plateau[plateau.len() - 1].at_s);
    let reach = (interval.high - interval.low) / 2.0 * middle / 8.0;
    let spread = (quantile(&bursts, 0.975) - quantile(&bursts, 0.025)) / 2.0;
    let wire = ON_THE_WIRE / PAYLOAD;
    (rate > 0.0 && burst_bytes > 0.0).then(|| Bucket {
        rate,
        rate_low: interval.low,
        rate_high: interval.high,
        burst_bytes,
        burst_low: burst_bytes - reach - spread,
        burst_high: burst_bytes + reach + spread,
        fills_s: burst_bytes * 8.0 / rate,
        wire_rate: rate * wire,
        wire_burst_bytes: burst_bytes * wire,
    })
}

impl Emptied {
    /// When it is empty; none where it never is.
    pub fn at_s(&self, bucket: &Bucket) -> Option<f64> {
        let content = bucket.burst_bytes * 8.0 * self.filled.clamp(0.0, 1.0);
        (self.asked > bucket.rate).then(|| content / (self.asked - bucket.rate))
    }
}

/// How a bucket is emptied.
pub struct Emptied {
    /// At which rate, in bits a second.
    pub asked: f64,
    /// How full it was, 0 to 1.
    pub filled: f64,
}
