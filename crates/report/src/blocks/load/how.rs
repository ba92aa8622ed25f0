//! What the load was: when requests came, over how many connections, and what that took.

use crate::block::{Block, Section};
use crate::document::Document;
use crate::figure::three;
use crate::part::Part;
use crate::text::{clean, count, counted};
use case::{Bytes, Load, LoadArrival, Nanos};

pub(crate) const BLOCK: Block = Block::of(Section::Environment, |document: &Document| {
    let Some(found) = document.load() else { return Vec::new() };
    let mut parts = Vec::new();
    if !found.statuses.is_empty() {
        let all = found.statuses.iter().map(|one| format!("{} ({})", one.status, count(one.count)));
        parts.push(Part::Labelled("Statuses", all.collect::<Vec<_>>().join(", ")));
    }
    if found.merged.is_empty() {
        parts.push(Part::Labelled("Load", how(found)));
    } else {
        let files = found.merged.iter().map(|file| clean(file)).collect::<Vec<_>>();
        parts.push(Part::Labelled("Merged from", files.join(", ")));
    }
    parts
});

fn how(found: &Load) -> String {
    let arrival = match &found.arrival {
        LoadArrival::Closed => "each as soon as the one before was answered".into(),
        LoadArrival::Constant { rate } => format!("at {} a second", three(*rate)),
        LoadArrival::Poisson { rate } => format!("at random, {} a second on average", three(*rate)),
        LoadArrival::Steps { rates } => format!("at {} rates, one after another", rates.len()),
        LoadArrival::Replay { requests, left_out, speed } => replayed(*requests, *left_out, *speed),
    };
    let pipeline =
        if found.pipeline > 1 { format!(" with up to {} requests each", found.pipeline) } else { String::new() };
    let tls = if found.tls_version.is_empty() { String::new() } else { format!(", TLS {}", found.tls_version) };
    format!(
        "{} requests over {} concurrent connections{pipeline}{tls}, {arrival}; {} connections opened, {} received, {} sent; {} of CPU time on {} threads.",
        count(found.requests),
        count(u64::from(found.connections)),
        count(found.opened),
        Bytes(found.received_bytes),
        Bytes(found.sent_bytes),
        Nanos(found.cpu_ns),
        found.threads
    )
}

fn replayed(requests: u64, left_out: u64, speed: f64) -> String {
    let times = if (speed - 1.0).abs() < 1e-9 { String::new() } else { format!(", {} times as fast", three(speed)) };
    let left_out = match left_out {
        0 => String::new(),
        _ => format!(" (left out: {})", count(left_out)),
    };
    format!("as {} arrived in an access log{times}{left_out}", counted(requests, "request"))
}
