//! Findings that explain the same time: the general one gives way to the specific.

use crate::detectors::{Detector, Found};
use crate::spans::merge;
use std::collections::BTreeMap;

/// Whether what a detector found follows from what was found before it.
pub fn is_consequence(detector: &Detector, before: &[(&Detector, Found)]) -> bool {
    before.iter().any(|(cause, _)| detector.follows_from.contains(&cause.page.id))
}

/// Whether at least half of a general finding's CPU time is explained by those found before it.
pub fn is_explained(detector: &Detector, found: &Found, before: &[(&Detector, Found)]) -> bool {
    if !detector.is_general {
        return false;
    }
    let mut explained: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    for &(tid, start, end) in before.iter().flat_map(|(_, earlier)| &earlier.explains) {
        explained.entry(tid).or_default().push((start, end));
    }
    let explained: BTreeMap<u32, Vec<(u64, u64)>> =
        explained.into_iter().map(|(tid, spans)| (tid, merge(spans))).collect();
    let (mut whole, mut covered) = (0u64, 0u64);
    for &(tid, start, end) in &found.explains {
        whole += end.saturating_sub(start);
        let spans = explained.get(&tid).map_or(&[][..], Vec::as_slice);
        let first = spans.partition_point(|&(_, span_end)| span_end <= start);
        for &(from, to) in spans[first..].iter().take_while(|&&(from, _)| from < end) {
            covered += to.min(end).saturating_sub(from.max(start));
        }
    }
    covered * 2 >= whole && covered > 0
}
