//! Ladders for tests.

use case::views::{EventKind, Ladder, LadderEvent, Lane, SegmentKind, Stretch, Why};
use case::{Account, End, Place};

pub(super) const US: u64 = 1_000;
pub(super) const MS: u64 = 1_000_000;

/// A step.
pub(super) fn event(at: u64, lane: usize, kind: EventKind, label: &str) -> LadderEvent {
    LadderEvent { at, to: at, lane, kind, label: label.to_string(), times: 1, ..LadderEvent::default() }
}

/// A segment arrives.
pub(super) fn arrival(at: u64, lane: usize, segment: SegmentKind, label: &str) -> LadderEvent {
    LadderEvent { segment: Some(segment), ..event(at, lane, EventKind::Arrival, label) }
}

fn stretch(from: u64, to: u64, account: Account) -> Stretch {
    Stretch { from, to, account }
}

/// A request whose second part was held for 40.9 of 44.0 ms.
pub(super) fn held() -> Ladder {
    let lane = |end, process: &str| Lane { end, process: process.to_string() };
    let place = |line: u32, function: &str| {
        Some(Place { function: function.to_string(), file: "/srv/client.py".to_string(), line, ..Place::default() })
    };
    let left = 100 * US + 40_900 * US;
    let mut events = vec![
        LadderEvent { place: place(26, "post"), to: 30 * US, ..event(0, 0, EventKind::Write, "write 112 bytes") },
        LadderEvent { arrives: Some(2), ..event(20 * US, 0, EventKind::Segment, "112 bytes") },
        arrival(40 * US, 1, SegmentKind::Data, "112 bytes"),
        LadderEvent {
            place: place(31, "send_body"),
            records: vec!["application data, 86 bytes".to_string()],
            ..event(80 * US, 0, EventKind::Write, "write 91 bytes")
        },
        LadderEvent { to: 44 * MS, ..event(100 * US, 0, EventKind::Read, "read 300 bytes") },
        LadderEvent { arrives: Some(6), ..event(left - 20 * US, 1, EventKind::Acknowledgement, "ACK") },
        arrival(left - 10 * US, 0, SegmentKind::Acknowledgement, "ACK"),
        LadderEvent { arrives: Some(8), ..event(left, 0, EventKind::Segment, "91 bytes") },
        arrival(left + 20 * US, 1, SegmentKind::Data, "91 bytes"),
        event(43_900 * US, 1, EventKind::Write, "write 300 bytes"),
    ];
    events.sort_by_key(|event| event.at);
    Ladder {
        why: Why::Typical,
        number: 51,
        began: 0,
        length_ns: 44 * MS,
        lanes: vec![lane(End::Client, "python3 (4711)"), lane(End::Server, "nginx (815)")],
        stretches: vec![
            stretch(0, 100 * US, Account::KernelCpu { end: End::Client }),
            stretch(100 * US, left, Account::HeldByNagle { end: End::Client }),
            stretch(left, 44 * MS, Account::UserCpu { end: End::Server, module: None }),
        ],
        waits: None,
        events,
        left_out: 0,
    }
}
