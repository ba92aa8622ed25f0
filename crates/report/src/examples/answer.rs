//! Answers made by hand, for the tests of this crate.

use case::facts::{Blind, NotLookedFor};
use case::{
    Account, AccountTime, Answer, Cost, Effect, Evidence, Finding, Ledger, Measured, Pathology, Place, Proof, Purpose,
    SCHEMA, Status, Switched, Thing, Together, Trend, Tried, Verdict, Window,
};

fn account(name: &str, ns: u64) -> AccountTime {
    AccountTime { name: name.into(), ns, account: Account::from_name(name) }
}

/// A program with one suspected cause.
pub(crate) fn slow() -> Answer {
    Answer {
        schema: SCHEMA,
        command: vec!["python3".into(), "client.py".into()],
        case: "/home/me/.local/state/whyslow/20260102-curl".into(),
        page: "/home/me/.local/state/whyslow/20260102-curl/report.html".into(),
        wall_ns: 11_100_000_000,
        exchanges: 250,
        subject_exit: Some(0),
        verdict: Verdict::Suspected,
        summary: "93 % of the time of 250 requests was spent waiting for a delayed ACK.".into(),
        findings: vec![Finding {
            id: "P01".into(),
            name: "nagle-delayed-ack".into(),
            status: Status::Suspected,
            title: "each request waits 40.9 ms for a delayed ACK".into(),
            what: "Nagle's algorithm and delayed ACKs hold the client's writes".into(),
            mechanism: vec![
                "The client writes each request in two pieces, 112 and 109 bytes.".into(),
                "Nagle's algorithm holds the second back until the first is acknowledged.".into(),
                "The server's kernel delays that ACK by 40 ms.".into(),
            ],
            cost: Cost {
                ns_per_exchange: 40_900_000,
                between_ns_per_exchange: 0,
                share_of_wall: 0.9295,
                cpu_ns_per_exchange: 0,
                share_of_cpu: 0.0,
                affected: 250,
                few: None,
            },
            place: vec![Place {
                function: "send_body".into(),
                module: "python3.11".into(),
                file: "client.py".into(),
                line: 31,
            }],
            remedy: "Set TCP_NODELAY on the client's socket, or write header and body in one call.".into(),
            evidence: Evidence { table: "calls".into(), rows: vec![12, 40] },
            ..Finding::default()
        }],
        ledger: Ledger {
            unit: "ns".into(),
            total: 11_000_000_000,
            accounts: vec![
                account("held back until the peer's ACK", 10_260_000_000),
                account("server thinking", 462_000_000),
                account("local processor", 88_000_000),
                account("network", 44_000_000),
                account("unexplained", 146_000_000),
            ],
            unexplained: 146_000_000,
            ..Ledger::default()
        },
        missing: vec!["CPU time by function: no samples were taken (--hz 0).".into()],
        not_looked_for: vec![
            not_looked_for(Blind::NoDetector, &[("P18", "pool-exhausted"), ("P38", "lock-convoy")]),
            not_looked_for(Blind::ServerNotRecorded, &[("P05", "busy-spin"), ("P39", "sync-disk")]),
        ],
        ..Answer::default()
    }
}

/// A reason, and the pathologies that it hides.
pub(crate) fn not_looked_for(why: Blind, hidden: &[(&str, &str)]) -> NotLookedFor {
    let pathology = |(id, name): &(&str, &str)| Pathology { id: (*id).into(), name: (*name).into() };
    NotLookedFor { why, pathologies: hidden.iter().map(pathology).collect() }
}

/// A program with nothing to report.
pub(crate) fn healthy() -> Answer {
    Answer {
        verdict: Verdict::None,
        summary: "93 % of the time was the server thinking.".into(),
        findings: Vec::new(),
        missing: Vec::new(),
        not_looked_for: Vec::new(),
        ..slow()
    }
}

/// What most trials of these examples measure.
const TIME: &str = "wall_ns_per_exchange";

/// A ratio of a metric, with its interval.
pub(crate) fn measured(metric: &str, (low, ratio, high): (f64, f64, f64)) -> Measured {
    Measured { metric: metric.into(), ratio, low, high }
}

/// An intervention that took effect: the low end of its ratio's interval, the ratio and the high end.
pub(crate) fn tried(name: &str, purpose: Purpose, status: Status, (low, ratio, high): (f64, f64, f64)) -> Tried {
    Tried {
        intervention: name.into(),
        ratio,
        low,
        high,
        applied: true,
        status,
        metric: TIME.into(),
        purpose,
        dose: String::new(),
        before: 44_060_000.0,
        after: 44_060_000.0 / ratio,
        trials: 24,
        problem: String::new(),
        work: case::facts::Work::Same,
        reference: "nothing".into(),
    }
}

/// A dose of the cap on delayed acknowledgements.
fn capped(dose: &str, status: Status, interval: (f64, f64, f64)) -> Tried {
    Tried { dose: dose.into(), ..tried("delayed-ack-cap", Purpose::Dose, status, interval) }
}

/// One that did not reach the program.
pub(crate) fn not_applied(name: &str, problem: &str) -> Tried {
    let open = tried(name, Purpose::Cause, Status::Undecided, (1.0, 1.0, 1.0));
    Tried { applied: false, problem: problem.into(), ..open }
}

/// The effect of what was tried, with what it did to other metrics.
pub(crate) fn effect(tried: &Tried, also: Vec<Measured>) -> Effect {
    Effect {
        intervention: tried.intervention.clone(),
        metric: tried.metric.clone(),
        before: tried.before,
        after: tried.after,
        ratio: tried.ratio,
        low: tried.low,
        high: tried.high,
        trials: tried.trials,
        sham_ratio: 1.002,
        also,
    }
}

fn proof() -> Proof {
    Proof {
        trials: 132,
        rounds: 12,
        spent_ns: 41_200_000_000,
        to_verdict_ns: 32_700_000_000,
        budget_ns: 60_000_000_000,
        sham: Some(measured(TIME, (0.991, 0.998, 1.004))),
        output: "same".into(),
        stopped: Some(case::Stopped::Answered),
        untried: Vec::new(),
        not_tried: vec!["quickack: it needs a link of its own, and --server was not given.".into()],
    }
}

/// A program whose one cause was proved, with doses and a control.
pub(crate) fn proved() -> Answer {
    let mut answer = Answer { verdict: Verdict::Confirmed, proof: Some(proof()), ..slow() };
    let winner = tried("tcp-nodelay", Purpose::Cause, Status::Confirmed, (198.0, 210.0, 223.0));
    let finding = &mut answer.findings[0];
    finding.status = Status::Confirmed;
    finding.effect = Some(effect(&winner, vec![measured("cpu_ns_per_exchange", (0.991, 1.003, 1.012))]));
    finding.trend = Some(Trend {
        intervention: "delayed-ack-cap".into(),
        metric: finding.effect.as_ref().expect("an effect").metric.clone(),
        slope: 998_000.0,
        low: 981_000.0,
        high: 1_020_000.0,
        points: 12,
    });
    finding.tried = vec![
        winner,
        tried("coalesce-writes", Purpose::Cause, Status::Confirmed, (180.0, 192.0, 203.0)),
        tried("quickack-client", Purpose::Control, Status::Refuted, (0.994, 1.001, 1.007)),
        capped("40 ms", Status::Refuted, (0.991, 1.0, 1.006)),
        capped("8 ms", Status::Confirmed, (5.1, 5.31, 5.5)),
        capped("20 ms", Status::Confirmed, (2.11, 2.16, 2.22)),
        not_applied("socket-options", "no program loaded it: statically linked"),
    ];
    answer
}

/// A program whose one suspicion was refuted.
pub(crate) fn refuted() -> Answer {
    let mut answer = Answer { verdict: Verdict::None, proof: Some(proof()), ..slow() };
    let loser = tried("no-fsync", Purpose::Cause, Status::Refuted, (0.984, 1.002, 1.019));
    let finding = &mut answer.findings[0];
    (finding.id, finding.name) = ("P20".into(), "sync-disk".into());
    finding.title = "each request waits for the disk".into();
    finding.what = "Requests wait for the disk".into();
    finding.status = Status::Refuted;
    finding.effect = Some(effect(&loser, Vec::new()));
    finding.tried = vec![loser];
    answer
}

/// A program whose one suspicion was left open.
pub(crate) fn undecided() -> Answer {
    let mut answer = Answer { verdict: Verdict::Suspected, proof: Some(proof()), ..slow() };
    let open = tried("tcp-nodelay", Purpose::Cause, Status::Undecided, (0.93, 1.08, 1.26));
    let finding = &mut answer.findings[0];
    finding.status = Status::Undecided;
    finding.effect = Some(effect(&open, Vec::new()));
    finding.tried = vec![open];
    answer
}

/// What was tried together, the last of them adding `step`.
fn steps(names: &[&str], whole: (f64, f64, f64), step: (f64, f64, f64)) -> Together {
    let (low, ratio, high) = whole;
    Together {
        interventions: names.iter().map(|name| (*name).into()).collect(),
        metric: TIME.into(),
        before: 66_000_000.0,
        after: 66_000_000.0 / ratio,
        ratio,
        low,
        high,
        step: Some(measured(TIME, step)),
        trials: 20,
        applied: true,
    }
}

/// A program with two causes, each proved alone, and both together.
pub(crate) fn two_causes() -> Answer {
    let mut answer = proved();
    answer.findings[0].tried.truncate(1);
    let mut disk = refuted().findings.remove(0);
    let winner = tried("no-fsync", Purpose::Cause, Status::Confirmed, (1.21, 1.25, 1.29));
    disk.status = Status::Confirmed;
    disk.effect = Some(effect(&winner, Vec::new()));
    disk.tried = vec![winner];
    answer.findings.push(disk);
    answer.together = vec![steps(&["tcp-nodelay", "no-fsync"], (160.0, 171.0, 184.0), (48.0, 51.2, 54.9))];
    answer
}

/// A program whose cause was taken away step by step.
pub(crate) fn stepwise() -> Answer {
    let mut answer = proved();
    answer.findings[0].tried.truncate(1);
    answer.together = vec![
        steps(&["parse-ca-once"], (2.9, 3.0, 3.1), (2.9, 3.0, 3.1)),
        steps(&["parse-ca-once", "share-ssl-context"], (5.8, 6.0, 6.2), (1.95, 2.0, 2.06)),
        steps(&["parse-ca-once", "share-ssl-context", "resume-sessions"], (11.6, 12.1, 12.5), (1.98, 2.02, 2.07)),
    ];
    answer
}

/// A running program whose cause was switched off and on again.
pub(crate) fn attached() -> Answer {
    let mut answer = proved();
    let finding = &mut answer.findings[0];
    finding.tried.truncate(1);
    if let Some(effect) = &mut finding.effect {
        (effect.trials, effect.sham_ratio) = (7, 0.0);
    }
    let window = |on: bool, exchanges: u64| Window {
        on,
        wall_ns: 1_000_000_000,
        exchanges,
        cpu_ns: 3_000_000,
        ..Window::default()
    };
    let windows = [(false, 22), (false, 23), (true, 5_123), (false, 22), (true, 5_090), (false, 22), (false, 21)];
    answer.live = vec![Switched {
        intervention: "tcp-nodelay".into(),
        finding: "P01".into(),
        windows: windows.map(|(on, exchanges)| window(on, exchanges)).to_vec(),
        reached: 3,
        thing: Thing::Socket,
        reverted: true,
        problem: String::new(),
    }];
    Answer { proof: None, subject_exit: None, ..answer }
}
