//! Findings that explain the same time: the general one gives way to the specific.

use crate::analysis::merge;
use crate::detectors::{Detector, Found};
use std::collections::BTreeMap;

/// Findings that only say where processor time went, not by what mechanism; they give way to any that does.
const GENERAL: [&str; 2] = ["P50", "P51"];

/// Findings that follow from another: sessions die with the context that is made anew for each request.
const CONSEQUENCES: [(&str, &[&str]); 1] = [("P08", &["P09", "P10"])];

/// Whether a finding follows from one that was found before it.
pub fn is_consequence(id: &str, before: &[(&Detector, Found)]) -> bool {
    let causes = CONSEQUENCES.iter().filter(|(consequence, _)| *consequence == id).flat_map(|(_, causes)| *causes);
    causes.into_iter().any(|cause| before.iter().any(|(detector, _)| detector.page.id == *cause))
}

/// Whether at least half of a general finding's processor time is explained by those found before it.
pub fn is_explained(id: &str, found: &Found, before: &[(&Detector, Found)]) -> bool {
    if !GENERAL.contains(&id) {
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
