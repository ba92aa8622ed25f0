//! One direction of a connection: which of its bytes have crossed the wire where it was captured. Sequence numbers wrap;
//! positions here do not.

/// Missing stretches that are remembered of one direction: behind more, what fills one is taken for sent again.
const MOST_GAPS: usize = 32;

/// No window is larger (RFC 7323, 2.3): what lies further off belongs to another connection, or is nonsense.
const FURTHEST: i64 = 1 << 30;

/// What a segment brings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Brought {
    /// Bytes that had not crossed before.
    pub fresh: u32,
    /// How many of these continue the stream, at the segment's end.
    pub ahead: u32,
    /// Bytes before the segment that never crossed: lost, or not captured.
    pub gap: u64,
    /// Whether bytes crossed again that had crossed before.
    pub again: bool,
}

/// What has crossed in one direction.
#[derive(Debug, Default)]
pub struct Stream {
    base: Option<u32>,
    /// The position after the furthest byte.
    next: u64,
    /// Stretches before it that have not crossed, in order.
    gaps: Vec<(u64, u64)>,
}

impl Stream {
    /// Takes a SYN: the first byte follows it.
    pub fn begin(&mut self, sequence: u32) {
        *self = Stream { base: Some(sequence.wrapping_add(1)), ..Stream::default() };
    }

    /// Takes a segment with payload.
    pub fn take(&mut self, sequence: u32, payload: u32) -> Brought {
        let base = *self.base.get_or_insert(sequence);
        let offset = i64::from(sequence.wrapping_sub(base).wrapping_sub(self.next as u32) as i32);
        if offset.abs() > FURTHEST {
            // Begins anew where it is.
            *self = Stream { base: Some(sequence), ..Stream::default() };
            return self.take(sequence, payload);
        }
        let Some(from) = self.next.checked_add_signed(offset) else {
            // From before the first byte that was captured.
            return Brought { again: true, ..Brought::default() };
        };
        let to = from + u64::from(payload);
        let gap = from.saturating_sub(self.next);
        if gap > 0 && self.gaps.len() < MOST_GAPS {
            self.gaps.push((self.next, from));
        }
        let ahead = to.saturating_sub(self.next.max(from));
        let filled = self.fill(from, to.min(self.next));
        let repeated = to.min(self.next).saturating_sub(from).saturating_sub(filled);
        self.next = self.next.max(to);
        Brought { fresh: (ahead + filled) as u32, ahead: ahead as u32, gap, again: repeated > 0 }
    }

    /// Fills gaps; says with how many bytes.
    fn fill(&mut self, from: u64, to: u64) -> u64 {
        if from >= to || self.gaps.is_empty() {
            return 0;
        }
        let mut filled = 0;
        let mut left = Vec::with_capacity(self.gaps.len());
        for (start, end) in self.gaps.drain(..) {
            let (cut_from, cut_to) = (start.max(from), end.min(to));
            if cut_from >= cut_to {
                left.push((start, end));
                continue;
            }
            filled += cut_to - cut_from;
            left.extend([(start, cut_from), (cut_to, end)].into_iter().filter(|(start, end)| start < end));
        }
        left.truncate(MOST_GAPS);
        self.gaps = left;
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_and_sent_again_is_fresh_and_what_crossed_twice_is_not() {
        let mut stream = Stream::default();
        stream.begin(u32::MAX - 100);
        let at = |position: u32| (u32::MAX - 99).wrapping_add(position);
        assert_eq!(stream.take(at(0), 100), Brought { fresh: 100, ahead: 100, ..Brought::default() });
        // 100..200 is missing, across the wrap.
        assert_eq!(stream.take(at(200), 50), Brought { fresh: 50, ahead: 50, gap: 100, ..Brought::default() });
        assert_eq!(stream.take(at(100), 60), Brought { fresh: 60, ..Brought::default() });
        assert_eq!(stream.take(at(150), 100), Brought { fresh: 40, ahead: 0, again: true, ..Brought::default() });
        assert_eq!(stream.take(at(250), 10), Brought { fresh: 10, ahead: 10, ..Brought::default() });
        assert_eq!(stream.take(at(0), 100), Brought { again: true, ..Brought::default() });
    }

    #[test]
    fn numbers_far_away_and_ever_new_gaps_cost_nothing() {
        let mut stream = Stream::default();
        stream.take(0, 10);
        for step in 1..10_000 {
            stream.take(step * 1_000, 1);
        }
        assert!(stream.gaps.len() <= MOST_GAPS);
        assert_eq!(stream.take(1 << 31, 7).fresh, 7);
        assert_eq!(stream.take(5, 1), Brought { fresh: 1, ahead: 1, ..Brought::default() });
    }
}
