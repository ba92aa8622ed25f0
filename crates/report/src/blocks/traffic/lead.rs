//! What the logs come down to: how much there was, and who could be turned away.

use super::words::{answering, called, kind, moment};
use crate::block::{Block, Section};
use crate::document::Document;
use crate::figure::three;
use crate::part::Part;
use crate::text::{capitalised, clean, count, counted};
use case::{Bytes, Claim, Share, Suspect, Traffic};

pub(crate) const BLOCK: Block = Block::of(Section::Verdict, |document: &Document| {
    let Some(traffic) = document.traffic() else { return Vec::new() };
    let suspects = traffic.suspects.iter().map(sentence);
    let none = (traffic.suspects.is_empty() && traffic.total.requests > 0).then(|| {
        "No crawler makes up 5 % of the requests, bytes or time, and no program's traffic began or tripled.".to_string()
    });
    suspects.chain(none).chain([whole(traffic)]).map(Part::Paragraph).collect()
});

/// The verdict in a few words.
pub(crate) fn headline(traffic: &Traffic) -> String {
    match &traffic.suspects[..] {
        [] if traffic.total.requests == 0 => "No line could be read".into(),
        [] => "Nobody to turn away".into(),
        [first, ..] => {
            format!("{}: {} of all requests", called(&first.name, first.claim), Share(first.share_of_requests))
        }
    }
}

/// The command that reads the same logs.
pub(crate) fn reading(traffic: &Traffic) -> Vec<String> {
    let paths = traffic.files.iter().filter(|file| !file.skipped).map(|file| file.path.clone());
    ["whyslow".to_string(), "logs".into()].into_iter().chain(paths).collect()
}

/// Who, how much of all, since when, from where.
fn sentence(suspect: &Suspect) -> String {
    let who = match suspect.claim {
        Claim::Forged => format!("An impostor calling itself {} (from other addresses)", clean(&suspect.name)),
        Claim::Verified => format!("{} (verified by its addresses)", clean(&suspect.name)),
        Claim::Unchecked => format!("{} ({})", capitalised(&clean(&suspect.name)), kind(suspect.kind)),
    };
    let of_bytes = format!("{} of the bytes", Share(suspect.share_of_bytes));
    let of_time = match suspect.share_of_time {
        0.0 => String::new(),
        share => format!(" and {} of the time", Share(share)),
    };
    let comma = if of_time.is_empty() { " and" } else { "," };
    format!(
        "{who} makes up {} of all requests{comma} {of_bytes}{of_time}, from {}.{}",
        Share(suspect.share_of_requests),
        addresses(suspect.addresses),
        since(suspect),
    )
}

/// An estimate is not said to the last digit.
fn addresses(number: u64) -> String {
    match number {
        0..=1 => "one address".into(),
        2..1_000 => format!("about {number} addresses"),
        _ => format!("about {} addresses", three(number as f64)),
    }
}

fn since(suspect: &Suspect) -> String {
    let Some(onset) = &suspect.onset else { return " It was there throughout.".into() };
    let grew = if onset.before < 1.0 {
        "It began".to_string()
    } else {
        format!("It grew {} times", three(onset.after / onset.before))
    };
    let file = if onset.file.is_empty() { String::new() } else { format!(", in {}", clean(&onset.file)) };
    let (low, high) = (moment(onset.low_s), moment(onset.high_s));
    let interval = if low == high { String::new() } else { format!(" (95 % interval {low} to {high})") };
    format!(" {grew} at {}{interval}{file}.", moment(onset.at_s))
}

/// How much there was in all.
fn whole(traffic: &Traffic) -> String {
    let read = traffic.files.iter().filter(|file| !file.skipped).count() as u64;
    if traffic.total.requests == 0 {
        let (lines, files) = (counted(traffic.lines, "line"), counted(read, "file"));
        return format!(
            "No request in {lines} of {files}: this is no access log of a known format (--format gives one)."
        );
    }
    let span = match (traffic.first_s, traffic.last_s) {
        (Some(first), Some(last)) => format!(", {} to {} UTC", moment(first), moment(last)),
        _ => String::new(),
    };
    let total = &traffic.total;
    let time = if traffic.timed == 0 {
        " The logs do not say how long answers took.".to_string()
    } else {
        format!(" Answering took {} in total.", answering(total.took_ns))
    };
    let malformed = if traffic.malformed == 0 {
        String::new()
    } else {
        format!(" {} of {} could not be read.", counted(traffic.malformed, "line"), count(traffic.lines))
    };
    format!(
        "{} in {}{span}: {}, from {}.{time}{malformed}",
        counted(total.requests, "request"),
        counted(read, "file"),
        Bytes(total.bytes),
        addresses(traffic.addresses)
    )
}
