//! Rows that share an axis.

use super::row::{DotView, Row};
use crate::chart::{Mark, marks};
use crate::figure::noun;
use crate::scale::{Scale, Start};
use case::Metric;

/// Marks closer than this, in percent of the axis, would touch on a telephone.
const APART: f64 = 20.0;
/// Room beyond the outermost dots, as a share of the axis.
const MARGIN: f64 = 0.05;

/// A mark further out than this, in percent of the axis, is written towards its middle: nothing is cut on a telephone.
const OUTER: f64 = 92.0;

/// Rows that share an axis.
pub(super) struct Chart {
    /// What they were tried for; empty where the page has nothing to add.
    pub heading: String,
    /// What is measured, and how the axis runs.
    pub axis: String,
    /// The marks of the axis, in percent.
    pub marks: Vec<Mark>,
    /// The rows.
    pub rows: Vec<Row>,
}

impl Chart {
    /// A chart of measured rows by one metric.
    pub(super) fn of(heading: String, metric: &Metric, rows: Vec<super::row::Measured>) -> Option<Chart> {
        let values = rows.iter().flat_map(super::row::Measured::values).collect::<Vec<_>>();
        let scale = Scale::fitting(values.into_iter(), Start::Zero, 0.0, 100.0);
        // Where nothing took effect there is nothing to draw, but still what became of it.
        let Some(scale) = scale.map(|scale| scale.widened(MARGIN)) else {
            let rows = rows.into_iter().map(|row| row.drawn(None)).collect::<Vec<_>>();
            let empty = Chart { heading, axis: String::new(), marks: Vec::new(), rows };
            return (!empty.rows.is_empty()).then_some(empty);
        };
        let runs = if scale.is_logarithmic() { " (logarithmic)" } else { "" };
        Some(Chart {
            heading,
            axis: format!("{}{runs}", noun(metric)),
            marks: marks(&scale, metric, APART),
            rows: rows.into_iter().map(|row| row.drawn(Some(&scale))).collect(),
        })
    }

    /// At which of its ends a mark's words stand: SVG's word for it.
    pub(super) fn anchor(mark: &Mark) -> &'static str {
        match mark.at.0 {
            at if at > OUTER => "end",
            at if at < 100.0 - OUTER => "start",
            _ => "middle",
        }
    }

    /// Every dot of it.
    pub(super) fn dots(&self) -> impl Iterator<Item = &DotView> {
        self.rows.iter().flat_map(|row| &row.lanes).flat_map(|lane| &lane.dots)
    }
}
