//! Which services are out of line: with what they did before, or with what the others do meanwhile.
//!
//! With the past: a change point of the series (`stats::change_points`) that is large enough to matter. With the others: its CPU time
//! a request is in nearly all recent intervals several times the median of each other service. Programs differ, so that this accuses
//! nobody; it says where to look.

use super::document::sum;
use case::{Deviation, OutOfLineWith, ServiceSample, WatchedMetric};
use stats::{change_points, median, rank_sum};
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// Steps that chance makes in one series of a thousand: looked for every few seconds.
const ALARMS: f64 = 0.001;
/// The interval of a step is drawn by chance, which this makes the same each time.
const SEED: u64 = 19;
/// As many values are compared: the work grows with them.
const MOST_VALUES: usize = 240;
/// Fewer requests in an interval say little about one: such intervals are joined.
const LEAST_REQUESTS: u64 = 5;
/// Each level holds at least so many values, as in `change_points`.
const LEAST_VALUES: usize = 4;
/// A step is looked for where the last values differ by so much from those before: shuffling takes milliseconds.
const SCREEN: f64 = 1.2;
/// CPU time a request comes and goes by a third with caches and with what is asked for.
const LEAST_RATIO: f64 = 1.5;
/// What a change must cost or save, in CPUs: a hundredth of one.
const LEAST_CPUS: f64 = 0.01;
/// Waiting comes and goes with load.
const LEAST_WAITING_RATIO: f64 = 2.0;
/// Shorter waits are nobody's trouble, in nanoseconds.
const LEAST_WAITING: f64 = 1e6;
/// Failures below one of a hundred come and go.
const LEAST_FAILURES: f64 = 0.01;
/// As many intervals are compared with the others'.
const RECENT: usize = 12;
/// So many times the others' median is out of line: programs and protocols differ by less (TLS costs about that much a connection).
const OTHERS_RATIO: f64 = 4.0;
/// CPU time that is worth looking at, in CPUs, where it is out of line with the others'.
const WORTH_CPUS: f64 = 0.05;
/// The chance that nothing differs between a service and the others.
const OTHERS_ALARMS: f64 = 0.05;

/// All that are out of line, latest first. The samples of each service are in order of time.
pub fn deviations<S: Borrow<[ServiceSample]>>(by_service: &BTreeMap<String, S>) -> Vec<Deviation> {
    let mut found = by_service.values().flat_map(|samples| with_the_past(samples.borrow())).collect::<Vec<_>>();
    found.extend(with_the_others(by_service));
    found.sort_by(|one, other| (other.at_ms, &one.service, one.metric).cmp(&(one.at_ms, &other.service, other.metric)));
    found
}

fn with_the_past(samples: &[ServiceSample]) -> Vec<Deviation> {
    let counts = samples.iter().any(|sample| sample.counts_requests && sample.requests > 0);
    let metrics: &[WatchedMetric] = if counts {
        &[WatchedMetric::CpuPerRequest, WatchedMetric::AnswerTime, WatchedMetric::Failures]
    } else {
        &[WatchedMetric::Cpu]
    };
    metrics.iter().flat_map(|metric| steps(samples, *metric)).collect()
}

/// The steps of a metric that matter.
fn steps(samples: &[ServiceSample], metric: WatchedMetric) -> Vec<Deviation> {
    let parts = parts(samples, metric);
    let values = parts.iter().filter_map(|part| value(part, metric)).collect::<Vec<_>>();
    if values.len() != parts.len() || !is_worth_a_look(&values) {
        return Vec::new();
    }
    let began = |place: usize| {
        let part = &parts[place.min(parts.len() - 1)];
        part.at_ms.saturating_sub(part.length.0 / 1_000_000)
    };
    let steps = change_points(&values, ALARMS, SEED).into_iter();
    let matter = steps.filter(|step| matters(metric, step.before, step.after, &parts[step.at..]));
    let one = |step: stats::ChangePoint| Deviation {
        service: samples[0].service.clone(),
        metric,
        with: OutOfLineWith::Past,
        at_ms: began(step.at),
        low_ms: began(step.interval.low.max(0.0) as usize),
        high_ms: began(step.interval.high.max(0.0) as usize),
        from_the_beginning: false,
        before: step.before,
        after: step.after,
        p: step.p,
    };
    matter.map(one).collect()
}

/// Intervals joined until each holds enough requests, and there are not too many.
fn parts(samples: &[ServiceSample], metric: WatchedMetric) -> Vec<ServiceSample> {
    let each = samples.len().div_ceil(MOST_VALUES).max(1);
    let is_enough = |open: &[ServiceSample]| {
        let requests: u64 = open.iter().map(|sample| sample.requests).sum();
        open.len() >= each && (metric == WatchedMetric::Cpu || requests >= LEAST_REQUESTS)
    };
    let (mut parts, mut start) = (Vec::new(), 0);
    for end in 1..=samples.len() {
        if is_enough(&samples[start..end]) {
            parts.extend(sum(&samples[start..end]));
            start = end;
        }
    }
    parts
}

fn value(part: &ServiceSample, metric: WatchedMetric) -> Option<f64> {
    match metric {
        WatchedMetric::CpuPerRequest => part.cpu_per_request(),
        WatchedMetric::AnswerTime => part.answering_per_request(),
        WatchedMetric::Failures => Some(part.failures as f64 / part.requests.max(1) as f64),
        WatchedMetric::Cpu => Some(part.cpu().share_of(part.length).0),
    }
}

/// Whether some stretch differs from the rest at all: the medians of the eighths of the series.
fn is_worth_a_look(values: &[f64]) -> bool {
    if values.len() < 2 * LEAST_VALUES {
        return false;
    }
    let size = (values.len() / 8).max(LEAST_VALUES);
    let medians = values.chunks(size).chain([&values[values.len() - size..]]).map(median);
    let (least, most) =
        medians.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), one| (least.min(one), most.max(one)));
    most > least * SCREEN
}

/// Whether a step is large enough for somebody to care.
fn matters(metric: WatchedMetric, before: f64, after: f64, since: &[ServiceSample]) -> bool {
    let (low, high) = (before.min(after), before.max(after));
    let Some(sum) = sum(since) else { return false };
    let seconds = sum.length.seconds().max(f64::MIN_POSITIVE);
    match metric {
        WatchedMetric::CpuPerRequest => {
            let cpus = (high - low) / 1e9 * sum.requests as f64 / seconds;
            high >= low * LEAST_RATIO && cpus >= LEAST_CPUS
        }
        WatchedMetric::AnswerTime => high >= low * LEAST_WAITING_RATIO && high - low >= LEAST_WAITING,
        WatchedMetric::Failures => high >= low * LEAST_WAITING_RATIO && high - low >= LEAST_FAILURES,
        WatchedMetric::Cpu => high >= low * LEAST_RATIO && high - low >= WORTH_CPUS,
    }
}

/// A service's recent CPU time a request.
struct Recent<'a> {
    parts: Vec<ServiceSample>,
    values: Vec<f64>,
    all: &'a [ServiceSample],
}

fn with_the_others<S: Borrow<[ServiceSample]>>(by_service: &BTreeMap<String, S>) -> Vec<Deviation> {
    let recent = by_service.values().filter_map(|samples| Recent::of(samples.borrow())).collect::<Vec<_>>();
    (0..recent.len()).filter_map(|index| recent[index].out_of_line(index, &recent)).collect()
}

impl Recent<'_> {
    fn of(samples: &[ServiceSample]) -> Option<Recent<'_>> {
        let first = samples.len().saturating_sub(RECENT * 4);
        let mut parts = parts(&samples[first..], WatchedMetric::CpuPerRequest);
        parts.drain(..parts.len().saturating_sub(RECENT));
        let values = parts.iter().filter_map(ServiceSample::cpu_per_request).collect::<Vec<_>>();
        (values.len() >= LEAST_VALUES).then_some(Recent { parts, values, all: samples })
    }

    fn out_of_line(&self, index: usize, all: &[Recent]) -> Option<Deviation> {
        let others = || all.iter().enumerate().filter(|(place, _)| *place != index).map(|(_, other)| other);
        let highest = others().map(|other| median(&other.values)).reduce(f64::max)?;
        let bar = highest * OTHERS_RATIO;
        let above = self.values.iter().filter(|value| **value > bar).count();
        let sum = sum(&self.parts)?;
        let is_so = above * 10 >= self.values.len() * 9 && sum.cpu().share_of(sum.length).0 >= WORTH_CPUS;
        if !is_so {
            return None;
        }
        let theirs = others().flat_map(|other| other.values.iter().copied()).collect::<Vec<_>>();
        let p = rank_sum(&self.values, &theirs)?.p;
        if p > OTHERS_ALARMS {
            return None;
        }
        let (at, from_the_beginning) = self.since(bar);
        let began = |sample: &ServiceSample| sample.at_ms.saturating_sub(sample.length.0 / 1_000_000);
        Some(Deviation {
            service: self.all[0].service.clone(),
            metric: WatchedMetric::CpuPerRequest,
            with: OutOfLineWith::Others,
            at_ms: began(&self.all[at]),
            // It crossed the bar between two intervals that served requests.
            low_ms: began(&self.all[self.before(at)]),
            high_ms: self.all[at].at_ms,
            from_the_beginning,
            before: highest,
            after: median(&self.values),
            p,
        })
    }

    /// Since when it is above the bar: of the intervals with requests, those at the end that are, one in four excepted.
    fn since(&self, bar: f64) -> (usize, bool) {
        let mut at = self.all.len() - 1;
        let (mut seen, mut below) = (0, 0);
        let served = self.all.iter().enumerate().rev().filter_map(|(place, one)| Some((place, one.cpu_per_request()?)));
        let mut first = at;
        for (place, value) in served {
            (seen, first) = (seen + 1, place);
            below += usize::from(value <= bar);
            if below * 4 > seen {
                return (at, false);
            }
            if value > bar {
                at = place;
            }
        }
        (at, at == first)
    }

    /// The interval with requests before a place, or the first.
    fn before(&self, at: usize) -> usize {
        (0..at).rev().find(|place| self.all[*place].requests > 0).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
