//! The files that were read, what of them could not be, and lines of that kind.

use super::words::moment;
use crate::block::{Block, Section};
use crate::document::Document;
use crate::grid::Row;
use crate::part::{Part, Table, under};
use crate::text::{clean, count};
use case::{MalformedLine, Traffic, TrafficFile};

pub(crate) const BLOCK: Block = Block::of(Section::Environment, |document: &Document| {
    let Some(traffic) = document.traffic() else { return Vec::new() };
    let rows = traffic.files.iter().map(row).collect();
    let table = Table::of("file", ["format", "lines", "malformed", "begins (UTC)"], rows).words(1).words(4);
    let mut parts = under("What was read", [Part::Table(table.most(MOST_ROWS))]);
    parts.extend(under("Lines that could not be read", [Part::List(examples(traffic))]));
    parts
});

/// How exact the figures are.
pub(crate) const EXACTNESS: Block = Block::of(Section::Environment, |document: &Document| {
    document.traffic().and_then(exactness).map(Part::Paragraph).into_iter().collect()
});

/// Rows that are shown at once.
const MOST_ROWS: usize = 20;
/// A format string of one's own fills the table.
const LONGEST_FORMAT: usize = 16;

fn row(file: &TrafficFile) -> Row {
    let format = match file.format.chars().count() {
        0 => "unknown".to_string(),
        1..=LONGEST_FORMAT => file.format.clone(),
        _ => "as given".into(),
    };
    let begins = file.first_s.map(moment).unwrap_or_default();
    let malformed = if file.malformed == 0 { String::new() } else { count(file.malformed) };
    let note = match (file.skipped, file.problem.is_empty()) {
        (true, _) => "left out: not an access log".to_string(),
        (false, false) => format!("not read to the end: {}", file.problem),
        (false, true) => String::new(),
    };
    Row::new(file.path.clone(), [format, count(file.lines), malformed, begins]).with_note(note)
}

fn examples(traffic: &Traffic) -> Vec<String> {
    let example = |line: &MalformedLine| format!("{}: {}", clean(&line.path), clean(&line.text));
    traffic.malformed_examples.iter().map(example).collect()
}

fn exactness(traffic: &Traffic) -> Option<String> {
    let is_exact = [&traffic.networks, &traffic.routes].into_iter().flatten().all(|one| one.missed == 0);
    let named = if is_exact {
        "Requests, bytes and time are exact."
    } else {
        "Requests, bytes and time are exact, except by network and route: there were too many to count each, so those \
         figures are lower bounds."
    };
    let error = case::Share(2.0 * traffic.addresses_error);
    let sentence = || format!("{named} Numbers of addresses are estimates, within {error} (95 % confidence).");
    (traffic.total.requests > 0).then(sentence)
}
