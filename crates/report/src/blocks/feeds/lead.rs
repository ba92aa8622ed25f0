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
        (before, _) => format!(" It resumed an interrupted round with {} already done.", counted(before, "feed")),
    };
    let unfinished = if round.finished { "" } else { " It was interrupted; the next `feeds refresh` resumes it." };
    let outcomes = &round.outcomes;
    let per_feed = round.cpu_ns / outcomes.all().max(1);
    format!(
        "{which}{} from {} in {} ({} a second): {} unchanged, {} with new entries{}, {} failed.{began}{unfinished} {}{} \
         received. CPU time {}, {} a feed; peak memory {}.{}",
        counted(outcomes.all(), "feed"),
        counted(round.origins, "origin"),
        Nanos(round.wall_ns),
        three(round.feeds_per_second),
        count(outcomes.unchanged),
        count(outcomes.with_news),
        match round.new_entries {
            0 => String::new(),
            new => format!(" ({})", count(new)),
        },
        count(outcomes.failed),
        handshakes(round),
        Bytes(round.received_bytes),
        Nanos(round.cpu_ns),
        Nanos(per_feed),
        Bytes(round.peak_memory_bytes),
        ports(round)
    )
}

fn handshakes(round: &FeedRound) -> String {
    let (full, resumed) = (round.handshakes_full, round.handshakes_resumed);
    match full + resumed {
        0 => String::new(),
        all => format!("{}, {} full and {} resumed; ", counted(all, "TLS handshake"), count(full), count(resumed)),
    }
}

fn ports(round: &FeedRound) -> String {
    let ports = round.ports;
    if !ports.is_short() {
        return String::new();
    }
    format!(
        " Local ports are running short: there were {} TCP sockets ({} in TIME_WAIT) for {} ports. Fewer connections at a \
         time (-c) need fewer.",
        count(ports.most_sockets),
        count(ports.time_wait),
        count(ports.available)
    )
}

/// What the last round cost, against the first.
fn cheaper(refresh: &FeedRefresh) -> Option<String> {
    let (first, rest) = refresh.rounds.split_first()?;
    let last = rest.last().filter(|last| last.finished && last.cpu_ns > 0 && last.wall_ns > 0)?;
    let times = |first: u64, last: u64| match first as f64 / last.max(1) as f64 {
        less if less >= 1.0 => format!("{} times less", three(less)),
        more => format!("{} times more", three(more.recip())),
    };
    Some(format!(
        "Compared with the first round, the last took {} time and {} CPU time, and received {}.",
        times(first.wall_ns, last.wall_ns),
        times(first.cpu_ns, last.cpu_ns),
        times(first.received_bytes.max(1), last.received_bytes)
    ))
}
