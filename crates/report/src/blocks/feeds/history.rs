//! Rounds over time: how long each took, and when that changed.

mod chart;

use crate::block::{Block, Section};
use crate::blocks::traffic::words::moment;
use crate::document::Document;
use crate::figure::three;
use crate::grid::Row;
use crate::part::{Part, Table, under};
use crate::text::{count, counted};
use case::{FeedHistory, Nanos, PastRound, RoundStep};

pub(crate) const LEAD: Block = Block::of(Section::Verdict, |document: &Document| {
    let Some(history) = document.history() else { return Vec::new() };
    let steps = history.steps.iter().map(sentence);
    let none = history.steps.is_empty().then(|| "No change: rounds took about the same time throughout.".to_string());
    steps.chain(none).chain([whole(history)]).map(Part::Paragraph).collect()
});

pub(crate) const BLOCK: Block = Block {
    html: Some(chart::html),
    ..Block::of(Section::OverTime, |document| document.history().map(rows).unwrap_or_default())
};

/// Rows in the terminal; older rounds are summed up in the sentences.
const MOST_ROWS: usize = 24;

fn sentence(step: &RoundStep) -> String {
    let (before, after) = (Nanos(step.before_ns), Nanos(step.after_ns));
    let interval = if step.low_number == step.high_number {
        String::new()
    } else {
        format!(" (95 % interval {} to {})", moment(step.low_s), moment(step.high_s))
    };
    let times = three(step.after_ns.max(step.before_ns) as f64 / step.after_ns.min(step.before_ns).max(1) as f64);
    let change = if step.after_ns >= step.before_ns {
        format!("took {times} times as long")
    } else {
        format!("were {times} times faster")
    };
    format!(
        "From round {} on, {} UTC{interval}, rounds {change}: {before} before, {after} since.",
        step.number,
        moment(step.at_s)
    )
}

fn whole(history: &FeedHistory) -> String {
    let span = match (history.rounds.first(), history.rounds.last()) {
        (Some(first), Some(last)) => format!(", {} to {} UTC", moment(first.began_s), moment(last.began_s)),
        _ => String::new(),
    };
    let left_out = history.rounds.iter().filter(|round| round.interrupted).count() as u64;
    let left_out = match left_out {
        0 => String::new(),
        1 => " One was interrupted, so only its last part was timed; it is left out here.".into(),
        number => {
            format!(" {} were interrupted, so only their last parts were timed; they are left out here.", count(number))
        }
    };
    format!("{}{span}.{left_out}", counted(history.rounds.len() as u64, "round"))
}

fn rows(history: &FeedHistory) -> Vec<Part> {
    let shown = &history.rounds[history.rounds.len().saturating_sub(MOST_ROWS)..];
    let longest = shown.iter().map(|round| round.wall_ns).max().unwrap_or(1).max(1);
    let row = |round: &PastRound| {
        let outcomes = &round.outcomes;
        let cells = [
            Nanos(round.wall_ns).to_string(),
            Nanos(round.cpu_ns).to_string(),
            count(outcomes.all()),
            count(outcomes.failed),
            count(round.new_entries),
        ];
        let note = match (history.steps.iter().any(|step| step.number == round.number), round.interrupted) {
            (true, _) => "changed here",
            (_, true) => "interrupted: only its last part was timed",
            _ => "",
        };
        Row::new(moment(round.began_s), cells).with_bar("#", round.wall_ns as f64 / longest as f64).with_note(note)
    };
    let columns = ["time", "CPU", "feeds", "failed", "new"];
    under("Rounds (UTC)", [Part::Table(Table::of("began", columns, shown.iter().map(row).collect()))])
}
