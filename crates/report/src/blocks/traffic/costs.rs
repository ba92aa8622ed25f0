//! What the requests cost the server in CPU time, as a recording of it says.

use super::words::answering;
use crate::block::{Block, Section};
use crate::document::Document;
use crate::grid::Row;
use crate::part::{Part, Table, under};
use crate::text::{clean, count};
use case::{Nanos, RouteCost, Share};

/// Rows that are shown at once.
const MOST_ROWS: usize = 10;

pub(crate) const BLOCK: Block = Block::of(Section::Asked, |document: &Document| {
    let Some(traffic) = document.traffic() else { return Vec::new() };
    let Some(cost) = &traffic.cost else { return Vec::new() };
    let known = Share(cost.known as f64 / traffic.total.requests.max(1) as f64);
    let said = format!(
        "Estimated from the CPU time of each route in the recording {}: {} in total. The recorded routes cover {known} of \
         the requests; work that other threads and processes did for a request is not included.",
        clean(&cost.case),
        answering(cost.cpu_ns),
    );
    let row = |one: &RouteCost| {
        let all = one.mean_ns.saturating_mul(one.requests);
        let share = Share(all as f64 / cost.cpu_ns.max(1) as f64);
        let interval = format!("{} to {}", Nanos(one.low_ns), Nanos(one.high_ns));
        let cells = [Nanos(one.mean_ns).to_string(), interval, count(one.requests), answering(all), share.to_string()];
        Row::new(one.route.clone(), cells)
    };
    let columns = ["CPU each", "95 % interval", "requests", "CPU total", "share"];
    let table = Table::of("route", columns, cost.routes.iter().map(row).collect()).most(MOST_ROWS);
    under("What it cost the server", [Part::Paragraph(said), Part::Table(table)])
});
