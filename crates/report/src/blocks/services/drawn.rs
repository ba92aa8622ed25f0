//! Each service over time, on the page: CPU time a request, or CPU time, with the moments at which it changed.

use crate::block::{Block, Section};
use crate::blocks::traffic::words::moment;
use crate::chart::{Figure, Plot, Px, Shape, Size};
use crate::figure::three;
use crate::scale::Scale;
use crate::text::clean;
use case::{Nanos, Watched, WatchedPoint, WatchedService};

pub(crate) const BLOCK: Block = Block::drawn(Section::Services, |document| {
    let Some(watched) = document.watched().filter(|watched| watched.to_ms > watched.from_ms) else {
        return String::new();
    };
    watched.services.iter().map(|service| html(service, watched)).collect()
});

const HEIGHT: f64 = 150.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 116.0;

fn html(service: &WatchedService, watched: &Watched) -> String {
    let by_request = service.cpu_ns_per_request.is_some();
    let what = if by_request { "CPU time per request" } else { "CPU time" };
    let has_changes = watched.deviations.iter().any(|one| one.service == service.name && !one.from_the_beginning);
    let dashed = if has_changes { ". Dashed line: where it changed" } else { "" };
    let plots = Size::BOTH.map(|size| plot(service, watched, by_request, size)).into();
    let caption = format!("{}: {what} over time, UTC{dashed}", clean(&service.name));
    let said = caption.clone();
    Figure { class: "over-time", height: HEIGHT, said, caption, is_caption_first: true, plots }.html()
}

fn plot(service: &WatchedService, watched: &Watched, by_request: bool, size: Size) -> Plot {
    let (left, right) = (LEFT, size.width() - RIGHT);
    let start = service.series.first().map_or(watched.from_ms, began);
    let end = watched.to_ms.max(start + 1);
    let across = Scale::linear(start as f64, end as f64, left, right);
    let values = service.series.iter().map(|point| (point, value(point, by_request)));
    let values = values.filter_map(|(point, value)| Some((point, value?))).collect::<Vec<_>>();
    let most = values.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let most = if most > 0.0 { most } else { 1.0 };
    let up = Scale::linear(0.0, most, BOTTOM, TOP);
    let area = values.iter().map(|(point, value)| {
        let [from, to] = [began(point), point.at_ms].map(|at| Px(across.place(at as f64)));
        format!("M{from} {bottom}V{}H{to}V{bottom}Z", Px(up.place(*value)), bottom = Px(BOTTOM))
    });
    let changes = watched.deviations.iter().filter(|one| one.service == service.name && !one.from_the_beginning);
    let mut shapes = vec![Shape::Path("first", area.collect())];
    shapes.extend(changes.map(|one| Shape::Upright("onset", Px(across.place((one.at_ms.max(start)) as f64)))));
    let label = |value: f64| if by_request { Nanos(value as u64).to_string() } else { three(value) };
    let labels = if size == Size::Wide { 5 } else { 2 };
    let mark = |turn: u64| {
        let at = start + (end - start) * turn / labels;
        // The year is known by those who look.
        (Px(across.place(at as f64)), moment(at as i64 / 1_000).get(5..).unwrap_or_default().to_string())
    };
    Plot {
        size,
        left: Px(left),
        right: Px(right),
        top: Px(TOP),
        bottom: Px(BOTTOM),
        up: up.marks(40.0).into_iter().map(|value| (Px(up.place(value)), label(value))).collect(),
        across: (0..labels).map(mark).collect(),
        shapes,
    }
}

fn began(point: &WatchedPoint) -> u64 {
    point.at_ms.saturating_sub(point.length_ns / 1_000_000)
}

/// CPU time a request in nanoseconds, or CPU time in CPUs.
fn value(point: &WatchedPoint, by_request: bool) -> Option<f64> {
    if by_request {
        return point.cpu_ns_per_request;
    }
    (point.length_ns > 0).then(|| point.cpu_ns as f64 / point.length_ns as f64)
}
