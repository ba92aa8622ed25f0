//! Services over time: one that costs more since a moment.

use case::Nanos;
use case::{
    Deviation, OutOfLineWith, ServiceSample, Watched, WatchedMetric, WatchedPoint, WatchedRecording, WatchedService,
};

/// 2026-11-25 14:00 UTC.
const START: u64 = 1_795_615_200_000;

/// Two services, of which one gets dear after ten minutes.
pub(crate) fn changed() -> Watched {
    let cheap = service("gemini", 60, |_| 1_000_000);
    let dear = service("gopher", 20, |turn| if turn < 60 { 1_200_000 } else { 15_400_000 });
    Watched {
        schema: 1,
        history: "/var/lib/whyslow/history".into(),
        from_ms: START,
        to_ms: START + 1_190_000,
        services: vec![dear, cheap],
        deviations: vec![
            Deviation {
                service: "gopher".into(),
                metric: WatchedMetric::CpuPerRequest,
                with: OutOfLineWith::Past,
                at_ms: START + 590_000,
                low_ms: START + 580_000,
                high_ms: START + 590_000,
                before: 1_200_000.0,
                after: 15_400_000.0,
                p: 0.0005,
                ..Deviation::default()
            },
            Deviation {
                service: "gopher".into(),
                with: OutOfLineWith::Others,
                at_ms: START + 590_000,
                low_ms: START + 580_000,
                high_ms: START + 600_000,
                before: 1_000_000.0,
                after: 15_400_000.0,
                p: 0.0001,
                ..Deviation::default()
            },
        ],
        recordings: vec![WatchedRecording {
            service: "gopher".into(),
            at_ms: START + 620_000,
            case: "/var/lib/whyslow/cases/gopher".into(),
            summary: "busy-spin is suspected.".into(),
        }],
        case: "/var/lib/whyslow/cases/gopher".into(),
        ..Watched::default()
    }
}

/// Nothing out of line, and requests not counted.
pub(crate) fn level() -> Watched {
    let missing = vec!["requests, connections and bytes: the kernel refused".into()];
    let mut service = service("cron", 0, |_| 0);
    service.counts_requests = false;
    Watched { services: vec![service], deviations: Vec::new(), recordings: Vec::new(), missing, ..changed() }
}

/// Twenty minutes by ten seconds.
fn service(name: &str, requests: u64, cost: impl Fn(u64) -> u64) -> WatchedService {
    let sample = |turn: u64| ServiceSample {
        at_ms: START + turn * 10_000,
        length: Nanos(10_000_000_000),
        service: name.into(),
        counts_requests: true,
        requests,
        connections: requests,
        user: Nanos(requests.max(1) * cost(turn)),
        answering: Nanos(requests * 2_000_000),
        sent: requests * 20_000,
        received: requests * 20,
        retransmitted: turn % 2,
        memory: 12 << 20,
        ..ServiceSample::default()
    };
    let samples = (0..120).map(sample).collect::<Vec<_>>();
    let mut sum = samples[0].clone();
    samples[1..].iter().for_each(|sample| sum.join(sample));
    WatchedService { series: samples.iter().map(WatchedPoint::of).collect(), ..WatchedService::of(&sum) }
}
