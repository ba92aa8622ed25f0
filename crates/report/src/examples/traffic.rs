//! Access logs: a crawler among visitors.

use case::{
    AgentFamily, AgentKind, Claim, Demand, MalformedLine, Onset, Ranked, RouteCost, Rule, RuleFor, SavedCpu, Suspect,
    Traffic, TrafficCost, TrafficDay, TrafficFile, TrafficSeries,
};

/// 2024-05-01 00:00 UTC.
const START: i64 = 1_714_521_600;

/// Two days, in the second of which a crawler comes.
pub(crate) fn crawled() -> Traffic {
    let demand = |requests: u64| Demand { requests, bytes: requests * 12_000, took_ns: requests * 31_000_000 };
    let ranked =
        |name: &str, requests: u64, missed: u64| Ranked { name: name.into(), demand: demand(requests), missed };
    let family = |name: &str, kind: AgentKind, claim: Claim, requests: u64| AgentFamily {
        name: name.into(),
        kind,
        claim,
        demand: demand(requests),
        addresses: 8,
        statuses: [0, 0, requests - 10, 0, 10, 0],
    };
    let crawled = (0..48).map(|hour| if hour < 30 { 0 } else { 1_800 }).collect::<Vec<u64>>();
    let requests = crawled.iter().enumerate().map(|(hour, crawled)| 200 + 10 * (hour as u64 % 24) + crawled);
    let requests = requests.collect::<Vec<u64>>();
    let day = |(day, requests): (usize, &[u64])| TrafficDay {
        start_s: START + day as i64 * 86_400,
        requests: requests.to_vec(),
    };
    let days = requests.chunks(24).enumerate().map(day).collect();
    let file = |path: &str, first_s: i64| TrafficFile {
        path: path.into(),
        format: "combined".into(),
        lines: 30_000,
        first_s: Some(first_s),
        last_s: Some(first_s + 86_399),
        ..TrafficFile::default()
    };
    let crawler = Suspect {
        name: "ExampleBot".into(),
        kind: AgentKind::Crawler,
        claim: Claim::Unchecked,
        addresses: 8,
        demand: demand(32_400),
        share_of_requests: 0.67,
        share_of_bytes: 0.67,
        share_of_time: 0.67,
        onset: Some(Onset {
            at_s: START + 30 * 3_600,
            low_s: START + 29 * 3_600,
            high_s: START + 30 * 3_600,
            before: 0.0,
            after: 1_800.0,
            p: 0.0005,
            file: "log/access.log".into(),
        }),
        cpu: Some(SavedCpu { cpu_ns: 891_000_000_000, share: 0.93, known: 32_400 }),
        networks: vec![ranked("203.0.113.0/24", 32_400, 0)],
        routes: vec![ranked("/tag/{n}?", 32_400, 0)],
        rules: vec![
            Rule { target: RuleFor::Nginx, text: "if ($http_user_agent ~* \"ExampleBot\") { return 403; }".into() },
            Rule { target: RuleFor::Robots, text: "User-agent: ExampleBot\nDisallow: /".into() },
        ],
    };
    Traffic {
        schema: 1,
        files: vec![
            file("log/access.log.1.gz", START),
            TrafficFile { malformed: 3, ..file("log/access.log", START + 86_400) },
            TrafficFile { path: "log/notes.txt".into(), skipped: true, ..TrafficFile::default() },
        ],
        lines: 60_000,
        malformed: 3,
        malformed_examples: vec![MalformedLine { path: "log/access.log".into(), text: "203.0.113.9 - - [10/".into() }],
        first_s: Some(START),
        last_s: Some(START + 2 * 86_400 - 1),
        total: demand(48_120),
        timed: 48_120,
        addresses: 5_090,
        addresses_error: 0.01625,
        agents: vec![
            family("ExampleBot", AgentKind::Crawler, Claim::Unchecked, 32_400),
            family("Firefox", AgentKind::Browser, Claim::Unchecked, 15_000),
            family("SearchBot", AgentKind::Crawler, Claim::Forged, 720),
        ],
        networks: vec![ranked("203.0.113.0/24", 32_400, 0), ranked("198.51.100.0/24", 700, 12)],
        routes: vec![ranked("/tag/{n}?", 32_400, 0), ranked("/post/{n}", 15_720, 0)],
        series: TrafficSeries { start_s: START, bucket_s: 3_600, requests, of_suspects: vec![crawled] },
        days,
        cost: Some(TrafficCost {
            case: "cases/blog".into(),
            cpu_ns: 958_000_000_000,
            known: 48_120,
            routes: vec![RouteCost {
                route: "/tag/{n}?".into(),
                recorded: 412,
                mean_ns: 27_500_000,
                low_ns: 26_900_000,
                high_ns: 28_100_000,
                requests: 32_400,
            }],
        }),
        suspects: vec![crawler],
    }
}

/// Visitors only.
pub(crate) fn visited() -> Traffic {
    Traffic { suspects: Vec::new(), ..crawled() }
}
