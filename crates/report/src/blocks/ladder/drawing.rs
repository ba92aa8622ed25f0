//! The drawing of a ladder: SVG by hand, styled by classes, complete without JavaScript.

use super::account::{self, KINDS};
use super::delays::{self, Delay, Piece};
use super::flights::{self, Flight};
use super::layout::{CLIENT, HEAD, Layout, Px, SERVER, WIDTH};
use super::sentence::since;
use super::steps::{self, DrawnEvent};
use crate::text::{clean, shorten};
use askama::Template;
use case::Nanos;
use case::views::Ladder;

/// Letters of a life line's name.
const NAME_ROOM: usize = 44;

#[derive(Template)]
#[template(path = "blocks/ladder_drawing.svg")]
struct Drawing<'a> {
    id: &'a str,
    width: Px,
    height: Px,
    head: Px,
    bottom: Px,
    lanes: [LifeLine; 2],
    strip: Vec<Piece>,
    delays: Vec<Delay>,
    flights: Vec<Flight>,
    steps: Vec<DrawnEvent>,
    bar_y: Px,
    bar_height: Px,
    bar_words_y: Px,
    bar_words: String,
    end: DrawnEvent,
}

/// One life line.
struct LifeLine {
    side: &'static str,
    x: Px,
    process: String,
    anchor: &'static str,
}

#[derive(Template)]
#[template(path = "blocks/ladder_key.html")]
struct Key {
    kinds: Vec<(&'static str, &'static str)>,
}

/// The drawing of a ladder.
pub(super) fn drawing(ladder: &Ladder, id: &str) -> String {
    let layout = Layout::of(ladder);
    let (bar, bar_height) = layout.bar();
    let strip = delays::strip(ladder, &layout);
    let drawing = Drawing {
        id,
        width: Px(WIDTH),
        height: Px(layout.height),
        head: Px(HEAD - 6.0),
        bottom: Px(layout.height - 4.0),
        lanes: [life_line(ladder, 0), life_line(ladder, 1)],
        strip,
        delays: delays::delays(ladder, &layout),
        flights: flights::flights(ladder, &layout),
        steps: steps::steps(ladder, &layout),
        bar_y: Px(HEAD - 8.0 - bar_height),
        bar_height: Px(bar_height),
        bar_words_y: Px(HEAD - 4.0 - bar_height / 2.0),
        bar_words: round(bar),
        end: end(ladder, &layout),
    };
    drawing.render().unwrap_or_default()
}

/// The key to the looks that occur, in words.
pub(super) fn key(ladder: &Ladder) -> String {
    let occurs = |kind: &str| ladder.stretches.iter().any(|stretch| account::kind(&stretch.account) == kind);
    Key { kinds: KINDS.into_iter().filter(|(kind, _)| occurs(kind)).collect() }.render().unwrap_or_default()
}

fn life_line(ladder: &Ladder, lane: usize) -> LifeLine {
    let process = ladder.lanes.get(lane).map(|lane| clean(&lane.process)).unwrap_or_default();
    let process = if process.is_empty() { "not recorded".to_string() } else { shorten(&process, NAME_ROOM) };
    let (side, x, anchor) = if lane == 0 { ("client", CLIENT, "end") } else { ("server", SERVER, "start") };
    LifeLine { side, x: Px(x), process, anchor }
}

/// The row that says when the exchange was over.
fn end(ladder: &Ladder, layout: &Layout) -> DrawnEvent {
    let y = layout.rows.last().map_or(HEAD, |row| row.y);
    DrawnEvent {
        number: ladder.events.len(),
        side: "client",
        kind: "end",
        y: Px(y),
        text_y: Px(y + 4.0),
        x: Px(CLIENT),
        text_x: Px(CLIENT - 18.0),
        time: since(ladder.length_ns, ladder.length_ns),
        words: format!("done after {}", Nanos(ladder.length_ns)),
        code: String::new(),
        title: String::new(),
        bar: None,
    }
}

/// A round length without decimals: `20 ms`.
fn round(ns: u64) -> String {
    match ns {
        0..=999 => format!("{ns} ns"),
        1_000..=999_999 => format!("{} us", ns / 1_000),
        1_000_000..=999_999_999 => format!("{} ms", ns / 1_000_000),
        _ => format!("{} s", ns / 1_000_000_000),
    }
}
