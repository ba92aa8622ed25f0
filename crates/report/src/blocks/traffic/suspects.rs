//! Each suspect: what turning it away saves, how to do it, and where it came from and went to.

use super::words::{answering, bytes, called};
use crate::block::{Block, Section};
use crate::document::Document;
use crate::grid::Row;
use crate::part::{Part, Table};
use crate::text::count;
use case::{Bytes, Claim, Ranked, Rule, RuleFor, Share, Suspect};

pub(crate) const BLOCK: Block = Block::of(Section::Verdict, |document: &Document| {
    let suspects = document.traffic().map_or(&[][..], |traffic| &traffic.suspects);
    suspects.iter().flat_map(one).collect()
});

/// Rows of networks and of routes.
const MOST_ROWS: usize = 3;

fn one(suspect: &Suspect) -> Vec<Part> {
    let mut parts = vec![Part::Heading(format!("If {} were blocked", called(&suspect.name, suspect.claim)))];
    parts.push(Part::Paragraph(saved(suspect)));
    for rule in &suspect.rules {
        parts.push(Part::Paragraph(purpose(rule, suspect.claim)));
        parts.push(Part::Command(rule.text.clone()));
    }
    if suspect.rules.is_empty() {
        parts.push(Part::Paragraph("No rule is given: its name cannot safely be put into one.".into()));
    }
    parts.push(ranked("Its networks", &suspect.networks, suspect.demand.requests));
    parts.push(ranked("Its routes", &suspect.routes, suspect.demand.requests));
    parts
}

fn saved(suspect: &Suspect) -> String {
    let demand = &suspect.demand;
    let time = match demand.took_ns {
        0 => String::new(),
        ns => format!(" and {} of answer time ({})", answering(ns), Share(suspect.share_of_time)),
    };
    let cpu = suspect.cpu.as_ref().map_or(String::new(), |saved| {
        let known = Share(saved.known as f64 / demand.requests.max(1) as f64);
        format!(
            " According to the server's recording, it would also have saved {} of CPU time: {} of the known total ({known} of its requests are on \
             recorded routes).",
            answering(saved.cpu_ns),
            Share(saved.share),
        )
    });
    format!(
        "This would have saved {} requests ({}){} {} ({}){time}.{cpu}",
        count(demand.requests),
        Share(suspect.share_of_requests),
        if time.is_empty() { " and" } else { "," },
        Bytes(demand.bytes),
        Share(suspect.share_of_bytes),
    )
}

fn purpose(rule: &Rule, claim: Claim) -> String {
    match (rule.target, claim) {
        (RuleFor::Nginx, _) => "nginx:".into(),
        (RuleFor::Haproxy, _) => "HAProxy:".into(),
        (RuleFor::Robots, _) => "robots.txt (if it complies):".into(),
    }
}

/// The first rows of a ranking, each with its share of the suspect's requests.
fn ranked(title: &str, rows: &[Ranked], all: u64) -> Part {
    let row = |one: &Ranked| {
        let share = if all == 0 { 0.0 } else { one.demand.requests as f64 / all as f64 };
        Row::new(one.name.clone(), [count(one.demand.requests), Share(share).to_string(), bytes(&one.demand)])
    };
    Part::Table(Table::of(title, ["requests", "share", "bytes"], rows.iter().map(row).collect()).most(MOST_ROWS))
}
