//! How a server bore a load.

use crate::figure::three;
use crate::grid::Row;
use crate::part::{self, Part, Table};
use crate::style::Style;
use crate::text::count;
use case::{Bytes, Latency, Load, LoadArrival, LoadFault, Nanos, Phase};

/// Answers of a load that is due to the load itself: it used more than this part of its threads.
const BUSY: f64 = 0.9;

/// A sentence with the rate and the latency, then everything in tables.
pub fn load(found: &Load, style: &Style) -> String {
    part::text::of(&parts(found), *style)
}

fn parts(found: &Load) -> Vec<Part> {
    let mut parts = vec![Part::Paragraph(lead(found))];
    parts.extend(uncorrected(found).map(Part::Paragraph));
    parts.extend(warnings(found).into_iter().map(Part::Paragraph));
    if !found.errors.is_empty() {
        let rows = found.errors.iter().map(|one| Row::new(name(one.fault), [count(one.count)]));
        parts.push(Part::Heading("What went wrong".into()));
        parts.push(Part::Table(Table::of("", ["times"], rows.collect())));
    }
    let columns = ["count", "mean", "p50", "p90", "p99", "p99.9", "longest"];
    let whole = if found.uncorrected.is_some() { "from the intended start" } else { "whole request" };
    let mut rows = vec![row(whole, &found.latency)];
    rows.extend(found.uncorrected.as_ref().map(|times| row("from the actual start", times)));
    rows.extend(found.phases.iter().map(|one| row(phase(one.phase), &one.time)));
    rows.retain(|row| !row.cells.is_empty());
    parts.push(Part::Heading("How long requests and their parts took".into()));
    parts.push(Part::Table(Table::of("", columns, rows)));
    if !found.steps.is_empty() {
        let rows = found.steps.iter().map(|step| row(&format!("{} a second", three(step.rate)), &step.latency));
        parts.push(Part::Heading("Rate by rate, from the intended start".into()));
        parts.push(Part::Table(Table::of("", columns, rows.collect())));
    }
    if !found.statuses.is_empty() {
        let all = found.statuses.iter().map(|one| format!("{} ({})", one.status, count(one.count)));
        parts.push(Part::Labelled("Statuses", all.collect::<Vec<_>>().join(", ")));
    }
    parts.push(Part::Labelled("Load", how(found)));
    parts
}

fn lead(found: &Load) -> String {
    let wall = Nanos(found.wall_ns);
    if found.answered == 0 {
        return format!("No request was answered in {wall}: {} failed.", count(found.failed));
    }
    let failed = if found.failed == 0 { "none failed".into() } else { format!("{} failed", count(found.failed)) };
    let Latency { p50_ns, p99_ns, max_ns, .. } = found.latency;
    format!(
        "{} answers a second for {wall}: {} requests were answered, {failed}. Half took up to {}, 99 % up to {}, the longest {}.",
        three(found.answered_per_second),
        count(found.answered),
        Nanos(p50_ns),
        Nanos(p99_ns),
        Nanos(max_ns)
    )
}

/// What who starts to count late would have said, where it is something else.
fn uncorrected(found: &Load) -> Option<String> {
    let other = found.uncorrected.as_ref()?;
    let differs = found.latency.p99_ns > other.p99_ns.saturating_mul(2);
    differs.then(|| {
        format!(
            "Requests had to wait for a free connection: counted from when they were sent, 99 % took up to {} only.",
            Nanos(other.p99_ns)
        )
    })
}

fn warnings(found: &Load) -> Vec<String> {
    let mut all = Vec::new();
    if found.unsent > 0 {
        let unsent = count(found.unsent);
        all.push(format!(
            "{unsent} requests were due and never sent: all connections were busy. Their waits are not among the times."
        ));
    }
    let capacity = found.wall_ns as f64 * f64::from(found.threads);
    if capacity > 0.0 && found.cpu_ns as f64 > BUSY * capacity {
        all.push("The load used nearly all CPU time of its threads: it may be what limits the rate.".into());
    }
    all
}

fn row(name: &str, times: &Latency) -> Row {
    if times.count == 0 {
        return Row::new(name, [""; 0]);
    }
    let lengths = [times.mean_ns as u64, times.p50_ns, times.p90_ns, times.p99_ns, times.p999_ns, times.max_ns];
    let lengths = lengths.map(|length| Nanos(length).to_string());
    Row::new(name, [count(times.count)].into_iter().chain(lengths))
}

fn how(found: &Load) -> String {
    let arrival = match &found.arrival {
        LoadArrival::Closed => "as soon as one before was answered".into(),
        LoadArrival::Constant { rate } => format!("at {} a second", three(*rate)),
        LoadArrival::Poisson { rate } => format!("at random, {} a second in the mean", three(*rate)),
        LoadArrival::Steps { rates } => format!("at {} rates in turn", rates.len()),
    };
    let pipeline =
        if found.pipeline > 1 { format!(" with up to {} requests each", found.pipeline) } else { String::new() };
    let tls = if found.tls_version.is_empty() { String::new() } else { format!(", TLS {}", found.tls_version) };
    format!(
        "{} requests over {} connections at a time{pipeline}{tls}, {arrival}; {} connections opened, {} received, {} sent; {} of CPU time on {} threads.",
        count(found.requests),
        count(u64::from(found.connections)),
        count(found.opened),
        Bytes(found.received_bytes),
        Bytes(found.sent_bytes),
        Nanos(found.cpu_ns),
        found.threads
    )
}

fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::LookUp => "look-up",
        Phase::Connect => "connect",
        Phase::TlsFull => "TLS handshake, full",
        Phase::TlsResumed => "TLS handshake, resumed",
        Phase::FirstByte => "to the first byte",
        Phase::LastByte => "first to last byte",
    }
}

fn name(fault: LoadFault) -> &'static str {
    match fault {
        LoadFault::Refused => "connection refused",
        LoadFault::Unreachable => "host unreachable",
        LoadFault::Exhausted => "no port or descriptor left here",
        LoadFault::ConnectTimedOut => "timed out while connecting",
        LoadFault::HandshakeTimedOut => "timed out in the TLS handshake",
        LoadFault::HandshakeClosed => "closed in the TLS handshake",
        LoadFault::TlsAlert => "TLS alert from the server",
        LoadFault::TlsProtocol => "not TLS, or broken TLS",
        LoadFault::Certificate => "certificate not trusted",
        LoadFault::Reset => "connection reset",
        LoadFault::ClosedEarly => "closed before an answer",
        LoadFault::TimedOut => "timed out",
        LoadFault::BadStatusLine => "bad status line",
        LoadFault::BadHeader => "bad header",
        LoadFault::HeadTooLong => "headers without end",
        LoadFault::TruncatedHead => "closed among the headers",
        LoadFault::BadChunk => "bad chunk",
        LoadFault::TruncatedBody => "closed within the body",
        LoadFault::Unasked => "bytes nobody asked for",
        LoadFault::WrongEcho => "another echo than what was sent",
        LoadFault::UnexpectedStatus => "unexpected status",
        LoadFault::UnexpectedBody => "body without the expected text",
        LoadFault::Other => "refused by the system",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::{LoadError, LoadPhase};

    fn times(p99_ns: u64) -> Latency {
        Latency {
            count: 7,
            mean_ns: 2e6,
            min_ns: 1,
            p50_ns: 1_000_000,
            p90_ns: 2_000_000,
            p99_ns,
            p999_ns: p99_ns,
            max_ns: p99_ns,
        }
    }

    #[test]
    fn what_a_stall_does_to_both_ways_of_counting_is_said() {
        let found = Load {
            answered: 7,
            failed: 2,
            answered_per_second: 3.5,
            wall_ns: 2_000_000_000,
            arrival: LoadArrival::Constant { rate: 4.0 },
            latency: times(200_000_000),
            uncorrected: Some(times(3_000_000)),
            phases: vec![LoadPhase { phase: Phase::Connect, time: times(5_000) }],
            errors: vec![LoadError { fault: LoadFault::Reset, count: 2 }],
            ..Load::default()
        };
        let text = load(&found, &Style::default());
        for words in
            ["3.50 answers a second", "2 failed", "99 % took up to", "3.00 ms only", "connection reset", "connect "]
        {
            assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(words.trim()), "{words}: {text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn without_an_answer_nothing_is_said_of_times() {
        let text = load(&Load { failed: 3, ..Load::default() }, &Style::default());
        assert!(text.starts_with("No request was answered"), "{text}");
        assert!(!text.contains("whole request"), "{text}");
    }
}
