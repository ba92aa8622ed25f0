//! From samples to what is shown of them.

use case::{SCHEMA, ServiceSample, Watched, WatchedPoint, WatchedService};
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::time::Duration;

/// Points of a series: more than that cannot be told apart on a page.
const MOST_POINTS: usize = 240;

/// The length of intervals, in milliseconds, so that a span has no more than that.
pub fn length_of(span: Duration) -> u64 {
    let least = span.as_millis() as u64 / MOST_POINTS as u64;
    // Lengths that people think in.
    let steps =
        [0, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400, 172_800];
    steps.into_iter().map(|seconds| seconds * 1_000).find(|length| *length >= least).unwrap_or(86_400_000 * 4)
}

/// From the beginning of the first to the end of the last.
pub fn spanned(samples: &[ServiceSample]) -> Duration {
    let began = samples.iter().map(|sample| sample.at_ms.saturating_sub(sample.length.0 / 1_000_000)).min();
    let ended = samples.iter().map(|sample| sample.at_ms).max();
    Duration::from_millis(ended.unwrap_or(0).saturating_sub(began.unwrap_or(0)))
}

/// The samples of each service.
pub fn by_service(samples: Vec<ServiceSample>) -> BTreeMap<String, Vec<ServiceSample>> {
    let mut services: BTreeMap<String, Vec<ServiceSample>> = BTreeMap::new();
    for sample in samples {
        services.entry(sample.service.clone()).or_default().push(sample);
    }
    services
}

/// What they did, those with most CPU time first.
pub fn of<S: Borrow<[ServiceSample]>>(by_service: &BTreeMap<String, S>) -> Watched {
    let ends = || by_service.values().flat_map(|samples| samples.borrow().iter()).map(|sample| sample.at_ms);
    let mut services = by_service.values().filter_map(|samples| one(samples.borrow())).collect::<Vec<_>>();
    services.sort_by_key(|service| std::cmp::Reverse(service.user_ns + service.system_ns));
    Watched {
        schema: SCHEMA,
        from_ms: ends().min().unwrap_or(0),
        to_ms: ends().max().unwrap_or(0),
        services,
        ..Watched::default()
    }
}

fn one(samples: &[ServiceSample]) -> Option<WatchedService> {
    let mut series = Vec::new();
    for part in samples.chunks(samples.len().div_ceil(MOST_POINTS).max(1)) {
        series.push(WatchedPoint::of(&sum(part)?));
    }
    Some(WatchedService { series, ..WatchedService::of(&sum(samples)?) })
}

/// Samples of one service added up.
pub fn sum(samples: &[ServiceSample]) -> Option<ServiceSample> {
    let (first, rest) = samples.split_first()?;
    let mut sum = first.clone();
    for sample in rest {
        sum.join(sample);
    }
    Some(sum)
}
