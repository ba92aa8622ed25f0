//! Where steps lie: time runs downwards. Every step has a row of its own, which takes no time; what lies between rows
//! is to scale. So a burst of calls can be read, and a stall is as long as it was.

use case::views::{EventKind, Ladder};
use std::fmt;

/// Pixels of the drawing's width, with room for the words on both sides.
pub(super) const WIDTH: f64 = 1160.0;
/// Where the client's life line runs.
pub(super) const CLIENT: f64 = 428.0;
/// Where the server's runs.
pub(super) const SERVER: f64 = 762.0;
/// The height of the head with the names of the life lines.
pub(super) const HEAD: f64 = 58.0;

/// The height of a row with words, and of one for an arrival, which its arrow names.
const ROW: f64 = 18.0;
const ARRIVAL_ROW: f64 = 9.0;
/// What lies below the last row.
const FOOT: f64 = 14.0;
/// All of an exchange's time is as high as what rows leave of this, within the limits below.
const WANTED: f64 = 1060.0;
const LEAST_TIME: f64 = 420.0;
const MOST_TIME: f64 = 640.0;
/// How high the scale's bar may be.
const LONGEST_BAR: f64 = 44.0;

/// A length or a place in the drawing.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Px(pub f64);

impl fmt::Display for Px {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:.1}", self.0)
    }
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// When it happened, since the exchange began.
    pub at: u64,
    /// Its middle.
    pub y: f64,
    /// Its height.
    pub height: f64,
}

/// The layout of a ladder: a row for each event, and one for the end.
pub(super) struct Layout {
    /// Rows in order of time.
    pub rows: Vec<Row>,
    /// Pixels for a nanosecond.
    pub scale: f64,
    /// The drawing's height.
    pub height: f64,
}

impl Layout {
    /// Lays out a ladder.
    pub(super) fn of(ladder: &Ladder) -> Layout {
        let targets: Vec<usize> = ladder.events.iter().filter_map(|event| event.arrives).collect();
        let height = |(index, kind): (usize, EventKind)| {
            let named = kind != EventKind::Arrival || !targets.contains(&index);
            if named { ROW } else { ARRIVAL_ROW }
        };
        let kinds = ladder.events.iter().map(|event| event.kind).enumerate();
        let heights: Vec<f64> = kinds.map(height).chain([ROW]).collect();
        let time = (WANTED - heights.iter().sum::<f64>()).clamp(LEAST_TIME, MOST_TIME);
        let scale = time / ladder.length_ns.max(1) as f64;
        let ends = ladder.events.iter().map(|event| event.at.min(ladder.length_ns)).chain([ladder.length_ns]);
        let mut rows: Vec<Row> = Vec::with_capacity(heights.len());
        let (mut top, mut before) = (HEAD, 0);
        for (at, height) in ends.zip(heights) {
            let at = at.max(before);
            top += (at - before) as f64 * scale;
            rows.push(Row { at, y: top + height / 2.0, height });
            (top, before) = (top + height, at);
        }
        Layout { rows, scale, height: top + FOOT }
    }

    /// Where an instant lies: after the rows of that time, or before them where something ends with it.
    pub(super) fn y(&self, at: u64) -> f64 {
        match self.rows.partition_point(|row| row.at <= at).checked_sub(1) {
            Some(last) => self.bottom(last) + (at - self.rows[last].at) as f64 * self.scale,
            None => HEAD + at as f64 * self.scale,
        }
    }

    /// Where something ends that lasts until an instant: before the rows of that time.
    pub(super) fn y_end(&self, at: u64) -> f64 {
        match self.rows.partition_point(|row| row.at < at).checked_sub(1) {
            Some(last) => self.bottom(last) + (at - self.rows[last].at) as f64 * self.scale,
            None => HEAD + at as f64 * self.scale,
        }
    }

    fn bottom(&self, row: usize) -> f64 {
        self.rows[row].y + self.rows[row].height / 2.0
    }

    /// The stretches of time between rows, as times and places: from, to, top, bottom.
    pub(super) fn gaps(&self) -> impl Iterator<Item = (u64, u64, f64, f64)> + '_ {
        let before =
            [(0, HEAD)].into_iter().chain((0..self.rows.len()).map(|row| (self.rows[row].at, self.bottom(row))));
        let gaps = before.zip(&self.rows).map(|((from, top), row)| (from, row.at, top, row.y - row.height / 2.0));
        gaps.filter(|(from, to, ..)| from < to)
    }

    /// A round length of time and its height: the bar that shows the scale.
    pub(super) fn bar(&self) -> (u64, f64) {
        let mut best = (1, self.scale);
        let mut power: u64 = 1;
        while power <= 1_000_000_000_000 {
            for step in [1, 2, 5] {
                let length = (power * step) as f64 * self.scale;
                if length <= LONGEST_BAR {
                    best = (power * step, length);
                }
            }
            power *= 10;
        }
        best
    }
}
