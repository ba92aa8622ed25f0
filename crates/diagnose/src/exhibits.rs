//! Exhibits: what a recording shows, aggregated for the page. Pure, like the answer: the same recording gives the same
//! exhibits.

mod calls;
mod choice;
mod connections;
mod environment;
mod evidence_rows;
mod exchanges;
mod flame;
mod images;
mod ladder;
mod lengths;
mod losses;
mod requests;
mod tls_names;

pub use flame::flame_difference;

use crate::ledger::Books;
use crate::with_evidence;
use case::exhibits::Exhibits;
use case::{Answer, Recording};

/// What a recording shows; the answer names the findings whose evidence is wanted.
pub fn exhibits(recording: &Recording, answer: &Answer) -> Exhibits {
    with_evidence(recording, |evidence| {
        let books = Books::new(evidence);
        let longest_first = lengths::longest_first(evidence);
        let accounts = exchanges::accounts(&books);
        let chosen = choice::ladders(evidence, &books, &accounts, &longest_first);
        let (connections, connections_left_out) = connections::sheet(evidence);
        Exhibits {
            wall_ns: evidence.wall(),
            exchanges: exchanges::named(evidence, &books, &accounts, &chosen, &longest_first),
            lengths: lengths::lengths(evidence, &longest_first),
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
            missing: evidence.recording.manifest.missing.clone(),
            cut_short: !evidence.recording.manifest.closed,
            server: evidence.recording.manifest.server.clone(),
        }
    })
}
