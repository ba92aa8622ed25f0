//! Where the time went, beside the life line of who waited: a strip in the look of the account, and the long delays by
//! name.

use super::account;
use super::layout::{CLIENT, Layout, Px, SERVER};
use super::sentence::part;
use crate::text::{clean, wrap};
use case::views::{Ladder, Stretch};
use case::{Account, End, Nanos};
use std::collections::BTreeMap;

/// A delay of at least this share of the exchange has its name beside it.
const NAMED: f64 = 0.02;
/// The height of a line of words.
const LINE: f64 = 15.0;
/// Letters of a line between the life lines.
const COLUMNS: usize = 42;
/// Pieces of the strip that are lower than this are joined with their neighbours.
const LEAST_PIECE: f64 = 2.0;
/// Stretches of one account are joined where they have at least this part of the time from the first to the last.
const JOINED: f64 = 0.9;
/// A delay is said to be of one account where that has at least this part of it.
const PURE: f64 = 0.97;

/// A piece of the strip.
pub(super) struct Piece {
    pub kind: &'static str,
    pub x: Px,
    pub y: Px,
    pub height: Px,
    pub title: String,
}

/// A delay with its name.
pub(super) struct Delay {
    pub kind: &'static str,
    /// The bracket.
    pub path: String,
    pub anchor: &'static str,
    pub x: Px,
    pub lines: Vec<Line>,
}

/// A line of words.
pub(super) struct Line {
    pub y: Px,
    pub words: String,
    pub strong: bool,
}

/// The lane whose time is booked: the one that was watched, the client's where both were.
fn booked_line(ladder: &Ladder) -> f64 {
    let watched = |lane: usize| ladder.lanes.get(lane).is_some_and(|lane| !lane.process.is_empty());
    if !watched(0) && watched(1) { SERVER } else { CLIENT }
}

/// The strip: each stretch between rows, low ones joined.
pub(super) fn strip(ladder: &Ladder, layout: &Layout) -> Vec<Piece> {
    let x = Px(booked_line(ladder) - 4.0);
    let mut pieces = Vec::new();
    for (from, to, top, _) in layout.gaps() {
        let mut waiting: Vec<(&Account, u64)> = Vec::new();
        let mut begun = from;
        let mut emit = |waiting: &mut Vec<(&Account, u64)>, from: u64, to: u64| {
            let y = top + (from - begun_of(layout, from, top).0) as f64 * layout.scale;
            let height = (to - from) as f64 * layout.scale;
            if let Some((account, ns)) = largest(waiting) {
                let what = said(account, ns, to - from);
                pieces.push(Piece { kind: account::kind(account), x, y: Px(y), height: Px(height), title: what });
            }
            waiting.clear();
        };
        for (start, end, account) in within(&ladder.stretches, from, to) {
            let high = (end - start) as f64 * layout.scale >= LEAST_PIECE;
            if high && begun < start {
                emit(&mut waiting, begun, start);
                begun = start;
            }
            waiting.push((account, end - start));
            if (end - begun) as f64 * layout.scale >= LEAST_PIECE || end == to {
                emit(&mut waiting, begun, end);
                begun = end;
            }
        }
    }
    pieces
}

/// When the gap began that an instant lies in, and where.
fn begun_of(layout: &Layout, at: u64, top: f64) -> (u64, f64) {
    let row = layout.rows.partition_point(|row| row.at <= at).checked_sub(1);
    (row.map_or(0, |row| layout.rows[row].at), top)
}

/// Delays with their names: long stretches first, then between rows what most of the time went into.
pub(super) fn delays(ladder: &Ladder, layout: &Layout) -> Vec<Delay> {
    let long = |from: u64, to: u64| (to - from) as f64 >= NAMED * ladder.length_ns as f64;
    let mut named: Vec<(u64, u64)> = Vec::new();
    let mut delays = Vec::new();
    for run in joined(ladder, layout).into_iter().filter(|run| long(run.from, run.to)) {
        let whole = run.to - run.from;
        let length = part_or_whole(run.ns, whole, run.ns as f64 >= PURE * whole as f64);
        if let Some(delay) = delay(layout, run.account, (run.from, run.to), (clean(&run.account.name()), length)) {
            named.push((run.from, run.to));
            delays.push(delay);
        }
    }
    for (from, to, ..) in layout.gaps().filter(|&(from, to, ..)| long(from, to)) {
        if named.iter().any(|&(start, end)| start < to && from < end) {
            continue;
        }
        let sums: Vec<(&Account, u64)> =
            within(&ladder.stretches, from, to).map(|(from, to, account)| (account, to - from)).collect();
        if let Some((account, ns)) = largest(&sums) {
            let pure = ns as f64 >= PURE * (to - from) as f64;
            let name = clean(&account.name());
            let name = if pure { name } else { format!("mostly {name}") };
            delays.extend(delay(layout, account, (from, to), (name, part_or_whole(ns, to - from, pure))));
        }
    }
    delays
}

/// Stretches of one account, and what little lies between them.
struct Joined<'l> {
    from: u64,
    to: u64,
    account: &'l Account,
    /// What is that account's.
    ns: u64,
}

/// Stretches of one account that follow each other closely, and without a step between them, are one: a thread that leaves
/// its code for a moment does not wait for something else.
fn joined<'l>(ladder: &'l Ladder, layout: &Layout) -> Vec<Joined<'l>> {
    let has_step = |from: u64, to: u64| layout.rows.iter().any(|row| from <= row.at && row.at <= to);
    let mut runs: Vec<Joined> = Vec::new();
    let mut last: BTreeMap<&Account, usize> = BTreeMap::new();
    for stretch in ladder.stretches.iter().filter(|stretch| stretch.from < stretch.to) {
        let ns = stretch.to - stretch.from;
        let known = last.get(&stretch.account).and_then(|&index| runs.get_mut(index));
        match known {
            Some(run)
                if (run.ns + ns) as f64 >= JOINED * (stretch.to - run.from) as f64
                    && !has_step(run.to, stretch.from) =>
            {
                run.to = stretch.to;
                run.ns += ns;
            }
            _ => {
                last.insert(&stretch.account, runs.len());
                runs.push(Joined { from: stretch.from, to: stretch.to, account: &stretch.account, ns });
            }
        }
    }
    runs
}

/// A delay's bracket and its words, in the highest gap between rows within it; none where they find no room.
fn delay(
    layout: &Layout,
    account: &Account,
    (from, to): (u64, u64),
    (name, length): (String, String),
) -> Option<Delay> {
    let (top, bottom) = (layout.y(from), layout.y_end(to));
    let inside = layout.gaps().filter(|&(start, end, ..)| start < to && from < end);
    let free = inside.map(|(_, _, above, below)| (above.max(top), below.min(bottom)));
    let (above, below) = free.max_by(|one, other| (one.1 - one.0).total_cmp(&(other.1 - other.0)))?;
    let lines = ((below - above) / LINE).floor() as usize;
    let mut words: Vec<String> = wrap(&name, COLUMNS, "", "").lines().map(ToString::to_string).collect();
    words.push(length);
    if lines == 1 && words.len() == 2 && words.concat().chars().count() < COLUMNS {
        words = vec![words.join(", ")];
    }
    if words.len() > lines.max(1) || below - above < LINE - 3.0 {
        return None;
    }
    let server = account.end() == Some(End::Server);
    let (x, outward) = if server { (SERVER, -1.0) } else { (CLIENT, 1.0) };
    let first = f64::midpoint(above, below) - LINE * (words.len() as f64 - 1.0) / 2.0 + 4.0;
    let strong = words.len() - 1;
    let lines = words.into_iter().enumerate().map(|(index, words)| Line {
        y: Px(first + LINE * index as f64),
        words,
        strong: index == strong,
    });
    Some(Delay {
        kind: account::kind(account),
        path: format!("M{:.1},{top:.1}h{:.1}V{bottom:.1}h{:.1}", x + outward * 8.0, outward * 5.0, outward * -5.0),
        anchor: if server { "end" } else { "start" },
        x: Px(x + outward * 20.0),
        lines: lines.collect(),
    })
}

fn part_or_whole(ns: u64, of: u64, pure: bool) -> String {
    if pure { Nanos(of).to_string() } else { part(ns, of) }
}

/// The parts of stretches within a time: from, to, account.
fn within(stretches: &[Stretch], from: u64, to: u64) -> impl Iterator<Item = (u64, u64, &Account)> {
    let first = stretches.partition_point(|stretch| stretch.to <= from);
    let here = stretches[first..].iter().take_while(move |stretch| stretch.from < to);
    let parts = here.map(move |stretch| (stretch.from.max(from), stretch.to.min(to), &stretch.account));
    parts.filter(|(from, to, _)| from < to)
}

/// The account with most of some time, and how much.
fn largest<'n>(parts: &[(&'n Account, u64)]) -> Option<(&'n Account, u64)> {
    let mut sums: BTreeMap<&Account, u64> = BTreeMap::new();
    for &(account, ns) in parts {
        *sums.entry(account).or_default() += ns;
    }
    sums.into_iter().max_by_key(|&(_, ns)| ns)
}

/// A piece in words.
fn said(account: &Account, ns: u64, of: u64) -> String {
    let name = clean(&account.name());
    if ns == of { format!("{name}, {}", Nanos(of)) } else { format!("mostly {name}, {}", part(ns, of)) }
}
