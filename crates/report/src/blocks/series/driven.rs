//! What running a command at rates of our choice has shown: the bucket, what it predicts, and what came.

use super::words::{bytes, rate, seconds};
use crate::block::{Block, Section};
use crate::document::Document;
use crate::figure::three;
use crate::grid::Row;
use crate::part::{Part, Table, under};
use case::{Bucket, Driven, DrivenKind, DrivenTrial, RateLimit};

pub(crate) const BLOCK: Block = Block::of(Section::Verdict, |document: &Document| {
    let Some(driven) = document.steps().and_then(|series| series.driven.as_ref()) else { return Vec::new() };
    let mut parts = vec![Part::Paragraph(verdict(driven).into())];
    if let Some(bucket) = driven.bucket.as_ref().filter(|_| driven.limit == RateLimit::TokenBucket) {
        parts.extend(figures(bucket).map(Part::Paragraph));
    }
    if !driven.trials.is_empty() {
        let rows = driven.trials.iter().map(row).collect();
        let table = Table::of("run", ["rate", "pause", "predicted", "observed", "as predicted"], rows);
        parts.extend(under("When the rate falls", [Part::Table(table)]));
    }
    parts
});

fn verdict(driven: &Driven) -> &'static str {
    match driven.limit {
        RateLimit::TokenBucket => {
            "A token bucket limits the rate. It explains the first run and predicted the others: at a lower rate it lasts longer, \
             after a shorter pause less long."
        }
        RateLimit::Schedule => {
            "The rate falls at the same time in every run, however much was sent before: it follows the clock and is not a \
             token bucket."
        }
        RateLimit::None => "The rate does not fall while the command runs, so no token bucket shows within that time.",
        RateLimit::Undecided => "The rate falls, but not as a token bucket predicts: what limits it is unknown.",
    }
}

fn figures(bucket: &Bucket) -> [String; 2] {
    [
        format!(
            "It fills at {} ({} to {}) and holds {} ({} to {}) of payload; it is full after {} without traffic.",
            rate(bucket.rate),
            rate(bucket.rate_low),
            rate(bucket.rate_high),
            bytes(bucket.burst_bytes),
            bytes(bucket.burst_low),
            bytes(bucket.burst_high),
            seconds(bucket.fills_s),
        ),
        format!(
            "On the wire, with Ethernet, IPv4 and TCP headers at an MTU of 1,500, that is {} and {}.",
            rate(bucket.wire_rate),
            bytes(bucket.wire_burst_bytes),
        ),
    ]
}

fn row(trial: &DrivenTrial) -> Row {
    let name = match trial.kind {
        DrivenKind::Slower => "slower",
        DrivenKind::Resumed => "resumed",
    };
    let came = trial.step.map_or("no step".to_string(), |step| {
        format!("{} ({} to {})", seconds(step.at_s), three(step.low_s), three(step.high_s))
    });
    let met = if trial.met { "yes" } else { "no" };
    let cells = [rate(trial.asked), seconds(trial.pause_s), seconds(trial.predicted_s), came, met.to_string()];
    Row::new(name, cells)
}
