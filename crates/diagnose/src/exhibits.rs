//! Exhibits: what a recording shows, aggregated for the page. Pure, like the answer: the same recording gives the same
//! exhibits.

mod calls;
mod choice;
mod connections;
mod environment;
mod evidence_rows;
mod exchanges;
mod flame;
mod ladder;
mod lengths;
mod losses;
mod programs;
mod requests;
mod tls_names;

pub use flame::flame_difference;

use crate::{ledger, with_evidence};
use case::exhibits::Exhibits;
use case::{Answer, Ledger, Recording};

/// What a recording shows; the answer names the findings whose evidence is wanted.
pub fn exhibits(recording: &Recording, answer: &Answer) -> Exhibits {
    with_evidence(recording, |evidence| {
        let mut walker = ledger::Walker::new(evidence);
        let names = ledger::RunNames::new(evidence);
        let of_exchange = |exchange| ledger::of_exchange_in_run(&mut walker, exchange, &names);
        let ledgers: Vec<Ledger> = evidence.exchanges.iter().map(of_exchange).collect();
        let chosen = choice::ladders(evidence, &ledgers);
        let (connections, connections_left_out) = connections::sheet(evidence);
        let (accounts, exchanges) = exchanges::accounts(evidence, &ledgers, &chosen);
        Exhibits {
            wall_ns: evidence.wall(),
            exchanges,
            lengths: lengths::lengths(evidence),
            accounts,
            ladders: ladder::ladders(evidence, &chosen),
            processor: flame::processor(evidence.recording),
            blocked: flame::blocked(evidence),
            connections,
            connections_left_out,
            calls: calls::sheet(evidence),
            evidence: evidence_rows::rows(evidence, answer),
            environment: environment::facts(evidence.recording),
            losses: losses::losses(evidence.recording),
        }
    })
}
