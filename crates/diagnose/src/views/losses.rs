//! What was lost while recording.

use case::Recording;
use case::views::LossView;
use std::collections::BTreeMap;

/// Losses by table and reason, those with most first.
pub fn losses(recording: &Recording) -> Vec<LossView> {
    let start = recording.manifest.start;
    let mut sums: BTreeMap<(&str, &str), LossView> = BTreeMap::new();
    for row in recording.losses.iter().filter(|row| row.count > 0) {
        let (from, to) = ((row.start - start).0, (row.end - start).0);
        let sum = sums.entry((&row.table, &row.reason)).or_insert_with(|| LossView { from, ..Default::default() });
        sum.count = sum.count.saturating_add(row.count);
        sum.from = sum.from.min(from);
        sum.to = sum.to.max(to);
    }
    let named = |((table, reason), sum): ((&str, &str), LossView)| LossView {
        table: table.to_string(),
        reason: reason.to_string(),
        ..sum
    };
    let mut losses: Vec<LossView> = sums.into_iter().map(named).collect();
    losses.sort_by_key(|loss| std::cmp::Reverse(loss.count));
    losses
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::Nanos;
    use case::tables::Loss;

    #[test]
    fn losses_of_one_reason_are_one_row_from_the_first_to_the_last() {
        let mut recording = Recording::default();
        recording.manifest.start = Nanos(1_000);
        let mut lost = |start: u64, table: &str, count: u64| {
            let (start, end) = (Nanos(start), Nanos(start + 10));
            let (table, reason) = (table.to_string(), "ring full".to_string());
            recording.losses.push(Loss { start, end, table, reason, count });
        };
        lost(1_100, "stacks", 3);
        lost(1_200, "calls", 5);
        lost(900, "stacks", 4);
        lost(1_300, "segments", 0);
        let rows = losses(&recording);
        let rows: Vec<_> = rows.iter().map(|row| (row.table.as_str(), row.count, row.from, row.to)).collect();
        assert_eq!(rows, [("stacks", 7, 0, 110), ("calls", 5, 200, 210)]);
    }

    #[test]
    fn without_losses_there_is_no_row() {
        assert_eq!(losses(&Recording::default()), []);
    }
}
