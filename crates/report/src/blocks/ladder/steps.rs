//! The rows of a ladder: words beside the life line, a mark on it, and how long a call took.

use super::layout::{CLIENT, Layout, Px, SERVER};
use super::sentence::since;
use crate::text::{clean, count, shorten};
use case::views::{EventKind, Ladder, LadderEvent};
use case::{Function, Nanos, Place};

/// Letters that find room between a life line and the times, those of the code among them.
const ROOM: usize = 52;
/// Letters of a process that is not the lane's own.
const PROCESS_ROOM: usize = 20;
/// A call says how long it took where that is at least this share of the exchange.
const LONG: f64 = 0.02;
/// A call's bar is drawn where it is at least so high.
const LEAST_BAR: f64 = 2.5;

/// One row as it is drawn.
pub(super) struct DrawnEvent {
    pub number: usize,
    pub side: &'static str,
    pub kind: &'static str,
    pub y: Px,
    pub text_y: Px,
    pub x: Px,
    pub text_x: Px,
    pub time: String,
    pub words: String,
    pub code: String,
    pub title: String,
    pub bar: Option<Bar>,
}

/// How long a call took, beside the life line.
pub(super) struct Bar {
    pub x: Px,
    pub y: Px,
    pub height: Px,
}

/// Every row of a ladder.
pub(super) fn steps(ladder: &Ladder, layout: &Layout) -> Vec<DrawnEvent> {
    ladder.events.iter().enumerate().map(|(number, event)| step(ladder, layout, number, event)).collect()
}

/// Whether words stand beside the line: what segments are stands at their arrows.
fn has_words(kind: EventKind) -> bool {
    matches!(kind, EventKind::Write | EventKind::Read | EventKind::Call | EventKind::Tcp)
}

fn step(ladder: &Ladder, layout: &Layout, number: usize, event: &LadderEvent) -> DrawnEvent {
    let y = layout.rows[number].y;
    let client = event.lane == 0;
    let outward = if client { -1.0 } else { 1.0 };
    let x = if client { CLIENT } else { SERVER };
    let words = if has_words(event.kind) { words(event, ladder.length_ns) } else { String::new() };
    let room = ROOM.saturating_sub(words.chars().count() + 2);
    let code = event.place.as_ref().map(short_place).filter(|_| !words.is_empty() && room > 8).unwrap_or_default();
    let bar_height = layout.y_end(event.to) - y;
    let bar = (has_words(event.kind) && bar_height >= LEAST_BAR).then_some(Bar {
        x: Px(x + outward * 9.0 - 2.0),
        y: Px(y),
        height: Px(bar_height),
    });
    DrawnEvent {
        number,
        side: if client { "client" } else { "server" },
        kind: kind(event.kind),
        y: Px(y),
        text_y: Px(y + 4.0),
        x: Px(x),
        text_x: Px(x + outward * 18.0),
        time: if event.kind == EventKind::Arrival { String::new() } else { since(event.at, ladder.length_ns) },
        words,
        code: shorten(&code, room),
        title: title(event, ladder.length_ns),
        bar,
    }
}

/// A row in a few words: `read 300 bytes, 43.9 ms`.
fn words(event: &LadderEvent, length: u64) -> String {
    let process =
        if event.process.is_empty() { String::new() } else { shorten(&clean(&event.process), PROCESS_ROOM) + ": " };
    let what = shorten(&format!("{process}{}", what(event)), ROOM - 12);
    let took = event.to.saturating_sub(event.at);
    if took as f64 >= LONG * length as f64 && took > 0 { format!("{what}, {}", Nanos(took)) } else { what }
}

/// What it is, with its repetitions: `ioctl x 506`.
pub(super) fn what(event: &LadderEvent) -> String {
    let label = clean(&event.label);
    if event.times > 1 { format!("{label} (x {})", count(event.times)) } else { label }
}

/// Everything about a row, for the pointer.
fn title(event: &LadderEvent, length: u64) -> String {
    let mut parts = vec![format!("{} {}", since(event.at, length), what(event))];
    if event.to > event.at {
        parts.push(format!("took {}", Nanos(event.to - event.at)));
    }
    parts.extend(event.records.iter().map(|record| format!("TLS {}", clean(record))));
    parts.extend(event.place.as_ref().map(full_place));
    if !event.process.is_empty() {
        parts.push(clean(&event.process));
    }
    parts.join("\n")
}

fn kind(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Write => "write",
        EventKind::Read => "read",
        EventKind::Call => "call",
        EventKind::Segment => "segment",
        EventKind::Acknowledgement => "acknowledgement",
        EventKind::Arrival => "arrival",
        EventKind::Tcp => "tcp",
    }
}

/// A line of code without its folder: `client.py:31 send_body`.
pub(super) fn short_place(place: &Place) -> String {
    let base = |path: &str| clean(path.rsplit('/').next().unwrap_or(path));
    let function = clean(&place.function);
    match (place.line, place.module.is_empty() || Function::of(&place.function).is_address()) {
        (1.., _) => format!("{}:{} {function}", base(&place.file), place.line),
        (0, true) => function,
        (0, false) => format!("{function} ({})", base(&place.module)),
    }
}

/// A line of code with its folder.
pub(super) fn full_place(place: &Place) -> String {
    let function = clean(&place.function);
    match place.line {
        0 if place.module.is_empty() => function,
        0 => format!("{function} in {}", clean(&place.module)),
        line => format!("{}:{line} in {function}", clean(&place.file)),
    }
}
