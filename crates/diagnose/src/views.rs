//! Views: what a recording shows, aggregated for the page. Pure, like the answer: the same recording gives the same
//! views.

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
mod requests;
mod tls_names;

pub use flame::flame_difference;

use crate::analysis::Analysis;
use case::Answer;
use case::views::Views;

/// The exchange that is shown step by step before all others, by its place among them; none where there are none.
pub fn first_shown(analysis: &Analysis) -> Option<usize> {
    let breakdown = analysis.breakdown();
    let longest_first = lengths::longest_first(analysis);
    let chosen = choice::ladders(analysis, breakdown, &exchanges::accounts(breakdown), &longest_first);
    chosen.first().map(|chosen| chosen.index)
}

/// What a recording shows; the answer names the findings whose evidence is wanted.
pub fn draw(analysis: &Analysis, answer: &Answer) -> Views {
    let breakdown = analysis.breakdown();
    let longest_first = lengths::longest_first(analysis);
    let accounts = exchanges::accounts(breakdown);
    let chosen = choice::ladders(analysis, breakdown, &accounts, &longest_first);
    let (connections, connections_left_out) = connections::sheet(analysis);
    Views {
        wall_ns: analysis.wall(),
        exchanges: exchanges::named(analysis, breakdown, &accounts, &chosen, &longest_first),
        lengths: lengths::lengths(analysis, &longest_first),
        accounts,
        ladders: ladder::ladders(analysis, &chosen),
        processor: flame::processor(analysis.recording),
        blocked: flame::blocked(analysis),
        connections,
        connections_left_out,
        calls: calls::sheet(analysis),
        evidence: evidence_rows::rows(analysis, answer),
        environment: environment::facts(analysis.recording),
        losses: losses::losses(analysis.recording),
        missing: analysis.recording.manifest.missing.clone(),
        cut_short: !analysis.recording.manifest.closed,
        server: analysis.recording.manifest.server.clone(),
    }
}
