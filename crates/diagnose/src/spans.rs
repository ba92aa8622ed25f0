//! Spans of time: from, to.

use crate::search::not_after;

/// Sorted spans without overlaps.
pub fn merge(mut spans: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    spans.sort_unstable();
    spans.dedup_by(|next, last| {
        let joins = next.0 <= last.1;
        if joins {
            last.1 = last.1.max(next.1);
        }
        joins
    });
    spans
}

/// What of some spans, which are merged, lies between two times.
pub fn within(spans: &[(u64, u64)], start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
    let first = not_after(spans, |span| span.1, start);
    let inside = spans[first..].iter().take_while(move |span| span.0 < end);
    inside.map(move |&(from, to)| (from.max(start), to.min(end)))
}

/// Whether a time lies in one of some spans, which are merged.
pub fn contain(spans: &[(u64, u64)], time: u64) -> bool {
    let next = spans.partition_point(|&(_, end)| end <= time);
    spans.get(next).is_some_and(|&(start, _)| start <= time)
}

/// What of some spans lies in none of others, which are merged.
pub fn without(spans: &[(u64, u64)], others: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut left = Vec::with_capacity(spans.len());
    for &(start, end) in spans {
        let mut at = start;
        for (from, to) in within(others, start, end) {
            left.extend((at < from).then_some((at, from)));
            at = to;
        }
        left.extend((at < end).then_some((at, end)));
    }
    left
}

/// How much time they take together.
pub fn length(spans: impl Iterator<Item = (u64, u64)>) -> u64 {
    spans.map(|(from, to)| to.saturating_sub(from)).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_cut_where_what_is_asked_for_ends() {
        let spans = merge(vec![(50, 60), (0, 10), (20, 30), (25, 40)]);
        assert_eq!(spans, [(0, 10), (20, 40), (50, 60)]);
        assert_eq!(within(&spans, 10, 55).collect::<Vec<_>>(), [(20, 40), (50, 55)]);
        assert_eq!(length(within(&spans, 25, 30)), 5);
        assert_eq!(length(within(&spans, 40, 50)), 0);
        assert_eq!(length(within(&spans, 60, 55)), 0);
        assert_eq!([9, 10, 20, 39, 40].map(|time| contain(&spans, time)), [true, false, true, true, false]);
        assert_eq!(without(&[(5, 15), (20, 30), (35, 70)], &spans), [(10, 15), (40, 50), (60, 70)]);
    }
}
