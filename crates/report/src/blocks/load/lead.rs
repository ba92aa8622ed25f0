//! What a load comes down to: the rate, the latency, and what makes them worth less.

use crate::block::{Block, Section};
use crate::document::Document;
use crate::figure::three;
use crate::part::Part;
use crate::text::{count, counted};
use case::{Latency, Load, LoadArrival, Nanos};

pub(crate) const BLOCK: Block = Block::of(Section::Verdict, |document: &Document| {
    let Some(found) = document.load() else { return Vec::new() };
    let all = [lead(found)].into_iter().chain(uncorrected(found)).chain(warnings(found));
    all.map(Part::Paragraph).collect()
});

/// A load that used more than this part of its threads' CPU time may be limited by itself.
const BUSY: f64 = 0.9;

/// The verdict in a few words.
pub(crate) fn headline(found: &Load) -> String {
    if found.answered == 0 {
        return "No request was answered".into();
    }
    let within = format!("99 % of requests within {}", Nanos(found.latency.p99_ns));
    if found.merged.is_empty() {
        format!("{} answers a second, {within}", three(found.answered_per_second))
    } else {
        within
    }
}

/// The command that makes such a load, as far as the document knows it.
pub(crate) fn command(found: &Load) -> Vec<String> {
    let mut words = vec!["whyslow".to_string(), "load".into()];
    if !found.merged.is_empty() {
        words.extend(found.merged.iter().flat_map(|file| ["--merge".to_string(), file.clone()]));
        return words;
    }
    match &found.arrival {
        LoadArrival::Closed => {}
        LoadArrival::Constant { rate } => words.extend(["--rate".into(), rate.to_string()]),
        LoadArrival::Poisson { rate } => words.extend(["--rate".into(), rate.to_string(), "--poisson".into()]),
        LoadArrival::Steps { rates } => {
            let rates = rates.iter().map(ToString::to_string).collect::<Vec<_>>();
            words.extend(["--steps".into(), rates.join(",")]);
        }
        LoadArrival::Replay { speed, .. } => {
            words.extend(["--replay".into(), "FILE".into(), "--speed".into(), speed.to_string()]);
        }
    }
    words.extend(["--connections".into(), found.connections.to_string()]);
    words.extend(found.urls.iter().cloned());
    words
}

fn lead(found: &Load) -> String {
    let wall = Nanos(found.wall_ns);
    let Latency { p50_ns, p99_ns, max_ns, .. } = found.latency;
    let took = format!(
        "The median was {}, the 99th percentile {}, the longest {}.",
        Nanos(p50_ns),
        Nanos(p99_ns),
        Nanos(max_ns)
    );
    if !found.merged.is_empty() {
        let files = counted(found.merged.len() as u64, "file");
        return format!("{} from {files} were answered. {took}", counted(found.answered, "request"));
    }
    if found.answered == 0 {
        return format!("No request was answered in {wall}: {} failed.", count(found.failed));
    }
    let failed = if found.failed == 0 { "none failed".into() } else { format!("{} failed", count(found.failed)) };
    let (rate, answered) = (three(found.answered_per_second), count(found.answered));
    format!("{rate} answers a second for {wall}: {answered} requests were answered, {failed}. {took}")
}

/// What who starts to count late would have said, where it is something else.
fn uncorrected(found: &Load) -> Option<String> {
    let other = found.uncorrected.as_ref()?;
    let differs = found.latency.p99_ns > other.p99_ns.saturating_mul(2);
    differs.then(|| {
        format!(
            "Most of that is waiting for a free connection: counted from when requests were sent, the 99th percentile is only {}.",
            Nanos(other.p99_ns)
        )
    })
}

fn warnings(found: &Load) -> Vec<String> {
    let mut all = Vec::new();
    if found.unsent > 0 {
        let unsent = count(found.unsent);
        all.push(format!(
            "{unsent} requests were due but never sent, because all connections were busy. Their waits are not included."
        ));
    }
    let capacity = found.wall_ns as f64 * f64::from(found.threads);
    if capacity > 0.0 && found.cpu_ns as f64 > BUSY * capacity {
        all.push("The load generator used nearly all CPU time of its threads: it may itself limit the rate.".into());
    }
    all
}
