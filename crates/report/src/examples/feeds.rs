//! Feeds: a first and a second round, one that was interrupted, and rounds over days.

use case::{
    ContentFault, FeedCost, FeedError, FeedFault, FeedHistory, FeedOutcomes, FeedPhase, FeedRefresh, FeedRound,
    Latency, LoadFault, LoadPhase, PastRound, Phase, PortUse, RoundStep, SlowOrigin, StatusCount,
};

/// 2024-05-01 00:00 UTC.
const START: i64 = 1_714_521_600;
const SECOND: u64 = 1_000_000_000;

fn round(number: u64, outcomes: FeedOutcomes, seconds: u64) -> FeedRound {
    let cost = |phase, share: u64| FeedCost { phase, cpu_ns: share * seconds * 10_000_000, each_ns: share * 4_000 };
    let time = Latency {
        count: 19_166,
        mean_ns: 2e6,
        min_ns: 1,
        p50_ns: 1_000_000,
        p90_ns: 2_000_000,
        p99_ns: 9_000_000,
        p999_ns: 20_000_000,
        max_ns: 30_000_000,
    };
    FeedRound {
        number,
        began_s: START + number as i64 * 600,
        finished: true,
        wall_ns: seconds * SECOND,
        cpu_ns: seconds * SECOND,
        peak_memory_bytes: 123_000_000,
        feeds: 84_004,
        origins: 19_166,
        feeds_per_second: 84_004.0 / seconds as f64,
        outcomes,
        new_entries: outcomes.with_news * 3,
        requests: 84_100,
        received_bytes: seconds * 20_000_000,
        sent_bytes: 20_000_000,
        inflated_bytes: seconds * 90_000_000,
        opened: 19_300,
        handshakes_full: if number == 1 { 19_166 } else { 12 },
        handshakes_resumed: if number == 1 { 134 } else { 19_288 },
        looked_up: 19_166,
        costs: vec![
            cost(FeedPhase::Tls, 30),
            cost(FeedPhase::Inflate, 20),
            cost(FeedPhase::Parse, 40),
            cost(FeedPhase::Other, 10),
        ],
        phases: vec![LoadPhase { phase: Phase::Connect, time }],
        statuses: vec![StatusCount { status: 200, count: 80_000 }, StatusCount { status: 304, count: 4_000 }],
        errors: vec![
            FeedError {
                fault: FeedFault::Content(ContentFault::Html),
                count: 400,
                example: "https://site7.example/feed".into(),
            },
            FeedError {
                fault: FeedFault::Transfer(LoadFault::Refused),
                count: 104,
                example: "http://a.example/".into(),
            },
        ],
        slowest: vec![SlowOrigin {
            origin: "https://slow.example:443".into(),
            feeds: 12,
            longest_ns: 29 * SECOND,
            all_ns: 60 * SECOND,
        }],
        ports: PortUse { available: 28_232, most_sockets: 9_000, time_wait: 8_000 },
        ..FeedRound::default()
    }
}

fn refresh(rounds: Vec<FeedRound>) -> FeedRefresh {
    FeedRefresh { schema: 1, list: "/home/u/feeds.opml".into(), database: "/home/u/feeds.redb".into(), rounds }
}

/// A first round that gets everything, and a second that gets little.
pub(crate) fn refreshed() -> FeedRefresh {
    let first = FeedOutcomes { with_news: 83_000, failed: 504, gone: 500, ..FeedOutcomes::default() };
    let second =
        FeedOutcomes { unchanged: 79_000, with_news: 4_000, failed: 504, gone: 500, ..FeedOutcomes::default() };
    refresh(vec![round(1, first, 100), round(2, second, 15)])
}

/// One that was gone on with and interrupted again, and took nearly all ports.
pub(crate) fn interrupted() -> FeedRefresh {
    let outcomes = FeedOutcomes { with_news: 1, put_off: 3, disallowed: 2, ..FeedOutcomes::default() };
    let ports = PortUse { available: 28_232, most_sockets: 27_000, time_wait: 26_000 };
    let errors = Vec::new();
    refresh(vec![FeedRound { finished: false, done_before: 40_000, ports, errors, ..round(1, outcomes, 3) }])
}

fn history(seconds: impl Fn(u64) -> u64) -> FeedHistory {
    let one = |number: u64| PastRound {
        number,
        began_s: START + number as i64 * 600,
        wall_ns: seconds(number) * SECOND,
        cpu_ns: seconds(number) * SECOND / 2,
        interrupted: number == 5,
        feeds: 84_004,
        outcomes: FeedOutcomes { unchanged: 80_000, with_news: 3_500, failed: 504, ..FeedOutcomes::default() },
        new_entries: 9_000,
        received_bytes: 200_000_000,
        handshakes_full: 19_166,
        handshakes_resumed: 0,
    };
    FeedHistory {
        schema: 1,
        list: "/home/u/feeds.opml".into(),
        database: "/home/u/feeds.redb".into(),
        rounds: (1..=60).map(one).collect(),
        steps: Vec::new(),
    }
}

/// An upgrade doubled the time.
pub(crate) fn slower() -> FeedHistory {
    let step = RoundStep {
        number: 41,
        at_s: START + 41 * 600,
        low_number: 40,
        high_number: 42,
        low_s: START + 40 * 600,
        high_s: START + 42 * 600,
        before_ns: 360 * SECOND,
        after_ns: 722 * SECOND,
        p: 0.0005,
    };
    FeedHistory { steps: vec![step], ..history(|number| if number < 41 { 355 } else { 715 } + number % 11) }
}

/// Nothing changed.
pub(crate) fn level() -> FeedHistory {
    history(|number| 355 + number % 11)
}
