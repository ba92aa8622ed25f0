//! Segments as arrows from one life line to the other.

use super::layout::{CLIENT, Layout, Px, SERVER};
use super::steps::what;
use crate::text::{clean, shorten};
use case::views::{EventKind, Ladder, LadderEvent, SegmentKind};

/// Letters that find room on an arrow.
const ROOM: usize = 54;
/// How far an arrow of unknown slant falls.
const SLANT: f64 = 6.0;
/// How much of its way a segment goes that never arrived.
const LOST: f64 = 0.6;

/// One arrow.
pub(super) struct Flight {
    /// The step that it leaves with; that it arrives with, where it did not leave here.
    pub number: usize,
    /// The step that it arrives with; the same where that is not known.
    pub arrives: usize,
    pub kind: &'static str,
    pub side: &'static str,
    pub from_x: Px,
    pub from_y: Px,
    pub to_x: Px,
    pub to_y: Px,
    pub words: String,
    pub words_x: Px,
    pub words_y: Px,
    pub anchor: &'static str,
    pub title: String,
}

/// Every arrow of a ladder.
pub(super) fn flights(ladder: &Ladder, layout: &Layout) -> Vec<Flight> {
    let targets: Vec<usize> = ladder.events.iter().filter_map(|event| event.arrives).collect();
    let drawn = ladder.events.iter().enumerate().filter_map(|(number, event)| match event.kind {
        EventKind::Segment | EventKind::Acknowledgement => Some(leaving(ladder, layout, number, event)),
        EventKind::Arrival if !targets.contains(&number) => Some(arriving(layout, number, event)),
        _ => None,
    });
    drawn.collect()
}

fn line(lane: usize) -> f64 {
    if lane == 0 { CLIENT } else { SERVER }
}

fn leaving(ladder: &Ladder, layout: &Layout, number: usize, event: &LadderEvent) -> Flight {
    let (from_x, from_y) = (line(event.lane), layout.rows[number].y);
    let other = line(1 - event.lane.min(1));
    let arrival = event.arrives.filter(|&at| at < layout.rows.len()).map(|at| (at, layout.rows[at].y));
    let watched = is_watched(ladder, number, 1 - event.lane.min(1));
    let (arrives, to_x, to_y) = match arrival {
        Some((at, y)) => (at, other, y),
        None if watched => (number, from_x + (other - from_x) * LOST, from_y + SLANT),
        None => (number, other, from_y + SLANT),
    };
    let bare = event.kind == EventKind::Acknowledgement;
    let unseen = if arrival.is_none() && watched { ", arrival not seen" } else { "" };
    let records = records(ladder, number, event);
    let title = format!(
        "{}{unseen}{}",
        what(event),
        records.iter().map(|it| format!("\nTLS {}", clean(it))).collect::<String>()
    );
    let tls = records.first().map(|first| format!(", TLS {}", short(first))).unwrap_or_default();
    let more = if records.len() > 1 { format!(" and {} more", records.len() - 1) } else { String::new() };
    flight(
        (number, arrives),
        match (bare, arrival) {
            (true, _) => "acknowledgement",
            (false, Some(_)) => "data",
            (false, None) => "data unseen",
        },
        (from_x, from_y),
        (to_x, to_y),
        Words { text: format!("{}{tls}{more}{unseen}", what(event)), title, at_end: false },
    )
}

/// Whether a lane's segments were seen already: a listening socket answers a SYN, not the connection that follows.
fn is_watched(ladder: &Ladder, number: usize, lane: usize) -> bool {
    let travels = [EventKind::Segment, EventKind::Acknowledgement, EventKind::Arrival];
    ladder.events[..number].iter().any(|event| event.lane == lane && travels.contains(&event.kind))
}

/// A record without what the arrow says already: `application data 86`.
fn short(record: &str) -> String {
    let record = clean(record);
    record.strip_suffix(" bytes").unwrap_or(&record).replacen(", ", " ", 1)
}

/// A segment whose leaving was not recorded.
fn arriving(layout: &Layout, number: usize, event: &LadderEvent) -> Flight {
    let (to_x, to_y) = (line(event.lane), layout.rows[number].y);
    let from = (line(1 - event.lane.min(1)), to_y - SLANT);
    let is_bare = event.segment == Some(SegmentKind::Acknowledgement);
    let kind = if is_bare { "acknowledgement" } else { "data unseen" };
    flight((number, number), kind, from, (to_x, to_y), Words { text: what(event), title: what(event), at_end: true })
}

struct Words {
    text: String,
    title: String,
    /// Whether they stand where the arrow ends.
    at_end: bool,
}

fn flight(steps: (usize, usize), kind: &'static str, from: (f64, f64), to: (f64, f64), words: Words) -> Flight {
    let right = to.0 > from.0;
    let near = if words.at_end { to } else { from };
    let starts_left = (near.0 - CLIENT).abs() < (near.0 - SERVER).abs();
    Flight {
        number: steps.0,
        arrives: steps.1,
        kind,
        side: if right { "client" } else { "server" },
        from_x: Px(from.0),
        from_y: Px(from.1),
        to_x: Px(to.0 + if right { -5.0 } else { 5.0 }),
        to_y: Px(to.1),
        words: shorten(&words.text, ROOM),
        words_x: Px(if starts_left { near.0 + 22.0 } else { near.0 - 22.0 }),
        words_y: Px(near.1 - 2.5),
        anchor: if starts_left { "start" } else { "end" },
        title: words.title,
    }
}

/// The TLS records that a segment carries: those of the writes since the segment before.
fn records<'l>(ladder: &'l Ladder, number: usize, event: &LadderEvent) -> Vec<&'l String> {
    if event.kind != EventKind::Segment {
        return Vec::new();
    }
    let here = ladder.events[..number].iter().rev().filter(|other| other.lane == event.lane);
    let since = here.take_while(|other| other.kind != EventKind::Segment);
    let writes: Vec<&LadderEvent> = since.filter(|other| other.kind == EventKind::Write).collect();
    writes.into_iter().rev().flat_map(|write| &write.records).collect()
}
