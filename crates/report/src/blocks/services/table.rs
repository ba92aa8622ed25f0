//! The services, one a row: what they used and served, and how CPU time went over time.

use crate::block::{Block, Section};
use crate::blocks::traffic::words::moment;
use crate::document::Document;
use crate::figure::three;
use crate::grid::Row;
use crate::part::{Part, Table, under};
use crate::text::count;
use case::{Bytes, Nanos, Share, Watched, WatchedPoint, WatchedService};

pub(crate) const BLOCK: Block = Block::of(Section::Services, |document: &Document| {
    let Some(watched) = document.watched().filter(|watched| !watched.services.is_empty()) else { return Vec::new() };
    let rows = watched.services.iter().map(row).collect();
    let columns = ["requests", "CPU", "CPU/request", "memory", "over time"];
    under(heading(watched), [Part::Table(Table::of("service", columns, rows).words(5))])
});

/// What else was seen, where anything was.
pub(crate) const TROUBLES: Block = Block::of(Section::Services, |document: &Document| {
    let services = document.watched().map(|watched| &watched.services[..]).unwrap_or_default();
    let is_worth_saying = |one: &&WatchedService| {
        one.overflows + one.retransmitted + one.failures > 0
            || one.throttled_ns > 0
            || one.run_delay_ns > one.length_ns / 100
    };
    let row = |one: &WatchedService| {
        let of_time = |ns: u64| if ns == 0 { String::new() } else { Nanos(ns).to_string() };
        let number = |number: u64| if number == 0 { String::new() } else { count(number) };
        let cells = [
            of_time(one.run_delay_ns),
            of_time(one.throttled_ns),
            number(one.retransmitted),
            number(one.overflows),
            number(one.failures),
        ];
        Row::new(one.name.clone(), cells)
    };
    let rows = services.iter().filter(is_worth_saying).map(row).collect();
    let columns = ["run delay", "throttled", "retransmitted", "overflows", "5xx"];
    under("Waits and errors", [Part::Table(Table::of("service", columns, rows))])
});

/// What each request takes.
pub(crate) const EACH: Block = Block::of(Section::Services, |document: &Document| {
    let services = document.watched().map(|watched| &watched.services[..]).unwrap_or_default();
    let row = |one: &WatchedService| {
        let each = |value: u64| value as f64 / one.requests.max(1) as f64;
        let cells = [
            one.answering_ns_per_request.map(|ns| Nanos(ns as u64).to_string()).unwrap_or_default(),
            three(each(one.connections)),
            Bytes(each(one.received) as u64).to_string(),
            Bytes(each(one.sent) as u64).to_string(),
            one.calls.map(|calls| three(each(calls))).unwrap_or_default(),
        ];
        Row::new(one.name.clone(), cells)
    };
    let rows = services.iter().filter(|one| one.counts_requests && one.requests > 0).map(row).collect();
    let has_calls = services.iter().any(|one| one.calls.is_some());
    let columns = ["first byte", "connections", "read", "written", if has_calls { "calls" } else { "" }];
    under("Each request", [Part::Table(Table::of("service", columns, rows))])
});

fn heading(watched: &Watched) -> String {
    let [from, to] = [watched.from_ms, watched.to_ms].map(|at_ms| moment(at_ms as i64 / 1_000));
    format!("Services, {from} to {to} UTC")
}

fn row(service: &WatchedService) -> Row {
    let requests = match (service.counts_requests, service.requests_per_second()) {
        (false, _) => String::new(),
        (_, rate) => format!("{}/s", three(rate)),
    };
    // Less CPU time than the kernel counts in one step is not known, and not 0.
    let each = service.cpu_ns_per_request.filter(|ns| *ns > 0.0);
    let each = each.map(|ns| Nanos(ns as u64).to_string()).unwrap_or_default();
    let cells = [
        requests,
        Share(service.cpus()).to_string(),
        each,
        Bytes(service.memory).to_string(),
        sparkline(&service.series),
    ];
    Row::new(service.name.clone(), cells)
}

/// Columns of a sparkline.
const COLUMNS: usize = 16;
/// From nothing to the most.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// CPU time a request over time where there are requests, and else CPU time; the highest is the most.
fn sparkline(series: &[WatchedPoint]) -> String {
    let by_request = series.iter().any(|point| point.cpu_ns_per_request.is_some());
    let value = |part: &[WatchedPoint]| {
        let sum = |of: fn(&WatchedPoint) -> u64| part.iter().map(of).sum::<u64>() as f64;
        let over = if by_request { sum(|point| point.requests) } else { sum(|point| point.length_ns) };
        (over > 0.0).then(|| sum(|point| point.cpu_ns) / over)
    };
    let values = series.chunks(series.len().div_ceil(COLUMNS).max(1)).map(value).collect::<Vec<_>>();
    let most = values.iter().flatten().copied().fold(0.0, f64::max);
    let letter = |value: &Option<f64>| match value {
        // Nobody asked then.
        None => ' ',
        Some(value) if most > 0.0 => LEVELS[((value / most * 7.0).round() as usize).min(7)],
        Some(_) => LEVELS[0],
    };
    values.iter().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparkline_shows_cost_by_request_and_leaves_out_where_nobody_asked() {
        let point = |requests: u64, cpu_ns: u64| WatchedPoint {
            requests,
            cpu_ns,
            length_ns: 1_000,
            cpu_ns_per_request: (requests > 0).then(|| cpu_ns as f64 / requests as f64),
            ..WatchedPoint::default()
        };
        assert_eq!(sparkline(&[point(10, 70), point(0, 5), point(1, 1), point(2, 14)]), "█ ▂█");
        assert_eq!(sparkline(&[point(0, 700), point(0, 0)]), "█▁");
        assert_eq!(sparkline(&[]), "");
        assert_eq!(sparkline(&vec![point(1, 1); 900]).chars().count(), 16);
    }
}
