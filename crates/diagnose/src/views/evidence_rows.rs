//! The rows behind findings, written for people.

mod columns;
mod words;
mod writer;

use crate::analysis::Analysis;
use case::views::{EvidenceRow, EvidenceView};
use case::{Answer, Finding};
use columns::ColumnShown;
use writer::Writer;

/// Rows shown of one finding; detectors name a handful.
const SHOWN: usize = 50;

/// The rows behind each finding of an answer; a finding that rests on none has no view.
pub fn rows(analysis: &Analysis, answer: &Answer) -> Vec<EvidenceView> {
    if answer.findings.is_empty() {
        return Vec::new();
    }
    let writer = Writer::new(analysis);
    let views = answer.findings.iter().enumerate().map(|(index, finding)| view(&writer, index, finding));
    views.filter(|view| !view.rows.is_empty()).collect()
}

fn view(writer: &Writer, index: usize, finding: &Finding) -> EvidenceView {
    let table = &finding.evidence.table;
    let columns = columns::shown(table);
    let numbers = finding.evidence.rows.iter().take(SHOWN);
    let rows: Vec<EvidenceRow> = numbers.filter_map(|&row| evidence_row(writer, table, &columns, row)).collect();
    // A column that is empty in every row says nothing.
    let filled: Vec<usize> =
        (0..columns.len()).filter(|&column| rows.iter().any(|row| !row.cells[column].is_empty())).collect();
    let only_filled = |row: EvidenceRow| EvidenceRow {
        row: row.row,
        cells: filled.iter().map(|&column| row.cells[column].clone()).collect(),
    };
    EvidenceView {
        finding: index,
        table: table.clone(),
        columns: filled.iter().map(|&column| columns[column].heading.clone()).collect(),
        rows: rows.into_iter().map(only_filled).collect(),
    }
}

fn evidence_row(writer: &Writer, table: &str, columns: &[ColumnShown], row: u64) -> Option<EvidenceRow> {
    let values = writer.analysis.recording.row(table, usize::try_from(row).ok()?)?;
    let cells = columns.iter().map(|column| writer.cell(table, column, &values)).collect();
    Some(EvidenceRow { row, cells })
}

#[cfg(test)]
mod tests;
