//! Answers made by hand, for the tests of this crate.

use case::{Account, Answer, Cost, Evidence, Finding, Ledger, LossTotals, Place, SCHEMA, Status, Verdict};

fn account(name: &str, ns: u64) -> Account {
    Account { name: name.into(), ns }
}

/// A program with one suspected cause.
pub(crate) fn slow() -> Answer {
    Answer {
        schema: SCHEMA,
        command: vec!["python3".into(), "client.py".into()],
        case: "/home/me/.local/state/whyslow/20260102-030405-python3".into(),
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
            },
            effect: None,
            tried: Vec::new(),
            place: vec![Place {
                function: "send_body".into(),
                module: "python3.11".into(),
                file: "client.py".into(),
                line: 31,
            }],
            remedy: "Set TCP_NODELAY on the client's socket, or write header and body in one call.".into(),
            evidence: Evidence { table: "calls".into(), rows: vec![12, 40] },
            caveats: Vec::new(),
        }],
        together: Vec::new(),
        proof: None,
        ledger: Ledger {
            unit: "ns".into(),
            total: 11_000_000_000,
            accounts: vec![
                account("held back until the peer's ACK", 10_260_000_000),
                account("server thinking", 462_000_000),
                account("local processor", 88_000_000),
                account("network", 44_000_000),
            ],
            unexplained: 146_000_000,
        },
        losses: LossTotals::default(),
        missing: vec!["CPU time by function: no samples were taken (--hz 0).".into()],
    }
}

/// A program with nothing to report.
pub(crate) fn healthy() -> Answer {
    Answer {
        verdict: Verdict::None,
        summary: "93 % of the time was the server thinking.".into(),
        findings: Vec::new(),
        missing: Vec::new(),
        ..slow()
    }
}
