//! Keeps a ladder to what can be read: the least telling steps are left out.

use super::step::Step;
use case::views::EventKind;
use std::cmp::Reverse;

/// Events shown of one exchange: some three screens.
pub const MOST_EVENTS: usize = 80;

/// Leaves out what is least telling until few enough are left, never the first and the last of a lane: how many events
/// that were.
pub fn thin(steps: &mut Vec<Step>) -> u64 {
    let surplus = steps.len().saturating_sub(MOST_EVENTS);
    if surplus == 0 {
        return 0;
    }
    let mut order: Vec<usize> = (0..steps.len()).filter(|&index| !is_border(steps, index)).collect();
    order.sort_by_key(|&index| (telling(&steps[index]), Reverse(index)));
    let gone: std::collections::BTreeSet<usize> = order.into_iter().take(surplus).collect();
    let left_out = gone.iter().map(|&index| steps[index].event.times).sum();
    let mut index = 0;
    steps.retain(|_| {
        index += 1;
        !gone.contains(&(index - 1))
    });
    left_out
}

/// Whether a step is the first or the last that one of the ends did.
fn is_border(steps: &[Step], index: usize) -> bool {
    let moves = |step: &Step| matches!(step.event.kind, EventKind::Write | EventKind::Read);
    let lane = steps[index].event.lane;
    let others = |step: &Step| step.event.lane == lane && moves(step);
    moves(&steps[index]) && (!steps[..index].iter().any(others) || !steps[index + 1..].iter().any(others))
}

/// How much a step tells: its kind first, then how long it took.
fn telling(step: &Step) -> (u8, u64) {
    let event = &step.event;
    let bare = event.label == "ACK";
    let kind = match event.kind {
        EventKind::Call => 0,
        EventKind::Acknowledgement => 1,
        EventKind::Arrival if bare => 1,
        EventKind::Arrival | EventKind::Segment => 2,
        EventKind::Write | EventKind::Read => 3,
        EventKind::Tcp => 4,
    };
    (kind, event.to.saturating_sub(event.at) * event.times.min(2))
}
