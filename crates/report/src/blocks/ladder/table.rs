//! A ladder as a table: the same as the drawing, to read aloud and to copy.

use super::sentence::since;
use super::steps::{full_place, what};
use crate::text::clean;
use case::Nanos;
use case::views::{EventKind, Ladder, LadderEvent, SegmentKind};

/// One row.
pub(super) struct TableRow {
    pub number: usize,
    pub time: String,
    pub before: String,
    pub who: String,
    pub what: String,
    pub took: String,
    pub records: String,
    pub code: String,
}

/// Every event, and the end.
pub(super) fn rows(ladder: &Ladder) -> Vec<TableRow> {
    let mut before = 0;
    let mut rows: Vec<TableRow> = Vec::with_capacity(ladder.events.len() + 1);
    for (number, event) in ladder.events.iter().enumerate() {
        rows.push(row(ladder, number, event, event.at.saturating_sub(before)));
        before = event.at;
    }
    let rest = ladder.length_ns.saturating_sub(before);
    let done =
        LadderEvent { at: ladder.length_ns, to: ladder.length_ns, label: "done".to_string(), ..LadderEvent::default() };
    rows.push(TableRow { who: String::new(), ..row(ladder, ladder.events.len(), &done, rest) });
    rows
}

fn row(ladder: &Ladder, number: usize, event: &LadderEvent, before: u64) -> TableRow {
    let lane = ladder.lanes.get(event.lane);
    let process = if event.process.is_empty() { lane.map_or("", |lane| &lane.process) } else { &event.process };
    let end = lane.map_or_else(String::new, |lane| lane.end.to_string());
    let records: Vec<String> = event.records.iter().map(|record| clean(record)).collect();
    TableRow {
        number,
        time: since(event.at, ladder.length_ns),
        before: Nanos(before).to_string(),
        who: if process.is_empty() { end } else { format!("{end}, {}", clean(process)) },
        what: said(event),
        took: if event.to > event.at { Nanos(event.to - event.at).to_string() } else { String::new() },
        records: records.join("; "),
        code: event.place.as_ref().map(full_place).unwrap_or_default(),
    }
}

fn said(event: &LadderEvent) -> String {
    let what = what(event);
    match event.kind {
        EventKind::Segment => format!("{what} leave"),
        EventKind::Acknowledgement => format!("{what} leaves"),
        EventKind::Arrival if event.segment == Some(SegmentKind::Data) => format!("{what} arrive"),
        EventKind::Arrival => format!("{what} arrives"),
        _ => what,
    }
}
