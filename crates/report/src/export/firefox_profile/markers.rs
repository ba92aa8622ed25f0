//! Markers: calls that blocked and exchanges, the longest where there are too many.

use super::Origin;
use super::frames::Frames;
use crate::export::code::Code;
use crate::export::{Known, Span};
use case::tables::Call;
use case::{Nanos, Recording};
use fxprof_processed_profile::{
    CategoryHandle, MarkerFieldFlags, MarkerFieldFormat, MarkerTiming, Profile, StaticSchemaMarker,
    StaticSchemaMarkerField, StringHandle, ThreadHandle,
};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Markers of each kind. The viewer grows slow with more, and what is left out is the shortest.
const MOST_MARKERS: usize = 10_000;
/// A shorter wait is not worth a marker.
const LEAST_BLOCKED: Nanos = Nanos(10_000);

/// A stretch of time with a name.
struct Marker {
    name: StringHandle,
    details: StringHandle,
    category: CategoryHandle,
}

impl StaticSchemaMarker for Marker {
    const UNIQUE_MARKER_TYPE_NAME: &'static str = "whyslow";
    const CHART_LABEL: Option<&'static str> = Some("{marker.data.details}");
    const TABLE_LABEL: Option<&'static str> = Some("{marker.name}: {marker.data.details}");
    const TOOLTIP_LABEL: Option<&'static str> = Some("{marker.name}: {marker.data.details}");
    const FIELDS: &'static [StaticSchemaMarkerField] = &[StaticSchemaMarkerField {
        key: "details",
        label: "Details",
        format: MarkerFieldFormat::String,
        flags: MarkerFieldFlags::SEARCHABLE,
    }];

    fn name(&self, _profile: &mut Profile) -> StringHandle {
        self.name
    }

    fn category(&self, _profile: &mut Profile) -> CategoryHandle {
        self.category
    }

    fn string_field_value(&self, _field: u32) -> StringHandle {
        self.details
    }

    fn number_field_value(&self, _field: u32) -> f64 {
        0.0
    }
}

/// Adds the markers of a recording to its threads.
pub(super) fn add(
    profile: &mut Profile,
    recording: &Recording,
    known: &Known,
    threads: &BTreeMap<u32, ThreadHandle>,
    frames: &mut Frames,
    code: &Code,
    origin: Origin,
) {
    for call in longest(recording.calls.iter().filter(|call| call.blocked >= LEAST_BLOCKED), |call| call.blocked) {
        let Some(thread) = threads.get(&call.tid).copied() else { continue };
        let details = format!("blocked {} of {}{}", call.blocked, call.duration, about(call));
        let name = (known.call_name)(call.number);
        let marker = marker(profile, &name, &details, frames.blocked);
        let timing = MarkerTiming::Interval(origin.stamp(call.start), origin.stamp(call.start + call.duration));
        let handle = profile.add_marker(thread, timing, marker);
        let stack = frames.stack(profile, thread, &code.path_of_call(call));
        profile.set_marker_stack(thread, handle, stack);
    }
    let users = users(recording);
    for span in longest(known.exchanges.iter(), |span| span.end - span.start) {
        let Some(thread) = user(&users, span).and_then(|tid| threads.get(&tid)).copied() else { continue };
        let answer = if span.answered { "" } else { ", no answer came" };
        let length = span.end - span.start;
        let details = format!("{length}, {} bytes on connection {}{answer}", span.bytes, span.connection);
        let marker = marker(profile, "exchange", &details, frames.network);
        let timing = MarkerTiming::Interval(origin.stamp(span.start), origin.stamp(span.end));
        profile.add_marker(thread, timing, marker);
    }
}

fn marker(profile: &mut Profile, name: &str, details: &str, category: CategoryHandle) -> Marker {
    Marker { name: profile.intern_string(name), details: profile.intern_string(details), category }
}

fn about(call: &Call) -> String {
    match (call.connection, call.fd) {
        (0, fd) if fd < 0 => String::new(),
        (0, fd) => format!(", descriptor {fd}"),
        (connection, _) => format!(", connection {connection}"),
    }
}

/// The longest, in their own order.
fn longest<'r, T>(all: impl Iterator<Item = &'r T>, length: fn(&T) -> Nanos) -> Vec<&'r T> {
    let mut ranked = all.enumerate().collect::<Vec<_>>();
    ranked.sort_by_key(|(place, one)| (Reverse(length(one)), *place));
    ranked.truncate(MOST_MARKERS);
    ranked.sort_by_key(|(place, _)| *place);
    ranked.into_iter().map(|(_, one)| one).collect()
}

/// The calls on each connection, in order of time: start and thread.
fn users(recording: &Recording) -> BTreeMap<u32, Vec<(Nanos, u32)>> {
    let mut users: BTreeMap<u32, Vec<(Nanos, u32)>> = BTreeMap::new();
    for call in recording.calls.iter().filter(|call| call.connection != 0) {
        users.entry(call.connection).or_default().push((call.start, call.tid));
    }
    for calls in users.values_mut() {
        calls.sort_unstable();
    }
    users
}

/// The thread that used an exchange's connection first while it lasted.
fn user(users: &BTreeMap<u32, Vec<(Nanos, u32)>>, span: &Span) -> Option<u32> {
    let calls = users.get(&span.connection)?;
    let first = calls.partition_point(|(start, _)| *start < span.start);
    calls.get(first).or(calls.last()).map(|(_, tid)| *tid)
}
