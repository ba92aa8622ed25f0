//! Series of measurements: a rate that falls, and what driving it has shown.

use case::{Bucket, Driven, DrivenKind, DrivenTrial, Level, Quantity, RateLimit, SCHEMA, SeriesSample, Step, Steps};

/// A rate of 400 Mbit/s that falls to 80 Mbit/s after a second.
pub(crate) fn fell() -> Steps {
    let sample = |place: u32| {
        let rate = if place < 10 { 400e6 } else { 80e6 };
        SeriesSample { at_s: f64::from(place) / 10.0, length_s: 0.1, value: rate + f64::from(place % 3) * 1e6 }
    };
    let level =
        |from_s, to_s, value: f64, values| Level { from_s, to_s, value, low: value - 5e5, high: value + 5e5, values };
    Steps {
        schema: SCHEMA,
        source: "iperf.json".into(),
        quantity: Quantity::BitsPerSecond,
        values: 60,
        skipped: 0,
        samples: (0..60).map(sample).collect(),
        levels: vec![level(0.0, 1.0, 401e6, 10), level(1.0, 6.0, 81e6, 50)],
        steps: vec![step(1.0)],
        driven: None,
    }
}

fn step(at_s: f64) -> Step {
    let (low_s, high_s) = (at_s - 0.1, at_s + 0.1);
    Step { at_s, low_s, high_s, ratio: 0.202, ratio_low: 0.201, ratio_high: 0.203, amount: 401e6, p: 0.0005 }
}

/// The same, driven: a token bucket.
pub(crate) fn bucket() -> Steps {
    let trial = |kind, asked, pause_s, predicted_s| DrivenTrial {
        kind,
        asked,
        pause_s,
        predicted_s,
        step: Some(step(predicted_s + 0.05)),
        met: true,
    };
    let driven = Driven {
        limit: RateLimit::TokenBucket,
        bucket: Some(Bucket {
            rate: 81e6,
            rate_low: 80.8e6,
            rate_high: 81.2e6,
            burst_bytes: 40e6,
            burst_low: 39.6e6,
            burst_high: 40.4e6,
            fills_s: 3.95,
            wire_rate: 84.7e6,
            wire_burst_bytes: 41.8e6,
        }),
        trials: vec![trial(DrivenKind::Slower, 200e6, 4.54, 2.69), trial(DrivenKind::Resumed, 401e6, 1.98, 0.5)],
    };
    Steps { source: "iperf3 -c host -b {rate} -t {seconds} -J".into(), driven: Some(driven), ..fell() }
}

/// One level.
pub(crate) fn level() -> Steps {
    let whole = fell();
    Steps { levels: whole.levels[1..].to_vec(), steps: Vec::new(), samples: whole.samples[10..].to_vec(), ..whole }
}
