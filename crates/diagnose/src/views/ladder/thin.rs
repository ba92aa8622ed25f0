//! Keeps a ladder short enough to read: the least informative steps are left out.

use super::raw_event::RawEvent;
use case::views::{EventKind, SegmentKind};
use std::cmp::Reverse;

/// Events shown of one exchange: some three screens.
pub const MOST_EVENTS: usize = 80;

/// Leaves out the least informative steps until few enough are left, never the first and the last of a lane. Returns how
/// many events that were.
pub fn thin(steps: &mut Vec<RawEvent>) -> u64 {
    let surplus = steps.len().saturating_sub(MOST_EVENTS);
    if surplus == 0 {
        return 0;
    }
    let mut order: Vec<usize> = (0..steps.len()).filter(|&index| !is_border(steps, index)).collect();
    order.sort_by_key(|&index| (weight(&steps[index]), Reverse(index)));
    let gone: std::collections::BTreeSet<usize> = order.into_iter().take(surplus).collect();
    let left_out = gone.iter().map(|&index| steps[index].event.times).sum();
    let mut index = 0;
    steps.retain(|_| {
        index += 1;
        !gone.contains(&(index - 1))
    });
    left_out
}

/// Whether a step is the first or the last of its lane.
fn is_border(steps: &[RawEvent], index: usize) -> bool {
    let moves = |step: &RawEvent| matches!(step.event.kind, EventKind::Write | EventKind::Read);
    let lane = steps[index].event.lane;
    let others = |step: &RawEvent| step.event.lane == lane && moves(step);
    moves(&steps[index]) && (!steps[..index].iter().any(others) || !steps[index + 1..].iter().any(others))
}

/// How informative a step is: its kind first, then how long it took.
fn weight(step: &RawEvent) -> (u8, u64) {
    let event = &step.event;
    let kind = match event.kind {
        EventKind::Call => 0,
        EventKind::Acknowledgement => 1,
        EventKind::Arrival if event.segment == Some(SegmentKind::Acknowledgement) => 1,
        EventKind::Arrival | EventKind::Segment => 2,
        EventKind::Write | EventKind::Read => 3,
        EventKind::Tcp => 4,
    };
    (kind, event.to.saturating_sub(event.at) * event.times.min(2))
}
