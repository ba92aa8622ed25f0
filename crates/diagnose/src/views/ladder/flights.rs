//! Segments: each from where it left to where it arrived.

use super::label;
use super::participants::Participants;
use super::raw_event::RawEvent;
use crate::analysis::Analysis;
use crate::exchange::Exchange;
use crate::flights::{SEARCHED, SIGNS, completes, is_part};
use case::Nanos;
use case::tables::{Segment, direction};
use case::views::{EventKind, LadderEvent, SegmentKind};

/// Segments that follow each other within this share of the exchange belong together.
const TOGETHER_SHARE: u64 = 20;

/// Fewer segments are shown one by one.
const LEAST: usize = 4;

/// How long after an exchange an arrival is looked for of what left within it.
const UNDER_WAY: u64 = 1_000_000_000;

/// How long bytes wait at least for that to be said, as a share of the exchange.
const HELD_SHARE: u64 = 100;

/// A segment's way from one end to the other, or several that follow each other closely.
struct Flight<'r> {
    /// What left; what arrived where its leaving was not recorded.
    segment: &'r Segment,
    /// When the first left, and the last.
    left: Option<(u64, u64)>,
    /// When the first arrived, and the last.
    arrived: Option<(u64, u64)>,
    /// Payload of all.
    bytes: u64,
    /// How many.
    times: u64,
}

/// Every segment of an exchange at both ends.
pub fn steps(analysis: &Analysis, exchange: &Exchange, participants: &Participants) -> Vec<RawEvent> {
    let rows = |lane: usize, way: u8| -> Vec<&Segment> {
        let Some(slot) = participants.slots[lane] else { return Vec::new() };
        let segments = analysis.connections.segments(slot);
        let first = segments.partition_point(|row| row.time.0 < exchange.start);
        // What left at the very end arrives a little later.
        let until = if way == direction::IN { exchange.end.saturating_add(UNDER_WAY) } else { exchange.end };
        let here = segments[first..].iter().take_while(|row| row.time.0 <= until);
        here.filter(|row| row.direction == way).collect()
    };
    let both = [0, 1].map(|lane| {
        let mut flights = flights(&rows(lane, direction::OUT), &rows(1 - lane, direction::IN));
        flights.retain(|flight| flight.begins() <= exchange.end);
        flights
    });
    let mut steps = Vec::new();
    for lane in 0..2 {
        for flight in together(&both[lane], &both[1 - lane], exchange.length() / TOGETHER_SHARE) {
            let held = held(analysis, participants.slots[lane], &flight, exchange);
            steps.extend(ends(&flight, lane, held, steps.len()));
        }
    }
    steps
}

/// Departures with their arrivals, then arrivals whose departure was not recorded; in order of time.
fn flights<'r>(departures: &[&'r Segment], arrivals: &[&'r Segment]) -> Vec<Flight<'r>> {
    let mut used = vec![false; arrivals.len()];
    let mut flights: Vec<Flight> = Vec::new();
    for &segment in departures {
        let first = arrivals.partition_point(|row| row.time < segment.time);
        let near = first..arrivals.len().min(first + SEARCHED);
        let found = near.clone().find(|&at| completes(segment, arrivals[at], used[at]));
        for at in near.filter(|&at| found.is_some_and(|found| at <= found)) {
            used[at] |= is_part(segment, arrivals[at]);
        }
        let arrived = found.map(|at| (arrivals[at].time.0, arrivals[at].time.0));
        let left = Some((segment.time.0, segment.time.0));
        flights.push(Flight { segment, left, arrived, bytes: u64::from(segment.payload), times: 1 });
    }
    for &segment in arrivals.iter().zip(&used).filter(|(_, used)| !**used).map(|(segment, _)| segment) {
        let arrived = Some((segment.time.0, segment.time.0));
        flights.push(Flight { segment, left: None, arrived, bytes: u64::from(segment.payload), times: 1 });
    }
    flights.sort_by_key(Flight::begins);
    flights
}

impl Flight<'_> {
    fn begins(&self) -> u64 {
        self.left.or(self.arrived).map_or(0, |(first, _)| first)
    }

    fn ends(&self) -> u64 {
        self.left.or(self.arrived).map_or(0, |(_, last)| last)
    }

    fn is_plain(&self) -> bool {
        self.segment.flags & SIGNS == 0
    }

    fn kind(&self) -> SegmentKind {
        match (self.bytes, self.is_plain()) {
            (1.., _) => SegmentKind::Data,
            (0, true) => SegmentKind::Acknowledgement,
            (0, false) => SegmentKind::Control,
        }
    }

    /// Whether another flight may be shown together with this one.
    fn goes_with(&self, other: &Flight) -> bool {
        (self.bytes > 0) == (other.bytes > 0)
            && self.is_plain()
            && other.is_plain()
            && self.left.is_some() == other.left.is_some()
            && self.arrived.is_some() == other.arrived.is_some()
    }
}

/// Flights of one direction, runs of them as one where they follow each other closely and no payload goes the other way
/// in between.
fn together<'r>(flights: &[Flight<'r>], opposite: &[Flight], distance: u64) -> Vec<Flight<'r>> {
    let answers: Vec<u64> = opposite.iter().filter(|flight| flight.bytes > 0).map(Flight::begins).collect();
    let answered =
        |from: u64, to: u64| answers.partition_point(|&at| at < from) < answers.partition_point(|&at| at < to);
    let (data, bare): (Vec<&Flight>, Vec<&Flight>) = flights.iter().partition(|flight| flight.bytes > 0);
    let mut joined_runs = Vec::new();
    for class in [data, bare] {
        let follows = |one: &&Flight, next: &&Flight| {
            let (from, to) = (one.ends(), next.begins());
            one.goes_with(next) && to - from.min(to) < distance && !answered(from, to)
        };
        for run in class.chunk_by(follows) {
            if run.len() < LEAST {
                joined_runs.extend(run.iter().map(|flight| joined(&[flight])));
            } else {
                joined_runs.push(joined(run));
            }
        }
    }
    joined_runs
}

fn joined<'r>(run: &[&Flight<'r>]) -> Flight<'r> {
    let (first, last) = (run[0], run[run.len() - 1]);
    let span = |one: Option<(u64, u64)>, other: Option<(u64, u64)>| Some((one?.0, other?.1));
    Flight {
        segment: first.segment,
        left: span(first.left, last.left),
        arrived: span(first.arrived, last.arrived),
        bytes: run.iter().map(|flight| flight.bytes).sum(),
        times: run.iter().map(|flight| flight.times).sum(),
    }
}

/// How long bytes had waited in the kernel when a flight left; none where that is too short to matter.
fn held(analysis: &Analysis, slot: Option<usize>, flight: &Flight, exchange: &Exchange) -> Option<u64> {
    let (left, _) = flight.left.filter(|_| flight.bytes > 0)?;
    let send_stalls = &analysis.connections.all()[slot?].send_stalls;
    let stall =
        send_stalls.get(send_stalls.partition_point(|stall| stall.end < left)).filter(|stall| stall.end == left)?;
    let length = stall.end - stall.start;
    (length * HELD_SHARE >= exchange.length()).then_some(length)
}

/// A flight's departure and its arrival.
fn ends(flight: &Flight, lane: usize, held: Option<u64>, number: usize) -> Vec<RawEvent> {
    let bare = flight.bytes == 0;
    let what = match flight.times {
        1 => label::segment(flight.segment),
        _ if bare => "ACK".to_string(),
        _ => label::bytes(flight.bytes),
    };
    let event = |(at, to): (u64, u64), lane: usize, kind: EventKind, label: String| LadderEvent {
        at,
        to,
        lane,
        kind,
        label,
        segment: Some(flight.kind()),
        times: flight.times,
        ..LadderEvent::default()
    };
    let kind = if bare { EventKind::Acknowledgement } else { EventKind::Segment };
    let waited = held.map(|length| format!(", held for {}", Nanos(length))).unwrap_or_default();
    let mut steps = Vec::new();
    if let Some(span) = flight.left {
        let mut step = RawEvent::new(event(span, lane, kind, format!("{what}{waited}")));
        step.flight_out = Some(number);
        steps.push(step);
    }
    if let Some(span) = flight.arrived {
        let mut step = RawEvent::new(event(span, 1 - lane, EventKind::Arrival, what));
        step.flight_in = flight.left.map(|_| number);
        steps.push(step);
    }
    steps
}
