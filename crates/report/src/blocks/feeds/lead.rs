//! The rounds in sentences.

use crate::block::{Block, Section};
use crate::document::Document;
use crate::figure::three;
use crate::part::Part;
use crate::text::{count, counted};
use case::{Bytes, FeedRefresh, FeedRound, Nanos};

pub(crate) const BLOCK: Block = Block::of(Section::Verdict, |document: &Document| {
    let Some(refresh) = document.refresh() else { return Vec::new() };
    let rounds = refresh.rounds.iter().map(|round| sentences(refresh, round));
    rounds.chain(cheaper(refresh)).map(Part::Paragraph).collect()
});

fn sentences(refresh: &FeedRefresh, round: &FeedRound) -> String {
    let which = if refresh.rounds.len() > 1 { format!("Round {}: ", round.number) } else { String::new() };
    let began = match (round.done_before, round.finished) {
        (0, _) => String::new(),
        (before, _) => format!(" It goes on where it was interrupted: {} had been seen to.", counted(before, "feed")),
    };
    let unfinished = if round.finished { "" } else { " It was interrupted; the next `feeds refresh` goes on with it." };
    let outcomes = &round.outcomes;
    let per_feed = round.cpu_ns / outcomes.all().max(1);
    format!(
        "{which}{} of {} in {} ({} a second): {} unchanged, {} with {}, {} failed.{began}{unfinished} {}, {} in full and {} \
         resumed; {} received. CPU time {}, {} a feed; at most {} of memory.{}",
        counted(outcomes.all(), "feed"),
        counted(round.origins, "origin"),
        Nanos(round.wall_ns),
        three(round.feeds_per_second),
        count(outcomes.unchanged),
        count(outcomes.with_news),
        match round.new_entries {
            1 => "1 new entry".into(),
            new => format!("{} new entries", count(new)),
        },
        count(outcomes.failed),
        counted(round.handshakes_full + round.handshakes_resumed, "TLS handshake"),
        count(round.handshakes_full),
        count(round.handshakes_resumed),
        Bytes(round.received_bytes),
        Nanos(round.cpu_ns),
        Nanos(per_feed),
        Bytes(round.peak_memory_bytes),
        ports(round)
    )
}

fn ports(round: &FeedRound) -> String {
    let ports = round.ports;
    if !ports.is_short() {
        return String::new();
    }
    format!(
        " Local ports are running short: there were {} TCP sockets ({} in TIME_WAIT), and the system gives {} ports to \
         connections. Fewer connections at a time (-c) take fewer.",
        count(ports.most_sockets),
        count(ports.time_wait),
        count(ports.available)
    )
}

/// How much less the last round cost than the first.
fn cheaper(refresh: &FeedRefresh) -> Option<String> {
    let (first, rest) = refresh.rounds.split_first()?;
    let last = rest.last().filter(|last| last.finished && last.cpu_ns > 0 && last.wall_ns > 0)?;
    let ratio = |first: u64, last: u64| three(first as f64 / last.max(1) as f64);
    Some(format!(
        "First round / last round: time {}, CPU time {}, bytes received {}.",
        ratio(first.wall_ns, last.wall_ns),
        ratio(first.cpu_ns, last.cpu_ns),
        ratio(first.received_bytes, last.received_bytes)
    ))
}
