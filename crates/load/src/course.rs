//! How a load went over time: answers, failures and their latencies in pieces of equal length, of which there are never many.

use crate::histogram::Times;
use case::{LoadCourse, LoadMoment};
use hdrhistogram::Histogram;
use std::time::Duration;

/// As short as pieces are at first: two of the looks that threads take.
const SHORTEST: Duration = Duration::from_millis(50);
/// More pieces than this are put together in pairs: a chart shows no more.
const MOST: usize = 160;
/// A chart shows no more digits.
const DIGITS: u8 = 2;

/// How a load goes.
pub(crate) struct Course {
    length: Duration,
    pieces: Vec<Piece>,
}

struct Piece {
    times: Histogram<u64>,
    failed: u64,
}

impl Piece {
    fn new() -> Piece {
        let times = Histogram::new(DIGITS).unwrap_or_else(|_| unreachable!("two digits are allowed"));
        Piece { times, failed: 0 }
    }
}

impl Course {
    pub(crate) fn new() -> Course {
        Course { length: SHORTEST, pieces: Vec::new() }
    }

    /// Adds what a thread has counted up to this time since it last told.
    pub(crate) fn add(&mut self, at: Duration, answered: &Times, failed: u64) {
        if answered.is_empty() && failed == 0 {
            return;
        }
        while self.place(at) >= MOST {
            self.halve();
        }
        let place = self.place(at);
        while self.pieces.len() <= place {
            self.pieces.push(Piece::new());
        }
        let piece = &mut self.pieces[place];
        for (nanos, count) in answered.counts() {
            // It grows as it has to: whatever a time is, there is a bucket for it.
            let _ = piece.times.record_n(nanos, count);
        }
        piece.failed += failed;
    }

    fn place(&self, at: Duration) -> usize {
        usize::try_from(at.as_nanos() / self.length.as_nanos()).unwrap_or(usize::MAX)
    }

    fn halve(&mut self) {
        self.length *= 2;
        let mut halved: Vec<Piece> = Vec::new();
        for (place, piece) in std::mem::take(&mut self.pieces).into_iter().enumerate() {
            match halved.last_mut().filter(|_| place % 2 == 1) {
                Some(last) => {
                    // Both grow as they have to.
                    let _ = last.times.add(&piece.times);
                    last.failed += piece.failed;
                }
                None => halved.push(piece),
            }
        }
        self.pieces = halved;
    }

    pub(crate) fn document(&self) -> LoadCourse {
        let moment = |piece: &Piece| {
            let at = |quantile| if piece.times.is_empty() { 0 } else { piece.times.value_at_quantile(quantile) };
            let answered = piece.times.len();
            LoadMoment { answered, failed: piece.failed, p50_ns: at(0.5), p99_ns: at(0.99), max_ns: at(1.0) }
        };
        let length_ns = u64::try_from(self.length.as_nanos()).unwrap_or(u64::MAX);
        LoadCourse { length_ns, moments: self.pieces.iter().map(moment).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_course_has_few_pieces_and_loses_nothing() {
        let mut course = Course::new();
        for second in 0..1000u64 {
            let mut times = Times::new();
            times.add(Duration::from_millis(1 + second));
            course.add(Duration::from_secs(second), &times, 1);
        }
        let document = course.document();
        assert!(document.moments.len() <= MOST && document.moments.len() > MOST / 2, "{}", document.moments.len());
        assert_eq!(document.length_ns, 6_400_000_000);
        let sums = document.moments.iter().fold((0, 0), |sum, one| (sum.0 + one.answered, sum.1 + one.failed));
        assert_eq!(sums, (1000, 1000));
        assert!(document.moments.windows(2).all(|pair| pair[0].p50_ns < pair[1].p50_ns));
        assert!(document.moments.last().is_some_and(|last| last.max_ns.abs_diff(1_000_000_000) < 10_000_000));
    }

    #[test]
    fn a_piece_without_answers_has_no_times() {
        let mut course = Course::new();
        course.add(Duration::from_millis(120), &Times::new(), 2);
        let document = course.document();
        assert_eq!(
            document.moments.iter().map(|one| (one.answered, one.failed, one.max_ns)).collect::<Vec<_>>(),
            [(0, 0, 0), (0, 0, 0), (0, 2, 0)]
        );
    }
}
