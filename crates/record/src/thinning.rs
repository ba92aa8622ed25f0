//! Thinning: which rows a long recording gives up, so that as many are kept as may be. The time with rows is cut into
//! pieces; older ones go, one here and one there, and in each minute the piece with its slowest exchange stays.
//!
//! Decides and does nothing, as the governor does.

use case::Nanos;

/// How long a piece lasts at most.
pub const PIECE: Nanos = Nanos(2 * Nanos::SECOND.0);

/// How much more may be there than is kept before thinning begins: the governor ends a window where its events are used
/// up, and not before. Twice as much where rows are being made.
const SPARE: u64 = 8;

/// Thinning leaves this part of what may be kept, so that it is not due again soon: all tables are written anew each
/// time.
const LEFT: f64 = 0.75;

/// The newest part of the pieces is not thinned.
const NEWEST: usize = 4;

/// The slowest of each minute stay. Where that leaves too many, in the end, the slowest of ten minutes, of an hour, of
/// a day.
const UNITS: [Nanos; 4] = [MINUTE, Nanos(10 * MINUTE.0), Nanos(60 * MINUTE.0), Nanos(24 * 60 * MINUTE.0)];
const MINUTE: Nanos = Nanos(60 * Nanos::SECOND.0);

/// A stretch of time with rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its beginning.
    pub start: Nanos,
    /// Its end.
    pub end: Nanos,
    /// Its events.
    pub events: u64,
    /// How long the slowest exchange took that ended in it; 0 where none did.
    pub slowest: Nanos,
}

/// What is kept.
#[derive(Clone, Debug)]
pub struct Thinning {
    most_events: u64,
    events: u64,
    pieces: Vec<Piece>,
}

impl Thinning {
    /// So many events may be kept.
    pub fn new(most_events: u64) -> Thinning {
        Thinning { most_events, events: 0, pieces: Vec::new() }
    }

    /// A piece more.
    pub fn add(&mut self, piece: Piece) {
        self.events = self.events.saturating_add(piece.events);
        self.pieces.push(piece);
    }

    /// Whether there are more than may be kept; of a bad time for thinning, whether that can be put off no longer.
    pub fn is_due(&self, is_bad_time: bool) -> bool {
        let spare = self.most_events / SPARE;
        self.events > self.most_events.saturating_add(if is_bad_time { spare.saturating_mul(2) } else { spare })
    }

    /// Chooses what is given up: stretches in order of time.
    pub fn thin(&mut self) -> Vec<(Nanos, Nanos)> {
        let target = (LEFT * self.most_events as f64) as u64;
        let mut gone = Vec::new();
        for unit in UNITS {
            for step in [2, 1] {
                self.pass(unit, step, target, &mut gone);
            }
        }
        gone.sort_unstable();
        gone
    }

    /// Gives up every second (or every) piece that is not the slowest of its unit of time, the oldest first, until few
    /// enough are left.
    fn pass(&mut self, unit: Nanos, step: usize, target: u64, gone: &mut Vec<(Nanos, Nanos)>) {
        let old = self.pieces.len() - self.pieces.len().div_ceil(NEWEST);
        let slowest = slowest(&self.pieces, unit);
        let (mut at, mut passed) = (0, 0);
        self.pieces.retain(|piece| {
            let stays = self.events <= target || at >= old || slowest.contains(&at);
            at += 1;
            if stays {
                return true;
            }
            passed += 1;
            if passed % step != 0 {
                return true;
            }
            self.events -= piece.events;
            gone.push((piece.start, piece.end));
            false
        });
    }
}

/// The places of the pieces with the slowest exchange of each unit of time.
fn slowest(pieces: &[Piece], unit: Nanos) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let number = |at: usize| pieces[at].start.0 / unit.0;
    for at in (0..pieces.len()).filter(|&at| pieces[at].slowest.0 > 0) {
        match found.last_mut().filter(|last| number(**last) == number(at)) {
            Some(last) if pieces[*last].slowest < pieces[at].slowest => *last = at,
            Some(_) => {}
            None => found.push(at),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = Nanos::SECOND.0;

    /// A window of 12,000 events every four seconds; in each minute the one at 28 s has an exchange of a second or
    /// more.
    fn played(minutes: u64, most_events: u64) -> (Thinning, Vec<(Nanos, Nanos)>) {
        let (mut thinning, mut gone) = (Thinning::new(most_events), Vec::new());
        for at in (0..minutes * 60).step_by(4) {
            let start = Nanos(at * SECOND);
            let slowest = Nanos(if at % 60 == 28 { SECOND + at } else { 100_000 });
            thinning.add(Piece { start, end: start + Nanos(SECOND / 4), events: 12_000, slowest });
            if thinning.is_due(false) {
                gone.extend(thinning.thin());
            }
        }
        (thinning, gone)
    }

    #[test]
    fn what_is_not_too_much_is_left_alone() {
        let (thinning, gone) = played(60, 10_800_000);
        assert_eq!((thinning.pieces.len(), gone.len()), (900, 0));
    }

    #[test]
    fn as_many_are_kept_as_may_be_and_of_each_minute_the_slowest() {
        let (thinning, gone) = played(600, 16_000_000);
        assert!((12_000_000..=18_000_000).contains(&thinning.events), "{}", thinning.events);
        assert_eq!(thinning.pieces.len() + gone.len(), 9_000);
        let kept = thinning.pieces.iter().filter(|piece| piece.slowest.0 >= SECOND).count();
        assert_eq!(kept, 600);
        // Older ones are fewer than newer ones, and none is gone twice.
        let first_hour = thinning.pieces.iter().filter(|piece| piece.start.0 < 3600 * SECOND).count();
        let last_hour = thinning.pieces.iter().filter(|piece| piece.start.0 >= 9 * 3600 * SECOND).count();
        assert!(first_hour < last_hour / 2, "{first_hour} {last_hour}");
        let different: std::collections::BTreeSet<_> = gone.iter().collect();
        assert_eq!(different.len(), gone.len());
    }

    #[test]
    fn where_the_slowest_of_all_minutes_are_too_many_those_of_longer_times_stay() {
        let (thinning, _) = played(6000, 1_200_000);
        assert!(thinning.events <= 1_350_000, "{}", thinning.events);
        let (first, last) = (thinning.pieces.first().expect("a piece"), thinning.pieces.last().expect("a piece"));
        assert!(first.slowest.0 >= SECOND && first.start.0 < 24 * 3600 * SECOND, "{first:?}");
        assert!(last.start.0 >= 5999 * 60 * SECOND, "{last:?}");
    }
}
