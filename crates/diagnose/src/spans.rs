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
    }
}
