//! Loads: of a server that stands still now and then, of one that is not there, and of two drivers together.

use case::{
    Latency, Load, LoadArrival, LoadCourse, LoadError, LoadFault, LoadMoment, LoadPercentile, LoadPhase, Phase,
    StatusCount,
};

fn times(count: u64, p50_ns: u64, p99_ns: u64, max_ns: u64) -> Latency {
    Latency {
        count,
        mean_ns: p50_ns as f64 * 1.2,
        min_ns: p50_ns / 2,
        p50_ns,
        p90_ns: p50_ns * 2,
        p99_ns,
        p999_ns: max_ns,
        max_ns,
    }
}

/// A second of every ten it answers nobody.
pub(crate) fn stalled() -> Load {
    let moment = |place: u64| LoadMoment {
        answered: if place.is_multiple_of(10) { 0 } else { 550 },
        failed: if place == 13 { 7 } else { 0 },
        p50_ns: if place.is_multiple_of(10) { 0 } else { 1_000_000 },
        p99_ns: if place % 10 == 1 { 990_000_000 } else { 3_000_000 },
        max_ns: if place % 10 == 1 { 1_000_000_000 } else { 5_000_000 },
    };
    let percentile =
        |share: f64, latency_ns, uncorrected| LoadPercentile { share, latency_ns, uncorrected_ns: Some(uncorrected) };
    Load {
        urls: vec!["http://127.0.0.1:8080/".into()],
        arrival: LoadArrival::Constant { rate: 500.0 },
        connections: 8,
        pipeline: 1,
        threads: 2,
        wall_ns: 40_000_000_000,
        cpu_ns: 900_000_000,
        requests: 20_000,
        answered: 19_993,
        failed: 7,
        answered_per_second: 499.8,
        received_bytes: 4_000_000,
        sent_bytes: 1_000_000,
        opened: 8,
        latency: times(19_993, 1_000_000, 880_000_000, 1_000_000_000),
        uncorrected: Some(times(19_993, 1_000_000, 3_000_000, 1_000_000_000)),
        phases: vec![LoadPhase { phase: Phase::Connect, time: times(8, 80_000, 90_000, 90_000) }],
        statuses: vec![StatusCount { status: 200, count: 19_993 }],
        errors: vec![LoadError { fault: LoadFault::Reset, count: 7 }],
        percentiles: vec![
            percentile(0.0, 400_000, 400_000),
            percentile(0.5, 1_000_000, 1_000_000),
            percentile(0.9, 2_000_000, 2_000_000),
            percentile(0.99, 880_000_000, 3_000_000),
            percentile(0.999, 990_000_000, 900_000_000),
            percentile(1.0, 1_000_000_000, 1_000_000_000),
        ],
        over_time: LoadCourse { length_ns: 1_000_000_000, moments: (0..40).map(moment).collect() },
        ..Load::default()
    }
}

/// Two drivers together.
pub(crate) fn merged() -> Load {
    let merged = vec!["first.csv".into(), "second.csv".into()];
    let (latency, uncorrected) = (times(40_000, 1_000_000, 5_000_000, 9_000_000), None);
    Load { answered: 40_000, requests: 40_000, latency, uncorrected, merged, ..Load::default() }
}

/// Nobody listens.
pub(crate) fn refused() -> Load {
    Load {
        urls: vec!["http://127.0.0.1:9/".into()],
        connections: 8,
        threads: 2,
        wall_ns: 1_000_000_000,
        requests: 60,
        failed: 60,
        opened: 60,
        errors: vec![LoadError { fault: LoadFault::Refused, count: 60 }],
        ..Load::default()
    }
}
