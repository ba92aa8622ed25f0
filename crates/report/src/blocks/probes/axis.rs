//! The picture of a bisection: every probe as a dot with its interval on one axis from bad to good, in the order tried,
//! under the words of what it was for.

use super::{result, taken};
use crate::chart::Px;
use crate::label::is_of_commits;
use crate::place::{figure_at, finite, place, two};
use askama::Template;
use case::{Bisection, Probe, ProbeKind, ProbeResult};

/// The axis reaches so far beyond either end, and further where a probe lies there.
const BEYOND: f64 = 0.12;
/// It never reaches further than this: one wild probe must not squeeze the others.
const MOST_BEYOND: f64 = 0.6;

#[derive(Template)]
#[template(path = "blocks/probes/axis.html")]
struct Axis {
    is_of_commits: bool,
    bad: Px,
    good: Px,
    bad_label: String,
    good_label: String,
    rows: Vec<Row>,
}

/// One probe.
struct Row {
    /// What probes from this one on were for; empty where that goes on.
    group: &'static str,
    number: usize,
    name: String,
    class: &'static str,
    badge: &'static str,
    word: &'static str,
    /// Ends of the interval, and the place.
    drawn: Option<(Px, Px, Px)>,
    said: String,
    figure: String,
}

/// The picture as HTML; empty where nothing was probed.
pub(super) fn axis(bisection: &Bisection) -> String {
    if bisection.probes.is_empty() {
        return String::new();
    }
    let (least, most) = reach(&bisection.probes);
    let at = |place: f64| Px((place.clamp(least, most) - least) / (most - least) * 100.0);
    let label = |word: &str, place| match figure_at(bisection, Some(place)) {
        Some(figure) => format!("{word}: {figure}"),
        None => word.to_string(),
    };
    let mut before = None;
    let mut rows = Vec::new();
    for (index, probe) in bisection.probes.iter().enumerate() {
        let meaning = if is_of_commits(bisection) { |_| "" } else { meaning };
        let group = if before == Some(probe.kind) { "" } else { meaning(probe.kind) };
        before = Some(probe.kind);
        rows.push(Row { group, number: index + 1, ..row(bisection, probe, &at) });
    }
    let is_of_commits = is_of_commits(bisection);
    let axis = Axis {
        is_of_commits,
        bad: at(0.0),
        good: at(1.0),
        bad_label: label("bad", 0.0),
        good_label: label("good", 1.0),
        rows,
    };
    axis.render().unwrap_or_default()
}

/// The ends of the axis.
fn reach(probes: &[Probe]) -> (f64, f64) {
    let ends = probes.iter().flat_map(|probe| [probe.low, probe.place, probe.high]).filter_map(finite);
    let (low, high) = ends.fold((-BEYOND, 1.0 + BEYOND), |(low, high), end| (low.min(end), high.max(end)));
    (low.max(-MOST_BEYOND), high.min(1.0 + MOST_BEYOND))
}

fn row(bisection: &Bisection, probe: &Probe, at: &impl Fn(f64) -> Px) -> Row {
    let (class, badge) = match probe.result {
        ProbeResult::Good => ("fast", "good"),
        ProbeResult::Bad => ("slow", "bad"),
        ProbeResult::Unclear => ("unclear", "warn"),
        ProbeResult::Untestable => ("untestable", "none"),
    };
    let ends = |place| (finite(probe.low).unwrap_or(place), finite(probe.high).unwrap_or(place));
    let drawn = finite(probe.place).map(|place| (at(ends(place).0), at(place), at(ends(place).1)));
    let interval = match (finite(probe.low), finite(probe.high)) {
        (Some(low), Some(high)) => format!("{} to {}", two(low), two(high)),
        _ => String::new(),
    };
    Row {
        group: "",
        number: 0,
        name: taken(probe),
        class,
        badge,
        word: result(probe),
        drawn,
        said: if interval.is_empty() { String::new() } else { format!("at {}", place(probe)) },
        figure: figure_at(bisection, finite(probe.place)).unwrap_or_default(),
    }
}

/// What probes of a kind are for.
fn meaning(kind: ProbeKind) -> &'static str {
    match kind {
        ProbeKind::All => "Everything that can be taken from the good world",
        ProbeKind::Suspect => "What the profile suspects",
        ProbeKind::Part => "A part of what is left",
        ProbeKind::Shrink => "What was found, without one of its members",
        ProbeKind::Removal => "The other way: all but what was found",
        ProbeKind::Split => "Another version of one member",
        ProbeKind::Apt => "The packages, installed over the bad world",
    }
}
